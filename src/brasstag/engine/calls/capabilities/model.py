"""A tool may ask the model of its caller, in a conversation of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from brasstag.engine.graph.open import opening
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.store.database.base import View
from brasstag.store.tasks.rows import find_task
from brasstag.words.calls import Call
from brasstag.words.errors import Code, ToolError
from brasstag.words.messages import Assistant, Fences, Message
from brasstag.words.turns import Model, ModelError, Turn, TurnRequest


@dataclass(frozen=True, slots=True)
class CallersModel:
    """The model of the task that made a call; at a desk, the one that is set for the crew."""

    runtime: Runtime
    call: Call
    deadline: Deadline

    @property
    def fence(self) -> Fences:
        """Fences for what the model is shown of files."""
        return self.runtime.fence

    def ask(self, role: str, messages: Sequence[Message], seconds: float) -> Turn:
        """Ask for the next turn, and wait for it; raises ToolError."""
        try:
            model = self._model()
        except ModelError as error:
            raise error.as_tool_error() from None
        turn = sum(isinstance(message, Assistant) for message in messages)
        request = TurnRequest(tuple(messages), role=role, turn=turn, task_id=self.call.task_id)
        answering = asyncio.run_coroutine_threadsafe(
            model.respond(request, lambda _text: None), self.deadline.loop
        )

        def leave() -> None:
            answering.cancel()

        self.deadline.on_end(leave)
        try:
            return answering.result(max(seconds, 0.0))
        except ModelError as error:
            raise error.as_tool_error() from None
        except TimeoutError:
            raise ToolError(
                Code.TIMEOUT, f"{model.name} had not answered after {seconds:.3g} s; ask something simpler"
            ) from None
        finally:
            answering.cancel()
            self.deadline.on_end(None)

    def _model(self) -> Model:
        agents, crew = self.runtime.agents, self.runtime.agents.crew

        def look(view: View) -> tuple[str, str]:
            task = find_task(view, self.call.task_id)
            if task is None or task.is_desk:
                return "", ""
            return str(opening(view, task).get("model", "")), task.role

        name, role = self.runtime.store.read(look)
        if name:
            return agents.model(name, role)
        if not crew.model:
            raise ModelError("no model is set for this desk", Code.MODEL_NOT_CONFIGURED)
        return agents.find_model(crew.model, crew.fallback_model or "")
