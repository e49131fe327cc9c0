"""Rules written in Python: a callable with a name."""

from collections.abc import Callable
from dataclasses import dataclass

from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from brasstag.words.verdicts import STRICTNESS, Decision, Verdict

Judge = Callable[[Call, Preview], Verdict | None]


@dataclass(frozen=True)
class PythonRule:
    """A callable that gives a verdict on a call, or None to stay silent; one that fails asks a person."""

    name: str
    judge: Judge

    def speaks(self, call: Call, preview: Preview) -> Verdict | None:
        """Return its verdict, under its own name."""
        try:
            said: object = self.judge(call, preview)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a rule raises, a person decides
            return self._verdict("ask", f"the rule failed with {type(error).__name__}: {error}")
        if said is None:
            return None
        if not isinstance(said, Verdict) or said.decision not in STRICTNESS:
            return self._verdict("ask", f"the rule answered {said!r}, which is no verdict")
        return self._verdict(said.decision, said.because or "the rule does not say why")

    def _verdict(self, decision: Decision, because: str) -> Verdict:
        return Verdict(decision, because, self.name, by_rule=True)
