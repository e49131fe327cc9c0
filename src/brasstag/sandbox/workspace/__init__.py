"""The workspace: look first without touching; then change everything or nothing.

A tool function is given a Draft. Reads go to the disk, writes are only staged. What was staged is a list of
Changes, which is judged and claimed before ``apply_changes`` carries it out.
"""
