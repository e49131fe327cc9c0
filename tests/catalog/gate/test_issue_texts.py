"""What people read of a proposal: its assessment, and the test cases of the old and the new prompt."""

from brasstag.catalog.gate.issue_texts import assessment_text


def test_the_old_and_the_new_prompt_are_shown_side_by_side_with_what_they_took() -> None:
    case = {"name": "counts", "failures": []}
    harness = {
        "verdict": "pass",
        "basis": "live model m",
        "cases": [{**case, "verdict": "pass", "usage": {"tokens": 1200, "cost": 20_000}}],
        "before": {
            "verdict": "fail",
            "basis": "live model m",
            "cases": [{**case, "verdict": "fail", "usage": {"tokens": 900, "cost": None}}],
        },
    }
    assert assessment_text({"recommendation": "approve", "by": "me"}, harness).splitlines()[1:] == [
        "Harness: pass, on live model m",
        "- counts: pass (1,200 tokens, $0.0200)",
        "The same test cases with the live prompt: fail, on live model m",
        "- counts: fail (900 tokens, price not known)",
    ]


def test_without_a_result_nothing_is_said_of_test_cases() -> None:
    assert "Harness" not in assessment_text({"recommendation": "approve", "by": "me"}, {})
