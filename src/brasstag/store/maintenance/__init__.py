"""Maintenance of a whole room: verify, export, redact, prune, rebuild the index."""
