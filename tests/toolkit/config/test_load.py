import pytest

from brasstag.toolkit.config.load import read_config
from tests.toolkit.samples import problems_of


def test_a_file_with_a_byte_order_mark_is_read() -> None:
    assert read_config(b'\xef\xbb\xbf{"tool_id": "a", "description": "A."}', "a.json").tool_id == "a"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b'{\n  "tool_id": "a",\n  "description" "A."\n}', "(line 3, column 17)"),
        (b'{"tool_id": "a", "tool_id": "b"}', "'tool_id' stands there twice"),
        (b'{"limits": {"timeout_seconds": NaN}}', "NaN is not a JSON number"),
        (b'{"tool_id": "\xff"}', "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b"", "(line 1, column 1)"),
    ],
)
def test_what_is_not_json_is_one_problem_of_the_file(data: bytes, what: str) -> None:
    (problem,) = problems_of(lambda: read_config(data, "a.json"))
    assert (problem.file, problem.field) == ("a.json", "")
    assert what in problem.what


@pytest.mark.parametrize("root", ["object", "array", "string"])
def test_a_json_schema_in_place_of_the_parameters_is_answered_once(root: str) -> None:
    data = (
        b'{"tool_id": "a", "description": "A.", "parameters": {"type": "%s", "properties": {}}}'
        % root.encode()
    )
    (problem,) = problems_of(lambda: read_config(data, "a.json"))
    assert problem.field == "parameters"
    assert ('not "object"' in problem.what) is (root != "object")


def test_an_argument_may_be_called_type() -> None:
    data = b'{"tool_id": "a", "description": "A.", "parameters": {"type": {"type": "string", "description": "T."}}}'
    assert set(read_config(data, "a.json").parameters) == {"type"}
