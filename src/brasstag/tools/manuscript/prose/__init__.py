"""Statistics of prose, and exact edits of it."""
