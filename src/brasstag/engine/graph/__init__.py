"""Tasks that open, answer, stop and end one another."""
