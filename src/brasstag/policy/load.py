"""Load rules from settings, and name every problem in them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from brasstag.policy.examples import ExampleCall
from brasstag.policy.globs import RuleError
from brasstag.policy.match.patterns import Pattern
from brasstag.policy.match.topics import argument_topic
from brasstag.policy.profiles import LANDING
from brasstag.policy.rule import NO_ALIASES, Rule, opposite, reading_of
from brasstag.policy.shipped import autorun_rules
from brasstag.policy.verdict import WEB_FETCH
from brasstag.settings.model import ExampleSettings, RuleSettings, Settings
from brasstag.settings.places import SETTINGS_FILE
from brasstag.words.errors import ConfigError, Problem
from brasstag.words.previews import Fact

_NEEDS_FACTS = (
    "Correct the rule, or the example; a rule with `when` needs examples that say what the call would do, "
    'such as { tool = "write_file", overwrites = ["notes.md"] }.'
)


def rules_from(
    settings: Sequence[RuleSettings],
    aliases: Mapping[str, str] = NO_ALIASES,
    file: str = SETTINGS_FILE,
) -> tuple[Rule, ...]:
    """Return the rules; raise ConfigError with every pattern that cannot be read and every example that fails."""
    rules: list[Rule] = []
    problems: list[Problem] = []
    for index, one in enumerate(settings):
        place = f"rules[{index}]"
        unreadable = list(_unreadable(one, place, file))
        problems += unreadable
        if not unreadable:
            rule = _rule(one, f"{file}: {place}")
            problems += failing_examples(rule, place, file, aliases)
            rules.append(rule)
    if problems:
        raise ConfigError(problems)
    return tuple(rules)


def project_rules(
    settings: Settings, aliases: Mapping[str, str] = NO_ALIASES, file: str = SETTINGS_FILE
) -> tuple[Rule, ...]:
    """Return everything in settings that is a rule: ``[[rules]]``, and the web allowlist.

    Raises ConfigError for what cannot be read, and for shipped rules that cannot be switched off.
    """
    may_be_off = [rule.name for rule in autorun_rules()]
    if strange := [name for name in settings.policy.switched_off if name not in may_be_off]:
        what = f"names {', '.join(strange)}, which cannot be switched off"
        raise ConfigError(
            [Problem(file, "policy.switched_off", what, f"It may name {', '.join(may_be_off)}.")]
        )
    return (*rules_from(settings.rules, aliases, file), *allowlist_rules(settings.web.allowlist, file))


def allowlist_rules(hosts: Sequence[str], file: str = SETTINGS_FILE) -> tuple[Rule, ...]:
    """Return the rule that ``[web] allowlist`` stands for: GET and POST to these hosts, whatever is sent."""
    if not hosts:
        return ()
    return (
        Rule(
            "allow",
            tuple(f"{WEB_FETCH}({host}/**)" for host in hosts),
            "its host is on [web] allowlist",
            "web-allowlist",
            when=dict.fromkeys((Fact.FETCHES, Fact.EXTERNAL)),
            source=f"{file}: web.allowlist",
        ),
    )


def strange_roles(rules: Sequence[Rule], known: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for each rule about a role that does not exist: a misspelt deny protects nothing."""
    for rule in rules:
        for role in rule.roles:
            if role not in known:
                place = rule.source.removeprefix(f"{SETTINGS_FILE}: ")
                yield Problem(
                    SETTINGS_FILE,
                    place,
                    f"is about {role}, which is no role of this room",
                    f"It has {', '.join(known)}.",
                )


def strange_tools(
    rules: Sequence[Rule], known: Callable[[str], bool], file: str = SETTINGS_FILE
) -> Iterator[Problem]:
    """Yield a problem for each rule about a tool that does not exist: a misspelt deny protects nothing."""
    for rule in rules:
        for pattern in (*rule.parsed_patterns, *rule.parsed_exceptions):
            if pattern.names_one_tool and pattern.tool != LANDING and not known(pattern.tool):
                place = rule.source.removeprefix(f"{file}: ")
                what = f"is about {pattern.tool}, which is not a tool of this room"
                yield Problem(file, place, what, "`brasstag tools` lists them.")


def _rule(settings: RuleSettings, source: str) -> Rule:
    return Rule(
        decision=settings.decision,
        patterns=settings.patterns,
        because=settings.because,
        name=settings.name,
        unless=settings.unless,
        roles=settings.roles,
        arguments=settings.arguments,
        when=settings.when,
        match=tuple(_example(one) for one in settings.match),
        not_match=tuple(_example(one) for one in settings.not_match),
        source=source,
    )


def _example(given: str | ExampleSettings) -> ExampleCall:
    return ExampleCall.parse(given) if isinstance(given, str) else ExampleCall.from_settings(given)


def _unreadable(settings: RuleSettings, place: str, file: str) -> Iterator[Problem]:
    for field, read in _readings(settings):
        try:
            read()
        except RuleError as error:
            yield Problem(file, f"{place}.{field}", error.what, error.mend)


def _readings(settings: RuleSettings) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield each field that policy reads, and the function that reads it."""
    reading = reading_of(settings.decision)
    for text in settings.patterns:
        yield settings.decision, partial(Pattern.parse, text, reading)
    for text in settings.unless:
        yield "unless", partial(Pattern.parse, text, opposite(reading))
    for argument, globs in settings.arguments.items():
        for glob in globs:
            yield f"arguments.{argument}", partial(argument_topic(argument).matcher, glob, reading)
    for field, examples in (("match", settings.match), ("not_match", settings.not_match)):
        for given in examples:
            yield field, partial(_example, given)


def failing_examples(rule: Rule, place: str, file: str, aliases: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a problem for each example of a rule that it does not treat as the example says."""
    for field, example in rule.failing_examples(aliases):
        what = f"the rule {'does not match' if field == 'match' else 'matches'} {example.text}"
        yield Problem(
            file, f"{place}.{field}", what, _NEEDS_FACTS if rule.when else "Correct the rule, or the example."
        )
