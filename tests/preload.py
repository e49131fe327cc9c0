"""What the server has read before that processes of tests are forked from: what every one of them would read at first.

Named by all who start such processes: there is one server for a process of tests, and it reads what was named last.
"""

import gc

import rfc8785
import rich.table
import rich.text
import watchfiles

import brasstag.store.jobs.procrastinate
import brasstag.store.jobs.sqlite
import brasstag.surfaces.cli.follow.follow_run
import brasstag.surfaces.cli.main
import brasstag.tools.search_code
import tests.faults.workers
import tests.processes
import tests.surfaces.terminal
from brasstag.documents.study.tokens import count_tokens
from brasstag.surfaces.cli.main import _command
from brasstag.toolkit.discovery import discover_entry_points, shipped_tools

__all__ = ["brasstag", "rfc8785", "rich", "tests", "watchfiles"]

shipped_tools()
_command()
discover_entry_points()
count_tokens("The tokens are read, which takes a second.")
# No process that is forked looks through all of this for garbage, and copies it by that.
gc.freeze()
