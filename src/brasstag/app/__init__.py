"""The composition root: it puts the packages together and offers them as Room."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
