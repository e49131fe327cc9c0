"""Four eyes: author and approver are two registered approvers, and switching that off takes two."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from brasstag import Code, Room, ToolError
from brasstag.words.approvals import Approver
from tests.app.prompts.documents import proposal

ON = "[prompts]\nfour_eyes = true\n"
ADA, BO = Approver("ada", "token"), Approver("bo", "token")


@pytest.mark.parametrize(
    ("author", "by", "why"),
    [
        ("token:ada", ADA, "is the author"),
        ("token:ada", Approver("bo", "terminal"), "token"),
        ("token:ada", "bo", "token"),
        ("cli:ada", BO, "not a registered approver"),
        ("library", BO, "not a registered approver"),
        ("token:ada", Approver("bo", "token", ("ada",)), "issued"),
        ("token:ada", Approver("bo", "token", ("cy", "ada")), "issued"),
        ("token:ada", Approver("bo", "token", issued=("ada",)), "issued the token of ada"),
    ],
)
async def test_one_person_does_not_count_as_two(make_project: Any, author: str, by: Any, why: str) -> None:
    async with Room.open(make_project(ON)) as room:
        found = await room.prompts.propose(proposal(), by=author)
        with pytest.raises(ToolError, match=why) as error:
            await room.prompts.approve(found.id, by, seen=found.digest)
        assert error.value.code is Code.FOUR_EYES
        assert (await room.prompts.catalog()).find("tag_hunter") is None


async def test_another_registered_approver_approves(make_project: Any) -> None:
    async with Room.open(make_project(ON)) as room:
        assert await room.prompts.needs_four_eyes()
        found = await room.prompts.propose(proposal(), by="token:ada")
        await room.prompts.approve(found.id, Approver("bo", "token", ("cy",)), seen=found.digest)
        assert (await room.prompts.catalog()).find("tag_hunter") is not None


async def test_removing_the_line_does_not_switch_it_off_and_two_approvers_do(make_project: Any) -> None:
    project: Path = make_project(ON)
    async with Room.open(project) as room:
        with pytest.raises(ToolError, match="settings still require"):
            await room.prompts.switch_off_four_eyes(ADA)
    settings = project / "brasstag.toml"
    settings.write_text(settings.read_text().replace("four_eyes = true", "four_eyes = false"))
    from tests.conftest import accept

    accept(project)
    async with Room.open(project) as room:
        assert await room.prompts.needs_four_eyes()
        found = await room.prompts.propose(proposal(), by="token:ada")
        with pytest.raises(ToolError):
            await room.prompts.approve(found.id, ADA, seen=found.digest)
        with pytest.raises(ToolError, match="two registered approvers"):
            await room.prompts.switch_off_four_eyes(Approver("ada", "terminal"))
        assert not await room.prompts.switch_off_four_eyes(ADA)
        for by, why in (
            (ADA, "another registered"),
            (Approver("bo", "token", ("ada",)), "ada issued the token of bo"),
            (Approver("bo", "token", issued=("ada",)), "issued the token of ada"),
        ):
            with pytest.raises(ToolError, match=why):
                await room.prompts.switch_off_four_eyes(by)
        assert await room.prompts.needs_four_eyes()
        assert await room.prompts.switch_off_four_eyes(BO)
        assert not await room.prompts.needs_four_eyes()
        await room.prompts.approve(found.id, ADA, seen=found.digest)
        assert (await room.verify()).ok


@pytest.mark.parametrize("name", ["colleague", "colleague:bo", "agent:editor", "hand edit"])
async def test_no_program_claims_to_be_an_author_that_only_brasstag_names(project: Path, name: str) -> None:
    async with Room.open(project) as room:
        with pytest.raises(ToolError) as error:
            await room.prompts.propose(proposal(), by=name)
        assert error.value.code is Code.INVALID_ARGUMENTS


async def test_what_a_colleague_approved_needs_one_registered_approver(
    make_project: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    theirs, ours = make_project(name="theirs"), make_project(ON, name="ours")
    async with Room.open(theirs) as room:
        found = await room.prompts.propose(proposal())
        await room.prompts.approve(found.id, "bo", seen=found.digest)
    shutil.copytree(theirs / ".brasstag" / "prompts", ours / ".brasstag" / "prompts")
    async with Room.open(ours) as room:
        _, digest = await room.prompts.from_colleagues()
        with pytest.raises(ToolError) as error:
            await room.prompts.accept("ada", seen=digest)
        assert error.value.code is Code.FOUR_EYES
        assert await room.prompts.proposals() == []
        await room.prompts.accept(ADA, seen=digest)
        assert (await room.prompts.catalog()).find("tag_hunter") is not None
