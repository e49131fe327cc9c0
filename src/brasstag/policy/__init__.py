"""Policy: what may be done, by whom, and the proof of it. Pure: no files, no clock, no network."""
