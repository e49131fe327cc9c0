"""The verdict on one call: rules first, deny over ask over allow; then profile and tool; silence asks."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from brasstag.policy.conflicts import with_conflicts_heard
from brasstag.policy.globs import Expression
from brasstag.policy.match.addresses import ADDRESSES
from brasstag.policy.match.subjects import Subject
from brasstag.policy.match.topics import PATHS
from brasstag.policy.permissions.policy_digest import digest_of
from brasstag.policy.profiles import ToolFacts, as_declared, opinions, reaches_web
from brasstag.policy.python_rules import PythonRule
from brasstag.policy.rule import NO_ALIASES, BoundRule, Rule, names_of
from brasstag.policy.shell.rules import CommandRule
from brasstag.policy.shipped import SOURCE as SHIPPED
from brasstag.settings.model import ProfileName
from brasstag.words.calls import Call
from brasstag.words.previews import OPENED, Preview, Seen
from brasstag.words.verdicts import Decision, Verdict

AnyRule = Rule | PythonRule | CommandRule

READ_FILE = "read_file"
"""The tool that stands for reading a path."""
WEB_FETCH = "web_fetch"
"""The tool whose hosts ``[web] allowlist`` names."""

_JOINED_AT_ONCE = 200
_PATHS_REMEMBERED = 4096
_FEW = 8
"""Up to this many paths are checked one by one: cached answers are faster than a search through all paths."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One rule that spoke, and what it spoke about."""

    verdict: Verdict
    on: str
    source: str


class Rules:
    """All rules of a room and its profile; the order in which rules were given never matters."""

    def __init__(
        self,
        rules: Iterable[AnyRule],
        profile: ProfileName = "careful",
        aliases: Mapping[str, str] = NO_ALIASES,
    ) -> None:
        """Take rules, the profile for calls on which none speaks, and the tool each alias stands for."""
        everything = tuple(rules)
        self.rules = tuple(
            sorted((rule for rule in everything if isinstance(rule, Rule)), key=lambda rule: rule.order)
        )
        self.python_rules = tuple(
            sorted((rule for rule in everything if isinstance(rule, PythonRule)), key=lambda rule: rule.name)
        )
        self.command_rules = tuple(
            sorted(
                (rule for rule in everything if isinstance(rule, CommandRule)), key=lambda rule: rule.order
            )
        )
        self.profile: ProfileName = profile
        self.aliases = dict(aliases)
        self._rules_by_tool: dict[str, _RulesOfTool] = {}

    @cached_property
    def digest(self) -> str:
        """The digest of the profile and every rule."""
        return digest_of((*self.rules, *self.python_rules, *self.command_rules), self.profile)

    def is_rule(self, name: str) -> bool:
        """Say whether a rule has this name."""
        every: tuple[AnyRule, ...] = (*self.rules, *self.python_rules, *self.command_rules)
        return any(rule.name == name for rule in every)

    def judge(self, call: Call, preview: Preview, tool: ToolFacts) -> Verdict:
        """Return the verdict on a call and what it would do."""
        preview = as_declared(preview, tool)
        subject = Subject(call, preview)
        spoken = self._strictest(subject)
        if spoken is None or (reaches_web(preview, tool) and not self._speaks_of_web(subject, spoken)):
            spoken = self.opinions(subject, tool)[0]
        return with_conflicts_heard(spoken, preview)

    def opinions(self, subject: Subject, tool: ToolFacts) -> tuple[Verdict, ...]:
        """Return what profile and tool say of a call on which no rule speaks, the strictest first; never empty."""
        preview = subject.preview
        if not preview.fetches:
            return opinions(self.profile, preview, tool)
        allows = self._rules_of(subject.call.tool).allows
        return opinions(self.profile, preview, tool, _why_not_allowed(subject, allows))

    def denies_unseen(self, call: Call) -> Verdict | None:
        """Return a denial that the arguments alone settle, so that such a call is not even looked into."""
        subject = Subject(call)
        for bound in self._rules_of(call.tool).strict_about(subject):
            if bound.rule.decision == "deny" and bound.needs_no_preview and bound.speaks(subject) is not None:
                return bound.rule.verdict
        said = [one.verdict for one in self._about_commands(subject)]
        return next((verdict for verdict in said if verdict.decision == "deny"), None)

    def spoken(self, call: Call, preview: Preview, tool: ToolFacts) -> tuple[Spoken, ...]:
        """Return every rule that speaks about a call, the strictest first."""
        preview = as_declared(preview, tool)
        subject = Subject(call, preview)
        of_tool = self._rules_of(call.tool)
        spoken = [
            Spoken(*said, bound.rule.source)
            for bound in (*of_tool.strict, *of_tool.allows)
            if (said := bound.said(subject)) is not None
        ]
        spoken += self._about_commands(subject)
        spoken += [Spoken(verdict, call.tool, "Python") for verdict in self._python_verdicts(call, preview)]
        return tuple(sorted(spoken, key=lambda spoken: -spoken.verdict.strictness))

    def hides(self, path: str, tool: str = READ_FILE, role: str = "") -> str | None:
        """Return why a path must not be shown to a role by a tool that walks, or None when it may be.

        It is hidden when a rule denies read_file, or the walking tool itself, at this path. A rule that denies either
        tool as a whole is about the tool and hides nothing.
        """
        for reader in dict.fromkeys((READ_FILE, tool)):
            for verdict in self._verdicts_on(path, reader, role):
                if verdict.decision == "deny":
                    return verdict.because
        return None

    def asks(self, path: str, tool: str = READ_FILE, role: str = "") -> Verdict | None:
        """Return the verdict of a rule that asks before a role reads a path, or None where it may be read unasked.

        As with ``hides``, a rule that asks about read_file counts for every tool that reads, and one about a tool as a
        whole is about the tool.
        """
        for reader in dict.fromkeys((READ_FILE, tool)):
            asked = [
                verdict for verdict in self._verdicts_on(path, reader, role) if verdict.decision == "ask"
            ]
            if not asked:
                continue
            of_all = set(self._python_verdicts(Call("", reader, {}, "", role, ""), Preview()))
            found = next((verdict for verdict in asked if verdict not in of_all), None)
            if found is not None:
                return found
        return None

    def is_silent_about(self, paths: Sequence[str], tool: str = READ_FILE) -> bool:
        """Say whether no path is hidden from a tool that walks, or watched; many paths take no longer than one.

        False only means that each path has to be checked.
        """
        if self.python_rules:
            return False
        for reader in {READ_FILE, tool}:
            of_tool = self._rules_of(reader)
            if of_tool.beyond_paths or of_tool.may_guard_reading(paths):
                return False
        return True

    def kept_from(self, tool: str, role: str) -> frozenset[Decision]:
        """Say how rules keep from a role what others know as documents, whether or not there is any of it now.

        Shipped rules do not count: what they deny was never a document for any role, and what they ask about are keys,
        which no role searches. What a rule in Python would say cannot be known before.
        """
        if self.python_rules:
            return frozenset({"deny", "ask"})
        return frozenset(
            bound.rule.decision
            for reader in dict.fromkeys((READ_FILE, tool))
            for bound in self._rules_of(reader).strict
            if bound.keeps_from(role) and bound.rule.source != SHIPPED
        )

    def asks_to_read(self, path: str, tool: str, role: str = "", read: Collection[str] = ()) -> bool:
        """Say whether a rule asks before this path is read, and no person was asked: code must not see the path then.

        ``read`` are the paths in the preview of a granted call of this tool. If a rule matched one of them, a person was
        asked about it. A rule that asks about the tool as a whole is about the tool.
        """
        if self.asks(path, role=role) is None:
            return False
        return not any(
            one == path or one.startswith(f"{path}/") for one in read if self._speaks_of(one, tool, role)
        )

    def watches(self, path: str, tool: str, role: str = "") -> bool:
        """Say whether a rule denies or asks about this tool reading this path for this role, or asks about reading it.

        A tool that reads too many files to list them all in its preview lists these, so that the rules are applied.
        """
        return self._speaks_of(path, tool, role) or self.asks(path, role=role) is not None

    def _speaks_of(self, path: str, tool: str, role: str) -> bool:
        return any(verdict.decision != "allow" for verdict in self._verdicts_on(path, tool, role))

    def _strictest(self, subject: Subject) -> Verdict | None:
        of_tool = self._rules_of(subject.call.tool)
        first = _first(of_tool.strict_about(subject), subject)
        if first is not None and first.decision == "deny":
            return first
        spoken = [one.verdict for one in self._about_commands(subject)]
        spoken += self._python_verdicts(subject.call, subject.preview)
        if first is not None:
            spoken.insert(0, first)
        elif all(verdict.decision == "allow" for verdict in spoken):
            allowed = _first(of_tool.allows, subject)
            return allowed or (spoken[0] if spoken else None)
        return max(spoken, key=lambda verdict: verdict.strictness)

    def _speaks_of_web(self, subject: Subject, spoken: Verdict) -> bool:
        """Say whether rules that spoke about code mean that it reaches the web; others leave the profile's no as it is."""
        of_tool = self._rules_of(subject.call.tool)
        return (
            spoken.decision == "deny"
            or any(bound.opens_web(subject) for bound in of_tool.allows)
            or any(said.decision == "allow" for said in self._python_verdicts(subject.call, subject.preview))
        )

    def _about_commands(self, subject: Subject) -> list[Spoken]:
        readings = subject.readings()
        if not readings:
            return []
        found = [(rule, rule.speaks(readings)) for rule in self.command_rules]
        return [Spoken(rule.verdict(said), said.on, rule.source) for rule, said in found if said is not None]

    def _python_verdicts(self, call: Call, preview: Preview) -> Iterator[Verdict]:
        for rule in self.python_rules:
            verdict = rule.speaks(call, preview)
            if verdict is not None:
                yield verdict

    def _verdicts_on(self, path: str, tool: str, role: str) -> Iterator[Verdict]:
        of_tool = self._rules_of(tool)
        if not (self.python_rules or of_tool.beyond_paths or of_tool.guards_reading(path)):
            return
        call = Call("", tool, {"path": path}, "", role, "")
        subject = Subject(call, Preview(reads=(Seen(path, OPENED),)))
        for bound in of_tool.on_reading:
            if bound.speaks_of_items(subject):
                yield bound.rule.verdict
        yield from self._python_verdicts(call, subject.preview)

    def _rules_of(self, tool: str) -> "_RulesOfTool":
        of_tool = self._rules_by_tool.get(tool)
        if of_tool is None:
            of_tool = self._rules_by_tool[tool] = _RulesOfTool(self.rules, tool, names_of(tool, self.aliases))
        return of_tool


@dataclass(frozen=True, slots=True)
class CallVisibility:
    """What the rules let one call see of the workspace; ``read`` are the paths in the preview it was granted on."""

    rules: Rules
    tool: str
    role: str
    read: frozenset[str] = frozenset()

    def hides(self, path: str) -> bool:
        """Say whether a rule denies reading this path."""
        return self.rules.hides(path, self.tool, self.role) is not None

    def must_be_listed(self, path: str) -> bool:
        """Say whether a rule denies or asks about reading this path."""
        return self.rules.watches(path, self.tool, self.role)

    def says_nothing_about(self, paths: Sequence[str]) -> bool:
        """Say whether no rule can match one of these paths."""
        return self.rules.is_silent_about(paths, self.tool)

    def asks_first(self, path: str) -> bool:
        """Say whether a rule asks before this path is read, and no person was asked."""
        return self.rules.asks_to_read(path, self.tool, self.role, self.read)


def _why_not_allowed(subject: Subject, allows: Iterable[BoundRule]) -> str:
    """Say of a call that fetches, and that no rule allows, what is missing: a rule for the host, or for what it sends."""
    for bound in allows:
        if beyond := bound.beyond_address(subject):
            return f"; the rule {bound.rule.name} names this address, but not {' and not '.join(beyond)}"
    hosts = dict.fromkeys(address.partition("/")[0] for address in ADDRESSES.items(subject))
    listed = "neither a rule nor [web] allowlist" if subject.call.tool == WEB_FETCH else "no allow rule"
    return f"; {listed} names {', '.join(hosts)}"


class _RulesOfTool:
    """The rules that can speak about one tool, sorted; most calls touch no path that any of them matches."""

    def __init__(self, rules: Iterable[Rule], tool: str, other_names: Collection[str]) -> None:
        bound = [found for rule in rules if (found := rule.bound_to(tool, other_names)) is not None]
        self.strict = tuple(one for one in bound if one.rule.decision != "allow")
        self.allows = tuple(one for one in bound if one.rule.decision == "allow")
        self.beyond_paths = tuple(one for one in self.strict if not one.only_about_paths)
        self.on_reading = tuple(one for one in self.strict if one.may_be_about_reading)
        self._patterns = tuple(_joined(self.strict))
        self._patterns_on_reading = tuple(_joined(self.on_reading))
        # Cached, because calls use the same paths again and again.
        self.guards = lru_cache(_PATHS_REMEMBERED)(partial(_match, self._patterns))
        """Whether any deny or ask can match a path."""
        self.guards_reading = lru_cache(_PATHS_REMEMBERED)(partial(_match, self._patterns_on_reading))
        """Whether any deny or ask can match a path that is only read."""

    def may_guard_reading(self, paths: Sequence[str]) -> bool:
        """Say whether any deny or ask may match the reading of one of these paths."""
        lines = "\n".join(paths)
        if lines.count("\n") >= len(paths) > 0:
            return True
        if len(paths) <= _FEW:
            return any(map(self.guards_reading, paths))
        return any(one.may_match_a_line(lines) for one in self._patterns_on_reading)

    def strict_about(self, subject: Subject) -> tuple[BoundRule, ...]:
        """Return the deny and ask rules worth asking about this call."""
        if subject.preview.fetches:
            return self.strict
        if self._patterns and any(map(self.guards, PATHS.items(subject))):
            return self.strict
        return self.beyond_paths


def _match(expressions: Iterable[Expression], path: str) -> bool:
    return any(expression.matches(path) for expression in expressions)


def _joined(bound: Sequence[BoundRule]) -> Iterator[Expression]:
    """Join the path patterns of many rules, so that one look finds whether any of them matches."""
    for is_shipped in (True, False):
        sources = [
            matcher.source
            for one in bound
            if (one.rule.source == SHIPPED) is is_shipped
            for matcher in one.topics.get(PATHS, ())
            if isinstance(matcher, Expression)
        ]
        for start in range(0, len(sources), _JOINED_AT_ONCE):
            yield _either(tuple(sources[start : start + _JOINED_AT_ONCE]))


@lru_cache(64)
def _either(sources: tuple[str, ...]) -> Expression:
    """Return one expression for many; cached, because most tools have the same shipped rules, and compiling takes long."""
    return Expression("|".join(sources), generous=True)


def _first(bound: Iterable[BoundRule], subject: Subject) -> Verdict | None:
    """Return the strictest of what rules say; they come with the denials first, and a denial may be in doubt."""
    first = None
    for one in bound:
        said = one.said(subject)
        if said is not None and (said[0].decision == one.rule.decision):
            return said[0] if first is None or said[0].decision == "deny" else first
        if said is not None and first is None:
            first = said[0]
    return first
