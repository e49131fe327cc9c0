"""Verdicts: what the rules say about a call."""

from dataclasses import dataclass
from typing import Literal

Decision = Literal["allow", "ask", "deny"]

STRICTNESS: dict[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allow, ask or deny, with who said so and why."""

    decision: Decision
    because: str
    rule: str
    """The rule that decided, or the profile or tool that did where no rule spoke."""
    by_rule: bool = False
    """Whether a rule spoke, rather than the profile, the tool itself, or nobody."""

    @property
    def strictness(self) -> int:
        """Order among verdicts: deny above ask above allow."""
        return STRICTNESS[self.decision]

    def as_json(self) -> dict[str, str]:
        """Return the form timelines store."""
        return {"decision": self.decision, "because": self.because, "rule": self.rule}
