"""Timelines: the hash-chained entries of each task, and the signed seals over all of them."""
