"""Rules: deny, ask or allow, and why.

Deny and ask reach far: any one path, value or fact is enough. Allow is held to its letters: every path the call names
or touches, every argument and every fact has to be covered, so an allow never loosens more than it says.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from brasstag.policy.examples import ExampleCall
from brasstag.policy.globs import Reading, RuleError
from brasstag.policy.match.addresses import ADDRESSES
from brasstag.policy.match.command_words import Likeness
from brasstag.policy.match.patterns import Pattern
from brasstag.policy.match.subjects import Subject
from brasstag.policy.match.topics import (
    PATHS,
    WHOLE_CALL,
    CommandArgument,
    Matcher,
    Paths,
    Topic,
    argument_topic,
)
from brasstag.words.previews import Fact
from brasstag.words.verdicts import STRICTNESS, Decision, Verdict

NO_ALIASES: Mapping[str, str] = MappingProxyType({})

_UNSEEN = "acts where a preview cannot see"

Matchers = Mapping[Topic, tuple[Matcher, ...]]
"""What is held against the items of each topic."""


@dataclass(frozen=True)
class Rule:
    """One rule; it is checked when it is made, and RuleError says what is wrong with it."""

    decision: Decision
    patterns: tuple[str, ...]
    because: str
    name: str = ""
    unless: tuple[str, ...] = ()
    """What the rule leaves alone."""
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Globs by argument; each of these arguments has to match one of its globs."""
    when: Mapping[Fact, int | None] = field(default_factory=dict)
    """For deny and ask: any of these facts, at least this often. For allow: only these facts, at most this often."""
    match: tuple[str | ExampleCall, ...] = ()
    """Calls it must speak about."""
    not_match: tuple[str | ExampleCall, ...] = ()
    """Calls it must be silent about."""
    source: str = ""
    """Where it is written, for people."""
    roles: tuple[str, ...] = ()
    """Only calls made in one of these roles; every role where none is named."""

    def __post_init__(self) -> None:
        _refuse_misuse(self.decision, self.patterns, self.unless, *self.arguments.values())
        if not self.patterns or not self.because.strip():
            raise RuleError("a rule needs a pattern and a because", "Say what it is about and why")
        if strangers := sorted(set(self.when) - set(Fact)):
            raise RuleError(f"{', '.join(strangers)} is no fact", f"Write one of {', '.join(Fact)}")
        if not self.name:
            object.__setattr__(self, "name", f"{self.decision} {', '.join(self.patterns)}")
        # Everything is read now, so that an unreadable part is reported now.
        _ = self.parsed_patterns, self.parsed_exceptions, self.conditions

    @property
    def reading(self) -> Reading:
        """How its patterns are read."""
        return reading_of(self.decision)

    @cached_property
    def parsed_patterns(self) -> tuple[Pattern, ...]:
        """What it is about."""
        return tuple(Pattern.parse(text, self.reading) for text in self.patterns)

    @cached_property
    def parsed_exceptions(self) -> tuple[Pattern, ...]:
        """What the rule leaves alone, read the opposite way: an exception to a deny excuses exactly what it says."""
        return tuple(Pattern.parse(text, opposite(self.reading)) for text in self.unless)

    @cached_property
    def conditions(self) -> Matchers:
        """What its arguments have to match."""
        topics = {argument: argument_topic(argument) for argument in self.arguments}
        return {
            topic: tuple(topic.matcher(glob, self.reading) for glob in self.arguments[argument])
            for argument, topic in topics.items()
        }

    @cached_property
    def verdict(self) -> Verdict:
        """What it says when it speaks."""
        return Verdict(self.decision, self.because, self.name, by_rule=True)

    @cached_property
    def doubtful_verdict(self) -> Verdict:
        """What it says when a command may be one that it means."""
        because = f"what it is exactly is only known when it runs, and it may be what {self.name} is about: {self.because}"
        return Verdict("ask", because, self.name, by_rule=True)

    @property
    def order(self) -> tuple[int, str, str, tuple[str, ...]]:
        """Its place among all rules: the strictest first, then by name, never by where it stands in a file."""
        return -STRICTNESS[self.decision], self.name, self.because, self.patterns

    def bound_to(self, tool: str, other_names: Collection[str] = ()) -> "BoundRule | None":
        """Return this rule as it stands for one tool, or None when it never speaks about it."""
        names = (tool, *other_names)
        topics = _grouped(self.parsed_patterns, names)
        return BoundRule(self, topics, _grouped(self.parsed_exceptions, names)) if topics else None

    def failing_examples(self, aliases: Mapping[str, str] = NO_ALIASES) -> Iterator[tuple[str, ExampleCall]]:
        """Yield ``match`` or ``not_match``, and the example, for each one that does not agree with the rule."""
        for kind, wanted, examples in (("match", True, self.match), ("not_match", False, self.not_match)):
            for given in examples:
                example = ExampleCall.parse(given) if isinstance(given, str) else given
                tool = aliases.get(example.call.tool, example.call.tool)
                bound = self.bound_to(tool, names_of(tool, aliases))
                call = replace(example.call, role=self.roles[0]) if self.roles else example.call
                spoke = bound is not None and bound.speaks(Subject(call, example.preview)) is not None
                if spoke is not wanted:
                    yield kind, example


@dataclass(frozen=True)
class BoundRule:
    """A rule that is about one tool, ready to be asked."""

    rule: Rule
    topics: Matchers
    exceptions: Matchers

    def speaks(self, subject: Subject) -> str | None:
        """Return what the rule found to speak about, or None when it is silent."""
        if not self._is_for(subject):
            return None
        if self.rule.decision == "allow":
            return subject.call.tool if self._allows(subject) else None
        return self._finds(subject, self.topics)

    def said(self, subject: Subject) -> tuple[Verdict, str] | None:
        """Return what the rule says and what about; it asks where a command may be the one that it means."""
        on = self.speaks(subject)
        if on is not None:
            return self.rule.verdict, on
        if self.rule.decision == "allow" or not subject.runs or not self._reads_commands:
            return None
        if not self._is_for(subject):
            return None
        on = self._finds(subject, self.topics, Likeness.MAYBE)
        return (self.rule.doubtful_verdict, on) if on is not None else None

    def speaks_of_items(self, subject: Subject) -> bool:
        """Say whether a deny or ask matches an item of this call, and not just the tool as a whole."""
        items = {topic: matchers for topic, matchers in self.topics.items() if topic != WHOLE_CALL}
        return self._is_for(subject) and self._finds(subject, items) is not None

    def keeps_from(self, role: str) -> bool:
        """Say whether it keeps this role from reading some paths unasked, and is not just about the tool as a whole."""
        rule = self.rule
        is_for = not rule.roles or role in rule.roles
        names_paths = any(isinstance(topic, Paths) for topic in self.topics)
        return rule.decision != "allow" and is_for and self.may_be_about_reading and names_paths

    def opens_web(self, subject: Subject) -> bool:
        """Say whether it allows a call and its ``when`` includes fetching; an allow always covers the whole call."""
        return Fact.FETCHES in self.rule.when and self.speaks(subject) is not None

    def beyond_address(self, subject: Subject) -> tuple[str, ...]:
        """Return what keeps an allow silent that names every web address of a call; empty where it names others.

        That is what the call does besides fetching, and the role and the arguments that the rule asks for.
        """
        addresses = ADDRESSES.items(subject)
        if not addresses or not all(_any(self.topics.get(ADDRESSES, ()), item) for item in addresses):
            return ()
        rule, preview = self.rule, subject.preview
        named = rule.when.keys() or {Fact.FETCHES}
        facts = [fact for fact in subject.counts if fact not in {*named, Fact.READS}]
        found = [] if self._is_for(subject) else [f"for the role {subject.call.role}"]
        for fact in facts:
            deeds = preview.notes or (_UNSEEN,) if fact is Fact.EXTERNAL else (fact,)
            found += [f"that it {deed}" for deed in deeds]
        found += [
            f"with this argument {argument}"
            for argument in rule.arguments
            if not self._meets(argument_topic(argument), subject)
        ]
        return tuple(found) or ("this call as a whole",)

    def _meets(self, condition: Topic, subject: Subject) -> bool:
        return _covers(condition, self.rule.conditions[condition], subject, self.rule.when.keys())

    def _is_for(self, subject: Subject) -> bool:
        return not self.rule.roles or subject.call.role in self.rule.roles

    @cached_property
    def only_about_paths(self) -> bool:
        """Whether nothing but a path, or a web address, can make it speak."""
        return self.topics.keys() == {PATHS, ADDRESSES}

    @cached_property
    def _reads_commands(self) -> bool:
        return any(isinstance(topic, CommandArgument) for topic in (*self.topics, *self.rule.conditions))

    @cached_property
    def may_be_about_reading(self) -> bool:
        """Whether it can speak of a path that is only read."""
        return not self.rule.when or Fact.READS in self.rule.when

    @cached_property
    def needs_no_preview(self) -> bool:
        """Whether its verdict on the arguments alone is final: no preview could show an exception."""
        about = (self.topics.keys() | self.exceptions.keys()) - {ADDRESSES}
        return not self.rule.when and (not self.exceptions or (len(about) == 1 and WHOLE_CALL not in about))

    def _finds(self, subject: Subject, topics: Matchers, least: Likeness = Likeness.SAME) -> str | None:
        if not self._conditions_met(subject, least) or not self._reaches(subject):
            return None
        for topic, matchers in topics.items():
            excused = self.exceptions.get(topic, ())
            # Items were compared when a command had to be the same; conditions may have kept the rule silent then.
            is_compared = least is Likeness.MAYBE and not self.rule.conditions
            for item in () if is_compared else topic.items(subject):
                if _any(matchers, item) and not _any(excused, item):
                    return None if self._excepted(subject, topic) else item
            on = _respelt(topic, matchers, subject, least)
            if on is not None:
                return None if self._excepted(subject, topic) else on
        return None

    def _excepted(self, subject: Subject, found: Topic) -> bool:
        return any(
            topic != found and _covers(topic, matchers, subject, beyond_paths=())
            for topic, matchers in self.exceptions.items()
        )

    def _conditions_met(self, subject: Subject, least: Likeness) -> bool:
        return all(
            _found(topic, matchers, subject, least) for topic, matchers in self.rule.conditions.items()
        )

    def _reaches(self, subject: Subject) -> bool:
        when = self.rule.when
        return not when or any(subject.counts.get(fact, 0) >= (least or 1) for fact, least in when.items())

    def _allows(self, subject: Subject) -> bool:
        named = self.rule.when.keys()
        return (
            self._stays_within(subject)
            and all(
                _covers(topic, matchers, subject, named) for topic, matchers in self.rule.conditions.items()
            )
            and any(_covers(topic, matchers, subject, named) for topic, matchers in self.topics.items())
            and not any(
                _found(topic, matchers, subject, Likeness.MAYBE)
                for topic, matchers in self.exceptions.items()
            )
        )

    def _stays_within(self, subject: Subject) -> bool:
        when = self.rule.when
        if not when:
            return True
        for fact, count in subject.counts.items():
            if fact not in when and fact is not Fact.READS:
                return False
            most = when.get(fact)
            if most is not None and count > most:
                return False
        return True


def names_of(tool: str, aliases: Mapping[str, str]) -> list[str]:
    """Return the aliases that stand for a tool."""
    return [alias for alias, stands_for in aliases.items() if stands_for == tool]


def reading_of(decision: Decision) -> Reading:
    """Return how the patterns of such a rule are read."""
    return "literal" if decision == "allow" else "generous"


def opposite(reading: Reading) -> Reading:
    """Return how exceptions to such patterns are read."""
    return "generous" if reading == "literal" else "literal"


def _covers(
    topic: Topic, matchers: tuple[Matcher, ...], subject: Subject, beyond_paths: Collection[Fact]
) -> bool:
    """Say whether the call is covered; paths do not cover a call that does more, except for what is named here."""
    told = {*beyond_paths, Fact.FETCHES} if topic == ADDRESSES else beyond_paths
    if topic in (PATHS, ADDRESSES) and not subject.beyond_paths.issubset(told):
        return False
    return any(items and all(_any(matchers, item) for item in items) for items in topic.coverings(subject))


def _found(topic: Topic, matchers: tuple[Matcher, ...], subject: Subject, least: Likeness) -> bool:
    """Say whether any item of a call is matched, or any command of it is as like as this to one that is meant."""
    return (
        any(_any(matchers, item) for item in topic.items(subject))
        or _respelt(topic, matchers, subject, least) is not None
    )


def _respelt(topic: Topic, matchers: tuple[Matcher, ...], subject: Subject, least: Likeness) -> str | None:
    if not subject.runs or not isinstance(topic, CommandArgument):
        return None
    return topic.respelt(subject, matchers, least)


def _any(matchers: tuple[Matcher, ...], item: str) -> bool:
    return any(matcher.matches(item) for matcher in matchers)


def _grouped(patterns: Iterable[Pattern], names: Collection[str]) -> Matchers:
    grouped: dict[Topic, tuple[Matcher, ...]] = {}
    for pattern in patterns:
        if pattern.is_about(names):
            grouped[pattern.topic] = (*grouped.get(pattern.topic, ()), pattern.matcher)
            if pattern.address:
                grouped[ADDRESSES] = (*grouped.get(ADDRESSES, ()), pattern.address)
    return grouped


def _refuse_misuse(decision: object, *several: object) -> None:
    """Refuse what type checkers refuse: a text in place of a tuple would be read letter by letter."""
    if decision not in STRICTNESS:
        raise RuleError(f"{decision!r} is no decision", "Write deny, ask or allow")
    if any(isinstance(texts, str) for texts in several):
        raise RuleError(
            "patterns, exceptions and arguments are tuples of texts", "Put a comma after a single one"
        )
