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
# notify_command = ["notify-send", "Brasstag"]    # runs when an approval or a question waits for you
# notify_webhook = "https://example.org/hook"     # gets a POST with the same notice

# Rules come before the profile. Deny beats ask, and ask beats allow; their order does not matter.
#   deny = "delete_file"                 every call of a tool; its name may have * and ?
#   deny = "*(secrets/**)"               any tool at these paths: * within a name, ** across directories
#   ask  = "search_code(query: *key*)"   an argument other than a path
#   unless = "*(secrets/README.md)"      an exception to the rule
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

# Roles are the agents. Each has the tools named here, and also handoff, ask_master and its notes.
# You, the operator, may use every tool. `brasstag init --crew NAME` writes a whole crew to start from.
#
# [crew]
# lead = "architect"                   # the role that takes the request of `brasstag run`
# model = "openai:NAME"                # for roles without a model; without it, one is chosen when a run starts
# budget = {{ max_steps = 500, max_cost = 5.0 }}    # the limits of a whole run; max_cost is in dollars
#
# [roles.architect]
# description = "Plans the book and gives out the work"
# instructions = "Read the outline first, then give each chapter to the editor."
# tools = ["read_file", "write_file", "list_files"]
# delegates_to = ["editor"]            # gives it assign_task and route_to_editor
# budget = {{ max_steps = 50 }}          # the limits of one task
#
# [roles.editor]
# description = "Corrects chapters in place"
# tools = ["read_file", "edit_file", "list_files", "search_code"]

# The search engine for web searches. Rules say what may be fetched: allow = "web_fetch(docs.python.org/**)".
#
# [web]
# search = "searxng"                   # or "brave", with key_variable = "BRAVE_API_KEY"
# url = "http://127.0.0.1:8888"        # the address of your SearXNG

# Changes to a tool in this project.
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
