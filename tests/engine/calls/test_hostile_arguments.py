"""Arguments of any depth, size or type: a call is refused with a code, nothing raises, and nothing large is copied."""

import tracemalloc
from asyncio import CancelledError
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag import Code, Done, Failed, Room
from brasstag.engine.calls.quote import quote
from brasstag.engine.calls.record import QUOTED

DEEP = 10_000
LARGE = 200_000_000
SMALL = 8_000_000


def nested(kind: type, levels: int = DEEP) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = {"a": value} if kind is dict else kind([value])
    return value


class Raises(Mapping[str, Any]):
    """A caller's own type that cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        return 1

    def __repr__(self) -> str:
        raise RuntimeError


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def raises(base: type, name: str, error: type[BaseException] = RuntimeError) -> type:
    """Return a type of one's own, one method of which raises."""

    def method(*_: Any, **__: Any) -> Any:
        raise error

    made = property(method) if name == "__class__" else method
    more = {"__hash__": base.__hash__} if name == "__eq__" else {}
    return type(f"Own{base.__name__}", (base,), {name: made} | more)


class OwnClass(type):
    """The type of a type, which raises when it is asked for its name."""

    @property
    def __name__(cls) -> str:
        raise RuntimeError


class Forgetful(dict[str, Any]):
    """Can be read only a few times."""

    def items(self) -> Any:
        self["reads"] = self.get("reads", 0) + 1
        if self["reads"] > 3:
            raise RuntimeError
        return super().items()


OPENING = '{"path": "a.md", "content": '
HOSTILE: dict[str, Any] = {
    "a deep object": {"path": "a.md", "content": nested(dict)},
    "a deep list": {"path": "a.md", "content": nested(list)},
    "a deep tuple": {"path": "a.md", "content": nested(tuple)},
    "a deep object that no parameter is": {"path": "a.md", "content": "x", "more": nested(dict)},
    "deep arguments": nested(dict),
    "a deep list for arguments": nested(list),
    "deep text": OPENING + '{"a":' * DEEP + "1" + "}" * DEEP + "}",
    "deep text cut off": OPENING + "[" * DEEP,
    "deep text in a string": '"' + "[" * DEEP + '"',
    "a list that holds itself": {"path": "a.md", "content": endless()},
    "what raises": Raises(),
    "a value that raises": {"path": "a.md", "content": Raises()},
    "a type of one's own": {"path": "a.md", "content": object()},
    "a type that does not name itself": OwnClass("Own", (), {})(),
    "what can be read a few times": Forgetful(path="a.md"),
    "what exits when it is read": raises(dict, "items", SystemExit)(path="a.md", content="x"),
    "what is cancelled when it is read": raises(dict, "items", CancelledError)(path="a.md", content="x"),
    "no class": raises(dict, "__class__")(path="a.md", content="x"),
    "text without a length": raises(str, "__len__")(OPENING),
    "text without parts": raises(str, "__getitem__")(OPENING),
    "text without methods": raises(str, "__getattribute__")(OPENING),
    "a value without a class": {"path": "a.md", "content": raises(list, "__class__")(["x"])},
    "a value that exits": {"path": "a.md", "content": raises(list, "__len__", SystemExit)(["x"])},
    "a name that exits": {"path": "a.md", raises(str, "isascii", SystemExit)("more"): "x"},
    "no number": {"path": "a.md", "content": "x", "more": float("nan")},
    "a huge number": {"path": "a.md", "content": "x", "more": 10**5000},
    "half a sign": {"path": "\ud800", "content": "x"},
    "a generator": {"path": "a.md", "content": (one for one in "x")},
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("tool", ["write_file", "no_such_tool"])
async def test_no_arguments_make_a_call_raise(kind: str, tool: str) -> None:
    async with Room.in_memory() as room:
        outcome = await room.call(tool, HOSTILE[kind])
        assert isinstance(outcome, Failed)
        assert outcome.code in (Code.INVALID_ARGUMENTS, Code.UNKNOWN_TOOL)
        assert outcome.tag is not None
        assert not (await room.verify()).findings


@pytest.mark.parametrize(
    "method", ["__eq__", "__hash__", "__len__", "__str__", "__repr__", "__getitem__", "__bool__"]
)
async def test_no_name_makes_a_call_raise(method: str) -> None:
    own = raises(str, method)
    async with Room.in_memory() as room:
        (room.workspace / "a.md").write_text("Hello")
        given = {"path": own("a.md")}
        done = await room.call(own("read_file"), given, role=own("operator"), call_id=own("call_1"))
        assert isinstance(done, Done), done
        for tool, role, call_id in (("nope", "operator", "call_2"), ("read_file", "nope", "call_3")):
            failed = await room.call(own(tool), {"path": "a.md"}, role=own(role), call_id=own(call_id))
            assert isinstance(failed, Failed)
            assert failed.tag is not None


@pytest.mark.parametrize(
    "kind", [kind for kind, given in HOSTILE.items() if not issubclass(type(given), str)]
)
async def test_no_arguments_make_an_explanation_raise_anything_but_a_coded_error(kind: str) -> None:
    async with Room.in_memory() as room:
        explained = await room.explain("write_file", HOSTILE[kind])
        assert "INVALID_ARGUMENTS" in str(explained)


SIZED: dict[str, Any] = {
    "a text": lambda size: ("write_file", {"path": "a.md", "content": "x" * size}),
    "a text beyond ASCII": lambda size: ("write_file", {"path": "a.md", "content": "é" * (size // 2)}),
    "a text in a list": lambda size: ("write_file", {"path": "a.md", "content": ["x" * size]}),
    "many texts": lambda size: ("write_file", {"path": "a.md", "content": ["x" * 1000] * (size // 1000)}),
    "bytes": lambda size: ("write_file", {"path": "a.md", "content": b"x" * size}),
    "a name of an argument": lambda size: ("write_file", {"x" * size: 1}),
    "JSON text": lambda size: ("write_file", OPENING + '"' + "x" * size + '"}'),
    "a tool that is not there": lambda size: ("no_such_tool", {"content": "x" * size}),
    "a text of one's own": lambda size: (
        "write_file",
        {"path": "a.md", "content": raises(str, "__len__")("x" * size)},
    ),
    "the name of a tool": lambda size: ("x" * size, {}),
}


@pytest.mark.parametrize("kind", SIZED)
async def test_a_large_argument_is_refused_before_it_is_copied(kind: str) -> None:
    tool, arguments = SIZED[kind](LARGE)
    async with Room.in_memory() as room:
        await room.call("write_file", {"path": "a.md", "content": "what loads modules once"})
        tracemalloc.start()
        try:
            outcome = await room.call(tool, arguments)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert isinstance(outcome, Failed)
        assert outcome.code in (Code.INVALID_ARGUMENTS, Code.UNKNOWN_TOOL)
        assert peak < SMALL


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_short_value_is_quoted_as_python_writes_it(value: Any) -> None:
    assert quote(value, QUOTED) == repr(value)[:QUOTED]
