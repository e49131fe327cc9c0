"""Evidence of one task: its tags on the chain, and the files as its calls saw them, to check what it replies."""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from brasstag.catalog.evidence.check_reply import check_reply
from brasstag.catalog.evidence.items import (
    CitedCall,
    EvidenceFault,
    EvidenceProblem,
    NotSeen,
    SeenText,
)
from brasstag.engine.read_set import ReadSet
from brasstag.engine.runtime import Runtime
from brasstag.engine.transcript.refusals import Refusals
from brasstag.engine.transcript.state import CLOSING
from brasstag.sandbox.workspace.view.reader import Reader, read_all
from brasstag.store.timeline.timeline import first_entry
from brasstag.toolkit.kinds import ToolType
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, StoreError, ToolError, Unproven
from brasstag.words.events import Entry
from brasstag.words.previews import digest_in

LARGEST_CHECKED = 20_000_000
"""Bytes of the largest file that citations are checked against."""

_LOOKS_AT_NOTHING = frozenset({ToolType.NON_FUNCTION_TOOL.value, ToolType.HANDOFF.value, "unknown"})


def evidence_tries(opened: Mapping[str, Any]) -> int | None:
    """Return after how many refused replies a task fails; None where it need not give evidence."""
    bound = opened.get("evidence")
    return None if bound is None else int(bound["tries"])


def require_evidence(runtime: Runtime, task_id: str, role: str, result: Any) -> None:
    """Raise ToolError where a task has to give evidence for its result, and the evidence does not hold."""
    first = runtime.store.read(lambda view: first_entry(view, task_id))
    tries = evidence_tries((first and first.payload) or {})
    if tries is None:
        return
    facts = TaskFacts(runtime, task_id, role)
    problems = check_reply(result, facts)
    if problems:
        raise ToolError(
            Code.EVIDENCE_REFUSED,
            f"the evidence in this result does not hold ({facts.refused + 1} of {tries} tries); mend what the problems "
            "say, and hand off the whole result again",
            {"problems": [problem.as_json() for problem in problems]},
        )


def evidence_problems(runtime: Runtime, task_id: str, role: str, reply: Any) -> list[EvidenceProblem]:
    """Return what has to be mended in a reply of a task before it counts."""
    return check_reply(reply, TaskFacts(runtime, task_id, role))


class TaskFacts:
    """What the timelines of a task and of those below it say; every hash is checked."""

    def __init__(self, runtime: Runtime, task_id: str, role: str) -> None:
        self._runtime = runtime
        self._task_id = task_id
        self._role = role
        self._proven: dict[str, list[Entry]] = {}
        self._by_tag: dict[str, Entry | None] = {}
        self._read_set = _read_set(self._entries(task_id))

    @property
    def tools(self) -> Collection[str]:
        """The names of all tools of the room."""
        return self._runtime.registry.names()

    @property
    def refused(self) -> int:
        """How many replies of the task were refused before."""
        return Refusals.told_by(self._entries(self._task_id)).count

    def call_behind(self, tag: str) -> CitedCall | None:
        """Return the call with this tag on the chain of the task, or of one below it."""
        entry = self._cited(tag)
        if entry is None:
            return None
        payload = entry.payload
        if payload is None:
            return CitedCall("", "", removed=True)
        is_end = entry.kind in CLOSING or "outcome" in payload
        result = payload.get("result")
        error = result.get("error") if isinstance(result, Mapping) else None
        return CitedCall(
            payload.get("tool", ""),
            payload.get("outcome", "") if is_end else "",
            str(error.get("code", ""))
            if isinstance(error, Mapping) and payload.get("outcome") != "done"
            else "",
            looks=payload.get("type") not in _LOOKS_AT_NOTHING,
            found=len(_matches(payload)),
        )

    def seen_text(self, path: str, tag: str) -> SeenText | NotSeen:
        """Return a file as the call behind a tag saw it, or, without a tag, as the task saw it last."""
        if self._runtime.policy.rules.hides(path, role=self._role) is not None:
            return NotSeen(
                EvidenceFault.NOT_CHECKABLE, f"a rule keeps {path} from {self._role}; leave it out"
            )
        cited = self._cited(tag) if tag else None
        if cited is not None and cited.task_id != self._task_id and self._must_ask(path):
            says = f"a person has to be asked before {self._role} reads {path}; read it yourself, and cite that call"
            return NotSeen(EvidenceFault.NOT_CHECKABLE, says)
        if cited is None:
            return self._version(path, self._entries(self._task_id), self._read_set)
        entries = [
            one for one in self._entries(cited.task_id) if one.call_id and one.call_id == cited.call_id
        ]
        seen = _read_set(entries)
        if path in seen.by_path:
            return self._version(path, entries, seen)
        if lines := dict(_found_lines(cited.payload or {}, path)):
            return SeenText(lines, whole=False)
        if path in self._read_set.by_path and any(map(_walked, entries)):
            # A walk does not note the version of each file it looks into.
            return self._version(path, self._entries(self._task_id), self._read_set)
        says = f"the call behind {tag} showed nothing of {path}; cite the one that did"
        return NotSeen(EvidenceFault.NOT_SEEN, says)

    def _must_ask(self, path: str) -> bool:
        return self._runtime.policy.rules.asks(path, role=self._role) is not None

    def _version(self, path: str, entries: list[Entry], seen: ReadSet) -> SeenText | NotSeen:
        last = seen.by_path.get(path)
        digest = digest_in(last.state) if last else None
        if not digest:
            why = "was not there" if last else "was not read in this task"
            return NotSeen(EvidenceFault.NOT_SEEN, f"{path} {why}; read it first, then cite it")
        data = self._content(path, digest, entries)
        if data is None:
            says = f"what {path} held when you saw it was not kept, or is too large; read it again, and cite that call"
            return NotSeen(EvidenceFault.NOT_CHECKABLE, says)
        try:
            return SeenText(dict(enumerate(_lines(data.decode()), start=1)))
        except UnicodeDecodeError:
            says = f"{path} is not a text file, so its lines cannot be cited; cite a text, or say it in words"
            return NotSeen(EvidenceFault.NOT_CHECKABLE, says)

    def _content(self, path: str, digest: str, entries: list[Entry]) -> bytes | None:
        """Return the bytes with this digest, wherever they still are; None where they are nowhere."""
        data = self._kept(digest)
        if data is None:
            data = self._on_disk(path, digest)
        return _in_result(entries, digest) if data is None else data

    def _kept(self, digest: str) -> bytes | None:
        try:
            with self._runtime.store.blobs.open(digest) as file:
                data = file.read(LARGEST_CHECKED + 1)
        except StoreError:
            return None
        return data if sha256(data) == digest else None

    def _on_disk(self, path: str, digest: str) -> bytes | None:
        try:
            descriptor, status = Reader(self._runtime.workspace).open(path)
        except (OSError, ToolError):
            return None
        try:
            data = read_all(descriptor, path, status.st_size, LARGEST_CHECKED)
        except (OSError, ToolError):
            return None
        finally:
            os.close(descriptor)
        return data if sha256(data) == digest else None

    def _cited(self, tag: str) -> Entry | None:
        if tag not in self._by_tag:
            self._by_tag[tag] = self._look_up(tag)
        return self._by_tag[tag]

    def _look_up(self, tag: str) -> Entry | None:
        found = self._runtime.store.entry(tag)
        if found is None or found.tag != tag or not self._is_mine(found.task_id):
            return None
        return next((entry for entry in self._entries(found.task_id) if entry.tag == tag), None)

    def _is_mine(self, task_id: str) -> bool:
        """Say whether a task is this one, or was opened by it, or by one below it; each timeline says by which."""
        climbed: set[str] = set()
        while task_id and task_id not in climbed:
            if task_id == self._task_id:
                return True
            climbed.add(task_id)
            try:
                entries = self._entries(task_id)
            except Unproven:
                return False
            opened = (entries[0].payload if entries else None) or {}
            task_id = (opened.get("parent") or {}).get("task", "")
        return False

    def _entries(self, task_id: str) -> list[Entry]:
        if task_id not in self._proven:
            self._proven[task_id] = self._runtime.store.proven(task_id)
        return self._proven[task_id]


def _read_set(entries: list[Entry]) -> ReadSet:
    found = ReadSet()
    for entry in entries:
        found.add(entry)
    return found


def _walked(entry: Entry) -> bool:
    return bool((entry.payload or {}).get("preview", {}).get("untracked_reads"))


def _found_lines(payload: Mapping[str, Any], path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that the result of a search shows."""
    for match in _matches(payload):
        if isinstance(match, Mapping) and match.get("path") == path and isinstance(match.get("line"), int):
            before, after = match.get("before") or [], match.get("after") or []
            first = match["line"] - len(before)
            yield from enumerate([*before, match.get("text", ""), *after], start=first)


def _matches(payload: Mapping[str, Any]) -> list[Any]:
    result = payload.get("result")
    matches = result.get("matches") if isinstance(result, Mapping) else None
    return matches if isinstance(matches, list) else []


def _in_result(entries: list[Entry], digest: str) -> bytes | None:
    """Return a file that the result of a call holds whole."""
    for entry in reversed(entries):
        result = (entry.payload or {}).get("result")
        content = result.get("content") if isinstance(result, Mapping) else None
        if isinstance(content, str) and sha256(data := content.encode(errors="surrogatepass")) == digest:
            return data
    return None


def _lines(text: str) -> list[str]:
    """Return the lines of a file as read_file counts them."""
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
