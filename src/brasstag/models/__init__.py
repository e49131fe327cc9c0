"""Models: providers, scripts and recordings behind one Protocol, ``words.turns.Model``."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
