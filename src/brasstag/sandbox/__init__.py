"""The sandbox: what stands between a tool and the machine."""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
