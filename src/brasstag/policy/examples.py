"""Examples: calls a rule must, or must not, match; checked whenever rules are read."""

from dataclasses import dataclass
from typing import Self

from brasstag.policy.match.patterns import parts
from brasstag.policy.match.subjects import NOTHING
from brasstag.settings.model import ExampleSettings
from brasstag.words.calls import Call
from brasstag.words.previews import ABSENT, Change, Preview, Seen, file_state

_BEFORE = file_state("before")
_AFTER = file_state("after")


@dataclass(frozen=True)
class ExampleCall:
    """A call that has not been made, and what it would do."""

    text: str
    call: Call
    preview: Preview = NOTHING

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``read_file(secrets/.env)`` or ``shell(command: ls)``: no wildcards, and no preview."""
        tool, argument, value = parts(text)
        return cls(text, _call(tool, {} if value is None else {argument or "path": value}))

    @classmethod
    def from_settings(cls, settings: ExampleSettings) -> Self:
        """Read the form with arguments and the facts of a preview."""
        changes = [Change(path, ABSENT, _AFTER) for path in settings.creates]
        changes += [Change(path, _BEFORE, _AFTER) for path in settings.overwrites]
        changes += [Change(path, _BEFORE, ABSENT) for path in settings.deletes]
        changes += [Change(to, ABSENT, _BEFORE, source=source) for source, to in settings.moves.items()]
        preview = Preview(
            reads=tuple(Seen(path, _BEFORE) for path in settings.reads),
            changes=tuple(changes),
            runs=settings.runs,
            fetches=settings.fetches,
            external=settings.external,
            annotates=settings.annotates,
        )
        given = settings.model_dump(exclude_defaults=True, mode="json")
        return cls(str(given), _call(settings.tool, dict(settings.arguments)), preview)


def _call(tool: str, arguments: dict[str, object]) -> Call:
    return Call(id="example", tool=tool, arguments=arguments, actor="example", role="", task_id="")
