"""Readers: whose window has to hold what a call gives or passes on."""

from brasstag.documents.carrying import Receiver
from brasstag.engine.agents import Chosen
from brasstag.engine.nodes import opening
from brasstag.engine.shop import Shop
from brasstag.policy.roles import OPERATOR
from brasstag.store.database import View
from brasstag.store.tasks import find_task
from brasstag.words.calls import Call
from brasstag.words.errors import ToolError
from brasstag.words.tokens import BYTES_PER_TOKEN
from brasstag.words.turns import Model, ModelError

LOADS = "load_to_context"
"""The tool that reads on in a document, whatever it was written with."""

RECALLED = 20_000
"""Characters that recall gives at once where they fit."""
RECALLED_SHARE = 0.25
"""How much of a small window they may fill."""


def receiver_of(shop: Shop, call: Call, target: str) -> Receiver:
    """Return who reads the documents of a call: its ``target`` role, else the task above, which may be a person."""

    def look(view: View) -> tuple[str, str]:
        task = find_task(view, call.task_id)
        if task is None or task.kind == "desk":
            return shop.agents.model_name(target, Chosen()) if target else "", target
        if target:
            return shop.agents.model_name(target, Chosen(**opening(view, task).get("chosen", {}))), target
        above = find_task(view, task.parent_id) if task.parent_id else None
        if above is None or above.kind == "desk":
            return "", ""
        return str(opening(view, above).get("model", "")), above.role

    role, reader = target, None
    try:
        name, role = shop.books.read(look)
        reader = shop.agents.model(name, role)
    except (ToolError, ModelError):
        # Nobody can tell how much that one reads.
        pass
    return receiving(shop, role or OPERATOR, reader)


def receiving(shop: Shop, role: str, reader: Model | None) -> Receiver:
    """Return what a role can do with documents it is given, where a model reads them in it."""
    may_load = shop.roles.why_not(role, LOADS) is None and shop.registry.get(LOADS) is not None
    return Receiver(shop.agents.document_tokens(reader), loads=may_load)


def recalled_at_once(shop: Shop, task_id: str) -> int:
    """Return how many characters of an earlier result a task is given where it does not say how many."""

    def look(view: View) -> tuple[str, str]:
        task = find_task(view, task_id)
        return ("", "") if task is None else (str(opening(view, task).get("model", "")), task.role)

    try:
        window = shop.agents.model(*shop.books.read(look)).context_tokens
    except (ToolError, ModelError):
        return RECALLED
    return min(RECALLED, round(window * RECALLED_SHARE) * BYTES_PER_TOKEN)
