"""Formats: what a file is, by its bytes and its name, and how it becomes text or blocks."""
