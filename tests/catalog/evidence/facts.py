"""Facts for tests of evidence: files as they were seen, and calls by their tags."""

from collections.abc import Collection
from dataclasses import dataclass, field

from brasstag.catalog.evidence.items import CitedCall, EvidenceFault, NotSeen, SeenText

READ, SEARCH, FAILED, ABSENT, NOTE, REMOVED, BEGUN, HITS = (f"tag_{number}" for number in range(1, 9))


def seen(text: str) -> SeenText:
    return SeenText(dict(enumerate(text.split("\n"), start=1)))


def _calls() -> dict[str, CitedCall]:
    return {
        READ: CitedCall("read_file", "done"),
        SEARCH: CitedCall("search_code", "done"),
        FAILED: CitedCall("search_code", "failed", "TIMEOUT"),
        ABSENT: CitedCall("read_file", "failed", "FILE_NOT_FOUND"),
        NOTE: CitedCall("stop_and_think", "done", looks=False),
        REMOVED: CitedCall("", "", removed=True),
        BEGUN: CitedCall("write_file", ""),
        HITS: CitedCall("search_code", "done", found=3),
    }


@dataclass
class Facts:
    """What a task has seen: each file in the version that the call READ saw, and perhaps a later one."""

    files: dict[str, str] = field(default_factory=dict)
    newest: dict[str, str] = field(default_factory=dict)
    found: dict[str, dict[int, str]] = field(default_factory=dict)
    """The lines that the call SEARCH showed."""
    calls: dict[str, CitedCall] = field(default_factory=_calls)
    tools: Collection[str] = ("read_file", "search_code", "recall")

    def call_behind(self, tag: str) -> CitedCall | None:
        return self.calls.get(tag)

    def seen_text(self, path: str, tag: str) -> SeenText | NotSeen:
        if tag == SEARCH and path in self.found:
            return SeenText(self.found[path], whole=False)
        files = self.files if tag else self.files | self.newest
        if path not in files:
            return NotSeen(
                EvidenceFault.NOT_SEEN, f"{path} was not read in this task; read it first, then cite it"
            )
        return seen(files[path])
