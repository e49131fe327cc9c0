"""Answer a question of an agent: with the store alone, with documents, or going on at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.engine import answer_question
from brasstag.surfaces.cli.follow.follow_run import Running, so_far, workspace_path
from brasstag.surfaces.cli.follow.who_continues import is_served, who_continues
from brasstag.surfaces.cli.session.people import require_approver
from brasstag.surfaces.cli.session.rooms import open_room, open_store
from brasstag.surfaces.cli.terminal.console import OutputName, report
from brasstag.surfaces.cli.terminal.interrupts import Leaving, heard_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brasstag.store import Task


@dataclass(frozen=True, slots=True)
class Answering:
    """One answer."""

    project: Path
    output: OutputName | None
    asks: bool

    def in_store(self, name: str, text: str) -> None:
        """Write the answer down; works while settings or tools are broken."""
        who = require_approver()
        with open_store(self.project) as room_state:
            question = answer_question(room_state.store, name, text, who)
            served = is_served(room_state, question.tree)
        self._tell(question, served, who_continues(question.tree, served))

    async def in_room(self, name: str, text: str, documents: "Sequence[Path]", *, go_on: bool) -> int:
        """Write the answer down, with documents; then, where wanted, work on the run here."""
        who = require_approver()
        leaving = Leaving()
        with heard_by(leaving.hear):
            async with open_room(self.project, "answer") as room:
                names = [workspace_path(room.workspace, document) for document in documents]
                seen = await so_far(room, await room.task(name))
                question = await room.answer(name, text, who, documents=names)
                if go_on:
                    self._tell(question, True, "")
                    running = Running(self.project, self.output, self.asks)
                    return await running.go_on(room, leaving, question.tree, seen)
                served = is_served(room.state, question.tree)
                self._tell(question, served, who_continues(question.tree, served))
        return 0

    def _tell(self, question: "Task", served: bool, more: str) -> None:
        found = {"question": question.id, "run": question.tree, "answered": True, "served": served}
        report(self.output, found, "\n".join(filter(None, ["Answered.", more])), "green")
