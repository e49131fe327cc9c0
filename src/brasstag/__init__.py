"""Brasstag: the counter where agents take their tools.

Rooms, from the floor up; imports only point down:

words      frozen types, no I/O                  policy    rules, roles, grants: pure
settings   brasstag.toml, read once              tools     the shipped tools and their configs
store      timeline, ledger, approvals, blobs    engine    the path of one call
sandbox    the workspace, and what may touch it  app       the composition root: Room
toolkit    tool configs, registry, schemas       surfaces  the command line

What is named here is public; everything is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brasstag.app.classes import BaseTool
    from brasstag.app.listening import Output
    from brasstag.app.room import Room
    from brasstag.app.runs import Ended
    from brasstag.app.watching import Happening, Question, Waits
    from brasstag.documents.library import Found, Listed
    from brasstag.documents.whole import WholeDocument
    from brasstag.policy.rule_engine import RuleEngine, SafetyRule
    from brasstag.sandbox.workspace.draft import Draft
    from brasstag.store.catalogue import Wanted
    from brasstag.store.versions import Version
    from brasstag.toolkit.classes import create_json_schema
    from brasstag.toolkit.config import Limits
    from brasstag.toolkit.declare import tool
    from brasstag.toolkit.registry import ToolRegistry
    from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState, Approver
    from brasstag.words.blocks import Block, Blocks
    from brasstag.words.budgets import Budget
    from brasstag.words.calls import Call, Done, Failed, Outcome, Tag, ToolCall, ToolResult, Unknown, Waiting
    from brasstag.words.documents import Document
    from brasstag.words.errors import Code, ConfigError, ToolError, UntrustedError
    from brasstag.words.previews import Preview
    from brasstag.words.turns import ModelError, Retrying
    from brasstag.words.verdicts import Verdict
    from brasstag.words.views import result_view, status_view, tool_result_view

__version__ = "0.1.0"

_HOMES = {
    "app.classes": ("BaseTool",),
    "app.listening": ("Output",),
    "app.room": ("Room",),
    "app.runs": ("Ended",),
    "app.watching": ("Happening", "Question", "Waits"),
    "documents.library": ("Found", "Listed"),
    "documents.whole": ("WholeDocument",),
    "policy.rule_engine": ("RuleEngine", "SafetyRule"),
    "sandbox.workspace.draft": ("Draft",),
    "store.catalogue": ("Wanted",),
    "store.versions": ("Version",),
    "toolkit.classes": ("create_json_schema",),
    "toolkit.config": ("Limits",),
    "toolkit.declare": ("tool",),
    "toolkit.registry": ("ToolRegistry",),
    "words.approvals": ("Approval", "ApprovalResponse", "ApprovalState", "Approver"),
    "words.blocks": ("Block", "Blocks"),
    "words.budgets": ("Budget",),
    "words.calls": (
        "Call", "Done", "Failed", "Outcome", "Tag", "ToolCall", "ToolResult", "Unknown", "Waiting",
    ),
    "words.documents": ("Document",),
    "words.errors": ("Code", "ConfigError", "ToolError", "UntrustedError"),
    "words.previews": ("Preview",),
    "words.turns": ("ModelError", "Retrying"),
    "words.verdicts": ("Verdict",),
    "words.views": ("result_view", "status_view", "tool_result_view"),
}  # fmt: skip
_PLACES = {name: f"brasstag.{module}" for module, names in _HOMES.items() for name in names}

__all__ = [
    "Approval", "ApprovalResponse", "ApprovalState", "Approver", "BaseTool", "Block", "Blocks", "Budget", "Call",
    "Code", "ConfigError", "Document", "Done", "Draft", "Ended", "Failed", "Found", "Happening", "Limits", "Listed",
    "ModelError", "Outcome", "Output", "Preview", "Question", "Retrying", "Room", "RuleEngine", "SafetyRule", "Tag",
    "ToolCall", "ToolError", "ToolRegistry", "ToolResult", "Unknown", "UntrustedError", "Verdict", "Version",
    "Waiting", "Waits", "Wanted", "WholeDocument", "create_json_schema", "result_view", "status_view", "tool",
    "tool_result_view",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"brasstag has no {name}")
    return getattr(import_module(_PLACES[name]), name)
