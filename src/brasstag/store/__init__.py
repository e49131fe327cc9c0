"""The store: everything a room keeps. SQL is written here and nowhere else."""
