"""The toolkit: what a tool is, how one is declared, and how it is shown to a model."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
