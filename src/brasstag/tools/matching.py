"""The matching lines of files, as a search shows them."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Matching:
    """The matches found so far, in order."""

    expression: Any
    """What RE2 has compiled."""
    context: int
    """How many lines to show before and after each match."""
    most: int
    longest_line: int
    matches: list[dict[str, Any]] = field(default_factory=list)

    def occurs_in(self, data: bytes) -> bool:
        """Say whether there is any match."""
        return self.expression.search(data) is not None

    def look_into(self, path: str, data: bytes) -> bool:
        """Note the matching lines of a file; return False once there are enough."""
        start_of_line, line = 0, 1
        seen = -1
        for match in self.expression.finditer(data):
            begin = match.start()
            if begin < seen:
                continue
            line += data.count(b"\n", start_of_line, begin)
            start_of_line = data.rfind(b"\n", 0, begin) + 1
            end_of_line = data.find(b"\n", begin)
            end_of_line = len(data) if end_of_line < 0 else end_of_line
            seen = end_of_line + (end_of_line == begin == match.end())
            if len(self.matches) == self.most:
                return False
            self.matches.append(self._shown(path, data, line, start_of_line, begin, end_of_line))
        return True

    def _shown(self, path: str, data: bytes, line: int, start: int, begin: int, end: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "path": path,
            "line": line,
            "column": len(data[start:begin].decode(errors="replace")) + 1,
            "text": self._text(data[start:end]),
        }
        if self.context:
            found["before"] = [self._text(text) for text in _before(data, start, self.context)]
            found["after"] = [self._text(text) for text in _after(data, end, self.context)]
        return found

    def _text(self, line: bytes) -> str:
        text = line.decode(errors="replace").rstrip("\r")
        return text if len(text) <= self.longest_line else f"{text[: self.longest_line]}…"


def _before(data: bytes, start: int, count: int) -> list[bytes]:
    first = start
    for _ in range(count):
        first = data.rfind(b"\n", 0, max(first - 1, 0)) + 1
    return data[first:start].split(b"\n")[:-1]


def _after(data: bytes, end: int, count: int) -> list[bytes]:
    if end >= len(data) - 1:
        return []
    last = end
    for _ in range(count):
        last = data.find(b"\n", last + 1)
        if last < 0:
            return data[end + 1 :].split(b"\n")
    return data[end + 1 : last].split(b"\n")
