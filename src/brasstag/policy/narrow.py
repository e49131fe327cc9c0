"""The narrowest allow rule for an approved call, so that the same call is not asked about again."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from brasstag.policy.globs import RuleError, escaped
from brasstag.policy.match.subjects import Subject, names_path, plain_path
from brasstag.policy.profiles import ToolFacts, as_declared
from brasstag.policy.rule import Rule
from brasstag.policy.shipped import autorun_rules
from brasstag.policy.verdict import Rules
from brasstag.settings.write import toml_string
from brasstag.words.calls import Call
from brasstag.words.previews import Fact, Preview

MOST_PATHS = 20

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class NoRule:
    """Why there is no such rule."""

    because: str


def narrow_rule(
    rules: Rules, call: Call, preview: Preview, tool: ToolFacts, parameters: Collection[str], because: str
) -> str | NoRule:
    """Return, as TOML, a rule that allows this call again: this role, these paths, these arguments, these effects.

    A call that only touches files is held to its paths and to what it does to them. Any other is held to every
    argument it gave, and to giving none of the tool's other ``parameters``.
    """
    if preview.conflicts:
        return NoRule(
            "what it would replace had changed since its task saw it, and no rule allows that beforehand"
        )
    for spoken in rules.spoken(call, preview, tool):
        if spoken.verdict.decision != "allow":
            said = f"the rule {spoken.verdict.rule} says {spoken.verdict.decision}, and no allow outranks it"
            off = spoken.verdict.rule in {rule.name for rule in autorun_rules()}
            instead = (
                "[policy] switched_off may name it" if off else f"change that rule in {spoken.source} instead"
            )
            return NoRule(f"{said}; {instead}")
    subject = Subject(call, as_declared(preview, tool))
    if len(subject.paths) > MOST_PATHS:
        return NoRule(f"it touches {len(subject.paths)} paths; write a rule with a pattern for them instead")
    try:
        rule = narrowest(subject, parameters, because)
    except RuleError as error:
        return NoRule(f"a rule cannot hold its arguments: {error.what}")
    bound = rule.bound_to(call.tool)
    if bound is None or bound.speaks(subject) is None:
        return NoRule("no rule can say exactly this; write one by hand")
    return _as_toml(rule)


def narrowest(subject: Subject, parameters: Collection[str], because: str) -> Rule:
    """Return the narrowest rule that allows a call; raise RuleError where a rule cannot hold its arguments."""
    tool = escaped(subject.call.tool)
    given = _given(subject)
    if subject.paths and not subject.beyond_paths:
        held = {name: globs for name, globs in given.items() if names_path(name)}
        absent: tuple[str, ...] = ()
    else:
        held = given
        absent = tuple(f"{tool}({name}: **)" for name in parameters if name not in given)
    return Rule(
        "allow",
        tuple(f"{tool}({exact_path(path)})" for path in subject.paths_to_cover) or (tool,),
        because,
        unless=absent,
        roles=(subject.call.role,),
        arguments=held,
        when=facts_seen(subject),
    )


def facts_seen(subject: Subject) -> Mapping[Fact, int]:
    """Return the facts that were seen; a call that does nothing may only read, as a missing ``when`` is no limit."""
    return dict.fromkeys(sorted(subject.beyond_paths), 1) | dict(subject.counts) or {Fact.READS: 1}


def _given(subject: Subject) -> dict[str, tuple[str, ...]]:
    """Return, for each argument, globs that match nothing else; an empty list of paths counts as not given."""
    globs = {name: tuple(_globs(subject, name)) for name in subject.call.arguments}
    return {name: several for name, several in globs.items() if several}


def _globs(subject: Subject, argument: str) -> Iterator[str]:
    if names_path(argument):
        for value in subject.values(argument):
            yield exact_path(plain_path(value))
    else:
        yield escaped(subject.whole(argument) or "")


def exact_path(path: str) -> str:
    """Return a glob that matches this path only."""
    return f"/{escaped(path)}" if path else "."


def _as_toml(rule: Rule) -> str:
    return "\n".join(["", "[[rules]]", *_lines(rule), ""])


def _lines(rule: Rule) -> Iterator[str]:
    yield f"allow = {_texts(rule.patterns)}"
    if rule.unless:
        yield f"unless = {_texts(rule.unless)}"
    if rule.roles:
        yield f"roles = {_texts(rule.roles)}"
    if rule.arguments:
        held = ", ".join(f"{_key(name)} = {_texts(globs)}" for name, globs in rule.arguments.items())
        yield f"arguments = {{ {held} }}"
    yield f"when = {{ {', '.join(f'{fact} = {count}' for fact, count in rule.when.items())} }}"
    yield f"because = {toml_string(rule.because)}"


def _texts(texts: tuple[str, ...]) -> str:
    written = [toml_string(text) for text in texts]
    return written[0] if len(written) == 1 else f"[{', '.join(written)}]"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else toml_string(name)
