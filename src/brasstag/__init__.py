"""Brasstag: the counter where agents take their tools.

Rooms, from the floor up; imports only point down:

words      frozen types, no I/O                  policy    rules, roles, grants: pure
settings   brasstag.toml, read once              tools     the shipped tools and their configs
store      timeline, ledger, approvals, blobs    engine    the path of one call
sandbox    the workspace, and what may touch it  app       the composition root: Room
toolkit    tool configs, registry, schemas       surfaces  cli
"""
