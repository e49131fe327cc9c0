"""Documents: workspace files that agents find, read, compare and pass on."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
