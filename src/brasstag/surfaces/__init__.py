"""Surfaces: where people and programs meet the room."""
