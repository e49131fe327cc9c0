"""``evals/evals.json``: the test cases and examples of a skill, in the form that runners of evals read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.proposals import TestCase

EVALS = "evals/evals.json"


@dataclass(frozen=True, slots=True)
class Evals:
    """What the file holds, as far as a proposal can hold it."""

    examples: tuple[str, ...] = ()
    test_cases: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    """What was said there and is part of no test case."""


def write_evals(name: str, examples: Sequence[str], cases: Sequence[TestCase]) -> bytes:
    """Return the file; what is ours stands in each eval under our own names."""
    value: dict[str, Any] = {
        "skill_name": name,
        "evals": [_eval(number, case) for number, case in enumerate(cases, 1)],
    }
    if examples:
        value["examples"] = list(examples)
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _eval(number: int, case: TestCase) -> dict[str, Any]:
    ours = case.as_json()
    passes = case.expect == "pass"
    result = "passes every check" if passes else "fails at least one check"
    return {
        "id": number,
        "prompt": ours.pop("input"),
        "expected_output": f"An output that {result} listed in assertions.",
        "files": [],
        "assertions": [_sentence(check) for check in case.checks],
        **ours,
    }


def _sentence(check: Any) -> str:
    if isinstance(check, Mapping) and len(check) == 1:
        ((name, value),) = check.items()
        return f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
    return check if isinstance(check, str) else json.dumps(check, ensure_ascii=False)


def read_evals(data: bytes) -> Evals:
    """Return what the file holds; raise ToolError where it has another form."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise _wrong(f"is not JSON: {str(error)[:200]}") from None
    if reason := why_not_json(value):
        raise _wrong(f"cannot be used: {reason}")
    if not isinstance(value, dict) or not isinstance(value.get("evals"), list):
        raise _wrong("has no list `evals`")
    examples = value.get("examples", [])
    if not isinstance(examples, list) or not all(isinstance(one, str) for one in examples):
        raise _wrong("has examples that are not texts")
    cases = tuple(_case(place, one) for place, one in enumerate(value["evals"]))
    notes = tuple(note for place, one in enumerate(value["evals"]) for note in _notes(place, one))
    return Evals(tuple(examples), cases, notes)


def _case(place: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(f"has an eval that is no object: evals[{place}]")
    found = {
        "name": value.get("name", f"eval {value.get('id', place + 1)}"),
        "input": value.get("prompt"),
        "expect": value.get("expect", "pass"),
        "checks": value.get("checks", []),
    }
    if value.get("sampleOutput") is not None:
        found["sampleOutput"] = value["sampleOutput"]
    kinds = {"checks": list}
    for name, given in found.items():
        if not isinstance(given, kinds.get(name, str)):
            shown = "prompt" if name == "input" else name
            raise _wrong(f"has an eval without a proper {shown}: evals[{place}]")
    return found


def _notes(place: int, value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what another runner would check, where the eval has no checks of ours."""
    if "checks" in value:
        return
    if isinstance(value.get("expected_output"), str):
        yield f"evals[{place}] expects: {value['expected_output']}"
    asserted = value.get("assertions")
    for sentence in asserted if isinstance(asserted, list) else ():
        if isinstance(sentence, str):
            yield f"evals[{place}] asserts: {sentence}"
    if value.get("files"):
        yield f"evals[{place}] needs files, which are not imported"


def _wrong(what: str) -> ToolError:
    return ToolError(Code.INVALID_PROPOSAL, f"{EVALS} {what}")
