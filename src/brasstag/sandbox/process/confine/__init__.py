"""Confinement: the command line, the system call filter and the limits under which a job starts."""
