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

    creates_node: bool
    blocks_parent: bool
    executes_code: bool
    logs: Logs
    documents_to: Recipient | None
    action: Action

    @property
    def passes_documents(self) -> bool:
        """Whether documents travel with it."""
        return self.documents_to is not None


BEHAVIOUR: Mapping[ToolType, Behaviour] = MappingProxyType(
    {
        ToolType.FUNCTION_TOOL: Behaviour(
            creates_node=False,
            blocks_parent=False,
            executes_code=True,
            logs=Logs.INPUT_AND_RESULT,
            documents_to=None,
            action=Action.CONTINUE_WITH_RESULT,
        ),
        ToolType.NON_FUNCTION_TOOL: Behaviour(
            creates_node=False,
            blocks_parent=False,
            executes_code=False,
            logs=Logs.INPUT,
            documents_to=None,
            action=Action.CONTINUE,
        ),
        ToolType.HANDOFF: Behaviour(
            creates_node=False,
            blocks_parent=False,
            executes_code=False,
            logs=Logs.INPUT_AND_DOCUMENTS,
            documents_to=Recipient.PARENT,
            action=Action.STOP,
        ),
        ToolType.AGENT_AS_TOOL: Behaviour(
            creates_node=True,
            blocks_parent=True,
            executes_code=False,
            logs=Logs.INPUT_AND_STATUS,
            documents_to=Recipient.TARGET,
            action=Action.BLOCK,
        ),
        ToolType.ASK_MASTER: Behaviour(
            creates_node=True,
            blocks_parent=True,
            executes_code=False,
            logs=Logs.INPUT_AND_ANSWER,
            documents_to=Recipient.MASTER,
            action=Action.BLOCK,
        ),
        ToolType.ROOT: Behaviour(
            creates_node=True,
            blocks_parent=False,
            executes_code=False,
            logs=Logs.TASK_PAYLOAD,
            documents_to=None,
            action=Action.ENTER,
        ),
    }
)
