"""The decorator for functions, and the one function through which every declaration becomes a Tool."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from brasstag.words.errors import ConfigError, Problem

if TYPE_CHECKING:
    from brasstag.toolkit.tool import Looks, RequiresApproval, Tool

_MARK = "__brasstag_declaration__"
_WITH_JSON = "function"
"""The one execution type: a function whose words are in a JSON file."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the decorator said about a function; nothing is read from the function before it is registered."""

    execution_type: str | None = None
    words: Mapping[str, Any] = field(default_factory=dict)
    """Config fields that JSON would give."""
    requires_approval: "RequiresApproval | None" = None
    check: Callable[..., Any] | None = None
    preview: "Looks | None" = None

    @property
    def has_json(self) -> bool:
        """Whether a JSON file, not the function, carries the config."""
        return self.execution_type is not None


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    execution_type: Literal["function"],
    requires_approval: "RequiresApproval | None" = None,
    check: Callable[..., Any] | None = None,
    preview: "Looks | None" = None,
) -> Callable[[F], F]: ...
@overload
def tool(
    *,
    name: str | None = None,
    effects: Literal["none", "files", "external"] | None = None,
    approval: str | None = None,
    requires_approval: "RequiresApproval | None" = None,
    replay: Literal["safe", "check", "ask"] | None = None,
    check: Callable[..., Any] | None = None,
    preview: "Looks | None" = None,
    aliases: Sequence[str] | None = None,
    limits: Mapping[str, Any] | None = None,
) -> Callable[[F], F]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    execution_type: str | None = None,
    name: str | None = None,
    effects: str | None = None,
    approval: str | None = None,
    requires_approval: "RequiresApproval | None" = None,
    replay: str | None = None,
    check: Callable[..., Any] | None = None,
    preview: "Looks | None" = None,
    aliases: Sequence[str] | None = None,
    limits: Mapping[str, Any] | None = None,
) -> Any:
    """Declare a function as a tool; it stays a plain function that can be called and tested.

    ``@tool(execution_type="function")`` marks a function whose words are in a JSON file beside it. ``@tool`` alone, or
    with words such as ``effects="none"``, reads the config from annotations and docstring.
    """
    if execution_type not in (None, _WITH_JSON):
        mend = f'Write @tool(execution_type="{_WITH_JSON}"), or @tool alone; the kind of a tool stands in its JSON.'
        what = f"{execution_type!r} is no execution type"
        raise ConfigError([Problem("@tool", "execution_type", what, mend)])
    given = {
        "tool_id": name,
        "effects": effects,
        "approval": approval,
        "replay": replay,
        "aliases": aliases,
        "limits": limits,
    }
    declaration = Declaration(
        execution_type=execution_type,
        words={word: value for word, value in given.items() if value is not None},
        requires_approval=requires_approval,
        check=check,
        preview=preview,
    )

    def declare(declared: F) -> F:
        setattr(declared, _MARK, declaration)
        return declared

    return declare(function) if function else declare


def declaration_of(thing: object) -> Declaration | None:
    """Return what the decorator said about a function, or None where none was used."""
    # A wrapper made with functools.wraps copies the mark; that is wanted, since it is what will be called.
    found = getattr(thing, _MARK, None)
    return found if isinstance(found, Declaration) else None


def as_tool(thing: Any) -> "Tool":
    """Turn a decorated or plain typed function, a ToolClass or an instance of one, or a Tool into a Tool.

    Raises ConfigError with everything that is wrong with it.
    """
    # Reading a config costs pydantic; declaring a tool must not.
    from brasstag.toolkit.declare.classes import ToolClass, class_tool  # noqa: PLC0415
    from brasstag.toolkit.declare.functions import function_tool  # noqa: PLC0415
    from brasstag.toolkit.tool import Tool  # noqa: PLC0415

    if isinstance(thing, Tool):
        return thing
    if isinstance(thing, ToolClass):
        return class_tool(thing)
    if isinstance(thing, type) and issubclass(thing, ToolClass):
        return class_tool(_made(thing))
    return function_tool(thing, declaration_of(thing) or Declaration())


def _made(tool_class: type[Any]) -> Any:
    try:
        return tool_class()
    except TypeError as error:
        what = f"cannot be made without arguments: {error}"
        raise ConfigError(
            [Problem(tool_class.__qualname__, "", what, "Register an instance instead.")]
        ) from None
