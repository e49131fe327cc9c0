"""Analyse a manuscript: pure functions over texts; the tools that call them read the files."""
