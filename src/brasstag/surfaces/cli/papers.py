"""Documents for eyes: lists, facts, hits and histories."""

import json
from collections.abc import Mapping, Sequence
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
from brasstag.surfaces.cli.shelves import print_shelf
from brasstag.surfaces.cli.snippets import print_snippet
from brasstag.surfaces.cli.times import local_time
from brasstag.words.previews import ABSENT, DIRECTORY, digest_in

if TYPE_CHECKING:
    from brasstag.app.documents import RoomDocuments
    from brasstag.documents.library import Found, Listed
    from brasstag.documents.searching import Hit
    from brasstag.store.versions import Past, Version
    from brasstag.words.documents import Document

    Went = Mapping[tuple[str, int], str]

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000
_SHORT = 12


def print_documents(listed: "Listed", unfit: Sequence[str]) -> None:
    """Print a table of documents, and which filters nothing fits."""
    if listed.documents:
        print_shelf(listed.documents, [size(one.size_bytes) for one in listed.documents])
    else:
        say("No document fits.", "dim")
        tell_unfit(unfit)
    if listed.more:
        say("There are more; narrow it down, or give a larger --limit.", "dim")
    if listed.incomplete:
        say(f"{listed.incomplete[0].upper()}{listed.incomplete[1:]}.", "yellow")


def print_document(document: "Document", past: "Past", went: "Went", output: OutputName | None) -> None:
    """Print everything that is known of a document."""
    if wants_json(output):
        print_json(document.as_json() | {"versions": past_json(past, went)})
        return
    say(document.path, "bold")
    facts = {
        "type": document.mime_type,
        "size": size(document.size_bytes),
        "tokens": _tokens(document),
        "digest": document.digest,
        "created": f"{local_time(document.created_at)} by {_who(document.created_by, document.created_task)}",
        "changed": f"{local_time(document.updated_at)} by {_who(document.updated_by, document.updated_task)}",
        "versions": _counted(past),
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
            quote_all(data.decode(errors="replace").removesuffix("\n").split("\n"), indent="")
        else:
            streams.output().flush()
            streams.output().buffer.write(data)
        return
    blocks = await documents.blocks(version)
    if form == "json":
        print_json(blocks.as_json())
        return
    text = (as_markdown(blocks) if form == "markdown" else as_text(blocks)).removesuffix("\n")
    if streams.output().isatty():
        quote_all(text.split("\n"), indent="")
    else:
        streams.output().write(f"{text}\n")


def tell_unfit(unfit: Sequence[str], *, stderr: bool = False) -> None:
    """Say which filters nothing fits."""
    for sentence in unfit:
        say(f"  {sentence}", "yellow", stderr=stderr)


def print_found(found: "Found", unfit: Sequence[str], output: OutputName | None) -> None:
    """Print what a search came to."""
    hits = found.answer.hits
    if wants_json(output):
        for hit in hits:
            print_json(hit_json(hit))
        tell_unfit(unfit, stderr=True)
        if found.incomplete:
            say(found.incomplete, "yellow", stderr=True)
        return
    for hit in hits:
        brief((hit.document.path, "bold"), (_where(hit), "cyan"), (_tagged(hit), "dim"))
        print_snippet(hit.snippet)
    if not hits:
        say("Nothing found.", "dim")
        tell_unfit(unfit)
    if found.answer.has_more:
        say("There is more; narrow it down, or give a larger --limit.", "dim")
    if found.incomplete:
        say(f"{found.incomplete[0].upper()}{found.incomplete[1:]}.", "yellow")


def hit_json(hit: "Hit") -> dict[str, Any]:
    """Return a hit as tools give it, with its score besides, which is for people only."""
    from brasstag.tools.finding import told

    return told(hit) | {"score": float(f"{hit.score:.4g}")}


def print_difference(
    older: "Version", newer: "Version", old: str, new: str, went: str, output: OutputName | None
) -> None:
    """Print what differs between two versions; the newer one may be that it has gone, to where ``went`` says."""
    labels = [f"{one.path}@{one.version}" for one in (older, newer)]
    lines = list(diff_texts(old, new))
    gone = _gone(newer, went) if newer.state == ABSENT else ""
    if wants_json(output):
        print_json({"old": labels[0], "new": labels[1], "diff": lines} | ({"gone": gone} if gone else {}))
        return
    brief((f"{labels[0]} → {labels[1]}", "bold"))
    if gone:
        say(f"  {gone}", "yellow")
    if lines:
        print_lines(lines)
    else:
        say("  They are the same.", "dim")


def print_past(past: "Past", went: "Went", output: OutputName | None) -> None:
    """Print the history of a document, newest first, and then what else has been at its path."""
    if wants_json(output):
        for one in past_json(past, went):
            print_json(one)
        return
    _print_versions(past.line, went)
    if past.others:
        say("")
        say("Earlier at this path:", "bold")
        _print_versions(past.others, went)


def _print_versions(versions: Sequence["Version"], went: "Went") -> None:
    table(
        ("VERSION", "WHEN", "BY", "SIZE", "DIGEST", "WHY"),
        [
            (
                f"{one.path}@{one.version}",
                local_time(one.at),
                _who(one.by, one.task_id),
                "" if digest_in(one.state) is None else size(one.size),
                _state(one, went),
                _why(one),
            )
            for one in reversed(versions)
        ],
        styles={0: "bold", 1: "dim"},
    )


def past_json(past: "Past", went: "Went") -> list[dict[str, Any]]:
    """Return every version a path has to do with as programs read it; those of the line come last, the newest at the end."""
    return [
        one.as_json() | {"moved_to": went.get((one.path, one.version)), "line": is_line}
        for versions, is_line in ((past.others, False), (past.line, True))
        for one in versions
    ]


def size(count: int) -> str:
    """Return bytes as people say them."""
    amount = float(count)
    for unit in _UNITS:
        if amount < _STEP or unit == _UNITS[-1]:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _STEP
    raise AssertionError(json.dumps(count))


def _counted(past: "Past") -> str:
    others = f", and {len(past.others)} earlier at this path" if past.others else ""
    return f"{len(past.line)}{others}"


def _tokens(document: "Document") -> str:
    if document.token_count is None:
        return "not counted"
    about = "about " if document.tokenizer == "estimate" else ""
    return f"{about}{document.token_count:,} ({document.tokenizer})"


def _who(by: str, task: str) -> str:
    return f"{by} ({task[-8:]})" if task else by


def _state(version: "Version", went: "Went") -> str:
    digest = digest_in(version.state)
    if digest is not None:
        return digest[:_SHORT]
    to = went.get((version.path, version.version))
    return f"moved to {to}" if to else {ABSENT: "deleted", DIRECTORY: "a directory"}[version.state]


def _gone(version: "Version", went: str) -> str:
    how = f"was moved to {went}" if went else "was deleted"
    return f"{version.path} {how} at {local_time(version.at)} by {_who(version.by, version.task_id)}"


def _why(version: "Version") -> str:
    moved = f"moved from {version.source}" if version.source else ""
    return ", ".join(filter(None, (version.why, moved)))


def _where(hit: "Hit") -> str:
    spot = hit.spot
    if spot is None:
        return "  (its name, tags or description)"
    told = [
        f"page {spot.page}" if spot.page else "",
        f"sheet {spot.sheet}" if spot.sheet else "",
        f"row {spot.row}" if spot.row else "",
        f"paragraph {spot.paragraph}" if spot.paragraph else "",
    ]
    if any(told):
        return f"  {', '.join(filter(None, told))}"
    return f":{spot.line}" if spot.line else ""


def _tagged(hit: "Hit") -> str:
    return "  " + " ".join(f"#{tag}" for tag in hit.document.tags) if hit.document.tags else ""
