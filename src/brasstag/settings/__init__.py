"""Settings: ``brasstag.toml``, read once.

Places are cheap to ask for; whatever needs pydantic is imported when it is first used.
"""

from brasstag.doors import front_door

__getattr__, __dir__ = front_door(__name__)
