"""The six kinds of tool, and the one table that says what each does."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class ToolType(StrEnum):
    """What happens when a tool is called; a new kind is one member here and one row in BEHAVIOUR."""

    FUNCTION_TOOL = "function_tool"
    NON_FUNCTION_TOOL = "non_function_tool"
    HANDOFF = "handoff"
    AGENT_AS_TOOL = "agent_as_tool"
    ASK_MASTER = "ask_master"
    ROOT = "root"


class Logs(StrEnum):
    """What a call of this kind leaves on the timeline."""

    INPUT_AND_RESULT = "Input+Result"
    INPUT = "Input only"
    INPUT_AND_DOCUMENTS = "Input+Docs"
    INPUT_AND_STATUS = "Input+Status"
    INPUT_AND_ANSWER = "Input+Answer"
    TASK_PAYLOAD = "Task payload"


class Action(StrEnum):
    """What the agent that called does next."""

    CONTINUE_WITH_RESULT = "Continue (with result)"
    CONTINUE = "Continue (instant)"
    STOP = "STOP + inject docs to parent"
    BLOCK = "BLOCK → Continue (with docs)"
    ENTER = "Entry point"


class Recipient(StrEnum):
    """Who is given the documents that a call of this kind passes on."""

    PARENT = "the task that opened this one"
    MASTER = "the agent or person that answers"
    TARGET = "the role that the call names"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One row of the table: everything the engine may ask about a kind."""

    logs: Logs
    action: Action
    creates_node: bool = False
    blocks_parent: bool = False
    executes_code: bool = False
    documents_to: Recipient | None = None

    @property
    def passes_documents(self) -> bool:
        """Whether documents travel with it."""
        return self.documents_to is not None

    def as_flags(self) -> Mapping[str, bool]:
        """Return the row as S1's loop asks for it; ``logs_input`` is true where a call leaves nothing but its input."""
        return MappingProxyType(
            {
                "executes_function": self.executes_code,
                "logs_input": self.logs is Logs.INPUT,
                "completes_task": self.action is Action.STOP,
                "creates_node": self.creates_node,
                "blocks_parent": self.blocks_parent,
                "passes_documents": self.passes_documents,
            }
        )


BEHAVIOUR: Mapping[ToolType, Behaviour] = MappingProxyType(
    {
        ToolType.FUNCTION_TOOL: Behaviour(
            Logs.INPUT_AND_RESULT, Action.CONTINUE_WITH_RESULT, executes_code=True
        ),
        ToolType.NON_FUNCTION_TOOL: Behaviour(Logs.INPUT, Action.CONTINUE),
        ToolType.HANDOFF: Behaviour(Logs.INPUT_AND_DOCUMENTS, Action.STOP, documents_to=Recipient.PARENT),
        ToolType.AGENT_AS_TOOL: Behaviour(
            Logs.INPUT_AND_STATUS,
            Action.BLOCK,
            creates_node=True,
            blocks_parent=True,
            documents_to=Recipient.TARGET,
        ),
        ToolType.ASK_MASTER: Behaviour(
            Logs.INPUT_AND_ANSWER,
            Action.BLOCK,
            creates_node=True,
            blocks_parent=True,
            documents_to=Recipient.MASTER,
        ),
        ToolType.ROOT: Behaviour(Logs.TASK_PAYLOAD, Action.ENTER, creates_node=True),
    }
)

TOOL_BEHAVIOR: Mapping[ToolType, Mapping[str, bool]] = MappingProxyType(
    {kind: row.as_flags() for kind, row in BEHAVIOUR.items()}
)
"""The same table in S1's words, for loops that route calls themselves."""
