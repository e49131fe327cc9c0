"""The store: everything a room keeps. SQL is written here and nowhere else."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
