"""The story `make demo` plays: real commands on a real room, in a scratch directory."""

import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

from brasstag.surfaces.cli.console import say
from brasstag.surfaces.cli.exits import Exit
from brasstag.words.errors import Code, ToolError

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
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="brasstag-demo-") as scratch:
            _story(Path(scratch) / "novel")
        return
    project = Path(keep).absolute()
    if project.exists() or _user_directory(project).exists():
        raise ToolError(Code.ALREADY_EXISTS, f"{project} is there already; the story needs a new directory")
    _story(project)
    say("")
    say("To look around:", "bold")
    say(f"  export BRASSTAG_USER_DIR={shlex.quote(str(_user_directory(project)))}")
    say(f"  cd {shlex.quote(str(project))}")


def _story(project: Path) -> None:
    from brasstag.surfaces.cli.people import TOKEN_VARIABLE, add_approver

    # The story has its own keys and its own approver, so it neither reads nor leaves anything in yours.
    os.environ["BRASSTAG_USER_DIR"] = str(_user_directory(project))
    os.environ.pop(TOKEN_VARIABLE, None)
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
    _run("call", "write_file", "path=chapters/one.md", f"content={_REWRITE}", "--later", ends=Exit.WAITING)
    _run("approvals", "show", _waiting(project))

    _chapter("Approved with edits. Ada keeps the narrator's name; the call runs as she changed it, once.")
    os.environ[TOKEN_VARIABLE] = token
    edited = json.dumps({"path": "chapters/one.md", "content": _EDITED})
    _run("approvals", "approve", _waiting(project), "--arguments", edited)
    _run("call", "read_file", "path=chapters/one.md")

    _chapter("Denied, by a person. The agent is told why, and nothing has happened.")
    _run("call", "delete_file", "path=chapters", "recursive=true", "--later", ends=Exit.WAITING)
    _run("approvals", "deny", _waiting(project), "--reason", "we keep what we wrote")

    _chapter("Denied, by a rule. Secrets are no agent's business, whatever the profile.")
    (project / "data" / ".env").write_text("PASSWORD=correct horse battery staple\n")
    _run("call", "read_file", "path=.env", ends=Exit.DENIED)
    _run("call", "search_code", "query=horse", "include_hidden=true")

    _chapter("Undone. Taking a call back is itself a call, judged like any other.")
    _run("undo", _newest_overwrite(project), "--yes")
    _run("call", "read_file", "path=chapters/one.md")

    _chapter(
        "All of it is on the timeline, each entry chained to the one before, the heads sealed with a key\n"
        "that lies outside the project."
    )
    _run("timeline", "show")
    _run("timeline", "verify")


def _user_directory(project: Path) -> Path:
    return project.with_name(f"{project.name}-user")


def _run(*arguments: str, ends: Exit = Exit.DONE) -> None:
    """Show a command as a person would type it, run it, and stop the story should it not end as told."""
    from brasstag.surfaces.cli.main import main

    say(f"$ brasstag {shlex.join(arguments)}", "bold cyan")
    try:
        main([*arguments, "-o", "people"])
    except SystemExit as ended:
        sys.stdout.flush()
        if ended.code != ends:
            say(f"The story stops here: this should have ended with {ends}, not {ended.code}.", "red")
            raise
        if ends:
            say(f"  (exit {ends})", "dim")


def _chapter(text: str) -> None:
    say(f"\n{text}", "bold")


def _waiting(project: Path) -> str:
    from brasstag.store.approvals import list_approvals
    from brasstag.surfaces.cli.rooms import open_books
    from brasstag.words.approvals import ApprovalState

    with open_books(project) as vault:
        return vault.books.read(lambda view: list_approvals(view, (ApprovalState.OPEN,)))[0].id


def _newest_overwrite(project: Path) -> str:
    from brasstag.store.timeline import read_entries
    from brasstag.surfaces.cli.rooms import open_books
    from brasstag.words.events import EntryKind

    with open_books(project) as vault:
        entries = vault.books.read(lambda view: list(read_entries(view)))
    return next(entry.tag for entry in reversed(entries) if entry.kind is EntryKind.SETTLED)
