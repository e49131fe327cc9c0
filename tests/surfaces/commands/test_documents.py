"""The documents on the command line, for people and for programs."""

import json
from pathlib import Path

import pytest

from brasstag.app import add_approver
from brasstag.surfaces.cli.actions import reindex as reindexing
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from tests.conftest import MakeProject
from tests.surfaces.conftest import OpenTerminal, Pipe


@pytest.fixture
def data(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a few documents, which the commands are typed in."""
    monkeypatch.chdir(project)
    folder = project / "data"
    (folder / "notes.md").write_text("# Notes\n\nThe web shop opened in July.\n")
    (folder / "sales.csv").write_text("region,revenue\nNorth,12\n")
    return folder


def test_a_list_is_one_document_a_line(pipe: Pipe, data: Path) -> None:
    found = pipe("documents").lines
    assert [one["path"] for one in found] == ["notes.md", "sales.csv"]
    assert [one["path"] for one in pipe("documents", "list", "--type", "text/csv").lines] == ["sales.csv"]
    assert pipe("documents", "list", "--tag", "nothing").lines == []


def test_a_document_is_shown_with_its_versions_and_in_every_form(pipe: Pipe, data: Path) -> None:
    shown = pipe("documents", "show", "notes.md").json
    assert (shown["mime_type"], shown["auto_summary"]) == ("text/markdown", "The web shop opened in July.")
    assert [one["version"] for one in shown["versions"]] == [1]
    assert pipe("documents", "show", "notes.md", "--as", "source").out == (data / "notes.md").read_text()
    assert pipe("documents", "show", "notes.md", "--as", "text").out.startswith("Notes\n\nThe web shop")
    blocks = pipe("documents", "show", "sales.csv", "--as", "json").json["blocks"]
    assert blocks[0]["header"] == ["region", "revenue"]
    assert "| region | revenue |" in pipe("documents", "show", "sales.csv", "--as", "markdown").out


def test_search_tells_where(pipe: Pipe, data: Path) -> None:
    (hit,) = pipe("documents", "search", '"web shop"').lines
    assert (hit["path"], hit["line"]) == ("notes.md", 3)
    assert pipe("documents", "search", "web", "shop", "--glob", "*.csv").lines == []


def test_versions_are_compared_followed_and_brought_back(pipe: Pipe, ada: str, data: Path) -> None:
    pipe("documents")
    (data / "notes.md").write_text("# Notes\n\nThe web shop opened in June.\n")
    changed = pipe("documents", "diff", "notes.md").json
    assert (changed["old"], changed["new"]) == ("notes.md@1", "notes.md@2")
    assert changed["diff"][-1] == "+The web shop opened in June."
    (data / "sub").mkdir()
    (data / "notes.md").rename(data / "sub" / "shop.md")
    history = pipe("documents", "history", "sub/shop.md").lines
    assert [(one["path"], one["version"]) for one in history] == [
        ("notes.md", 1),
        ("notes.md", 2),
        ("sub/shop.md", 1),
    ]
    assert history[-1]["moved_from"] == "notes.md"
    old = pipe("documents", "show", "sub/shop.md", "--version", history[0]["digest"][:10])
    assert "July" in old.out
    restored = pipe("documents", "restore", "sub/shop.md", "-v", history[0]["digest"][:10], "--yes")
    assert restored.code == 0
    assert "July" in (data / "sub" / "shop.md").read_text()


def test_tags_and_descriptions_are_calls(pipe: Pipe, data: Path) -> None:
    assert pipe("documents", "tag", "sales.csv", "Q3", "raw").json["value"]["tags"] == ["Q3", "raw"]
    assert pipe("documents", "tag", "sales.csv", "--remove", "raw").json["value"]["tags"] == ["Q3"]
    pipe("documents", "describe", "sales.csv", "Sales of the third quarter")
    (found,) = pipe("documents", "list", "--tag", "Q3").lines
    assert found["description"] == "Sales of the third quarter"
    assert len(pipe("timeline", "export", "--calls").lines) == 3


@pytest.mark.parametrize(
    "command",
    [("tag", "no.md", "Q3"), ("tag", "out.log", "Q3"), ("describe", "no.md", "None."), ("show", "no.md")],
)
@pytest.mark.parametrize("output", ["people", "json"])
def test_commands_name_commands_where_there_is_no_document(
    pipe: Pipe, data: Path, command: tuple[str, ...], output: str
) -> None:
    (data / ".gitignore").write_text("*.log\n")
    (data / "out.log").write_text("ignored")
    ended = pipe("documents", *command, "-o", output)
    assert ended.code != 0
    said = f"{command[1]} is not a document; `brasstag documents list` lists the documents"
    assert said in " ".join((ended.out + ended.err).split())


def test_a_command_that_was_given_too_little_names_its_own_help(pipe: Pipe, data: Path) -> None:
    ended = pipe("documents", "tag", "sales.csv", "-o", "people")
    assert "`brasstag documents tag --help` lists its arguments" in ended.err


@pytest.mark.parametrize(
    "command",
    [
        ("documents", "tag", "{}", "Q3"),
        ("documents", "show", "{}"),
        ("documents", "history", "{}"),
        ("call", "load_to_context", "path={}"),
        ("call", "list_documents"),
    ],
)
def test_no_name_poses_as_a_line_of_ours(pipe: Pipe, data: Path, command: tuple[str, ...]) -> None:
    name = "evil\n  done · tag_x.md"
    (data / name).write_text("Nothing.\n")
    ended = pipe(*(word.format(name) for word in command), "-o", "people")
    assert ended.code == 0
    assert "tag_x.md" in ended.out
    assert not any(line.startswith("  done · tag_x") for line in ended.out.splitlines())


def test_the_index_is_made_anew_from_what_is_kept(pipe: Pipe, data: Path) -> None:
    pipe("documents")
    told = pipe("documents", "reindex", "--rebuild").json
    assert (told["indexed"], told["failed"], told["left"], told["problems"]) == (2, 0, 0, [])
    assert [hit["path"] for hit in pipe("documents", "search", "shop").lines] == ["notes.md"]


def test_what_is_no_document_is_told_with_its_reason(pipe: Pipe, data: Path) -> None:
    import os

    os.mkfifo(data / "pipe")
    (problem,) = pipe("documents", "reindex").json["problems"]
    assert (problem["path"], problem["code"]) == ("pipe", "NOT_A_FILE")


def test_what_has_no_text_is_named_with_its_reason_by_every_run(pipe: Pipe, data: Path) -> None:
    (data / "broken.pdf").write_bytes(b"%PDF-1.7\n" + bytes(200))
    for _ in range(2):
        told = pipe("documents", "reindex").json
        (failed,) = told["failures"]
        assert (told["failed"], failed["path"], failed["code"]) == (1, "broken.pdf", "CANNOT_CONVERT")
        assert failed["reason"]
        people = pipe("documents", "reindex", "-o", "people").out
        assert f"1 without text, 0 left.\n  broken.pdf: CANNOT_CONVERT: {failed['reason']}\n" in people
    listed = pipe("documents", "list", "-o", "people").out
    assert "(CANNOT_CONVERT: " in listed
    (data / "broken.pdf").unlink()
    assert pipe("documents", "reindex").json["failures"] == []


def test_only_so_many_without_text_are_named(pipe: Pipe, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reindexing, "MOST_NAMED", 2)
    for number in range(3):
        (data / f"{number}.pdf").write_bytes(b"%PDF-1.7\n" + bytes(200 + number))
    told = pipe("documents", "reindex").json
    assert (told["failed"], [one["path"] for one in told["failures"]]) == (3, ["0.pdf", "1.pdf"])
    assert "and 1 more without text" in pipe("documents", "reindex", "-o", "people").out


def test_prune_takes_the_whole_workspace_by_its_name(pipe: Pipe, data: Path) -> None:
    for number in range(3):
        (data / "notes.md").write_text(f"Version {number}\n")
        pipe("documents")
    asked = ("documents", "prune", "--keep", "1", "--older-than-days", "0")
    assert pipe(*asked, ".").json == pipe(*asked).json
    assert pipe(*asked, "sales.csv").json["versions"] == 0


def test_only_prune_deletes_what_old_versions_held_and_only_when_a_person_says_so(
    pipe: Pipe, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (data / "notes.md").write_text(f"Version {number}\n")
        pipe("documents")
    asked = ("documents", "prune", "--keep", "2", "--older-than-days", "0")
    would = {"versions": 2, "contents": 2, "bytes": 20, "paths": [{"path": "notes.md", "versions": 2}]}
    assert pipe(*asked).json == would | {"deleted": 0}
    told = pipe(*asked, "-o", "people").out
    assert told.startswith("Would delete what 2 versions held, 20 B.\n  notes.md: 2 versions\n")
    assert all(one["kept"] for one in pipe("documents", "history", "notes.md").lines)
    assert "Version 0" in pipe("documents", "show", "notes.md", "-v", "1").out
    refused = pipe(*asked, "--yes")
    assert (refused.code, "NOT_AN_APPROVER" in refused.err) == (4, True)
    assert "Version 0" in pipe("documents", "show", "notes.md", "-v", "1").out
    monkeypatch.setenv(TOKEN_VARIABLE, add_approver("ada"))
    assert pipe(*asked, "--yes").json["deleted"] == 2
    gone = pipe("documents", "show", "notes.md", "-v", "1")
    assert (gone.code, gone.out) == (1, "")
    assert "NOT_KEPT" in gone.err
    assert "it was pruned or collected" in gone.err
    assert "Version 2" in pipe("documents", "show", "notes.md", "-v", "3").out
    left = [one["kept"] for one in pipe("documents", "history", "notes.md").lines]
    assert left == [False, False, True, True]
    people = pipe("documents", "history", "notes.md", "-o", "people").out.splitlines()
    assert [line.endswith("no longer kept") for line in people] == [False, False, False, True, True]
    versions = pipe("documents", "show", "notes.md").json["versions"]
    assert [one["kept"] for one in versions] == left
    (told,) = [one for one in pipe("timeline", "show").lines if one["entry"] == "redacted"]
    assert (told["type"], told["by"], told["versions"], told["contents"], told["keep"]) == (
        "pruning",
        "ada (token)",
        2,
        2,
        2,
    )
    assert "what 2 old versions held, by ada (token)" in pipe("timeline", "show", "-o", "people").out
    assert pipe("timeline", "verify").json["ok"]
    assert pipe("timeline", "redact", told["tag"], "-r", "hush").code == 1
    # Where there is nothing to delete, there is nothing to tell.
    entries = len(pipe("timeline", "show").lines)
    assert pipe(*asked, "--yes").json["deleted"] == 0
    assert len(pipe("timeline", "show").lines) == entries


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("show", "nothing.md"),
            1,
            "FILE_NOT_FOUND: nothing.md is not a document; `brasstag documents list`",
        ),
        (("prune", "nothing.md"), 1, "FILE_NOT_FOUND: nothing.md has no versions"),
        (("prune", "note"), 1, "FILE_NOT_FOUND"),
        (("list", "--offset", "-1"), 2, "--offset"),
        (("search", "web", "--offset", "10000000"), 1, "INVALID_ARGUMENTS"),
        (("show", "../x"), 1, "INVALID_PATH"),
        (("history", "nothing.md"), 1, "FILE_NOT_FOUND"),
        (("diff", "notes.md"), 1, "no earlier version"),
        (("show", "notes.md", "-v", "99"), 1, "no version"),
        (("search", "--", "-only"), 1, "INVALID_ARGUMENTS"),
        (("list", "--after", "yesterday"), 2, "2026-03-01"),
        (("restore", "nothing.md"), 1, "FILE_NOT_FOUND"),
        (("list", "--glob", "["), 2, "does not close it"),
        (("search", "web", "-g", "a[b"), 2, "does not close it"),
        (("list", "--task", "nobody"), 1, "TASK_NOT_FOUND"),
        (("reindex", "--summaries"), 1, "summary_model"),
        (("show", "notes.md", "-v", "former.md@1"), 1, "no version"),
        (("show", "notes.md", "-v", "notes.md@" + "9" * 5000), 1, "no version"),
    ],
)
def test_bad_input_is_one_clear_paragraph(
    pipe: Pipe, data: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ended = pipe("documents", *arguments)
    assert ended.code == code
    assert said in ended.err + ended.out


def test_people_see_tables_snippets_and_coloured_diffs(terminal: OpenTerminal, data: Path) -> None:
    listed = terminal("documents")
    assert listed.ends() == 0
    assert "notes.md" in listed.text
    assert "PATH" in listed.text
    (data / "notes.md").write_text("# Notes\n\nThe web shop opened in June.\n")
    changed = terminal("documents", "diff", "notes.md")
    assert changed.ends() == 0
    assert "notes.md@1 → notes.md@2" in changed.text
    assert "\x1b[32m" in changed.screen
    assert "+The web shop opened in June." in changed.text


def test_a_model_sums_documents_up_where_one_is_set(
    pipe: Pipe, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project('[documents]\nsummary_model = "scripted:script.json"\n', name="other")
    (project / "data").mkdir(exist_ok=True)
    (project / "data" / "notes.md").write_text("The web shop opened in July.\n")
    script = {"summary": [{"text": "A note about\na web shop."}]}
    (project / "script.json").write_text(json.dumps(script))
    monkeypatch.chdir(project)
    shown = pipe("documents", "show", "notes.md").json
    assert (shown["auto_summary"], shown["summary_by"]) == (
        "A note about a web shop.",
        "scripted:script.json",
    )
    # It is asked once: the script has no second turn.
    assert pipe("documents", "reindex", "--summaries").json["summed_up"] == 0
    assert pipe("documents").json["auto_summary"] == "A note about a web shop."
