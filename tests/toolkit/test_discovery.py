import json
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import DistributionFinder, PathDistribution
from pathlib import Path
from typing import Any

import pytest

from brasstag.toolkit.discovery import discover_entry_points, discover_folder, discover_package, shipped_tools
from brasstag.toolkit.tool import runs_no_code
from brasstag.words.errors import Problem
from tests.toolkit.samples import problems_of

COUNT_JSON = {
    "tool_id": "word_count",
    "description": "Count the words of a text.",
    "parameters": {"text": {"type": "string", "description": "The text.", "required": True}},
    "returns": {"words": "integer"},
    "effects": "none",
}
COUNT_PY = '''
from typing import Any
from brasstag import tool

@tool(execution_type="function")
def word_count(workspace: Any, task_id: str, text: str) -> dict[str, Any]:
    """word_count"""
    return {"words": len(text.split())}
'''


class Folder:
    """A project's tools folder, written file by file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, **files: Any) -> "Folder":
        for name, content in files.items():
            stem, _, kind = name.rpartition("_")
            path = self.path / f"{stem.replace('configs__', 'configs/')}.{kind}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return self

    def problems(self) -> dict[str, Problem]:
        found = problems_of(lambda: discover_folder(self.path))
        return {f"{Path(problem.file).name}: {problem.field}": problem for problem in found}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "tools")


def test_a_missing_folder_holds_no_tools(folder: Folder) -> None:
    assert discover_folder(folder.path) == []


def test_two_files_dropped_into_a_folder_are_a_tool(folder: Folder) -> None:
    folder.write(word_count_py=COUNT_PY, word_count_json=COUNT_JSON)
    (found,) = discover_folder(folder.path)
    assert found.name == "word_count"
    assert found.injected == {"workspace", "task_id"}
    assert found.origin == str(folder.path / "word_count.py")
    assert found.source == COUNT_PY
    assert found.function is not None
    assert found.function(workspace=None, task_id="t", text="a b") == {"words": 2}


def test_the_spec_s_layout_has_several_functions_in_one_file_and_a_configs_folder(folder: Folder) -> None:
    twice = COUNT_PY + COUNT_PY.replace("word_count", "line_count")
    folder.write(
        text_tools_py=twice,
        configs__word_count_json=COUNT_JSON,
        configs__line_count_json={**COUNT_JSON, "tool_id": "line_count"},
        configs__stop_and_think_json={
            "tool_id": "stop_and_think",
            "description": "Think.",
            "type": "non_function_tool",
        },
    )
    found = {tool.name: tool for tool in discover_folder(folder.path)}
    assert set(found) == {"word_count", "line_count", "stop_and_think"}
    assert found["stop_and_think"].function is runs_no_code


def test_nothing_is_imported_by_the_way(folder: Folder) -> None:
    folder.write(
        word_count_py="import json\n" + COUNT_PY,
        word_count_json=COUNT_JSON,
        json_py=COUNT_PY.replace("word_count", "json"),
        json_json={**COUNT_JSON, "tool_id": "json"},
    )
    before = list(sys.path)
    discover_folder(folder.path)
    assert sys.path == before
    assert sys.modules["json"] is json
    assert not list(folder.path.rglob("*.pyc"))


def test_a_changed_file_is_another_version_and_an_unchanged_one_is_loaded_once(folder: Folder) -> None:
    folder.write(word_count_py=COUNT_PY, word_count_json=COUNT_JSON)
    first, again = discover_folder(folder.path)[0], discover_folder(folder.path)[0]
    assert first.function is again.function
    folder.write(word_count_py=COUNT_PY + "\n# changed\n")
    assert discover_folder(folder.path)[0].version != first.version


def test_the_version_of_a_shipped_tool_survives_a_move_of_its_file() -> None:
    in_files = {tool.name: tool for tool in discover_package("brasstag.tools")}
    for tool in shipped_tools():
        moved = replace(in_files[tool.name], source="from elsewhere import other_name")
        assert tool.version == replace(moved, source=tool.source).version
        assert "import" not in tool.source


def test_the_version_of_a_shipped_tool_changes_with_its_config_and_its_release() -> None:
    tool = shipped_tools()[0]
    assert replace(tool, source="brasstag 99.0").version != tool.version
    assert replace(tool, config=tool.config.model_copy(update={"approval": "always"})).version != tool.version


def test_a_version_is_that_of_the_code_that_was_loaded(folder: Folder) -> None:
    folder.write(word_count_py=COUNT_PY, word_count_json=COUNT_JSON)
    (found,) = discover_folder(folder.path)
    folder.write(word_count_py="# replaced after loading")
    assert found.source == COUNT_PY


def test_helpers_and_tests_in_the_folder_are_not_loaded(folder: Folder) -> None:
    folder.write(
        _helper_py="raise RuntimeError", test_count_py="raise RuntimeError", conftest_py="raise RuntimeError"
    )
    assert discover_folder(folder.path) == []


def test_plain_functions_and_classes_in_a_folder_need_no_json(folder: Folder) -> None:
    folder.write(
        shout_py='''
from brasstag import tool

@tool(effects="none")
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()
''',
        greeter_py="""
from dataclasses import dataclass
from brasstag.toolkit.declare.classes import ToolClass, create_json_schema

@dataclass
class Greeter(ToolClass):
    greeting: str = "hello"
    name = "greet"
    description = "Greet."
    parameters = create_json_schema({})

    async def execute(self, arguments):
        return self.greeting
""",
    )
    found = {tool.name: tool for tool in discover_folder(folder.path)}
    assert set(found) == {"shout", "greet"}
    assert found["shout"].origin == f"{folder.path}/shout.py: shout"


def changed(**words: Any) -> dict[str, Any]:
    return {**COUNT_JSON, **words}


def number(folder: Folder) -> None:
    wrong = {"text": {"type": "integer", "description": "The text.", "required": True}}
    folder.write(word_count_py=COUNT_PY, word_count_json=changed(parameters=wrong))


MISTAKES: list[tuple[Callable[[Folder], object], str, str]] = [
    (lambda f: f.write(word_count_json=COUNT_JSON), "word_count.json: ", "no function is named word_count"),
    (lambda f: f.write(word_count_py=COUNT_PY), "word_count.py: word_count", "has no JSON"),
    (lambda f: f.write(word_count_py=COUNT_PY, word_count_json="{"), "word_count.json: ", "is not JSON"),
    (
        lambda f: f.write(word_count_py=COUNT_PY, other_json=COUNT_JSON),
        "other.json: tool_id",
        "is 'word_count', but the file is other.json",
    ),
    (
        lambda f: f.write(
            word_count_py=COUNT_PY, word_count_json=COUNT_JSON, configs__word_count_json=COUNT_JSON
        ),
        "word_count.json: tool_id",
        "is also in",
    ),
    (
        lambda f: f.write(a_py=COUNT_PY, b_py=COUNT_PY, word_count_json=COUNT_JSON),
        "b.py: word_count",
        "is also in",
    ),
    (
        lambda f: f.write(
            word_count_py=COUNT_PY.replace('"""word_count"""', '"""Counts."""'), word_count_json=COUNT_JSON
        ),
        "word_count.py: word_count",
        "the docstring is not the tool_id",
    ),
    (number, "word_count.py: word_count(text)", "is annotated str, but is integer in the JSON"),
    (
        lambda f: f.write(word_count_py=COUNT_PY, word_count_json=changed(type="handoff", effects="none")),
        "word_count.py: word_count",
        "a handoff runs no code",
    ),
    (
        lambda f: f.write(word_count_py=COUNT_PY, word_count_json=changed(replay="check")),
        "word_count.py: word_count",
        "no check function is given",
    ),
    (
        lambda f: f.write(
            word_count_py=COUNT_PY.replace('"function")', '"function", effects="none")'),
            word_count_json=COUNT_JSON,
        ),
        "word_count.py: word_count",
        "the decorator gives effects",
    ),
    (lambda f: f.write(bad_py="def (:"), "bad.py: ", "SyntaxError"),
    (lambda f: f.write(bad_py="\n\nimport nowhere_to_be_found"), "bad.py: ", "(line 3)"),
    (lambda f: f.write(bad_py="raise SystemExit(3)"), "bad.py: ", "SystemExit: 3"),
    (
        lambda f: f.write(helper_py="x = 1", bad_py="from helper import x"),
        "bad.py: ",
        "No module named 'helper'",
    ),
    (lambda f: (f.path / "dir.json").mkdir(parents=True), "dir.json: ", "cannot be read"),
]


@pytest.mark.parametrize(("make", "place", "what"), MISTAKES)
def test_a_mistake_is_named_with_its_file_its_field_and_its_mend(
    folder: Folder, make: Callable[[Folder], object], place: str, what: str
) -> None:
    make(folder)
    found = folder.problems()
    assert set(found) == {place}
    assert what in found[place].what
    assert found[place].mend.endswith(".")


def test_the_problems_of_every_file_come_at_once(folder: Folder) -> None:
    folder.write(
        word_count_py=COUNT_PY.replace("text: str", "txt: str"),
        word_count_json=COUNT_JSON,
        broken_json='{"tool_id": "broken"}',
        crash_py="1 / 0",
        lonely_json=changed(tool_id="lonely"),
    )
    assert set(folder.problems()) == {
        "word_count.py: word_count(text)",
        "word_count.py: word_count(txt)",
        "broken.json: description",
        "crash.py: ",
        "lonely.json: ",
    }


def test_two_tools_of_a_folder_may_not_share_an_alias(folder: Folder) -> None:
    folder.write(
        text_tools_py=COUNT_PY + COUNT_PY.replace("word_count", "line_count"),
        word_count_json=changed(aliases=["count"]),
        line_count_json=changed(tool_id="line_count", aliases=["count"]),
    )
    (problem,) = folder.problems().values()
    assert "'count' already stands for line_count" in problem.what


def test_a_module_that_failed_to_load_leaves_nothing_behind(folder: Folder) -> None:
    folder.write(crash_py="1 / 0")
    before = set(sys.modules)
    folder.problems()
    assert not {name for name in set(sys.modules) - before if "crash" in name}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    root = Folder(tmp_path / "counting_tools")
    root.write(__init___py="", text_py=COUNT_PY, configs__word_count_json=COUNT_JSON)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith("counting_tools")]:
        monkeypatch.delitem(sys.modules, name)
    return root


def test_a_package_carries_its_tools_and_their_configs(package: Folder) -> None:
    (found,) = discover_package("counting_tools")
    assert (found.name, found.origin) == ("word_count", "counting_tools.text")


def test_a_package_may_declare_tools_without_any_json(package: Folder) -> None:
    shout = "from brasstag import tool\n@tool\ndef shout(text: str) -> str:\n    'Shout.'\n    return text\n"
    Folder(package.path.parent / "plain_tools").write(__init___py=shout, notes_txt="not a module")
    Folder(package.path.parent).write(single_tool_py=shout + "again = shout\n")
    assert [tool.name for tool in discover_package("plain_tools")] == ["shout"]
    assert [tool.name for tool in discover_package("single_tool")] == ["shout"]


def test_only_json_files_of_the_configs_folder_and_modules_of_the_package_are_read(package: Folder) -> None:
    package.write(configs__notes_txt="{")
    Folder(package.path / "deeper").write(__init___py="raise RuntimeError")
    assert [tool.name for tool in discover_package("counting_tools")] == ["word_count"]


def test_configs_may_lie_elsewhere(package: Folder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "word_count.json").write_text(json.dumps(changed(description="Another.")))
    (found,) = discover_package("counting_tools", tmp_path / "elsewhere")
    assert found.config.description == "Another."


def test_the_shipped_tools_are_without_problems() -> None:
    assert {"read_file", "write_file", "handoff"} <= {
        tool.name for tool in discover_package("brasstag.tools")
    }


def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, points: str) -> None:
    """Install a distribution whose only content is its entry points."""
    info = tmp_path / "offering-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[brasstag.tools]\n{points}\n")

    class Finder(DistributionFinder):
        def find_distributions(self, context: Any = None) -> Any:
            return [PathDistribution(info)]

        def find_spec(self, *args: Any) -> None:
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])


def test_installed_packages_offer_tools_by_entry_point(
    package: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "offered.py").write_text(
        "def one(a: int) -> int:\n    '''One.'''\n    return a\n"
        "def two(a: int) -> int:\n    '''Two.'''\n    return a\n"
        "def three(a: int) -> int:\n    '''Three.'''\n    return a\n"
        "both = [two, three]\n"
    )
    offer(tmp_path, monkeypatch, "a = offered:one\nb = offered:both\nc = counting_tools")
    assert [tool.name for tool in discover_entry_points()] == ["one", "two", "three", "word_count"]
    assert discover_entry_points("another.group") == []


def test_a_package_offered_with_problems_tells_all_of_them(
    package: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package.write(configs__word_count_json=changed(approval="maybe", effects="some"))
    offer(tmp_path, monkeypatch, "a = counting_tools")
    assert [problem.field for problem in problems_of(discover_entry_points)] == ["approval", "effects"]


def test_every_broken_entry_point_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "offered_badly.py").write_text("def one(a): ...\nvalue = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    offer(tmp_path, monkeypatch, "a = not_installed_at_all\nb = offered_badly:one\nc = offered_badly:value")
    found = problems_of(discover_entry_points)
    assert found[0].file == "entry point a"
    assert {problem.what.split(":")[0] for problem in found} >= {"cannot be loaded", "has no description"}
