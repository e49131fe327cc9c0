"""TOML that we write: the first ``brasstag.toml`` of a project, and strings in it."""

import json

from brasstag.settings.model import ProfileName

_TEMPLATE = """\
# Brasstag: what agents may do here. `brasstag doctor` checks this file; agents can never change it.

[room]
workspace = {workspace}      # the one directory agents may touch; "." is the project itself
profile = {profile}      # careful: overwriting and deleting ask
                         # trusted: what can be undone is allowed
                         # locked:  everything but reading asks

[approvals]
expires_after = "never"  # or a duration: "30m", "2h", "7d"
# notify_command = ["notify-send", "Brasstag"]    # run when something waits for you
# notify_webhook = "https://example.org/hook"     # or posted to

# Rules come before the profile, and deny beats ask beats allow, in whatever order they stand.
#   deny = "delete_file"                 every call of a tool; * and ? may stand in its name
#   deny = "*(secrets/**)"               any tool at these paths: * within a name, ** across directories
#   ask  = "search_code(query: *key*)"   an argument other than a path
#   unless = "*(secrets/README.md)"      what the rule leaves alone
#   when = ["overwrites"]                only if the call would do that: reads, creates, overwrites,
#   when = {{ deletes = 10 }}              deletes, moves, annotates, runs, fetches, external
# `match` and `not_match` are examples that are checked each time this file is read.
#
# [[rules]]
# deny = "*(secrets/**)"
# because = "secrets stay with people"
# match = ["read_file(secrets/key.txt)"]
# not_match = ["read_file(notes.md)"]
#
# [[rules]]
# allow = "write_file(drafts/**)"
# when = ["creates", "overwrites"]
# because = "drafts are there to be rewritten"

# Roles: who the agents are. Each has the tools named here, and handoff, ask_master and its notes besides.
# You, the operator, may use every tool. `brasstag init --crew NAME` writes a whole crew to start from.
#
# [crew]
# lead = "architect"                   # who takes what `brasstag run` asks for
# model = "openai:NAME"                # for roles that name none; left out: chosen when a run starts
# budget = {{ max_steps = 500, max_cost = 5.0 }}    # of a whole run; a cost is in dollars
#
# [roles.architect]
# description = "Plans the book and gives out the work"
# instructions = "Read the outline first, then give each chapter to the editor."
# tools = ["read_file", "write_file", "list_files"]
# delegates_to = ["editor"]            # gives it assign_task and route_to_editor
# budget = {{ max_steps = 50 }}          # of one task
#
# [roles.editor]
# description = "Corrects, and never writes anew"
# tools = ["read_file", "edit_file", "list_files", "search_code"]

# What this project searches the web with. Rules say what may be fetched: allow = "web_fetch(docs.python.org/**)".
#
# [web]
# search = "searxng"                   # or "brave", with key_variable = "BRAVE_API_KEY"
# url = "http://127.0.0.1:8888"        # where your SearXNG is

# What this project changes about a tool.
#
# [tools.search_code]
# defaults = {{ directory = "manuscripts" }}
"""


def template(workspace: str = "data", profile: ProfileName = "careful") -> str:
    """Return the settings ``brasstag init`` writes: complete, commented, and accepted by read_settings."""
    return _TEMPLATE.format(workspace=toml_string(workspace), profile=toml_string(profile))


def toml_string(text: str) -> str:
    """Return text as a TOML basic string; JSON's form is valid TOML, except for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
