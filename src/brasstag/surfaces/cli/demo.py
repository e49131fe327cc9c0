"""The story `make demo` plays: real commands on a real room, in a scratch directory."""

import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

from brasstag.surfaces.cli.console import say

_CHAPTER = """# Chapter one

Call me Ishmael. Some years ago, never mind how long precisely, I thought I would sail about a little.
"""
_REWRITE = """# Chapter one

Call me Bartleby. I would prefer not to sail.
"""
_EDITED = """# Chapter one

Call me Ishmael. I would prefer not to sail.
"""


def play(keep: str | None) -> None:
    """Play the whole story; end with the proof of it."""
    if keep is not None:
        _story(Path(keep).absolute())
        return
    with tempfile.TemporaryDirectory(prefix="brasstag-demo-") as scratch:
        _story(Path(scratch) / "novel")


def _story(project: Path) -> None:
    from brasstag.surfaces.cli.people import TOKEN_VARIABLE, add_approver

    # The story has its own keys and its own approver, so it neither reads nor leaves anything in yours.
    os.environ["BRASSTAG_USER_DIR"] = str(project.parent / f"{project.name}-user")
    token = add_approver("ada")

    _chapter("A room: one directory that agents may touch, and a counter in front of it.")
    _run("init", str(project))
    os.chdir(project)

    _chapter(
        "Allowed. The profile is careful: a new file needs nobody's approval, and neither does reading it."
    )
    _run("call", "write_file", "path=chapters/one.md", f"content={_CHAPTER}")
    _run("call", "read_file", "path=chapters/one.md")

    _chapter("Asked. Writing over a file waits for a person, who is shown exactly what would change.")
    _run("call", "write_file", "path=chapters/one.md", f"content={_REWRITE}", "--later")
    _run("approvals", "show", _waiting(project))

    _chapter("Approved with edits. Ada keeps the narrator's name; the call runs as she changed it, once.")
    os.environ[TOKEN_VARIABLE] = token
    edited = json.dumps({"path": "chapters/one.md", "content": _EDITED})
    _run("approvals", "approve", _waiting(project), "--arguments", edited)
    _run("call", "read_file", "path=chapters/one.md")

    _chapter("Denied, by a person. The agent is told why, and nothing has happened.")
    _run("call", "delete_file", "path=chapters", "recursive=true", "--later")
    _run("approvals", "deny", _waiting(project), "--reason", "we keep what we wrote")

    _chapter("Denied, by a rule. Secrets are no agent's business, whatever the profile.")
    (project / "data" / ".env").write_text("PASSWORD=correct horse battery staple\n")
    _run("call", "read_file", "path=.env")
    _run("call", "search_code", "query=horse", "include_hidden=true")

    _chapter("Undone. Taking a call back is itself a call, judged like any other.")
    _run("undo", _newest_overwrite(project), "--yes")
    _run("call", "read_file", "path=chapters/one.md")

    _chapter(
        "All of it is on the timeline, each entry chained to the one before, the heads sealed with a key"
    )
    _chapter("that lies outside the project.", first=False)
    _run("timeline", "show")
    _run("timeline", "verify")


def _run(*arguments: str) -> None:
    """Show a command as a person would type it, then run it."""
    from brasstag.surfaces.cli.main import main

    shown = shlex.join(arguments)
    say(f"$ brasstag {shown}", "bold cyan")
    people = (
        ()
        if arguments[0] in ("init", "approvals") and arguments[:2] != ("approvals", "show")
        else ("-o", "people")
    )
    people = ("-o", "people") if arguments[:2] == ("approvals", "approve") else people
    try:
        main([*arguments, *people])
    except SystemExit as ended:
        if ended.code:
            say(f"  (exit {ended.code})", "dim")
    sys.stdout.flush()


def _chapter(text: str, *, first: bool = True) -> None:
    if first:
        say("")
    say(text, "bold")


def _waiting(project: Path) -> str:
    from brasstag.app.vault import open_vault
    from brasstag.store.approvals import list_approvals
    from brasstag.words.approvals import ApprovalState

    vault = open_vault(project)
    try:
        return vault.books.read(lambda view: list_approvals(view, (ApprovalState.OPEN,)))[0].id
    finally:
        vault.close()


def _newest_overwrite(project: Path) -> str:
    from brasstag.app.vault import open_vault
    from brasstag.store.timeline import read_entries
    from brasstag.words.events import EntryKind

    vault = open_vault(project)
    try:
        entries = vault.books.read(lambda view: list(read_entries(view)))
        return next(entry.tag for entry in reversed(entries) if entry.kind is EntryKind.SETTLED)
    finally:
        vault.close()
