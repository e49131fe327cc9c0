"""The analysers as their callers know them: evidence, errors, hostile texts, limits, and what rules hide."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brasstag import Done, Room
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code
from tests.conftest import MakeProject
from tests.tools.asking import failure, value
from tests.tools.manuscript.support import CARDS, OUTLINE, scene

ON_STORIES = [
    "canon_checker", "consistency_checker", "timeline_validator", "outline_analyzer", "stakes_mapper",
    "reader_experience_simulator", "beat_architect",
]  # fmt: skip
ON_SCENES = ["scene_draft_validator", "scene_impact_analyzer"]
ON_TEXTS = ["prose_analyzer", "line_editor"]
ALL = [*ON_STORIES, *ON_SCENES, *ON_TEXTS]
FIRST = "manuscripts/scene_01.md"


def arguments_of(tool: str) -> dict[str, Any]:
    return {} if tool in ON_STORIES else {"path": FIRST}


def fill(workspace: Path, first: bytes | str = "Mara signed with her right hand.") -> None:
    (workspace / "bible").mkdir(parents=True)
    (workspace / "manuscripts").mkdir()
    (workspace / "bible" / "cards.md").write_text(CARDS)
    (workspace / "manuscripts" / "outline.md").write_text(OUTLINE)
    (workspace / "manuscripts" / "scene_02.md").write_text(scene(2, "It snowed."))
    whole = first if isinstance(first, bytes) else scene(1, first).encode()
    (workspace / FIRST).write_bytes(whole)


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    fill(tmp_path / "w")
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


def quotes_in(found: Any) -> list[dict[str, Any]]:
    """Every piece of evidence, however deep it stands."""
    if isinstance(found, dict):
        own = [found] if found.get("type") == "QUOTE" else []
        return own + [one for part in found.values() for one in quotes_in(part)]
    return [one for part in found for one in quotes_in(part)] if isinstance(found, list) else []


@pytest.mark.parametrize("tool", ALL)
async def test_every_quote_stands_in_its_line_and_every_file_is_named_with_its_digest(
    room: Room, tool: str
) -> None:
    found = await value(room, tool, **arguments_of(tool))
    for quote in quotes_in(found):
        lines = (room.workspace / quote["path"]).read_text().split("\n")
        assert quote["quote"]
        assert quote["quote"] in lines[quote["line"] - 1]
    assert found["scanned"]
    for file in found["scanned"]:
        assert file["sha256"] == sha256((room.workspace / file["path"]).read_bytes())


@pytest.mark.parametrize("tool", ["canon_checker", "scene_draft_validator"])
async def test_a_contradiction_is_reported_with_both_sides(room: Room, tool: str) -> None:
    found = await value(room, tool, **arguments_of(tool))
    (finding,) = found["findings"]
    assert (finding["check"], finding["confidence"]) == ("canon_hand", "likely")
    assert [quote["path"] for quote in finding["evidence"]] == [FIRST, "bible/cards.md"]
    assert found["finding_count"] == 1
    assert found["truncated"] is False


@pytest.mark.parametrize("tool", ALL)
async def test_the_same_files_give_the_same_answer(room: Room, tool: str) -> None:
    first, second = [await value(room, tool, **arguments_of(tool)) for _ in range(2)]
    assert first == second


async def test_only_findings_about_the_named_scene_are_reported(room: Room) -> None:
    assert (await value(room, "canon_checker", path="manuscripts/scene_02.md"))["findings"] == []
    assert (await value(room, "consistency_checker", path="manuscripts/scene_02.md"))["findings"] == []


async def test_a_manuscript_in_other_folders_is_read_where_the_caller_says(tmp_path: Path) -> None:
    for name, text in (
        ("facts/a.md", CARDS),
        ("plan.md", OUTLINE),
        ("text/scene_01.md", scene(1, "Mara was right-handed.")),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    async with Room.in_memory(tmp_path, profile="trusted") as room:
        given = {"bible": ["facts"], "outline": ["plan.md"], "scenes": ["text"]}
        found = await value(room, "canon_checker", **given)
        assert [one["check"] for one in found["findings"]] == ["canon_hand"]
        assert (await value(room, "beat_architect", outline=["plan.md"]))["unit"] == "beats"


class TestEdits:
    async def test_an_edit_that_applies_is_accepted_by_edit_file(self, room: Room) -> None:
        edit = {
            "search_text": "signed with her right hand",
            "replace_text": "signed with her left hand",
            "reason": "The card.",
        }
        (checked,) = (await value(room, "line_editor", path=FIRST, edits=[edit]))["edits"]
        assert (checked["applies"], checked["line"]) == (True, 7)
        await value(
            room,
            "edit_file",
            path=FIRST,
            search_text=edit["search_text"],
            replace_text=edit["replace_text"],
            expected_matches=1,
        )
        assert (await value(room, "canon_checker"))["findings"] == []

    async def test_suggestions_are_accepted_one_after_the_other(self, room: Room) -> None:
        (room.workspace / FIRST).write_text(scene(1, "The the rain  fell,, and and it it stopped."))
        for _ in range(10):
            found = (await value(room, "line_editor", path=FIRST))["suggestions"]
            if not found:
                break
            await value(
                room, "edit_file", path=FIRST, search_text=found[0]["search_text"], replace_text=found[0]["replace_text"],
                expected_matches=1,
            )  # fmt: skip
        assert "The rain fell, and it stopped." in (room.workspace / FIRST).read_text()


class TestBadInput:
    @pytest.mark.parametrize("tool", [*ON_SCENES, *ON_TEXTS])
    async def test_a_file_that_is_not_there(self, room: Room, tool: str) -> None:
        assert (await failure(room, tool, path="manuscripts/none.md")).code is Code.FILE_NOT_FOUND

    @pytest.mark.parametrize("tool", [*ON_SCENES, *ON_TEXTS])
    async def test_a_directory(self, room: Room, tool: str) -> None:
        assert (await failure(room, tool, path="manuscripts")).code is Code.NOT_A_FILE

    @pytest.mark.parametrize("tool", [*ON_SCENES, *ON_TEXTS])
    async def test_a_path_outside_the_workspace(self, room: Room, tool: str) -> None:
        assert (await failure(room, tool, path="../x.md")).code is Code.INVALID_PATH

    async def test_a_file_that_is_no_scene(self, room: Room) -> None:
        refused = await failure(room, "scene_draft_validator", path="bible/cards.md")
        assert refused.code is Code.INVALID_ARGUMENTS
        assert "name it in scenes" in refused.message

    async def test_a_scene_without_an_outline(self, room: Room) -> None:
        (room.workspace / "manuscripts" / "outline.md").unlink()
        for tool in ("scene_draft_validator", "outline_analyzer", "beat_architect"):
            refused = await failure(room, tool, **arguments_of(tool))
            assert refused.code is Code.FILE_NOT_FOUND
            assert "outline" in refused.message

    async def test_a_scene_that_no_beat_names_is_said_not_to_be_judged(self, room: Room) -> None:
        (room.workspace / "manuscripts" / "scene_03.md").write_text("# Scene 3: More\n\nIt rained.\n")
        found = await value(room, "scene_draft_validator", path="manuscripts/scene_03.md")
        assert "no beat of the outline names it" in [one["reason"] for one in found["not_judged"]]

    async def test_a_workspace_without_a_bible_or_without_scenes(self, tmp_path: Path) -> None:
        async with Room.in_memory(tmp_path, profile="trusted") as room:
            for tool in ON_STORIES:
                assert (await failure(room, tool)).code is Code.FILE_NOT_FOUND

    async def test_a_structure_that_is_not_known(self, room: Room) -> None:
        assert (await failure(room, "beat_architect", structure="opera")).code is Code.INVALID_ARGUMENTS

    async def test_a_part_that_is_not_there(self, room: Room) -> None:
        assert (await failure(room, "canon_checker", bible=["nowhere"])).code is Code.FILE_NOT_FOUND

    @pytest.mark.parametrize(("start", "end"), [(500, 600), (5, 2)])
    async def test_lines_that_are_not_there(self, room: Room, start: int, end: int) -> None:
        refused = await failure(room, "prose_analyzer", path=FIRST, start_line=start, end_line=end)
        assert refused.code is Code.INVALID_ARGUMENTS

    async def test_a_selection_without_words(self, room: Room) -> None:
        assert (
            await failure(room, "prose_analyzer", path=FIRST, start_line=2, end_line=2)
        ).code is Code.INVALID_ARGUMENTS

    async def test_nothing_to_edit(self, room: Room) -> None:
        assert (await failure(room, "line_editor", path=FIRST, suggest=False)).code is Code.INVALID_ARGUMENTS


LONG_LINE = b"Mara said it was 3 October 1974 and a red door. " * 1_000
HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n\n \n",
    "byte order mark": b"\xef\xbb\xbf" + scene(1, "Mara stood there.").encode(),
    "CRLF": scene(1, "Mara stood there.\n\nIt rained.").replace("\n", "\r\n").encode(),
    "lone CR": b"# Scene 1: A\rPOV: Mara Holm\rMara stood there.\r",
    "German": ("Sie ging hinunter zum Hafen, und es wurde dunkel; die Boote lagen schon fest. " * 9).encode(),
    "Norwegian": ("Hun gikk ned til kaia, det ble mørkt, og båtene lå allerede fortøyd. " * 9).encode(),
    "Greek": ("Κατέβηκε στο λιμάνι και ήταν σκοτεινά. " * 9).encode(),
    "Japanese": ("彼女は港へ降りていった。もう暗かった。" * 9).encode(),
    "Arabic": ("نزلت إلى الميناء وكان الظلام قد حل. " * 9).encode(),
    "emoji": "👩‍🚀🇳🇴 ❤️ 👍🏽 !!! ??? 😀\n".encode() * 20,
    "marks only": b"...,,,;;;---***___###\n" * 20,
    "long line": LONG_LINE,
    "endless word": b"x" * 500_000,
    "open quotation": b'"' * 5_000 + b" Mara " * 5_000,
    "numbers": b"one hundred and " * 5_000,
    "headings": b"# Scene 1: A\n" * 5_000,
    "attributes": b"POV: Mara Holm\n" * 5_000,
    "items": b"1. **A**: b\n   - POV: c\n" * 2_000,
    "digits of other scripts": "١٢٣ ４５ ²³ Ⅻ ½ 31 October ٢٠٢٠\n".encode() * 20,
    "combining marks": ("a" + "\u0301" * 50 + " ").encode() * 200,
    "endless times": scene(
        1,
        "999999999 weeks later Mara came. The fair is in 999999999 weeks, 999999999 days to the day. "
        "It took 999999999 hours to Sund.",
    ).encode(),
    "odd dates": b"31 February 0000, 99 May 99999, 2020-13-45, May may May 1 May 1 May " * 50,
}


@pytest.mark.parametrize(
    "text",
    [
        *(pytest.param(text, id=name) for name, text in HOSTILE.items()),
        pytest.param(LONG_LINE * 20, id="endless line", marks=pytest.mark.slow),
    ],
)
async def test_no_text_crashes_an_analyser(tmp_path: Path, text: bytes) -> None:
    fill(tmp_path / "w", text)
    (tmp_path / "w" / "bible" / "more.md").write_bytes(text)
    (tmp_path / "w" / "manuscripts" / "outline_two.md").write_bytes(text)
    async with Room.in_memory(tmp_path / "w", profile="trusted") as room:
        for tool in ALL:
            outcome = await room.call(tool, arguments_of(tool))
            expected = isinstance(outcome, Done) or outcome.code is Code.INVALID_ARGUMENTS
            assert expected, (tool, outcome)


@pytest.mark.parametrize("language", ["German", "Norwegian", "Greek", "Japanese", "Arabic"])
async def test_what_cannot_be_judged_is_said(tmp_path: Path, language: str) -> None:
    fill(tmp_path / "w", HOSTILE[language])
    async with Room.in_memory(tmp_path / "w", profile="trusted") as room:
        for tool in ALL:
            found = await value(room, tool, **arguments_of(tool))
            assert FIRST in [one["path"] for one in found["not_judged"]]


@pytest.mark.parametrize("data", [b"\xff\xfe\x00broken", b"caf\xe9 Mara stood there.\n"])
async def test_what_is_no_text_is_skipped_and_counted(room: Room, data: bytes) -> None:
    (room.workspace / "manuscripts" / "scene_09.md").write_bytes(data)
    found = await value(room, "consistency_checker")
    assert found["skipped"]["not_text"] == 1
    assert "manuscripts/scene_09.md" not in [file["path"] for file in found["scanned"]]
    assert "manuscripts/scene_09.md" in [one["path"] for one in found["not_judged"]]
    assert (await failure(room, "prose_analyzer", path="manuscripts/scene_09.md")).code is Code.NOT_TEXT
    assert (
        await failure(room, "scene_impact_analyzer", path="manuscripts/scene_09.md")
    ).code is Code.NOT_TEXT


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_bytes_give_an_answer_or_a_coded_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("w")
    fill(folder / "w", data)
    async with Room.in_memory(folder / "w", profile="trusted") as room:
        for tool in ALL:
            outcome = await room.call(tool, arguments_of(tool))
            known = isinstance(outcome, Done) or outcome.code in (Code.INVALID_ARGUMENTS, Code.NOT_TEXT)
            assert known, (tool, outcome)


class TestLimits:
    async def test_more_findings_than_the_limit_are_counted_and_cut(self, make_project: MakeProject) -> None:
        project = make_project("[tools.canon_checker]\nlimits = { max_findings = 1 }\n", profile="trusted")
        fill(project / "data", "Mara signed with her right hand.\n\nMara's blue eyes were open.")
        async with Room.open(project) as room:
            found = await value(room, "canon_checker")
        assert (len(found["findings"]), found["finding_count"], found["truncated"]) == (1, 2, True)

    async def test_files_over_the_limit_are_named_and_left_out(self, make_project: MakeProject) -> None:
        project = make_project(
            "[tools.consistency_checker]\nlimits = { max_file_bytes = 2000 }\n", profile="trusted"
        )
        fill(project / "data", "Mara stood there. " * 500)
        async with Room.open(project) as room:
            found = await value(room, "consistency_checker")
        assert found["skipped"]["too_large"] == 1
        assert FIRST in [one["path"] for one in found["not_judged"]]

    async def test_more_files_than_the_limit_are_cut(self, make_project: MakeProject) -> None:
        project = make_project("[tools.consistency_checker]\nlimits = { max_files = 3 }\n", profile="trusted")
        fill(project / "data")
        async with Room.open(project) as room:
            found = await value(room, "consistency_checker")
        assert (len(found["scanned"]), found["truncated"]) == (3, True)

    @pytest.mark.parametrize("size", [200_000, pytest.param(2_000_000, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("tool", ALL)
    async def test_a_whole_novel_is_analysed_before_the_deadline(
        self, tmp_path: Path, tool: str, size: int
    ) -> None:
        paragraph = (
            "Mara climbed the forty stairs of the old mill on Monday and read the letter. "
            '"It is two hours to Sund by cart," said Lena. Her eyes were brown, and it rained at half past five. '
            "She was twenty-nine, and her brother Otto had died in May. Where had he hidden the copper lantern?\n\n"
        )
        fill(tmp_path / "w", paragraph * (size // len(paragraph)))
        async with Room.in_memory(tmp_path / "w", profile="trusted") as room:
            found = await value(room, tool, **arguments_of(tool))
        assert FIRST in [file["path"] for file in found["scanned"]]


class TestRules:
    HIDE = '[[rules]]\ndeny = "read_file(manuscripts/scene_01.md)"\nbecause = "it is secret"\n'

    async def test_a_hidden_scene_is_not_seen(self, make_project: MakeProject) -> None:
        project = make_project(self.HIDE, profile="trusted")
        fill(project / "data")
        async with Room.open(project) as room:
            for tool in ON_STORIES:
                found = await value(room, tool)
                assert FIRST not in [file["path"] for file in found["scanned"]]
                assert FIRST not in {quote["path"] for quote in quotes_in(found)}
                assert found["skipped"]["forbidden"] == 1
            assert (await value(room, "canon_checker"))["findings"] == []

    @pytest.mark.parametrize("tool", [*ON_SCENES, *ON_TEXTS])
    async def test_a_hidden_scene_cannot_be_named(self, make_project: MakeProject, tool: str) -> None:
        project = make_project(self.HIDE, profile="trusted")
        fill(project / "data")
        async with Room.open(project) as room:
            assert (await failure(room, tool, path=FIRST)).code is Code.BLOCKED_BY_RULE
