"""Blocks: the one form in which every document is read, rendered and cut into pieces."""
