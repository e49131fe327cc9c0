"""Rules that a program adds to a room: one by one, or as an engine that it goes on filling."""

import threading
from pathlib import Path

import pytest

from brasstag import (
    Call,
    ConfigError,
    Done,
    Failed,
    Preview,
    Room,
    Rule,
    RuleEngine,
    SafetyRule,
    Verdict,
    Waiting,
)
from tests.conftest import MakeProject

NO_DRAFTS = SafetyRule("no_drafts", ["drafts/**"])


async def blocked_by(room: Room, path: str) -> str:
    outcome = await room.call("write_file", {"path": path, "content": "x"})
    return outcome.details["rule"] if isinstance(outcome, Failed) else ""


async def test_an_engine_is_taken_by_an_open_room(room: Room) -> None:
    engine = RuleEngine()
    engine.add_rule(NO_DRAFTS)
    room.add_rule(engine)
    assert await blocked_by(room, "drafts/a.md") == "no_drafts"
    assert await blocked_by(room, "a.md") == ""


async def test_an_engine_is_taken_while_a_room_opens(project: Path) -> None:
    engine = RuleEngine([NO_DRAFTS])
    async with Room.open(project, rules=engine) as room:
        assert await blocked_by(room, "drafts/a.md") == "no_drafts"
        assert await blocked_by(room, ".ssh/config") == "ssh-keys"
    async with Room.in_memory(rules=engine) as room:
        assert await blocked_by(room, "drafts/a.md") == "no_drafts"
        assert await blocked_by(room, ".ssh/config") == "ssh-keys"
    async with Room.open(project) as room:
        assert await blocked_by(room, "drafts/a.md") == ""


async def test_one_rule_may_be_given_instead(project: Path) -> None:
    async with Room.open(project, rules=NO_DRAFTS) as room:
        assert await blocked_by(room, "drafts/a.md") == "no_drafts"


async def test_one_engine_serves_several_rooms_and_outlives_them() -> None:
    engine = RuleEngine()
    async with Room.in_memory(rules=engine), Room.in_memory(rules=engine) as second:
        pass
    async with Room.in_memory(rules=engine) as third, Room.in_memory(rules=engine) as fourth:
        engine.add_rule(NO_DRAFTS)
        for room in (third, fourth):
            assert await blocked_by(room, "drafts/a.md") == "no_drafts"
    assert isinstance(await second.call("list_files", {}), Failed)


async def test_a_rule_that_another_thread_adds_later_counts_at_once_and_hides_documents(room: Room) -> None:
    engine = RuleEngine()
    room.add_rule(engine)
    for name in ("plans.md", "notes.md"):
        (room.workspace / name).write_text("walnut\n")
    assert [one.path for one in (await room.documents.list()).documents] == ["notes.md", "plans.md"]
    hide = Rule("deny", ("read_file(plans.md)",), "they are not for tools", "no_plans")
    adding = threading.Thread(target=engine.add_rule, args=(hide,))
    adding.start()
    adding.join()
    outcome = await room.call("read_file", {"path": "plans.md"})
    assert isinstance(outcome, Failed)
    assert outcome.details["rule"] == "no_plans"
    assert [one.path for one in (await room.documents.list()).documents] == ["notes.md"]


async def test_an_engine_never_loosens_what_the_room_says(make_project: MakeProject) -> None:
    project = make_project('[[rules]]\ndeny = "*(final/**)"\nbecause = "it is final"\nname = "final"\n')

    def anything(call: Call, preview: Preview) -> Verdict:
        return Verdict("allow", "all is fine", "anything")

    engine = RuleEngine([anything, Rule("allow", ("*",), "all is fine")])
    async with Room.open(project, rules=engine) as room:
        assert await blocked_by(room, "final/a.md") == "final"
        assert await blocked_by(room, ".ssh/config") == "ssh-keys"


async def test_an_engine_brings_no_shipped_rule_that_the_settings_changed(make_project: MakeProject) -> None:
    project = make_project('[policy]\ndangerous_commands = "ask"\n')
    async with Room.open(project, rules=RuleEngine()) as room:
        assert isinstance(await room.call("shell", {"command": "rm -rf drafts"}), Waiting)


@pytest.mark.parametrize("profile", ["trusted", "locked"])
async def test_an_engine_with_another_profile_is_refused(project: Path, profile: str) -> None:
    engine = RuleEngine(profile=profile)  # type: ignore[arg-type]
    for opening in (Room.open(project, rules=engine), Room.in_memory(rules=engine)):
        with pytest.raises(ConfigError, match=f"is '{profile}', but here the profile is 'careful'"):
            async with opening:
                pass
    async with Room.open(project) as room:
        with pytest.raises(ConfigError, match="Leave it out"):
            room.add_rule(engine)
    async with Room.in_memory(profile=profile, rules=engine) as room:  # type: ignore[arg-type]
        assert isinstance(await room.call("list_files", {}), Done)


async def test_rules_added_in_python_stay_when_other_settings_are_tried(
    project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.toml"
    other.write_text('[room]\nprofile = "trusted"\n')
    async with Room.open(project, rules=RuleEngine([NO_DRAFTS])) as room:
        await blocked_by(room, "drafts/a.md")
        (replayed,) = await room.replay(other)
        assert replayed.verdict is not None
        assert (replayed.verdict.decision, replayed.verdict.rule) == ("deny", "no_drafts")
