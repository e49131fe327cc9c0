"""Declaring a tool: from a function, a class, or a function with JSON."""
