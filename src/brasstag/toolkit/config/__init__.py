"""Tool configs: the JSON that owns a tool's words, limits and parameters."""
