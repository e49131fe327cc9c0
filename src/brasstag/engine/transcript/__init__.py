"""Transcripts: the entries of a timeline as state and as messages for a model. Pure: no store, no sandbox."""
