"""Policy: what may be done, by whom, and the proof of it. Pure: no files, no clock, no network."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
