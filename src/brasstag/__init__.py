"""Brasstag: the counter where agents take their tools.

Packages, from the lowest up; imports only point down:

words      frozen types, no I/O                  policy     rules, roles, grants: pure
settings   brasstag.toml, read once              documents  what files say, found and compared
store      timeline, ledger, approvals, blobs    tools      the shipped tools and their configs
sandbox    workspace, processes, network         engine     the path of one call
toolkit    tool configs, registry, schemas       app        the composition root: Room
models     what answers for agents               catalog    prompt tools, and how they change
                                                 surfaces   the command line

What is public, ``__init__.pyi`` names; each is imported when it is first used.
"""

import sys

# `python -m brasstag` imports this before __main__ can refuse it: until then nothing comes from the current directory.
_here = sys.path[:1] if sys.argv[:1] == ["-m"] and not sys.flags.safe_path else []
del sys.path[: len(_here)]

from brasstag.doors import front_door  # noqa: E402

sys.path[:0] = _here

__version__ = "0.1.0"
__getattr__, __dir__ = front_door(__name__)
