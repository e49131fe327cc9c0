"""Web addresses as rules name them: host and path, without scheme, query and default port."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brasstag.policy.globs import Expression, Reading, path_expression
from brasstag.policy.match.subjects import Subject, plain_path

_SCHEME = re.compile(r"(https?)://([^/?#]*)([^?#]*).*", re.IGNORECASE | re.DOTALL)
_USUAL_PORT = {"http": ":80", "https": ":443"}
_WORKSPACE = frozenset({".", "./", "/"})


def address_of(fetch: str) -> str:
    """Return the host and path of what a preview says is fetched."""
    found = _SCHEME.fullmatch(fetch)
    if not found:
        return plain_path(fetch)
    scheme, host, path = found.groups()
    return f"{host.lower().removesuffix(_USUAL_PORT[scheme.lower()])}/{plain_path(path)}".rstrip("/")


@dataclass(frozen=True)
class Addresses:
    """The web addresses a call fetches."""

    def matcher(self, glob: str, reading: Reading) -> Expression:
        """Return a glob whose first name is a host: ``example.org/**`` is the whole site, its first page as well."""
        if glob in _WORKSPACE:
            return Expression("[^\\x{0}-\\x{10FFFF}]", generous=False)  # the workspace is no site
        below = glob.removesuffix("**") if glob.endswith("/**") else glob
        # Anchored at the host: a name that stands somewhere in the path of another site is not meant.
        return path_expression(f"/{below.removeprefix('./').removeprefix('/')}", reading)

    def items(self, subject: Subject) -> Sequence[str]:
        """Return host and path of everything that is fetched."""
        return tuple(address_of(fetch) for fetch in subject.preview.fetches)

    def coverings(self, subject: Subject) -> Iterator[Sequence[str]]:
        """Yield the same; a call that touches files besides is not covered by its addresses.

        Code may read what it likes, so that it names some files makes no difference; that it changes some does.
        """
        touched = subject.preview.changes if subject.preview.runs else subject.paths_to_cover
        yield () if touched else self.items(subject)


ADDRESSES = Addresses()
