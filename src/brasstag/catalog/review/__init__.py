"""The review: what the Chief of Staff finds out about a proposal before a person decides."""
