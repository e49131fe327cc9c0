"""Capabilities: what a tool function may ask the engine for, one file each."""
