"""What ``brasstag.toml`` may contain, section by section.

Rules are checked here for their shape only; what a pattern means belongs to the policy package.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StrictBool,
    Tag,
    model_validator,
)

from brasstag.settings.crew import CrewSettings, RoleName, RoleSettings
from brasstag.settings.output import OutputName
from brasstag.settings.problems import refusal
from brasstag.settings.sections import Amount, Count, Section, Sentence
from brasstag.words.canonical import why_not_json
from brasstag.words.previews import Fact
from brasstag.words.verdicts import Decision

ProfileName = Literal["careful", "trusted", "locked"]

MEGABYTE = 1_000_000

_DURATION = re.compile(r"([1-9][0-9]{0,5})([smhd])")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_ALLOWED_HOST = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*(?::(?P<port>[1-9][0-9]{{0,4}}))?")
_PORTS, _USUAL_PORTS = 65536, (80, 443)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _counted(value: Any) -> Any:
    return dict.fromkeys(value) if isinstance(value, list) and _all_text(value) else value


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _duration(value: Any) -> timedelta | None:
    if value == "never":
        return None
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not found:
        raise refusal(
            f"is {value!r}, which is not a duration",
            'Write "never", or a number and a unit: "45s", "30m", "2h", "7d".',
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _webhook(value: str) -> str:
    try:
        address = urlsplit(value)
        known = address.scheme in ("http", "https") and bool(address.hostname)
    except ValueError:
        known = False
    if not known:
        raise refusal(
            f"is {value!r}, which is not a web address", 'Write one such as "https://example.org/hook".'
        )
    return value


def _engine(value: str) -> str:
    if "@" in urlsplit(_webhook(value)).netloc:
        raise refusal(
            "has a name or password in it", "Put a key into the environment, and name it in key_variable."
        )
    return value


def _allowed_host(value: str) -> str:
    host = value.lower()
    found = _ALLOWED_HOST.fullmatch(host)
    port = int(found["port"] or 1) if found else 0
    if not 0 < port < _PORTS:
        raise refusal(
            f"is {value!r}, which is not a host",
            'Write one such as "docs.python.org", "*.example.org" or "example.org:8443"; for a path, write a rule.',
        )
    if port in _USUAL_PORTS:
        raise refusal(
            f"is {value!r}, with a port that it cannot be limited to",
            f"Leave :{port} out: a host stands for http and https at their usual ports.",
        )
    return host


def _json(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if reason := why_not_json(value):
        raise refusal(
            f"cannot be given to a tool: {reason}", "Use text, numbers, true, false, lists and tables."
        )
    return value


def _directory(value: str) -> str:
    if not value or "\0" in value:
        raise refusal("names no directory", 'Write one, such as "data", or "." for the project itself.')
    return value


def _ignore_pattern(value: str) -> str:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - few projects need it

    try:
        patterns = GitIgnoreSpec.from_lines([value]).patterns
        is_pattern = any(pattern.include is not None for pattern in patterns)
    except ValueError:
        is_pattern = False
    if not is_pattern:
        raise refusal(
            f"is {value!r}, which matches nothing", 'Write a pattern as in .gitignore, such as "build/".'
        )
    return value


Texts = Annotated[tuple[Sentence, ...], BeforeValidator(_one_or_many)]
Globs = Annotated[tuple[str, ...], BeforeValidator(_one_or_many), Field(min_length=1)]
Facts = Annotated[Mapping[Fact, Count | None], BeforeValidator(_counted)]
JsonTable = Annotated[Mapping[str, Any], AfterValidator(_json)]


class RoomSettings(Section):
    """Where agents work, and how much they may do unasked."""

    home = "[room]"

    workspace: Annotated[str, AfterValidator(_directory)] = "data"
    profile: ProfileName = "careful"


class PolicySettings(Section):
    """What a project changes about the shipped rules."""

    home = "[policy]"

    dangerous_commands: Literal["deny", "ask"] = "deny"
    """What is said about ``rm -rf`` and ``dd``."""
    switched_off: tuple[Sentence, ...] = ()
    """Shipped rules, about files that other programs run by themselves, that do not hold in this project."""


class ExampleSettings(Section):
    """A call a rule must, or must not, speak about; the facts name what its preview would see."""

    home = "an example of [[rules]]"

    tool: Sentence
    arguments: JsonTable = Field(default_factory=dict)
    reads: Texts = ()
    creates: Texts = ()
    overwrites: Texts = ()
    deletes: Texts = ()
    moves: Mapping[str, str] = Field(default_factory=dict)
    """From where to where."""
    annotates: Texts = ()
    runs: Texts = ()
    fetches: Texts = ()
    external: StrictBool = False


def _form(value: Any) -> str:
    return "<text>" if isinstance(value, str) else "<table>"


Example = Annotated[
    Annotated[Sentence, Tag("<text>")] | Annotated[ExampleSettings, Tag("<table>")], Discriminator(_form)
]


class RuleSettings(Section):
    """One rule: exactly one of deny, ask and allow, and why."""

    home = "[[rules]]"

    name: str = ""
    deny: Texts = ()
    ask: Texts = ()
    allow: Texts = ()
    unless: Texts = ()
    """Patterns the rule leaves alone."""
    because: Sentence
    roles: Texts = ()
    """Only calls made in one of these roles; every role where none is named."""
    arguments: Mapping[str, Globs] = Field(default_factory=dict)
    when: Facts = Field(default_factory=dict)
    """Facts and how many of each; None where the file gives no number."""
    match: tuple[Example, ...] = ()
    not_match: tuple[Example, ...] = ()

    @model_validator(mode="after")
    def _decides_once(self) -> Self:
        said = [name for name in ("deny", "ask", "allow") if getattr(self, name)]
        if len(said) != 1:
            raise refusal(
                f"says {' and '.join(said)} at once" if said else "says neither deny nor ask nor allow",
                'Give each rule exactly one of them, such as deny = "delete_file(drafts/**)".',
            )
        return self

    @property
    def decision(self) -> Decision:
        """What this rule says of the calls it matches."""
        return "deny" if self.deny else "ask" if self.ask else "allow"

    @property
    def patterns(self) -> tuple[str, ...]:
        """The calls it speaks about."""
        return self.deny or self.ask or self.allow


class ApprovalSettings(Section):
    """How people are asked."""

    home = "[approvals]"

    expires_after: Annotated[timedelta | None, BeforeValidator(_duration)] = None
    notify_command: tuple[Sentence, ...] = ()
    notify_webhook: Annotated[str, AfterValidator(_webhook)] | None = None


class ToolSettings(Section):
    """What this project changes about one tool."""

    home = "[tools.NAME]"

    description: Sentence | None = None
    """What models read of the tool, in place of its own text."""
    defaults: JsonTable = Field(default_factory=dict)
    limits: Mapping[str, Amount] = Field(default_factory=dict)


class WebSettings(Section):
    """How tools reach the web."""

    home = "[web]"

    search: Literal["searxng", "brave"] | None = None
    """The search engine that answers web_search; none where it is left out."""
    url: Annotated[str, AfterValidator(_engine)] | None = None
    """Where the search engine is, if not at its usual place; it may lie inside the network."""
    key_variable: Sentence | None = None
    """The variable of the environment that holds its key."""
    allowlist: tuple[Annotated[str, AfterValidator(_allowed_host)], ...] = ()
    """Hosts to which web_fetch may send GET and POST unasked."""
    ports: tuple[Annotated[int, Field(strict=True, ge=1, le=65535)], ...] = ()
    """What web_fetch, and code with a network, may connect to besides 80 and 443."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if self.search == "searxng" and self.url is None:
            raise refusal(
                "names searxng, but not where it is", 'Add url = "http://127.0.0.1:8888" with its address.'
            )
        if self.search == "brave" and self.key_variable is None:
            raise refusal(
                "names brave, but not its key", 'Add key_variable = "BRAVE_API_KEY", and set that variable.'
            )
        return self


class LimitSettings(Section):
    """Sizes beyond which the room says no, or says that it cannot undo."""

    home = "[limits]"

    undo_bytes: Annotated[int, Field(strict=True, ge=0)] = 100 * MEGABYTE
    """The most one call may replace or remove and still be undone."""
    argument_bytes: Annotated[int, Field(strict=True, ge=1_000)] = 10 * MEGABYTE
    """The most a call's arguments may weigh."""


class DocumentSettings(Section):
    """Which files of the workspace are documents, and how much of them is kept and indexed."""

    home = "[documents]"

    ignore: tuple[Annotated[str, AfterValidator(_ignore_pattern)], ...] = ()
    """Patterns, as in a .gitignore file, of what is no document unless a tool writes it."""
    largest_kept_bytes: Annotated[int, Field(strict=True, ge=0)] = 2_000 * MEGABYTE
    """The versions of a larger file are known, but their contents are not kept."""
    largest_indexed_bytes: Annotated[int, Field(strict=True, ge=1_000, le=6 * MEGABYTE)] = 6 * MEGABYTE
    """How much of a text search finds."""
    summary_model: str = ""
    """The model that sums documents up; where there is none, a summary is made of sentences from the document."""


class PromptSettings(Section):
    """How prompt tools are shown to agents, and reviewed."""

    home = "[prompts]"

    catalog_tokens: Count = 1_500
    """How many tokens of the catalog are put into an agent's context; in a small context a tenth of it at most."""
    review_model: str = ""
    """The model of the Chief of Staff; where it is left out, the crew's model."""
    review_seconds: Amount = 120
    """How long a review may take, test cases included."""
    review_tokens: Count = 4_000
    """How long the reviewing model's answer may be."""
    four_eyes: StrictBool = False
    """Whether author and approver of a proposal must be two registered approvers."""


class CliSettings(Section):
    """How commands print in this project."""

    home = "[cli]"

    output: OutputName = "people"
    """What commands print where ``--output`` does not say it."""


class Settings(Section):
    """The whole file."""

    home = "the top of the file"

    room: RoomSettings = RoomSettings()
    policy: PolicySettings = PolicySettings()
    rules: tuple[RuleSettings, ...] = ()
    crew: CrewSettings = CrewSettings()
    roles: Mapping[RoleName, RoleSettings] = Field(default_factory=dict)
    approvals: ApprovalSettings = ApprovalSettings()
    tools: Mapping[str, ToolSettings] = Field(default_factory=dict)
    limits: LimitSettings = LimitSettings()
    web: WebSettings = WebSettings()
    documents: DocumentSettings = DocumentSettings()
    prompts: PromptSettings = PromptSettings()
    cli: CliSettings = CliSettings()

    def workspace(self, project: Path) -> Path:
        """Return where the workspace really is, links resolved; it need not exist yet."""
        return (project / Path(self.room.workspace).expanduser()).resolve()


HOMES: Mapping[str, tuple[str, ...]] = {
    name: tuple(one.home for one in Section.__subclasses__() if name in one.model_fields)
    for section in Section.__subclasses__()
    for name in section.model_fields
}
"""In which sections each setting lives."""
