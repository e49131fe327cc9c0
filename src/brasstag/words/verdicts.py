"""Verdicts: what the rules say about a call, and the conditions on which a tool wants a person asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from brasstag.words.previews import Fact

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
    """Whether a rule spoke, rather than the profile or the tool itself, or neither of them."""
    permission: str = ""
    """The timed permission by which a call is allowed that profile or tool ask about."""

    @property
    def strictness(self) -> int:
        """Order among verdicts: deny above ask above allow."""
        return STRICTNESS[self.decision]

    def as_json(self) -> dict[str, str]:
        """Return the form timelines store."""
        said = {"decision": self.decision, "because": self.because, "rule": self.rule}
        return said | {"permission": self.permission} if self.permission else said


Condition = Literal[
    "when_creating", "when_overwriting", "when_deleting", "when_moving", "when_running", "when_fetching"
]

CONDITIONS: Mapping[Condition, Fact] = MappingProxyType(
    {
        "when_creating": Fact.CREATES,
        "when_overwriting": Fact.OVERWRITES,
        "when_deleting": Fact.DELETES,
        "when_moving": Fact.MOVES,
        "when_running": Fact.RUNS,
        "when_fetching": Fact.FETCHES,
    }
)
"""A tool that names a condition asks when its fact is true of the call, and allows when it is not."""
