"""Words: frozen types that every package shares, with no I/O."""
