"""search_code without regex: S0's query is "the string or regex"."""

import pytest

from brasstag import Done, Failed, Room


@pytest.fixture
def book(room: Room) -> Room:
    (room.workspace / "a.md").write_text("Captain Ahab\nf(x) = a.b\nAnna (the cook)\n")
    (room.workspace / "b.bin").write_bytes(b"\0^literal$ in a binary file")
    return room


async def found(room: Room, query: str, **arguments: object) -> tuple[list[int], bool]:
    """Say on which lines a query was found, and whether the result says that it was read as an expression."""
    outcome = await room.call("search_code", {"query": query, **arguments})
    assert isinstance(outcome, Done), outcome
    lines = [match["line"] for match in outcome.value["matches"]]
    return lines, "regular expression" in outcome.value.get("note", "")


@pytest.mark.parametrize(
    ("query", "lines", "as_regex"),
    [
        ("Captain Ahab", [1], False),
        ("a.b", [2], False),
        ("f(x)", [2], False),
        ("(the cook)", [3], False),
        (r"Captain (Ahab|Bildad)", [1], True),
        (r"^A\w+", [3], True),
        ("nothing at all", [], False),
        ("no.such.text", [], True),
        ("(unclosed", [], False),
        ("*", [], False),
        # It stands there as a text, if only in a file that cannot be shown.
        ("^literal$", [], False),
    ],
)
async def test_a_query_is_a_text_first_and_an_expression_where_that_finds_nothing(
    book: Room, query: str, lines: list[int], as_regex: bool
) -> None:
    assert await found(book, query) == (lines, as_regex)


async def test_what_the_caller_says_holds(book: Room) -> None:
    assert await found(book, "Captain (Ahab|Bildad)", regex=False) == ([], False)
    assert await found(book, "a.b", regex=True) == ([2], False)
    refused = await book.call("search_code", {"query": "(unclosed", "regex": True})
    assert isinstance(refused, Failed)


async def test_what_was_searched_is_counted_once(book: Room) -> None:
    plain = await book.call("search_code", {"query": "nothing"})
    again = await book.call("search_code", {"query": "noth+ing"})
    assert isinstance(plain, Done)
    assert isinstance(again, Done)
    assert plain.value["files_searched"] == again.value["files_searched"] == 2
    assert plain.value["skipped"] == again.value["skipped"]
