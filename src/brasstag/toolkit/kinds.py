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


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One row of the table: everything the engine may ask about a kind."""

    creates_node: bool
    blocks_parent: bool
    executes_code: bool
    logs: Logs
    passes_documents: bool
    action: Action


BEHAVIOUR: Mapping[ToolType, Behaviour] = MappingProxyType(
    {
        ToolType.FUNCTION_TOOL: Behaviour(
            creates_node=False,
            blocks_parent=False,
            executes_code=True,
            logs=Logs.INPUT_AND_RESULT,
            passes_documents=False,
            action=Action.CONTINUE_WITH_RESULT,
        ),
        ToolType.NON_FUNCTION_TOOL: Behaviour(
            creates_node=False,
            blocks_parent=False,
            executes_code=False,
            logs=Logs.INPUT,
            passes_documents=False,
            action=Action.CONTINUE,
        ),
        ToolType.HANDOFF: Behaviour(
            creates_node=False,
            blocks_parent=False,
            executes_code=False,
            logs=Logs.INPUT_AND_DOCUMENTS,
            passes_documents=True,
            action=Action.STOP,
        ),
        ToolType.AGENT_AS_TOOL: Behaviour(
            creates_node=True,
            blocks_parent=True,
            executes_code=False,
            logs=Logs.INPUT_AND_STATUS,
            passes_documents=True,
            action=Action.BLOCK,
        ),
        ToolType.ASK_MASTER: Behaviour(
            creates_node=True,
            blocks_parent=True,
            executes_code=False,
            logs=Logs.INPUT_AND_ANSWER,
            passes_documents=True,
            action=Action.BLOCK,
        ),
        ToolType.ROOT: Behaviour(
            creates_node=True,
            blocks_parent=False,
            executes_code=False,
            logs=Logs.TASK_PAYLOAD,
            passes_documents=False,
            action=Action.ENTER,
        ),
    }
)
