"""Prompt tools: the catalog, and the gate through which each change of it goes."""
