"""Review a proposal: run its test cases, then let the Chief of Staff assess it, by a model where one is set."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from brasstag.app.open import OpenRoom
from brasstag.app.prompts.harness_facts import room_checks
from brasstag.app.prompts.replay import Recording, ReplayedTask, replay_task
from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.harness.cases import (
    NOT_NEEDED,
    CaseOutput,
    checked_again,
    harness_result,
    sample_outputs,
)
from brasstag.catalog.harness.checks import Check
from brasstag.catalog.injection import whole_text
from brasstag.catalog.merge import CatalogEntry
from brasstag.catalog.review.assess import assess
from brasstag.catalog.review.chief import REPLY_SCHEMA, read_review, review_messages
from brasstag.engine.agents import offers
from brasstag.words.errors import Code
from brasstag.words.messages import System, Text, User
from brasstag.words.review.issues import CHIEF_OF_STAFF
from brasstag.words.review.prompt_tools import PromptTool
from brasstag.words.review.proposals import Proposal, TestCase
from brasstag.words.turns import Model, ModelError, Offer, Turn, TurnRequest

log = logging.getLogger("brasstag")

HARNESS = "harness"
"""The role under which scripted models are asked for a test case."""


def _ignore_text(_text: str) -> None:
    """There is no watcher."""


class Reviewer:
    """Reviews the proposals of one open room; what it asks of models has no tools, and performs nothing."""

    def __init__(self, open_room: OpenRoom) -> None:
        self._open_room = open_room
        self._settings = open_room.settings

    async def review(self, proposal: Proposal) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the assessment and the harness result; a model that fails is replaced by what needs no model."""
        deadline = asyncio.get_running_loop().time() + self._settings.prompts.review_seconds
        harness = await self._harness(proposal, deadline)
        catalog = await self._open_room.runtime.threads.run(lambda: self._catalog.now)
        facts = assess(proposal, catalog, harness)
        assessment = await self._assessment(proposal, facts, harness, deadline)
        return assessment, harness

    async def test(self, proposal: Proposal) -> dict[str, Any]:
        """Run the test cases alone."""
        return await self._harness(
            proposal, asyncio.get_running_loop().time() + self._settings.prompts.review_seconds
        )

    def check_again(self, proposal: Proposal) -> Mapping[str, Any]:
        """Run the deterministic checks of a recorded harness result again."""
        return checked_again(proposal, self.room_checks())

    def room_checks(self) -> Mapping[str, Check]:
        """Return the checks that look into files and timelines."""
        return room_checks(self._open_room.runtime)

    async def replay(self, proposal: Proposal, task_ids: Sequence[str]) -> list[ReplayedTask]:
        """Go through recorded tasks with the live prompt, where there is one, and with the proposed one."""
        model = self._model(self._settings.crew.model, self._settings.prompts.review_model)
        if model is None:
            raise ModelError(
                "recorded tasks are replayed with a live model, and none is set",
                Code.MODEL_NOT_CONFIGURED,
                hint="name one in brasstag.toml ([crew] model = …)",
            )
        content = proposal.content
        before = self._catalog.accepted(content.target, content.tool.id)
        tools = [("proposed", content.tool)]
        if before is not None and before.tool is not None:
            tools.insert(0, ("live", before.tool))
        threads, store = self._open_room.runtime.threads, self._open_room.runtime.store
        found = []
        for name in task_ids:
            task = await threads.run(store.task, name)
            entries = await threads.run(store.proven, task.id)
            recording = Recording.of(task.id, entries, self._open_room.runtime.fence)
            offered = self._offers(recording.role)
            found += [await replay_task(recording, label, tool, model, offered) for label, tool in tools]
        return found

    async def answer(self, tool: PromptTool, case: TestCase, model: Model) -> Turn:
        """Ask a model to do what a prompt tool says, with the input of a test case."""
        system = whole_text(CatalogEntry(tool, "project"), self._open_room.runtime.fence)
        told = f"Work as this prompt tool says. You have no callable tools here.\n\n{system}"
        request = TurnRequest((System(told), User((Text(case.input),))), role=HARNESS)
        return await model.respond(request, _ignore_text)

    def _shown(self, model: str) -> str:
        """Return the name of a model without the place of the project: snapshots are shared with others."""
        project = self._open_room.room_state.project
        return model if project is None else model.replace(f"{project}/", "")

    def _offers(self, role: str) -> tuple[Offer, ...]:
        runtime = self._open_room.runtime
        return offers(runtime.registry, lambda tool: runtime.policy.roles.why_not(role, tool) is None)

    @property
    def _catalog(self) -> PromptCatalog:
        return self._open_room.gate.catalog

    def _model(self, *names: str | None) -> Model | None:
        """Return the first of these models that is set; None where none is, or where it cannot be used."""
        name = next(filter(None, names), None)
        if name is None:
            return None
        try:
            return self._open_room.models.model(name)
        except ModelError as error:
            log.warning("no model for reviews: %s", error)
            return None

    async def _harness(self, proposal: Proposal, deadline: float) -> dict[str, Any]:
        content = proposal.content
        if content.type == "retire":
            return dict(NOT_NEEDED)
        recorded = {
            one["name"]: CaseOutput(one["basis"], verdict=one["verdict"])
            for one in proposal.harness.get("cases", ())
            if str(one.get("basis", "")).startswith("recorded by")
        }
        outputs = sample_outputs(content.test_cases) | recorded
        model = self._model(self._settings.crew.model, self._settings.prompts.review_model)
        found: dict[str, Any] = {}
        if model is not None:
            live = await self._run(content.tool, content.test_cases, model, deadline)
            outputs |= live
            before = self._catalog.accepted(content.target, content.tool.id)
            if before is not None and before.tool is not None and len(live) == len(content.test_cases):
                found["before"] = harness_result(
                    content.test_cases,
                    await self._run(before.tool, content.test_cases, model, deadline),
                    self.room_checks(),
                )
        return harness_result(content.test_cases, outputs, self.room_checks()) | found

    async def _run(
        self, tool: PromptTool, cases: tuple[TestCase, ...], model: Model, deadline: float
    ) -> dict[str, CaseOutput]:
        """Run test cases on a live model; a case that it cannot answer in time is left to its sample."""
        outputs: dict[str, CaseOutput] = {}
        for case in cases:
            try:
                async with asyncio.timeout_at(deadline):
                    turn = await self.answer(tool, case, model)
            except (ModelError, TimeoutError) as error:
                log.warning("test case %s of %s was not answered: %s", case.name, tool.id, error)
                break
            usage = {"tokens": turn.usage.tokens, "cost": turn.usage.cost}
            outputs[case.name] = CaseOutput(f"live model {self._shown(turn.model)}", turn.text, usage=usage)
        return outputs

    async def _assessment(
        self, proposal: Proposal, facts: dict[str, Any], harness: Mapping[str, Any], deadline: float
    ) -> dict[str, Any]:
        role = self._settings.roles.get(CHIEF_OF_STAFF)
        prompts = self._settings.prompts
        model = self._model(prompts.review_model, role.model if role else None, self._settings.crew.model)
        if model is None:
            return facts
        request = TurnRequest(
            review_messages(proposal, facts, harness, self._open_room.runtime.fence),
            role=CHIEF_OF_STAFF,
            max_tokens=prompts.review_tokens,
            schema=REPLY_SCHEMA,
        )
        try:
            async with asyncio.timeout_at(deadline):
                turn = await model.respond(request, _ignore_text)
            reviewed = read_review(turn.text, facts)
        except (ModelError, TimeoutError, ValueError, RecursionError) as error:
            why = str(error) or "its time was over"
            untold = [
                *facts["notJudged"],
                f"the model {self._shown(model.name)} gave no assessment: {why[:300]}",
            ]
            return facts | {"notJudged": untold}
        usage = {"tokens": turn.usage.tokens, "cost": turn.usage.cost}
        return {"by": f"{CHIEF_OF_STAFF} ({self._shown(turn.model)})", **reviewed, "usage": usage}
