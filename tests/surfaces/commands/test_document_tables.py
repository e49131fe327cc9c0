"""Documents for eyes: one line each, matches that stand out, filters that say what was meant."""

from dataclasses import replace
from pathlib import Path

import pytest

from brasstag import Room
from brasstag.documents.library import Found, Listed
from brasstag.surfaces.cli.show.documents import print_documents, print_found
from brasstag.surfaces.cli.terminal.console import OutputName
from brasstag.surfaces.cli.terminal.tables import print_document_table
from tests.surfaces.conftest import OpenTerminal, Pipe

LONG = "The web shop opened in July, and everybody who came was given a cup of tea and a chair to sit on."


@pytest.fixture
def data(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with documents that have much to say, which the commands are typed in."""
    monkeypatch.chdir(project)
    folder = project / "data"
    (folder / "a" / "long" / "way" / "down").mkdir(parents=True)
    (folder / "a" / "long" / "way" / "down" / "the-path-of-a-document-with-a-long-name.md").write_text(LONG)
    (folder / "notes.md").write_text(f"# Notes\n\n{LONG}\n\n{LONG}\n")
    (folder / "sales.csv").write_text("region,revenue\nNorth,12\n")
    return folder


@pytest.mark.parametrize("columns", [40, 60, 80, 160])
def test_every_document_is_one_line(terminal: OpenTerminal, data: Path, columns: int) -> None:
    listed = terminal("documents", columns=columns)
    assert listed.ends() == 0
    lines = listed.text.splitlines()
    first = [line.split()[0] for line in lines]
    assert (first[0], first[2:]) == ("PATH", ["notes.md", "sales.csv"])
    # The end of a path tells most.
    assert first[1].endswith("a-long-name.md")
    assert max(map(len, lines)) <= columns
    assert lines[2].endswith("…")
    assert " markdown " in lines[2] or columns < 60


def test_a_wide_terminal_shows_more(terminal: OpenTerminal, data: Path) -> None:
    listed = terminal("documents", columns=220)
    assert listed.ends() == 0
    assert "the-path-of-a-document-with-a-long-name.md" in listed.text
    assert LONG in listed.text


async def test_a_document_that_is_not_wholly_in_the_index_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Room.in_memory(tmp_path) as room:
        (room.workspace / "a.md").write_text("Hello.\n")
        known = await room.documents.get("a.md")
    lacking = "only its first 16 bytes are in the index"
    print_document_table([known, replace(known, indexed="pending"), replace(known, indexed=lacking)])
    indexed, pending, part = capsys.readouterr().out.splitlines()[1:]
    assert indexed.endswith("  Hello.")
    assert pending.endswith("(pending) Hello.")
    assert part.endswith(f"Hello. ({lacking})")


def test_matches_stand_out(terminal: OpenTerminal, data: Path) -> None:
    found = terminal("documents", "search", "tea", "-chairs", "--glob", "notes.md")
    assert found.ends() == 0
    assert "\x1b[1;33mtea\x1b[0m" in found.screen
    assert all(line.startswith(("notes.md", "  │ ")) for line in found.text.splitlines())


def test_words_that_begin_with_a_dash_are_words(pipe: Pipe, data: Path) -> None:
    assert [one["path"] for one in pipe("documents", "search", "north", "-nails").lines] == ["sales.csv"]
    assert pipe("documents", "search", "north", "-glass", "-revenue").lines == []
    assert len(pipe("documents", "search", "web", "-n", "1", "-north").lines) == 1
    assert len(pipe("documents", "search", "-n1", "web").lines) == 1
    assert pipe("documents", "search", "--limit", "1", "--", "north", "-revenue").lines == []
    assert pipe("documents", "search", "--nothing", "web").code == 2
    assert pipe("documents", "search", "web", "-o", "json", "--glob").code == 2


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("--type", "pdf", "no document is of type pdf; did you mean application/pdf?"),
        ("--type", "md", "no document is of type md; did you mean text/markdown?"),
        ("--type", "text/cvs", "no document is of type text/cvs; did you mean text/csv?"),
        ("--type", "image/", "no document is of type image/; there are text/csv, text/markdown"),
        ("--tag", "q3", "no document has the tag q3; did you mean Q3?"),
        ("--by", "outsider", "no document was made by outsider; did you mean outside?"),
        ("--glob", "*.txt", "no path matches *.txt"),
        ("--by", "xyz", "no document was made by xyz; all that there is here is outside"),
    ],
)
def test_a_filter_nothing_fits_says_what_was_probably_meant(
    pipe: Pipe, data: Path, option: str, given: str, said: str
) -> None:
    pipe("documents", "tag", "sales.csv", "Q3")
    for command in (("list",), ("search", "web")):
        ended = pipe("documents", *command, option, given)
        assert (ended.code, ended.out) == (0, "")
        assert said in ended.err
        assert said in pipe("documents", *command, option, given, "-o", "people").out


def test_what_a_list_or_a_search_leaves_out_is_told_and_can_be_gone_on_with(pipe: Pipe, data: Path) -> None:
    for number in range(3):
        (data / f"b{number}.md").write_text("The web shop.\n")
    for command in (("list",), ("search", "shop")):
        everything = [one["path"] for one in pipe("documents", *command).lines]
        seen: list[str] = []
        while True:
            ended = pipe("documents", *command, "--limit", "2", "--offset", str(len(seen)))
            seen += [one["path"] for one in ended.lines]
            if not ended.err:
                break
            assert ended.err.strip().endswith(f"go on with --offset {len(seen)}.")
        assert seen == everything
        people = pipe("documents", *command, "--limit", "2", "-o", "people").out
        assert people.endswith("go on with --offset 2.\n")
        beyond = pipe("documents", *command, "--offset", "99", "-o", "people").out
        assert beyond in ("No document comes after these.\n", "Nothing more found.\n")


@pytest.mark.parametrize("output", ["json", "people"])
def test_everybody_is_told_what_an_answer_may_lack(
    capsys: pytest.CaptureFixture[str], output: OutputName
) -> None:
    print_documents(Listed((), more=False, incomplete="not all files were looked at"), [], 0, output)
    print_found(Found((), more=True, incomplete="one is missing"), [], 10, output)
    said = capsys.readouterr()
    told, other = (said.err, said.out) if output == "json" else (said.out, "")
    assert other == ""
    assert "Not all files were looked at.\n" in told
    assert "--offset 10.\nOne is missing.\n" in told


def test_without_filters_nobody_looks_for_one_that_nothing_fits(pipe: Pipe, data: Path) -> None:
    ended = pipe("documents", "search", "zeppelin")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_filters_that_fit_are_not_blamed(pipe: Pipe, data: Path) -> None:
    ended = pipe("documents", "list", "--type", "text/csv", "--glob", "*.md")
    assert (ended.out, ended.err) == ("", "")


def test_a_task_is_named_by_the_end_of_its_id(pipe: Pipe, data: Path) -> None:
    pipe("call", "write_file", "path=made.md", "content=x")
    (made,) = [one for one in pipe("documents").lines if one["path"] == "made.md"]
    assert [one["path"] for one in pipe("documents", "list", "--task", made["created_by"][-8:]).lines] == [
        "made.md"
    ]


def test_results_with_many_fields_are_a_field_a_line(pipe: Pipe, data: Path) -> None:
    listed = pipe("call", "list_documents", "glob=sales.csv", "-o", "people").out.splitlines()
    assert listed[:3] == ["documents:", "  - path: sales.csv", "    mime_type: text/csv"]
    assert not any(line.startswith("    description") for line in listed)
    found = pipe("call", "search_documents", "query=north", "-o", "people").out.splitlines()
    assert found[:2] == ["hits:", "  - path: sales.csv"]


def test_texts_end_with_a_line_break(pipe: Pipe, data: Path) -> None:
    for form in ("text", "markdown"):
        assert pipe("documents", "show", "notes.md", "--as", form).out.endswith("sit on.\n")
