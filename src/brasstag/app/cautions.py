"""Cautions: what a person should know of a run's model before it goes far."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from brasstag.words.turns import Model


def cautions(model: Model, carried: Iterable[Mapping[str, Any]], *, guessed: bool) -> Iterator[str]:
    """Yield what is only assumed of a model, and which of the pictures sent along it cannot see."""
    if guessed:
        yield (
            f"How much fits into {model.name} is not known: its server does not say. {model.context_tokens} tokens are "
            "assumed; say better with ?context=32768 at the end of its name"
        )
    pictures = [str(one["path"]) for one in carried if one.get("image")]
    if pictures and not model.sees_images:
        yield f"{model.name} cannot see pictures: of {', '.join(pictures)} it is told the name only"
