"""A model around another model, whose name and limits it has."""

from brasstag.words.turns import Model


class ModelWrapper:
    """Passes on what is known of the model inside; a subclass says how it answers."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._model.name

    @property
    def sees_images(self) -> bool:
        """Whether the model inside sees."""
        return self._model.sees_images

    @property
    def context_tokens(self) -> int:
        """What fits into the model inside."""
        return self._model.context_tokens
