"""Documents for people and for programs: lists, facts, contents and hits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.show.versions import counted, who
from brasstag.surfaces.cli.terminal import streams
from brasstag.surfaces.cli.terminal.console import (
    OutputName,
    brief,
    print_json,
    quote,
    quote_all,
    say,
    wants_json,
)
from brasstag.surfaces.cli.terminal.numbers import local_time, size
from brasstag.surfaces.cli.terminal.snippets import print_snippet
from brasstag.surfaces.cli.terminal.tables import print_document_table

if TYPE_CHECKING:
    from brasstag.app import RoomDocuments
    from brasstag.documents import Found, History, Hit, Listed
    from brasstag.store import Version
    from brasstag.words.documents import Document


def print_documents(listed: "Listed", unfit: Sequence[str], next_: int, output: OutputName | None) -> None:
    """Print the documents of a list, and what is to be known of it; ``next_`` is the offset of what comes after them."""
    is_json = wants_json(output)
    if is_json:
        for document in listed.documents:
            print_json(document.as_json())
    elif listed.documents:
        print_document_table(listed.documents)
    else:
        say("No document comes after these." if next_ else "No document fits.", "dim")
    _tell_rest(unfit, next_ if listed.more else None, listed.incomplete, stderr=is_json)


def print_document(document: "Document", history: "History", output: OutputName | None) -> None:
    """Print everything that is known of a document."""
    if wants_json(output):
        print_json(document.as_json() | {"versions": history.as_json()})
        return
    quote(document.path, "bold", indent="")
    facts = {
        "type": document.mime_type,
        "size": size(document.size_bytes),
        "tokens": _tokens(document),
        "digest": document.digest,
        "created": f"{local_time(document.created_at)} by {_maker(document.created_role, document.created_by)}",
        "changed": f"{local_time(document.updated_at)} by {_maker(document.updated_role, document.updated_by)}",
        "versions": counted(history),
        "tags": ", ".join(document.tags) or "none",
    }
    for name, value in facts.items():
        brief((f"  {name:<13}", "dim"), (value, ""))
    # The reason why something is missing is never shortened.
    quote(f"{'in the index':<13}{document.indexed}", indent="  ")
    if document.description:
        quote(document.description, indent="  ")
    if document.auto_summary:
        say(f"  summary ({document.summary_by}):", "dim")
        quote(document.auto_summary, indent="  │ ")


async def print_content(documents: "RoomDocuments", version: "Version", form: str) -> None:
    """Print what a version held, as it is or in another form, for a pipe as well as for eyes."""
    from brasstag.documents import as_markdown, as_text

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


def print_found(found: "Found", unfit: Sequence[str], next_: int, output: OutputName | None) -> None:
    """Print the result of a search, in the form of a list of documents."""
    is_json = wants_json(output)
    for hit in found.hits:
        if is_json:
            print_json(hit_json(hit))
            continue
        brief((hit.document.path, "bold"), (_where(hit), "cyan"), (_tagged(hit), "dim"))
        print_snippet(hit.snippet)
    if not found.hits and not is_json:
        say("Nothing more found." if next_ else "Nothing found.", "dim")
    _tell_rest(unfit, next_ if found.more else None, found.incomplete, stderr=is_json)


def _tell_rest(unfit: Sequence[str], more_at: int | None, incomplete: str | None, *, stderr: bool) -> None:
    """Say which filters match nothing, where the rest of the list begins, and what the answer may lack."""
    for sentence in unfit:
        say(f"  {sentence}", "yellow", stderr=stderr)
    if more_at is not None:
        said = f"There is more: narrow it down, give a larger --limit, or go on with --offset {more_at}."
        say(said, "dim", stderr=stderr)
    if incomplete:
        say(f"{incomplete[0].upper()}{incomplete[1:]}.", "yellow", stderr=stderr)


def hit_json(hit: "Hit") -> dict[str, Any]:
    """Return a hit as tools give it, with its score besides, which is for people only."""
    return hit.as_json() | {"score": float(f"{hit.score:.4g}")}


def _maker(role: str, task: str) -> str:
    return who(role, task) if role else task


def _tokens(document: "Document") -> str:
    if document.token_count is None:
        return "not counted"
    about = "about " if document.tokenizer == "estimate" else ""
    return f"{about}{document.token_count:,} ({document.tokenizer})"


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
