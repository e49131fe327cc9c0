"""The engine: the path of one call, and the work on one task from its wake until it ends or blocks."""
