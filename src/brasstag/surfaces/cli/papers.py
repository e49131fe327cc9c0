"""Documents for eyes: lists, facts, hits and histories."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brasstag.documents.comparing import diff_texts
from brasstag.surfaces.cli import streams
from brasstag.surfaces.cli.console import (
    OutputName,
    brief,
    print_json,
    quote,
    quote_all,
    say,
    table,
    wants_json,
)
from brasstag.surfaces.cli.diffs import print_lines
from brasstag.surfaces.cli.times import local_time
from brasstag.words.previews import ABSENT, DIRECTORY, digest_in

if TYPE_CHECKING:
    from brasstag.app.documents import RoomDocuments
    from brasstag.documents.library import Found, Listed
    from brasstag.documents.searching import Hit
    from brasstag.store.versions import Version
    from brasstag.words.documents import Document

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000
_SHORT = 12


def print_documents(listed: "Listed") -> None:
    """Print a table of documents."""
    if listed.documents:
        table(
            ("PATH", "TYPE", "SIZE", "V", "CHANGED", "BY", "ABOUT"),
            [
                (
                    one.path,
                    one.media_type,
                    size(one.size_bytes),
                    str(one.version),
                    local_time(one.updated_at)[:16],
                    one.updated_by,
                    _about(one),
                )
                for one in listed.documents
            ],
            styles={0: "bold", 4: "dim"},
        )
    else:
        say("No document fits.", "dim")
    if listed.more:
        say("There are more; narrow it down, or give a larger --limit.", "dim")
    if listed.incomplete:
        say(f"{listed.incomplete[0].upper()}{listed.incomplete[1:]}.", "yellow")


def print_document(document: "Document", versions: Sequence["Version"], output: OutputName | None) -> None:
    """Print everything that is known of a document."""
    if wants_json(output):
        print_json(document.as_json() | {"versions": [version_json(one) for one in versions]})
        return
    say(document.path, "bold")
    facts = {
        "type": document.media_type,
        "size": size(document.size_bytes),
        "tokens": _tokens(document),
        "digest": document.digest,
        "created": f"{local_time(document.created_at)} by {_who(document.created_by, document.created_task)}",
        "changed": f"{local_time(document.updated_at)} by {_who(document.updated_by, document.updated_task)}",
        "versions": str(len(versions)),
        "tags": ", ".join(document.tags) or "none",
        "in the index": document.indexed,
    }
    for name, value in facts.items():
        brief((f"  {name:<13}", "dim"), (value, ""))
    if document.description:
        quote(document.description, indent="  ")
    if document.auto_summary:
        say(f"  summary ({document.summary_by}):", "dim")
        quote(document.auto_summary, indent="  │ ")


async def print_content(documents: "RoomDocuments", version: "Version", form: str) -> None:
    """Print what a version held, as it is or in another form, for a pipe as well as for eyes."""
    from brasstag.documents.rendering import as_markdown, as_text

    if form == "source":
        data = await documents.read(version)
        if streams.output().isatty():
            quote_all(data.decode(errors="replace").split("\n"), indent="")
        else:
            streams.output().flush()
            streams.output().buffer.write(data)
        return
    blocks = await documents.blocks(version)
    if form == "json":
        print_json(blocks.as_json())
        return
    text = as_markdown(blocks) if form == "markdown" else as_text(blocks)
    if streams.output().isatty():
        quote_all(text.split("\n"), indent="")
    else:
        streams.output().write(text)


def print_found(found: "Found", output: OutputName | None) -> None:
    """Print what a search came to."""
    hits = found.answer.hits
    if wants_json(output):
        for hit in hits:
            print_json(hit_json(hit))
        if found.incomplete:
            say(found.incomplete, "yellow", stderr=True)
        return
    for hit in hits:
        brief((hit.document.path, "bold"), (_where(hit), "cyan"), (_tagged(hit), "dim"))
        quote(" ".join(hit.snippet.text.split()), indent="  │ ")
    if not hits:
        say("Nothing found.", "dim")
    if found.answer.has_more:
        say("There is more; narrow it down, or give a larger --limit.", "dim")
    if found.incomplete:
        say(f"{found.incomplete[0].upper()}{found.incomplete[1:]}.", "yellow")


def hit_json(hit: "Hit") -> dict[str, Any]:
    """Return a hit as tools give it."""
    from brasstag.tools.finding import told

    return told(hit)


def print_difference(
    older: "Version", newer: "Version", old: str, new: str, output: OutputName | None
) -> None:
    """Print what differs between two versions."""
    labels = [f"{one.path}@{one.version}" for one in (older, newer)]
    lines = list(diff_texts(old, new))
    if wants_json(output):
        print_json({"old": labels[0], "new": labels[1], "diff": lines})
        return
    brief((f"{labels[0]} → {labels[1]}", "bold"))
    if lines:
        print_lines(lines)
    else:
        say("  They are the same.", "dim")


def print_versions(versions: Sequence["Version"], output: OutputName | None) -> None:
    """Print the history of a document, newest first."""
    if wants_json(output):
        for one in versions:
            print_json(version_json(one))
        return
    table(
        ("VERSION", "WHEN", "BY", "SIZE", "DIGEST", "WHY"),
        [
            (
                f"{one.path}@{one.version}",
                local_time(one.at),
                _who(one.by, one.task_id),
                "" if digest_in(one.state) is None else size(one.size),
                _state(one.state),
                _why(one),
            )
            for one in reversed(versions)
        ],
        styles={0: "bold", 1: "dim"},
    )


def version_json(version: "Version") -> dict[str, Any]:
    """Return a version as programs read it."""
    return {
        "path": version.path,
        "version": version.version,
        "state": version.state.partition(":")[0],
        "digest": digest_in(version.state),
        "size_bytes": version.size,
        "by": version.by,
        "task": version.task_id,
        "call": version.call_id,
        "why": version.why,
        "at": version.at,
        "moved_from": version.source or None,
    }


def size(count: int) -> str:
    """Return bytes as people say them."""
    amount = float(count)
    for unit in _UNITS:
        if amount < _STEP or unit == _UNITS[-1]:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _STEP
    raise AssertionError(json.dumps(count))


def _about(document: "Document") -> str:
    tags = " ".join(f"#{tag}" for tag in document.tags)
    return " ".join(filter(None, (tags, document.description or document.auto_summary or "")))


def _tokens(document: "Document") -> str:
    if document.token_count is None:
        return "not counted"
    about = "about " if document.tokenizer == "estimate" else ""
    return f"{about}{document.token_count:,} ({document.tokenizer})"


def _who(by: str, task: str) -> str:
    return f"{by} ({task[-8:]})" if task else by


def _state(state: str) -> str:
    digest = digest_in(state)
    if digest is None:
        return {ABSENT: "deleted", DIRECTORY: "a directory"}[state]
    return digest[:_SHORT]


def _why(version: "Version") -> str:
    moved = f"moved from {version.source}" if version.source else ""
    return ", ".join(filter(None, (version.why, moved)))


def _where(hit: "Hit") -> str:
    spot = hit.spot
    if spot is None:
        return "  (its name, tags or description)"
    if spot.page:
        return f"  page {spot.page}"
    if spot.sheet:
        return f"  sheet {spot.sheet}"
    return f":{spot.line}" if spot.line else ""


def _tagged(hit: "Hit") -> str:
    return "  " + " ".join(f"#{tag}" for tag in hit.document.tags) if hit.document.tags else ""
