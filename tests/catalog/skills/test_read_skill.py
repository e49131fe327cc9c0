"""Skills of others become documents to propose; what cannot be read is refused with a code."""

import json
import os
import textwrap
from pathlib import Path

import pytest

from brasstag.catalog.skills.evals import EVALS
from brasstag.catalog.skills.read_skill import read_skill
from brasstag.catalog.skills.skill_folder import MOST_BYTES, SKILL, write_skill_folder
from brasstag.catalog.skills.write_skill import skill_files
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import MOST_IN_FIELD, PromptTool
from brasstag.words.review.proposals import TestCase
from tests.catalog.skills.samples import write_skill

FOREIGN = textwrap.dedent("""\
    ---
    name: release-notes
    description: Write release notes from a list of merged changes. Use when a release is near.
    license: MIT
    compatibility: Needs a git repository
    allowed-tools: Read, Bash(git log:*) Grep
    model: any
    metadata:
      author: example
      title: Release notes
    ---

    # Release notes

    Read the list. Group by kind.

    ## Goals

    Readers know what changed for them.

    ### How

    Short lines.

    ## Guardrails

    - Invent nothing.

    ## Steps

    ```
    ## Goals
    not a heading
    ```
    """)
OURS = PromptTool(
    "scene_count", "Scene count", "editor", "file", "When asked.", "Count.", "Do not guess.", "Count all."
)


def skill(folder: Path, text: str | bytes, **files: bytes) -> Path:
    data = text if isinstance(text, bytes) else text.encode()
    return write_skill(folder, {SKILL: data, **files})


def refused(folder: Path) -> ToolError:
    with pytest.raises(ToolError) as caught:
        read_skill(folder)
    assert str(folder.parent) not in caught.value.message
    return caught.value


class TestForeign:
    def test_every_part_finds_its_field(self, tmp_path: Path) -> None:
        found = read_skill(skill(tmp_path / "release-notes", FOREIGN))
        assert found["id"] == "release_notes"
        assert found["name"] == "Release notes"
        assert found["scope"] == "project"
        assert found["archetype"] == ""
        assert found["usageNotes"].startswith("Write release notes from")
        assert found["goals"] == "Readers know what changed for them.\n\n### How\n\nShort lines."
        assert found["prompt"].startswith("# Release notes\n")
        assert found["prompt"].endswith("```")
        assert (found["proposalType"], found["target"]) == ("new", "project")
        assert found["examples"] == found["testCases"] == []

    def test_allowed_tools_become_a_guardrail_and_no_grant(self, tmp_path: Path) -> None:
        found = read_skill(skill(tmp_path / "release-notes", FOREIGN))
        assert found["guardrails"] == (
            "- Invent nothing.\n\nUse only these tools, and of these only the ones your role may use: "
            "Read, Bash(git log:*), Grep."
        )
        assert set(found) == {
            *OURS.as_json(), "proposalType", "target", "rationale", "examples", "testCases"
        }  # fmt: skip

    def test_an_empty_list_of_allowed_tools_allows_none(self, tmp_path: Path) -> None:
        text = "---\nname: x\ndescription: y\nallowed-tools:\n---\nbody"
        assert read_skill(skill(tmp_path / "x", text))["guardrails"] == "Use no tools."

    @pytest.mark.parametrize("given", ["[Read, Grep]", "Read Grep", "\n  - Read\n  - Grep"])
    def test_every_form_of_the_list_is_understood(self, tmp_path: Path, given: str) -> None:
        text = f"---\nname: x\ndescription: y\nallowed-tools: {given}\n---\nbody"
        assert read_skill(skill(tmp_path / "x", text))["guardrails"].endswith(": Read, Grep.")

    def test_what_has_no_field_is_kept_in_the_rationale(self, tmp_path: Path) -> None:
        folder = skill(tmp_path / "elsewhere", FOREIGN, **{"scripts/run.sh": b"#!/bin/sh", "b.md": b""})
        (folder / ".hidden").touch()
        assert read_skill(folder)["rationale"].splitlines() == [
            "Imported from the Agent Skill release-notes.",
            "The folder of the skill is called elsewhere.",
            "license: MIT",
            "compatibility: Needs a git repository",
            "model: any",
            "metadata author: example",
            "Files that are not imported: b.md, scripts/run.sh.",
        ]

    def test_a_long_rationale_is_cut_and_says_so(self, tmp_path: Path) -> None:
        long = FOREIGN.replace("model: any", f"model: {'x' * 5000}")
        found = read_skill(skill(tmp_path / "release-notes", long))["rationale"]
        assert len(found) == MOST_IN_FIELD
        assert found.endswith("(The rest of the notes is left out.)")

    def test_without_sections_goals_and_guardrails_are_empty(self, tmp_path: Path) -> None:
        found = read_skill(skill(tmp_path / "x", "---\nname: x\ndescription: y\n---\nDo it."))
        assert (found["goals"], found["guardrails"], found["prompt"]) == ("", "", "Do it.")

    def test_evals_of_others_become_cases_without_checks(self, tmp_path: Path) -> None:
        evals = [
            {
                "id": n,
                "prompt": f"p{n}",
                "expected_output": "notes",
                "assertions": ["short"],
                "files": ["../x"],
            }
            for n in range(1, 6)
        ]
        data = json.dumps({"skill_name": "release-notes", "evals": evals}).encode()
        found = read_skill(skill(tmp_path / "release-notes", FOREIGN, **{EVALS: data}))
        assert found["testCases"] == [
            {"name": f"eval {n}", "input": f"p{n}", "expect": "pass", "checks": []} for n in (1, 2, 3)
        ]
        assert "has 5 test cases; the first 3 are imported" in found["rationale"]
        assert "evals[0] asserts: short" in found["rationale"]
        assert "evals[0] needs files" in found["rationale"]

    @pytest.mark.parametrize("data", [b"[1]", b"{", b'{"evals": [1]}', b"\xff", b"[" * 100_000])
    def test_evals_of_another_form_are_left_out_and_named(self, tmp_path: Path, data: bytes) -> None:
        found = read_skill(skill(tmp_path / "release-notes", FOREIGN, **{EVALS: data}))
        assert found["testCases"] == []
        assert "Not imported: evals/evals.json" in found["rationale"]

    def test_line_ends_and_marks_of_windows_are_understood(self, tmp_path: Path) -> None:
        windows = b"\xef\xbb\xbf" + FOREIGN.replace("\n", "\r\n").encode()
        plain = read_skill(skill(tmp_path / "a" / "release-notes", FOREIGN))
        assert read_skill(skill(tmp_path / "b" / "release-notes", windows)) == plain

    def test_a_name_that_begins_with_a_digit_gets_an_id_that_begins_with_a_letter(
        self, tmp_path: Path
    ) -> None:
        found = read_skill(skill(tmp_path / "3d", "---\nname: 3d\ndescription: y\n---\nbody"))
        assert found["id"] == "skill_3d"

    def test_a_file_with_a_small_name_is_found(self, tmp_path: Path) -> None:
        folder = write_skill(tmp_path / "x", {"skill.md": b"---\nname: x\ndescription: y\n---\nbody"})
        assert read_skill(folder)["prompt"] == "body"


class TestOwn:
    def exported(self, folder: Path) -> Path:
        case = TestCase("counts", "Count this.", "pass", ("json_only",), "1")
        files = skill_files(OURS, rationale="Asked for.", examples=["a", "b"], test_cases=[case, case])
        return write_skill_folder(folder, "scene-count", files)[0]

    def test_a_change_of_the_body_is_taken_and_noted(self, tmp_path: Path) -> None:
        file = self.exported(tmp_path)
        file.write_text(file.read_text().replace("Count all.", "Count all scenes.\n\n## Goals\n\nno"))
        found = read_skill(file.parent)
        assert found["prompt"] == "Count all scenes.\n\n## Goals\n\nno"
        assert found["goals"] == "Count."
        assert found["rationale"] == "Asked for.\nThe skill was changed after it was exported."

    def test_a_change_of_the_description_changes_the_usage_notes(self, tmp_path: Path) -> None:
        file = self.exported(tmp_path)
        file.write_text(file.read_text().replace('description: "When asked."', "description: Always."))
        found = read_skill(file.parent)
        assert found["usageNotes"] == "Always."
        assert found["rationale"].endswith("The skill was changed after it was exported.")

    def test_a_section_that_was_removed_is_missing(self, tmp_path: Path) -> None:
        file = self.exported(tmp_path)
        file.write_text(file.read_text().replace("## Goals\n\nCount.\n\n", ""))
        found = read_skill(file.parent)
        assert (found["goals"], found["guardrails"], found["prompt"]) == ("", "Do not guess.", "Count all.")

    def test_other_line_ends_change_nothing(self, tmp_path: Path) -> None:
        file = self.exported(tmp_path)
        before = read_skill(file.parent)
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
        assert read_skill(file.parent) == before
        assert before["rationale"] == "Asked for."

    def test_allowed_tools_added_from_outside_only_narrow(self, tmp_path: Path) -> None:
        file = self.exported(tmp_path)
        file.write_text(file.read_text().replace("metadata:\n", "allowed-tools: Read\nmetadata:\n"))
        assert read_skill(file.parent)["guardrails"].startswith("Do not guess.\n\nUse only these tools")

    def test_lengths_that_were_tampered_with_do_not_move_a_border(self, tmp_path: Path) -> None:
        file = self.exported(tmp_path)
        for lengths in ("0 0 0 0", "11 6 13 99999999", "1 2", "a b c d", "11 6 13 -1", ""):
            text = file.read_text()
            file.write_text(text.replace('lengths: "11 6 13 10"', f'lengths: "{lengths}"'))
            found = read_skill(file.parent)
            assert {name: found[name] for name in OURS.as_json()} == OURS.as_json()
            file.write_text(text)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('scope: "file"', 'scope: "everything"'),
            ('id: "scene_count"', 'id: "Scene Count"'),
            ('id: "scene_count"', 'id: "../../x"'),
            ("Count all.", "x" * 20_001),
        ],
    )
    def test_a_field_that_is_wrong_is_refused(self, tmp_path: Path, old: str, new: str) -> None:
        file = self.exported(tmp_path)
        file.write_text(file.read_text().replace(old, new))
        assert refused(file.parent).code is Code.INVALID_PROPOSAL

    @pytest.mark.parametrize(
        "evals",
        [
            "{",
            "[]",
            '{"evals": [{"prompt": 1}]}',
            '{"evals": [{"prompt": "x", "checks": "json_only"}]}',
            '{"evals": [{"prompt": "x", "name": 3}]}',
            '{"evals": [], "examples": [1]}',
            '{"evals": [], "examples": ["\\ud800"]}',
        ],
    )
    def test_evals_that_cannot_be_read_are_refused(self, tmp_path: Path, evals: str) -> None:
        file = self.exported(tmp_path)
        (file.parent / EVALS).write_text(evals)
        assert refused(file.parent).code is Code.INVALID_PROPOSAL


class TestBadInput:
    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        assert refused(tmp_path / "x" / "y").code is Code.FILE_NOT_FOUND

    def test_a_folder_without_a_skill(self, tmp_path: Path) -> None:
        (tmp_path / "x").mkdir()
        error = refused(tmp_path / "x")
        assert (error.code, error.message) == (
            Code.FILE_NOT_FOUND,
            "x has no SKILL.md; name the folder of one skill",
        )

    def test_an_archive(self, tmp_path: Path) -> None:
        (tmp_path / "x.zip").write_bytes(b"PK\3\4")
        error = refused(tmp_path / "x.zip")
        assert error.code is Code.NOT_A_DIRECTORY
        assert "unpack" in error.message

    @pytest.mark.parametrize(
        "text",
        [
            "Only a body.",
            "---\nname: x\n",
            "---\n- a\n- b\n---\nbody",
            "---\njust words\n---\nbody",
            "---\nname: x\n---\nbody",
            "---\nname: x\ndescription: ' '\n---\nbody",
            "---\nname: x\ndescription:\n  - a\n---\nbody",
            "---\ndescription: y\n---\nbody",
            "---\nname: [x]\ndescription: y\n---\nbody",
            "---\na: &a [x,x]\nb: &b [*a,*a]\nname: *b\ndescription: y\n---\nbody",
            "---\nname: !!python/object/apply:os.system ['x']\ndescription: y\n---\nbody",
            f"---\nname: x\ndescription: y\nallowed-tools: {'a(' * 2000}\n---\nbody",
            f"---\nname: x\ndescription: {'y' * 2001}\n---\nbody",
            f"---\nname: x\ndescription: y\n---\n{'y' * 20_001}",
        ],
    )
    def test_a_text_that_is_no_skill(self, tmp_path: Path, text: str) -> None:
        assert refused(skill(tmp_path / "x", text)).code is Code.INVALID_PROPOSAL

    @pytest.mark.parametrize(
        "name",
        ["X", "a_b", "a--b", "-a", "a-", "../x", "/etc/x", "a/b", "é", "a b", "x" * 65, '""', "..", "a\\b"],
    )
    def test_a_name_that_is_not_allowed(self, tmp_path: Path, name: str) -> None:
        error = refused(skill(tmp_path / "x", f"---\nname: {name}\ndescription: y\n---\nbody"))
        assert error.code is Code.INVALID_PROPOSAL
        assert "the name is" in error.message

    def test_a_file_that_is_far_too_large(self, tmp_path: Path) -> None:
        folder = skill(tmp_path / "x", FOREIGN)
        os.truncate(folder / SKILL, 50_000_000)
        assert refused(folder).code is Code.TOO_LARGE
        (folder / SKILL).write_text(FOREIGN)
        (folder / "evals").mkdir()
        (folder / EVALS).write_bytes(b" " * (MOST_BYTES + 1))
        assert refused(folder).code is Code.TOO_LARGE

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        assert refused(skill(tmp_path / "x", FOREIGN.encode("utf-16"))).code is Code.NOT_TEXT

    @pytest.mark.parametrize("path", [SKILL, "evals", EVALS])
    def test_a_link_is_not_followed(self, tmp_path: Path, path: str) -> None:
        elsewhere = skill(tmp_path / "elsewhere", FOREIGN, **{EVALS: b'{"evals": []}'})
        folder = skill(tmp_path / "x", FOREIGN, **{EVALS: b'{"evals": []}'})
        if path == "evals":
            (folder / EVALS).unlink()
            (folder / path).rmdir()
        else:
            (folder / path).unlink()
        (folder / path).symlink_to(elsewhere / path)
        error = refused(folder)
        assert error.code is Code.INVALID_PATH
        assert "link" in error.message

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        (tmp_path / "x").mkdir()
        os.mkfifo(tmp_path / "x" / SKILL)
        assert refused(tmp_path / "x").code is Code.NOT_A_FILE

    def test_a_folder_in_the_place_of_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "x" / SKILL).mkdir(parents=True)
        assert refused(tmp_path / "x").code is Code.NOT_A_FILE
