"""Prompt tools and issues of an open room, for people and programs."""
