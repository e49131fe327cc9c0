"""Run test cases on outputs: a live model's, samples, or what a person recorded; and check recorded outputs again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.catalog.harness.checks import Check, failures
from brasstag.words.prompts import Proposal, TestCase

ALWAYS = ("no_false_tool_use",)
"""Checks that every output has to pass."""
NOT_RUN = "not run"
NOT_NEEDED: Mapping[str, Any] = {"basis": "a retirement needs no test", "verdict": "pass", "cases": []}


@dataclass(frozen=True, slots=True)
class CaseOutput:
    """What came out of one test case, and who or what gave it."""

    basis: str
    """``live model NAME``, ``sample output``, ``recorded by NAME``."""
    text: str | None = None
    verdict: str | None = None
    """What a person recorded, where there is no text."""
    usage: Mapping[str, Any] | None = None


def harness_result(
    cases: Sequence[TestCase], outputs: Mapping[str, CaseOutput], room_checks: Mapping[str, Check]
) -> dict[str, Any]:
    """Return the result of all cases; it says for each on what it was found."""
    found = [_case(case, outputs.get(case.name), room_checks) for case in cases]
    bases = list(dict.fromkeys(one["basis"] for one in found))
    return {"basis": ", ".join(bases), "verdict": _verdict(found), "cases": found}


def checked_again(proposal: Proposal, room_checks: Mapping[str, Check]) -> dict[str, Any]:
    """Return the recorded result with its deterministic checks run again on the recorded outputs."""
    cases = {case.name: case for case in proposal.content.test_cases}
    recorded = proposal.harness.get("cases", ())
    found = [
        _case(
            cases[one["name"]], CaseOutput(one["basis"], one["output"], usage=one.get("usage")), room_checks
        )
        if one.get("output") is not None and one.get("name") in cases
        else dict(one)
        for one in recorded
    ]
    return (
        {**proposal.harness, "cases": found, "verdict": _verdict(found)} if found else dict(proposal.harness)
    )


def sample_outputs(cases: Sequence[TestCase]) -> dict[str, CaseOutput]:
    """Return the outputs that the cases bring along."""
    return {
        case.name: CaseOutput("sample output", case.sample_output)
        for case in cases
        if case.sample_output is not None
    }


def _case(case: TestCase, output: CaseOutput | None, room_checks: Mapping[str, Check]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": case.name, "expect": case.expect, "failures": []}
    if output is None:
        return found | {"basis": "nothing", "verdict": NOT_RUN}
    found["basis"] = output.basis
    if output.text is None:
        return found | {"verdict": output.verdict or NOT_RUN}
    failed = failures(
        (*case.checks, *ALWAYS), output.text, dict.fromkeys(ALWAYS, _passes) | dict(room_checks)
    )
    found |= {"failures": failed, "output": output.text}
    if output.usage is not None:
        found["usage"] = dict(output.usage)
    return found | {"verdict": "pass" if (not failed) == (case.expect == "pass") else "fail"}


def _passes(_output: str) -> str:
    return ""


def _verdict(cases: Sequence[Mapping[str, Any]]) -> str:
    verdicts = {one["verdict"] for one in cases}
    return next((worst for worst in ("fail", NOT_RUN) if worst in verdicts), "pass")
