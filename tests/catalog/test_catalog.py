"""The live catalog of a room: what agents are told of it follows every change."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.catalog import catalog as module
from tests.app.prompts.documents import make_live


async def test_an_injection_made_while_the_catalog_changes_is_not_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Room.open(project) as room:
        catalog: Any = room.prompts._catalog
        old = catalog.now
        await make_live(room)
        new = catalog.now
        looks = iter([old])
        whole: Callable[..., Any] = module.PromptCatalog.now.fget  # type: ignore[attr-defined]
        # The first look is the one of a thread that was overtaken.
        monkeypatch.setattr(
            module.PromptCatalog, "now", property(lambda self: next(looks, None) or whole(self))
        )
        assert "tag_hunter" not in catalog.inject("editor", "file").text
        assert catalog.now is new
        assert "tag_hunter" in catalog.inject("editor", "file").text
