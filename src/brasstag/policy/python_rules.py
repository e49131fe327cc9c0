"""Rules written in Python: a callable with a name."""

from collections.abc import Callable
from dataclasses import dataclass

from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from brasstag.words.verdicts import STRICTNESS, Verdict

Judge = Callable[[Call, Preview], Verdict | None]


@dataclass(frozen=True)
class PythonRule:
    """A callable that gives a verdict on a call, or None to stay silent; one that fails asks a person."""

    name: str
    judge: Judge

    def speaks(self, call: Call, preview: Preview) -> Verdict | None:
        """Return its verdict, under its own name."""
        try:
            verdict: object = self.judge(call, preview)
        except Exception as error:  # noqa: BLE001 - whatever a rule raises, a person decides
            return Verdict(
                "ask", f"the rule failed with {type(error).__name__}: {error}", self.name, by_rule=True
            )
        if verdict is None:
            return None
        if not isinstance(verdict, Verdict) or verdict.decision not in STRICTNESS:
            return Verdict(
                "ask", f"the rule answered {verdict!r}, which is no verdict", self.name, by_rule=True
            )
        return Verdict(
            verdict.decision, verdict.because or "the rule does not say why", self.name, by_rule=True
        )
