"""Grants: nobody makes one by hand."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from brasstag.policy.grants import Grant, binding_digest, grant_allowed, grant_approved
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict
from tests.policy import strategies as make
from tests.policy.calls import call, overwrites
from tests.type_checker import type_check

ALLOW = Verdict("allow", "because", "rule")
ASK = Verdict("ask", "because", "rule")
DENY = Verdict("deny", "because", "rule")

MADE = call("write_file", path="a", content="x")
SEEN = overwrites("a")


def approval(**changed: Any) -> Approval:
    given_: dict[str, Any] = {
        "id": "apr_1",
        "call_id": MADE.id,
        "task_id": MADE.task_id,
        "tool": MADE.tool,
        "tool_version": "v1",
        "arguments": MADE.arguments,
        "actor": MADE.actor,
        "role": MADE.role,
        "reason": "it overwrites a",
        "rule": "profile careful",
        "preview": SEEN,
        "digest": binding_digest(MADE, "v1", SEEN),
        "state": ApprovalState.APPROVED,
        "requested_at": "2026-01-01T00:00:00Z",
    }
    return Approval(**(given_ | changed))


class TestMaking:
    def test_a_grant_made_by_hand_is_refused(self) -> None:
        with pytest.raises(TypeError, match="never by hand"):
            Grant(MADE, SEEN, ALLOW, "v1")
        with pytest.raises(TypeError, match="never by hand"):
            Grant(MADE, SEEN, ALLOW, "v1", key=object())

    def test_a_grant_cannot_be_made_from_another(self) -> None:
        grant = grant_allowed(MADE, SEEN, ALLOW, "v1")
        with pytest.raises(TypeError, match="never by hand"):
            replace(grant, call=call("delete_file", path="b"))
        for travel in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="does not travel"):
                travel(grant)

    def test_a_grant_cannot_be_changed(self) -> None:
        grant = grant_allowed(MADE, SEEN, ALLOW, "v1")
        with pytest.raises(AttributeError):
            grant.call = call("delete_file", path="b")  # type: ignore[misc]

    def test_a_grant_has_no_subclasses(self) -> None:
        with pytest.raises(TypeError, match="no other forms"):

            class Forged(Grant):  # type: ignore[misc]
                pass


@pytest.mark.slow
def test_a_type_checker_refuses_a_call_in_the_place_of_a_grant(tmp_path: Path) -> None:
    source = tmp_path / "wrong.py"
    source.write_text("""
from brasstag.policy.grants import Grant
from brasstag.words.calls import Call

def perform(grant: Grant) -> None: ...

def right(grant: Grant) -> None:
    perform(grant)

def wrong(call: Call) -> None:
    perform(call)
""")
    _, said = type_check([source])
    assert (
        'wrong.py:11: error: Argument 1 to "perform" has incompatible type "Call"; expected "Grant"' in said
    )
    assert "Found 1 error" in said


class TestAllowed:
    def test_an_allowed_call_is_granted_without_an_approval(self) -> None:
        grant = grant_allowed(MADE, SEEN, ALLOW, "v1")
        assert (grant.call, grant.preview, grant.verdict, grant.tool_version) == (MADE, SEEN, ALLOW, "v1")
        assert grant.approval_id is None

    @pytest.mark.parametrize("verdict", [ASK, DENY])
    def test_no_other_verdict_grants(self, verdict: Verdict) -> None:
        with pytest.raises(ValueError, match=verdict.decision):
            grant_allowed(MADE, SEEN, verdict, "v1")


class TestApproved:
    @pytest.mark.parametrize("verdict", [ASK, ALLOW])
    def test_an_approved_call_is_granted_by_its_approval(self, verdict: Verdict) -> None:
        assert grant_approved(MADE, SEEN, verdict, "v1", approval()).approval_id == "apr_1"

    def test_a_deny_outranks_an_approval(self) -> None:
        with pytest.raises(ValueError, match="denied"):
            grant_approved(MADE, SEEN, DENY, "v1", approval())

    @pytest.mark.parametrize(
        "state", [state for state in ApprovalState if state is not ApprovalState.APPROVED]
    )
    def test_only_an_approval_that_stands_grants(self, state: ApprovalState) -> None:
        with pytest.raises(ValueError, match=state):
            grant_approved(MADE, SEEN, ASK, "v1", approval(state=state))

    @pytest.mark.parametrize(
        ("made", "seen", "version"),
        [
            (replace(MADE, arguments={"path": "a", "content": "y"}), SEEN, "v1"),
            (replace(MADE, tool="edit_file"), SEEN, "v1"),
            (replace(MADE, id="call_2"), SEEN, "v1"),
            (replace(MADE, task_id="task_2"), SEEN, "v1"),
            (MADE, overwrites("b"), "v1"),
            (MADE, SEEN, "v2"),
        ],
    )
    def test_an_approval_counts_for_nothing_but_what_was_approved(
        self, made: Call, seen: Preview, version: str
    ) -> None:
        with pytest.raises(ValueError, match="something else"):
            grant_approved(made, seen, ASK, version, approval())


class TestBinding:
    @given(make.calls, make.previews)
    def test_the_same_call_and_preview_have_the_same_digest(self, made: Call, preview: Preview) -> None:
        again = replace(made, arguments=dict(sorted(made.arguments.items(), reverse=True)))
        noted = replace(preview, notes=("said in passing",))
        assert binding_digest(made, "v1", preview) == binding_digest(again, "v1", noted)

    def test_who_asks_is_not_part_of_it(self) -> None:
        assert binding_digest(MADE, "v1", SEEN) == binding_digest(
            replace(MADE, repaired="a comma"), "v1", SEEN
        )
