"""The demo of the counter: calls that are allowed, asked, edited, denied and undone."""

import json
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.words.approvals import ApprovalState
from brasstag.words.events import EntryKind

if TYPE_CHECKING:
    from brasstag.store import Store
    from brasstag.surfaces.cli.demo.stage import Stage

_CHAPTER = """# Chapter one

Call me Ishmael. Some years ago, never mind how long precisely, I thought I would sail about a little.
"""
_REWRITE = """# Chapter one

Call me Bartleby. I would prefer not to sail.
"""
_EDITED = """# Chapter one

Call me Ishmael. I would prefer not to sail.
"""


def tell(stage: "Stage") -> None:
    """Tell the whole story; end with the proof of it."""
    stage.chapter("A room has one directory that agents may touch. Every call to it is judged.")
    stage.run("init", str(stage.project))
    stage.enter()

    stage.chapter("Allowed. The profile is careful: writing a new file and reading it need no approval.")
    stage.run("call", "write_file", "path=chapters/one.md", f"content={_CHAPTER}")
    stage.run("call", "read_file", "path=chapters/one.md")

    stage.chapter("Asked. Overwriting a file waits for a person, who sees exactly what would change.")
    stage.run(
        "call", "write_file", "path=chapters/one.md", f"content={_REWRITE}", "--later", ends=Exit.WAITING
    )
    stage.run("approvals", "show", stage.look(_waiting))

    stage.chapter(
        "Approved with edits. Ada keeps the narrator's name; the call runs as she changed it, once."
    )
    stage.let_ada_decide()
    edited = json.dumps({"path": "chapters/one.md", "content": _EDITED})
    stage.run("approvals", "approve", stage.look(_waiting), "--arguments", edited)
    stage.run("call", "read_file", "path=chapters/one.md")

    stage.chapter("Denied, by a person. The agent is told why, and the file does not change.")
    stage.run("call", "delete_file", "path=chapters", "recursive=true", "--later", ends=Exit.WAITING)
    stage.run("approvals", "deny", stage.look(_waiting), "--reason", "we keep what we wrote")

    stage.chapter("Denied, by a rule. In every profile, no agent may read passwords.")
    (stage.project / "data" / ".env").write_text("PASSWORD=correct horse battery staple\n")
    stage.run("call", "read_file", "path=.env", ends=Exit.DENIED)
    stage.run("call", "search_code", "query=horse", "include_hidden=true")

    stage.chapter("Undone. Undo is a call too, and is judged like any other.")
    stage.run("undo", stage.look(_newest_overwrite), "--yes")
    stage.run("call", "read_file", "path=chapters/one.md")

    stage.chapter(
        "The timeline has all of it. Each entry is chained to the one before, and the ends are sealed with\n"
        "a key outside the project."
    )
    stage.run("timeline", "show")
    stage.run("timeline", "verify")


def _waiting(store: "Store") -> str:
    return store.approvals(ApprovalState.OPEN)[0].id


def _newest_overwrite(store: "Store") -> str:
    return next(entry.tag for entry in reversed(store.entries()) if entry.kind is EntryKind.SETTLED)
