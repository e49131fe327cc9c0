"""What a person answered."""

from typing import Any

import pytest

from brasstag import ApprovalResponse


@pytest.mark.parametrize("given", ["denied", "no", "", 1, 0, None])
def test_only_true_and_false_are_answers(given: Any) -> None:
    with pytest.raises(TypeError, match="True or False"):
        ApprovalResponse(given)
