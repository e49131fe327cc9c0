"""prose_analyzer and line_editor: figures of prose, and exact edits that are checked against the file."""

from typing import Any

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.manuscript.language.judge_language import why_not_judged
from brasstag.tools.manuscript.language.sentences import sentences_in
from brasstag.tools.manuscript.parts.scenes import scene_in
from brasstag.tools.manuscript.prose.edits import ProposedEdit, checked, overlapping, suggestions
from brasstag.tools.manuscript.prose.statistics import statistics
from brasstag.tools.manuscript.text import NotJudged, SourceText
from brasstag.tools.manuscript_texts import read_one
from brasstag.words.errors import Code, ToolError


@tool(execution_type="function")
def prose_analyzer(
    workspace: Draft, limits: Limits, path: str, start_line: int | None = None, end_line: int | None = None
) -> dict[str, Any]:
    """prose_analyzer"""
    source = read_one(workspace, limits, path)
    first, after = _range(source, start_line, end_line)
    sentences = list(sentences_in(source, first, after))
    if not any(sentence.words for sentence in sentences):
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"{path} has no words in these lines; choose a text with words"
        )
    most = limits.numbers["max_items"]
    found = statistics(sentences, most)
    lists = (found["repeated_words"], found["repeated_phrases"])
    cut = any(len(one) >= most for one in lists) or any(
        found[name]["count"] > most for name in ("adverbs", "filter_words")
    )
    return {"path": source.path, **found, **_scanned(source), "truncated": cut}


@tool(execution_type="function")
def line_editor(
    workspace: Draft,
    limits: Limits,
    path: str,
    edits: list[dict[str, str]] | None = None,
    suggest: bool = True,
) -> dict[str, Any]:
    """line_editor"""
    source = read_one(workspace, limits, path)
    proposed = [
        ProposedEdit(one["search_text"], one["replace_text"], one.get("reason", "")) for one in edits or ()
    ]
    if not proposed and not suggest:
        raise ToolError(
            Code.INVALID_ARGUMENTS, "there is nothing to do: propose edits, or let suggest be true"
        )
    most = limits.numbers["max_items"]
    safe = suggestions(source, most + 1) if suggest else []
    return {
        "path": source.path,
        "edits": checked(source, proposed),
        "overlapping": overlapping(source, proposed),
        "suggestions": safe[:most],
        **_scanned(source),
        "truncated": len(safe) > most,
    }


def _range(source: SourceText, start_line: int | None, end_line: int | None) -> tuple[int, int]:
    """Return where a range of lines begins and ends; without one, the prose behind the head of a scene."""
    if start_line is None and end_line is None:
        return scene_in(source).body, len(source.plain)
    lines = source.plain.split("\n")
    first, last = start_line or 1, end_line or len(lines)
    if last < first or first > len(lines):
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"lines {first} to {last} are not in the file, which has {len(lines)}"
        )
    start = sum(len(line) + 1 for line in lines[: first - 1])
    return start, min(len(source.plain), start + sum(len(line) + 1 for line in lines[first - 1 : last]))


def _scanned(source: SourceText) -> dict[str, Any]:
    reason = why_not_judged(source.plain)
    return {
        "scanned": [{"path": source.path, "sha256": source.digest}],
        "not_judged": [NotJudged(source.path, reason).as_json()] if reason else [],
    }
