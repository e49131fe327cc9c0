"""People: who may decide, by which token or login, and who may only look."""
