"""Prompt tools: the catalog, and the gate through which each change of it goes."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
