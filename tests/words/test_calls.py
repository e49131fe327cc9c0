"""Calls: what stays as it was when a tool takes one."""

from dataclasses import replace

from brasstag.words.calls import Call


def test_a_call_as_its_tool_takes_it_differs_in_nothing_but_tool_and_arguments() -> None:
    call = Call("call_1", "cat", {"file": "a"}, "cli:ada", "editor", "task_1", "a comma was added", epoch=3)
    taken = call.as_taken("read_file", {"path": "a"})
    assert taken == replace(call, tool="read_file", arguments={"path": "a"})
