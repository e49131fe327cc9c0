"""Where no rule speaks: what the room's profile says of each effect, and what the tool says of itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import Literal

from brasstag.policy.match.addresses import address_of
from brasstag.policy.match.subjects import counts_of
from brasstag.settings.model import ProfileName
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call
from brasstag.words.previews import Fact, Preview
from brasstag.words.verdicts import CONDITIONS, Verdict

Stance = Literal["allow", "ask", "undoable", "silent"]
"""What a profile says of one effect; ``undoable`` allows what can be taken back and asks about the rest."""

PROFILES: Mapping[ProfileName, Mapping[Fact, Stance]] = MappingProxyType(
    {
        "careful": {
            Fact.READS: "allow",
            Fact.CREATES: "allow",
            Fact.OVERWRITES: "ask",
            Fact.DELETES: "ask",
            Fact.MOVES: "allow",
            Fact.ANNOTATES: "allow",
            Fact.RUNS: "allow",
            Fact.FETCHES: "silent",
            Fact.EXTERNAL: "silent",
        },
        "trusted": {
            Fact.READS: "allow",
            Fact.CREATES: "undoable",
            Fact.OVERWRITES: "undoable",
            Fact.DELETES: "undoable",
            Fact.MOVES: "undoable",
            Fact.ANNOTATES: "allow",
            Fact.RUNS: "allow",
            Fact.FETCHES: "silent",
            Fact.EXTERNAL: "silent",
        },
        "locked": {
            Fact.READS: "allow",
            Fact.CREATES: "ask",
            Fact.OVERWRITES: "ask",
            Fact.DELETES: "ask",
            Fact.MOVES: "ask",
            Fact.ANNOTATES: "ask",
            Fact.RUNS: "ask",
            Fact.FETCHES: "ask",
            Fact.EXTERNAL: "ask",
        },
    }
)

EXTERNAL_EFFECTS, CODE_EFFECTS = "external", "code"
"""What a tool declares of itself, besides ``none`` and ``files``."""

LANDING = "apply_changes"
"""The name by which rules speak of what code has changed: no tool, as no caller calls it."""

_WORDS: Mapping[Fact, tuple[str, str]] = MappingProxyType(
    {
        Fact.READS: ("reads", "reading"),
        Fact.CREATES: ("creates", "creating"),
        Fact.OVERWRITES: ("overwrites", "overwriting"),
        Fact.DELETES: ("deletes", "deleting"),
        Fact.MOVES: ("moves", "moving"),
        Fact.ANNOTATES: ("annotates", "annotating"),
        Fact.RUNS: ("runs", "running"),
        Fact.FETCHES: ("fetches", "fetching"),
        Fact.EXTERNAL: ("acts", "acting outside the workspace"),
    }
)
"""The verb and the gerund for each fact."""

_FACT_OF: Mapping[str, Fact] = {str(condition): fact for condition, fact in CONDITIONS.items()}
_MOST_NAMED = 3

UNSAID = ", and nothing says whether it may"
"""What is said of an effect on which neither profile nor tool speaks."""
_LONGEST_NAMED = 80


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What a tool says of itself and of this call."""

    tool: str
    approval: str | None = None
    """``auto``, ``confirm``, a key of CONDITIONS, or None where the tool does not say."""
    requires_approval: bool | None = None
    """What the tool's own flag or function answered for these arguments."""
    error: str = ""
    """Why that function could not answer."""
    effects: str = EXTERNAL_EFFECTS


def facts_of(tool: Tool, call: Call) -> ToolFacts:
    """Return what a tool says of itself and of a call."""
    wanted, error = None, ""
    if callable(tool.requires_approval):
        try:
            wanted = bool(tool.requires_approval(dict(call.arguments)))
        except Exception as caught:  # noqa: BLE001 - an error in a rule means ask
            error = f"{type(caught).__name__}: {caught}"
    else:
        wanted = tool.requires_approval
    return ToolFacts(
        tool=tool.config.tool_id,
        approval=tool.config.approval,
        requires_approval=wanted,
        error=error,
        effects=tool.config.effects,
    )


def opinions(
    profile: ProfileName, preview: Preview, facts: ToolFacts, unsaid: str = UNSAID
) -> tuple[Verdict, ...]:
    """Return what is said about a call on which no rule speaks, the strictest first; never empty.

    For each effect the profile or the tool has to say what holds. Where neither does, a person is asked. The web is
    closed to code in every profile. ``unsaid`` is what such a person is told about it.
    """
    effects = effects_of(preview, facts)
    trusted = _overrides(profile, effects, preview) and not facts.error
    own = [] if trusted else list(_own(effects, preview, facts))
    by_profile = list(_said(profile, effects, preview, "" if own else unsaid))
    # Where all allow, the first is the reason: that of the tool, if it decides about something.
    said = [*own, *by_profile] if _leaves_to_tool(profile, effects) else [*by_profile, *own]
    if reaches_web(preview, facts):
        said.append(_closed(profile, preview, facts))
    if not said:
        said.append(
            Verdict("ask", "no rule, no profile and not the tool itself says what it may do", "silence")
        )
    return tuple(sorted(said, key=attrgetter("strictness"), reverse=True))


def reaches_web(preview: Preview, facts: ToolFacts) -> bool:
    """Say whether code would reach the web out of the sandbox, which only a rule can allow."""
    return facts.effects == CODE_EFFECTS and (preview.external or bool(preview.fetches))


def _closed(profile: ProfileName, preview: Preview, facts: ToolFacts) -> Verdict:
    """Deny code that would reach the web, and say which rule would allow it."""
    hosts = list(dict.fromkeys(address_of(address).partition("/")[0] for address in preview.fetches))
    patterns = [f'"{facts.tool}({host}/**)"' for host in hosts[:_MOST_NAMED]] or [f'"{facts.tool}"']
    allow = patterns[0] if len(patterns) == 1 else f"[{', '.join(patterns)}]"
    when = ", ".join(f'"{fact}"' for fact in counts_of(preview) if fact is not Fact.READS)
    because = f"code reaches the web only by a rule, such as: allow = {allow}, when = [{when}]"
    return Verdict("deny", because, f"profile {profile}")


def as_declared(preview: Preview, facts: ToolFacts) -> Preview:
    """Return the preview with what the tool says of itself: one that acts outside does so in every call.

    A preview that names what is fetched says for itself whether that is all.
    """
    if facts.effects == EXTERNAL_EFFECTS and not (preview.external or preview.fetches):
        return replace(preview, external=True)
    return preview


def effects_of(preview: Preview, facts: ToolFacts) -> tuple[Fact, ...]:
    """Return what a call does, in the order of Fact; where the preview sees all and finds nothing, it only reads."""
    seen = tuple(counts_of(preview))
    if not seen and facts.effects != EXTERNAL_EFFECTS:
        return (Fact.READS,)
    return seen


def _overrides(profile: ProfileName, effects: tuple[Fact, ...], preview: Preview) -> bool:
    """Say whether the profile decides instead of the tool: it trusts undo, and everything here can be undone."""
    stances = [PROFILES[profile][fact] for fact in effects if fact is not Fact.READS]
    return bool(stances) and all(stance == "undoable" for stance in stances) and preview.undoable


def _said(
    profile: ProfileName, effects: tuple[Fact, ...], preview: Preview, unsaid: str
) -> Iterator[Verdict]:
    """Yield what the profile says of each effect; where it is silent and the tool is, too, ``unsaid`` says so."""
    allowed = []
    for fact in effects:
        stance = PROFILES[profile][fact]
        if stance == "undoable":
            stance = "allow" if preview.undoable else "ask"
        if stance == "allow":
            allowed.append(fact)
        elif stance == "ask":
            yield Verdict(
                "ask", f"it {_deed(fact, preview)}; profile {profile} asks first", f"profile {profile}"
            )
        elif unsaid:
            yield Verdict("ask", f"it {_deed(fact, preview)}{unsaid}", "silence")
    if allowed:
        yield _allowed(profile, tuple(allowed))


@cache
def _allowed(profile: ProfileName, facts: tuple[Fact, ...]) -> Verdict:
    """Return what allows all of these; that reading is allowed is said only of a call that does nothing else."""
    told = [fact for fact in facts if fact is not Fact.READS] or facts
    words = [_WORDS[fact][1] for fact in told]
    undoable = any(PROFILES[profile][fact] == "undoable" for fact in told)
    *first, last = words
    listed = f"{', '.join(first)} and {last}" if first else last
    why = f"profile {profile} allows {listed}{', which can be undone' if undoable else ''}"
    return Verdict("allow", why, f"profile {profile}")


def _leaves_to_tool(profile: ProfileName, effects: tuple[Fact, ...]) -> bool:
    return any(PROFILES[profile][fact] == "silent" for fact in effects)


def _own(effects: tuple[Fact, ...], preview: Preview, facts: ToolFacts) -> Iterator[Verdict]:
    speaker = f"tool {facts.tool}"
    if facts.error:
        yield Verdict("ask", f"the tool could not say whether to ask: {facts.error}", speaker)
    if facts.requires_approval is not None:
        yield _answer(speaker, asks=facts.requires_approval, where="for these arguments")
    match facts.approval:
        case None:
            return
        case "auto" | "confirm":
            yield _answer(speaker, asks=facts.approval == "confirm", where="whatever it does")
        case condition if fact := _FACT_OF.get(condition):
            if fact in effects:
                yield Verdict("ask", f"it {_deed(fact, preview)}; the tool asks first", speaker)
            else:
                yield _answer(speaker, asks=False, where=f"when it is not {_WORDS[fact][1]}")
        case unknown:
            yield Verdict("ask", f"its approval {unknown!r} is not known", speaker)


def _answer(speaker: str, *, asks: bool, where: str) -> Verdict:
    if asks:
        return Verdict("ask", f"the tool asks first, {where}", speaker)
    return Verdict("allow", f"the tool needs no approval {where}", speaker)


def _deed(fact: Fact, preview: Preview) -> str:
    """Say what a call does in a few words, for the person who is asked."""
    things = preview.about(fact) or (_unnamed(fact, preview),)
    named = [_short(thing) for thing in things[:_MOST_NAMED]]
    more = len(things) - len(named)
    also = preview.notes if fact is Fact.FETCHES and not preview.runs else ()
    return " and ".join([f"{_WORDS[fact][0]} {', '.join(named)}", *([f"{more} more"] if more else []), *also])


def _unnamed(fact: Fact, preview: Preview) -> str:
    return f"{preview.untracked_reads} files" if fact is Fact.READS else "outside the workspace"


def _short(thing: str) -> str:
    line = " ".join(thing.split())
    return line if len(line) <= _LONGEST_NAMED else f"{line[:_LONGEST_NAMED]}…"
