import subprocess
import sys

from brasstag.toolkit.kinds import BEHAVIOUR, ToolType

S1_TABLE = """
| ToolType          | Creates Node | Blocks Parent | Executes Code | Logs Input   | Passes Documents | Agent Action                   |
|-------------------|--------------|---------------|---------------|--------------|------------------|--------------------------------|
| FUNCTION_TOOL     | No           | No            | Yes           | Input+Result | No               | Continue (with result)         |
| NON_FUNCTION_TOOL | No           | No            | No            | Input only   | No               | Continue (instant)             |
| HANDOFF           | No           | No            | No            | Input+Docs   | **YES**          | STOP + inject docs to parent   |
| AGENT_AS_TOOL     | Yes          | Yes           | No            | Input+Status | **YES**          | BLOCK → Continue (with docs)   |
| ASK_MASTER        | Yes          | Yes           | No            | Input+Answer | **YES**          | BLOCK → Continue (with docs)   |
| ROOT              | Yes          | No            | No            | Task payload | No               | Entry point                    |
"""  # noqa: E501


def as_row(kind: ToolType) -> list[str]:
    row = BEHAVIOUR[kind]
    yes = {True: "Yes", False: "No"}
    return [
        kind.name,
        yes[row.creates_node],
        yes[row.blocks_parent],
        yes[row.executes_code],
        row.logs,
        "**YES**" if row.passes_documents else "No",
        row.action,
    ]


def test_the_behaviour_table_is_the_one_in_the_spec() -> None:
    lines = S1_TABLE.strip().splitlines()[2:]
    assert [as_row(kind) for kind in ToolType] == [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines
    ]


def test_every_kind_has_a_row() -> None:
    assert set(BEHAVIOUR) == set(ToolType)


def test_kinds_are_the_six_words_of_the_spec() -> None:
    assert [kind.value for kind in ToolType] == [
        "function_tool",
        "non_function_tool",
        "handoff",
        "agent_as_tool",
        "ask_master",
        "root",
    ]


def test_knowing_the_kinds_and_declaring_a_tool_does_not_load_pydantic() -> None:
    code = "import sys, brasstag.toolkit.kinds, brasstag.toolkit.declare.declare; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
