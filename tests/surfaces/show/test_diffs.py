"""What a call would change: nothing of it is left out."""

from pathlib import Path

import pytest

from brasstag.store.contents.blobs import Blobs
from brasstag.surfaces.cli.show.diffs import print_preview
from brasstag.words.previews import (
    ABSENT,
    DIRECTORY,
    Change,
    Preview,
    change_sentence,
    file_state,
    link_state,
)

A, B = file_state("a" * 64), file_state("b" * 64)
L, M = link_state("c" * 64), link_state("d" * 64)
TARGETS = {L: "old place", M: "new place"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change("a", ABSENT, A, size=3), "creates a (3 bytes)"),
        (Change("a", A, B, before_size=1, size=2), "overwrites a (1 → 2 bytes)"),
        (Change("a", A, A, before_size=2, size=2), "overwrites a with the same bytes (2)"),
        (Change("a", A, ABSENT, before_size=7), "deletes a (7 bytes)"),
        (Change("a", DIRECTORY, ABSENT), "deletes directory a"),
        (Change("a", ABSENT, DIRECTORY), "makes directory a"),
        (Change("b", ABSENT, A, source="a"), "moves a to b"),
        (Change("b", B, A, source="a"), "moves a to b (replacing it)"),
        (Change("a", ABSENT, A, size=3, mode=0o755), "creates a (3 bytes), executable, mode 755"),
        (Change("a", ABSENT, A, size=3, mode=0o644), "creates a (3 bytes)"),
        (Change("a", ABSENT, A, size=3, mode=0o600), "creates a (3 bytes), mode 600"),
        (Change("a", ABSENT, DIRECTORY, mode=0o777), "makes directory a, mode 777"),
        (Change("a", ABSENT, M), "creates a, a link to new place"),
        (
            Change("a", A, B, before_size=1, size=2, before_mode=0o644, mode=0o755),
            "overwrites a (1 → 2 bytes), mode 644 → 755",
        ),
        (Change("a", A, A, size=2, before_mode=0o644, mode=0o777), "changes a: mode 644 → 777"),
        (
            Change("a", DIRECTORY, DIRECTORY, before_mode=0o755, mode=0o777),
            "changes directory a: mode 755 → 777",
        ),
        (Change("a", A, M, before_size=8), "a becomes a link to new place; it was a file of 8 bytes"),
        (Change("a", L, M), "link a leads to new place; it led to old place"),
        (Change("a", L, ABSENT), "deletes link a, which leads to old place"),
        (
            Change("a", L, A, size=5, mode=0o755),
            "a becomes a file of 5 bytes; it was a link to old place, executable, mode 755",
        ),
        (Change("a", A, DIRECTORY, before_size=8), "a becomes a directory; it was a file of 8 bytes"),
        (Change("a", DIRECTORY, A, size=8), "a becomes a file of 8 bytes; it was a directory"),
    ],
)
def test_every_change_is_a_sentence(change: Change, said: str) -> None:
    assert change_sentence(change, TARGETS.get) == said


def test_where_a_link_leads_is_not_shown_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blobs = Blobs(tmp_path)
    text, target = blobs.put(b"see here"), blobs.put(b"f.txt")
    changes = (
        Change("g.txt", file_state(text), link_state(target), before_size=8, size=5),
        Change("h.txt", file_state(target), link_state(target), before_size=5, size=5),
    )
    print_preview(Preview(changes=changes), blobs)
    shown = capsys.readouterr().out
    assert "g.txt becomes a link to f.txt" in shown
    assert "h.txt becomes a link to f.txt" in shown
    assert "-see here" in shown
    assert "-f.txt" in shown
    assert "+f.txt" not in shown
