"""Watching a run: its events, its overview, what its programs print and what it spends."""
