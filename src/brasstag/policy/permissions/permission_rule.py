"""Timed permissions as rules: what one covers, and the policy that it counts with."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from brasstag.policy.globs import escaped
from brasstag.policy.match.patterns import parts
from brasstag.policy.match.subjects import Subject, names_path
from brasstag.policy.match.topics import PATHS
from brasstag.policy.narrow import exact_path, facts_seen, narrowest
from brasstag.policy.rule import BoundRule, Rule, names_of
from brasstag.policy.verdict import Rules
from brasstag.words.canonical import stored_digest, stored_json
from brasstag.words.previews import Fact
from brasstag.words.verdicts import Verdict

_UNTOLD_BY_PATHS = frozenset({Fact.RUNS, Fact.FETCHES, Fact.EXTERNAL})
"""What a call may do that no path tells: a pattern of paths never covers it."""


def permission_rule(subject: Subject, parameters: Collection[str], pattern: str, because: str) -> Rule:
    """Return the allow rule of a permission for one approved call; raise RuleError for a pattern that cannot be read.

    It is for the role of the call, and for calls that do nothing else than that one did. Without a pattern it is the
    narrowest rule that allows the call. A pattern stands for its paths, or web addresses, or for one argument; then
    all other paths of the call stay as they are.
    """
    if not pattern:
        return narrowest(subject, parameters, because)
    tool = escaped(subject.call.tool)
    _, argument, glob = parts(f"{tool}({pattern})")
    patterns: tuple[str, ...] = (f"{tool}({pattern})",)
    if argument and subject.beyond_paths:
        patterns = (tool,)
    elif argument and names_path(argument):
        patterns = (f"{tool}({glob})",)
    elif argument:
        patterns = tuple(f"{tool}({exact_path(path)})" for path in subject.paths_to_cover) or (tool,)
    return Rule(
        "allow",
        patterns,
        because,
        roles=(subject.call.role,),
        arguments={argument: (glob or "",)} if argument else {},
        when=_facts(subject),
    )


def _facts(subject: Subject) -> Mapping[Fact, int | None]:
    """Return what the call does, as often as it likes; that it reads named files limits nothing."""
    told = [fact for fact in facts_seen(subject) if fact is not Fact.READS or fact in subject.beyond_paths]
    return dict.fromkeys(told) or {Fact.READS: None}


def stored_rule(rule: Rule) -> str:
    """Return a permission's rule as it is stored."""
    return stored_json(
        {
            "patterns": list(rule.patterns),
            "unless": list(rule.unless),
            "roles": list(rule.roles),
            "arguments": {name: list(globs) for name, globs in rule.arguments.items()},
            "when": {fact.value: most for fact, most in rule.when.items()},
        }
    )


def read_rule(stored: str, because: str) -> Rule:
    """Return the rule that was stored."""
    said: dict[str, Any] = json.loads(stored)
    return Rule(
        "allow",
        tuple(said["patterns"]),
        because,
        unless=tuple(said["unless"]),
        roles=tuple(said["roles"]),
        arguments={name: tuple(globs) for name, globs in said["arguments"].items()},
        when={Fact(fact): most for fact, most in said["when"].items()},
    )


def covers(rule: Rule, subject: Subject) -> bool:
    """Say whether a permission's rule covers a call: every path, argument and effect of it."""
    bound = rule.bound_to(subject.call.tool)
    if bound is None:
        return False
    topics = dict(bound.topics)
    if _UNTOLD_BY_PATHS.intersection(rule.when) and not rule.arguments:
        # That its paths are covered says nothing about what it runs, or where it sends them.
        topics.pop(PATHS, None)
    return BoundRule(rule, topics, bound.exceptions).speaks(subject) is not None


def policy_digest(rules: Rules, tool: str, tool_version: str) -> str:
    """Return the digest of all that a permission counts with: profile, rules, and the tool with its other names."""
    return stored_digest([rules.digest, sorted(names_of(tool, rules.aliases)), tool_version])


def permitted(permission_id: str, because: str) -> Verdict:
    """Return the verdict on a call that a permission covers."""
    return Verdict("allow", because, permission_id, permission=permission_id)


def may_be_permitted(verdict: Verdict) -> bool:
    """Say whether a permission could change a verdict: profile or tool ask, and no rule does."""
    return verdict.decision == "ask" and not verdict.by_rule
