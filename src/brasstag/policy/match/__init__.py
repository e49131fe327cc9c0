"""Matching: what of a call a pattern is held against."""
