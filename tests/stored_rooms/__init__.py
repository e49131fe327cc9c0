"""Rooms that an earlier release wrote, kept as archives: later code has to open, verify and resume them.

project   the project the rooms belong to: its settings, its tool, and what its agents say
write     writes the rooms of the present release, and the lists of names and facts beside them
archive   packs a room, and unpacks it where a test wants it
names     lists the names a room has stored: kinds of entries, keys of payloads, tables, states, jobs
facts     tells what people read from a room: documents, versions, memories, approvals, tasks
resume    goes on with everything that waits in a room, until nothing is left

Run ``python -m tests.stored_rooms.write`` once for each release. It writes a folder named after the release. Where names
are added between releases, give it a folder of another name, such as ``tests/stored_rooms/0.1.0-2``. Never write a folder
again that is there already: its rooms stand for those that people have.
"""
