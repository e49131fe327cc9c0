"""Read a proposal: everything that is missing or wrong is named at once."""

from collections.abc import Iterator, Mapping
from typing import Any

from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.harness.checks import why_no_check
from brasstag.catalog.sealed_core import refuse_core
from brasstag.catalog.snapshots import Snapshot
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import (
    FIELDS,
    MOST_IN_FIELD,
    TARGETS,
    PromptTool,
    Target,
    problems_in,
)
from brasstag.words.review.proposals import PROPOSAL_TYPES, ProposalContent, TestCase

FEWEST, MOST = 2, 3
"""Examples, and test cases, of a proposal."""
_MORE_FIELDS = ("proposalType", "target", "rationale", "examples", "testCases", "owner", "author")
_CASE_FIELDS = ("name", "input", "expect", "checks", "sampleOutput")


def read_proposal(document: Any, catalog: PromptCatalog) -> ProposalContent:
    """Return what a document proposes; raise ToolError with every problem there is.

    For a change or a retirement, examples and test cases are those of the version before where none are given; for a
    retirement, so are the eight fields. Who the author is, is not for the document to say.
    """
    if not isinstance(document, Mapping):
        raise _invalid(["a proposal is a JSON object"])
    if reason := why_not_json(dict(document)):
        raise _invalid([reason])
    tool_id = document.get("id")
    if isinstance(tool_id, str):
        refuse_core(tool_id)
    before = _version_before(document, catalog)
    completed = _completed(document, before)
    wrong = [
        *problems_in(_tool_in(completed)),
        *_wrong_metadata(completed),
        *_wrong_identity(completed, before, catalog),
        *(
            f"{name} is not a field of a proposal"
            for name in document
            if name not in (*FIELDS, *_MORE_FIELDS)
        ),
    ]
    if wrong:
        raise _invalid(wrong)
    return ProposalContent.from_json(completed)


def read_approved(document: Mapping[str, Any]) -> ProposalContent:
    """Return what a colleague approved; raise ToolError with every problem there is."""
    reason = why_not_json(dict(document))
    wrong = [reason] if reason else [*problems_in(_tool_in(document)), *_wrong_metadata(document)]
    if wrong:
        raise _invalid(wrong)
    return ProposalContent.from_json(document)


def read_draft(document: Any) -> ProposalContent:
    """Return what an incomplete document proposes so far; what is missing is empty.

    Raises ToolError where what is there has another form.
    """
    if not isinstance(document, Mapping):
        raise _invalid(["a proposal is a JSON object"])
    usual = {"proposalType": "new", "target": "project", "scope": "file"}
    given = usual | {name: value for name, value in document.items() if value is not None}
    if wrong := list(_wrong_forms(given)):
        raise _invalid(wrong)
    return ProposalContent.from_json(given)


def _wrong_forms(document: Mapping[str, Any]) -> Iterator[str]:
    for name in (*FIELDS, "rationale", "owner"):
        if not isinstance(document.get(name, ""), str):
            yield f"{name} is not text"
    for name, known in (("proposalType", PROPOSAL_TYPES), ("target", TARGETS)):
        if document[name] not in known:
            yield f"{name} is {document[name]!r}; it is one of {', '.join(known)}"
    examples, cases = document.get("examples", []), document.get("testCases", [])
    if not isinstance(examples, list) or not all(isinstance(example, str) for example in examples):
        yield "examples is not a list of texts"
    if not isinstance(cases, list) or not all(map(TestCase.is_form, cases)):
        yield "testCases is not a list of objects with name, input and checks"


def _tool_in(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name in FIELDS}


def _version_before(document: Mapping[str, Any], catalog: PromptCatalog) -> Snapshot | None:
    target, tool_id = document.get("target"), document.get("id")
    if target not in TARGETS or not isinstance(tool_id, str):
        return None
    found = catalog.accepted(target, tool_id)
    return None if found is None or found.is_retirement else found


def _completed(document: Mapping[str, Any], before: Snapshot | None) -> dict[str, Any]:
    found = {name: value for name, value in document.items() if name != "author"}
    if before is None or document.get("proposalType") not in ("modify", "retire"):
        return found
    if document["proposalType"] == "retire" and before.tool is not None:
        found |= before.tool.as_json()
    if not found.get("examples"):
        found["examples"] = list(before.examples)
    if not found.get("testCases"):
        found["testCases"] = [case.as_json() for case in before.test_cases]
    return found


def _wrong_metadata(document: Mapping[str, Any]) -> Iterator[str]:
    for name, known in (("proposalType", PROPOSAL_TYPES), ("target", TARGETS)):
        if name not in document:
            yield f"{name} is missing; it is one of {', '.join(known)}"
        elif document[name] not in known:
            yield f"{name} is {document[name]!r}; it is one of {', '.join(known)}"
    for name in ("rationale", "owner"):
        yield from _wrong_text(document, name, needed=name == "rationale")
    examples = document.get("examples")
    yield from _wrong_count("examples", examples)
    for place, example in enumerate(examples if isinstance(examples, list) else ()):
        yield from _wrong_text({f"examples[{place}]": example}, f"examples[{place}]")
    cases = document.get("testCases")
    yield from _wrong_count("testCases", cases)
    for place, case in enumerate(cases if isinstance(cases, list) else ()):
        yield from _wrong_case(f"testCases[{place}]", case)
    names = (
        [case.get("name") for case in cases if isinstance(case, Mapping)] if isinstance(cases, list) else []
    )
    if len({str(name) for name in names}) < len(names):
        yield "two testCases have the same name"


def _wrong_count(name: str, value: Any) -> Iterator[str]:
    if value is None or value == []:
        yield f"{name} are missing; give {FEWEST} or {MOST}"
    elif not isinstance(value, list):
        yield f"{name} is not a list"
    elif not FEWEST <= len(value) <= MOST:
        yield f"{name} has {len(value)}; give {FEWEST} or {MOST}"


def _wrong_case(place: str, case: Any) -> Iterator[str]:
    if not isinstance(case, Mapping):
        yield f"{place} is not an object with {', '.join(_CASE_FIELDS)}"
        return
    for name in ("name", "input"):
        yield from _wrong_text({f"{place}.{name}": case.get(name)}, f"{place}.{name}")
    if case.get("expect", "pass") not in ("pass", "fail"):
        yield f"{place}.expect is {case.get('expect')!r}; it is pass or fail"
    checks = case.get("checks")
    if not isinstance(checks, list) or not checks:
        yield f"{place}.checks are missing; name at least one"
    else:
        yield from (f"{place}.checks: {why}" for why in map(why_no_check, checks) if why)
    if "sampleOutput" in case and case["sampleOutput"] is not None:
        yield from _wrong_text(
            {f"{place}.sampleOutput": case["sampleOutput"]}, f"{place}.sampleOutput", needed=False
        )
    yield from (f"{place}.{name} is not a field of a test case" for name in case if name not in _CASE_FIELDS)


def _wrong_text(values: Mapping[str, Any], name: str, *, needed: bool = True) -> Iterator[str]:
    value = values.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        if needed:
            yield f"{name} is missing"
    elif not isinstance(value, str):
        yield f"{name} is not text"
    elif len(value) > MOST_IN_FIELD:
        yield f"{name} has {len(value):,} characters; at most {MOST_IN_FIELD:,} are allowed"


def _wrong_identity(
    document: Mapping[str, Any], before: Snapshot | None, catalog: PromptCatalog
) -> Iterator[str]:
    tool_id, kind, target = document.get("id"), document.get("proposalType"), document.get("target")
    if not isinstance(tool_id, str) or kind not in PROPOSAL_TYPES or target not in TARGETS:
        return
    declared = catalog.callable_tools().get(tool_id)
    if declared is not None:
        yield f"id {tool_id} is the name of a callable tool ({declared}); choose another"
    if kind == "new" and before is not None:
        yield f"{tool_id} is live in {_where(target)} already; propose to modify it"
    if kind != "new" and before is None:
        yield f"{tool_id} is not live in {_where(target)}, so it cannot be {_DONE[kind]}; propose a new tool"
    if (
        kind == "modify"
        and before is not None
        and before.tool is not None
        and _is_same(document, before.tool)
    ):
        yield f"{tool_id} would stay as it is; change something, or leave it"
    if kind != "new" and before is not None and document.get("rationale") == before.rationale:
        yield "rationale is that of the version before; say why this change is needed"


def _is_same(document: Mapping[str, Any], tool: PromptTool) -> bool:
    return all(document.get(name, "") == value for name, value in tool.as_json().items())


_DONE = {"modify": "modified", "retire": "retired"}


def _where(target: Target) -> str:
    return "the project" if target == "project" else "your own tools"


def _invalid(problems: list[str]) -> ToolError:
    return ToolError(
        Code.INVALID_PROPOSAL, f"the proposal is not complete: {'; '.join(problems)}", {"problems": problems}
    )
