"""Where a tool acts that does not say so: a person says it, at the terminal or with an option."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from brasstag.app import ANSWERS, Trust, answer, open_state, unanswered_tools
from brasstag.surfaces.cli.terminal.console import say
from brasstag.surfaces.cli.terminal.prompts import ask
from brasstag.words.errors import Code, ConfigError, ToolError

_MEANINGS: Mapping[str, str] = {
    "workspace": "in the workspace only: on a draft, and its changes are judged",
    "ask": "outside: ask me each time",
    "free": "outside: let it run freely",
}
"""By answer: what it means, in the order in which a person is shown them."""


def read_effects(options: Iterable[str]) -> dict[str, str]:
    """Read ``NAME=workspace``, ``NAME=ask`` and ``NAME=free``; raise ToolError for anything else."""
    found: dict[str, str] = {}
    for option in options:
        name, _, said = option.partition("=")
        if not name or said not in ANSWERS:
            wanted = ", ".join(f"{name or 'NAME'}={word}" for word in ANSWERS)
            raise ToolError(Code.INVALID_ARGUMENTS, f"--effects {option}: write one of {wanted}")
        found[name] = said
    return found


def settle_effects(project: Path, given: Mapping[str, str], *, asks: bool) -> dict[str, str]:
    """Remember where accepted tools act that leave it open: as given, else as a person answers where one is asked.

    Returns the answer for each such tool that had none before; empty where a tool stays as it is.
    """
    room_state = open_state(project)
    try:
        trust = Trust(project, room_state.folder)
        open_ones = [name for name in _unanswered(project, trust) if name not in given]
        answered = dict(given)
        for name in open_ones if asks else ():
            said = _ask(name)
            if said is None:
                break
            answered[name] = said
        if answered:
            answer(project, trust, answered)
        for name in open_ones:
            if name not in answered:
                say(
                    f"{name} does not say where it acts, so it counts as acting outside. Say it with "
                    f"`brasstag trust --effects {name}=workspace`, =ask or =free.",
                    "yellow",
                    stderr=True,
                )
        return dict.fromkeys(open_ones, "") | answered
    finally:
        room_state.close()


def _unanswered(project: Path, trust: Trust) -> list[str]:
    try:
        return [tool.name for tool in unanswered_tools(project, trust)]
    except ConfigError:
        # Tools that cannot be loaded are told by whatever opens the room.
        return []


def _ask(name: str) -> str | None:
    say(f"{name} does not say where it acts:", "bold", stderr=True)
    for word, meaning in _MEANINGS.items():
        say(f"  {word:<9}  {meaning}", stderr=True)
    while (said := ask(f"Where does {name} act? [workspace/ASK/free]")) is not None:
        found = [word for word in _MEANINGS if word.startswith(said.lower())] if said else ["ask"]
        if len(found) == 1:
            return found[0]
    return None
