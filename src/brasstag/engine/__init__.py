"""The engine: the path of one call, and the work on one task from its wake until it ends or blocks."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
