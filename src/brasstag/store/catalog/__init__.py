"""Rows of proposals and issues, and what writes them together with their entries."""
