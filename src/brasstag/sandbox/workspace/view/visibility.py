"""What a call may see of the workspace, as the policy says; by default everything."""

from collections.abc import Sequence
from typing import Protocol


class Visibility(Protocol):
    """What the policy lets one call see of the workspace."""

    def hides(self, path: str) -> bool:
        """Say whether listings and searches leave this path out."""
        ...

    def must_be_listed(self, path: str) -> bool:
        """Say whether a search that opens this path lists it in the preview, because a rule may deny it or ask."""
        ...

    def says_nothing_about(self, paths: Sequence[str]) -> bool:
        """Say for many paths at once that no other method is true for any; False means that each is checked."""
        ...

    def asks_first(self, path: str) -> bool:
        """Say whether a rule asks before this path is read, and no person was asked; code does not see it then."""
        ...


class EverythingVisible:
    """No rule limits what is seen."""

    def hides(self, path: str) -> bool:  # noqa: ARG002 - the answer is the same for every path
        """Hide nothing."""
        return False

    def must_be_listed(self, path: str) -> bool:  # noqa: ARG002 - the answer is the same for every path
        """List nothing beyond what a tool names."""
        return False

    def says_nothing_about(self, paths: Sequence[str]) -> bool:  # noqa: ARG002 - the answer is the same for every path
        """Say that no path has to be checked."""
        return True

    def asks_first(self, path: str) -> bool:  # noqa: ARG002 - the answer is the same for every path
        """Ask about nothing."""
        return False
