"""Changes of workspace files: applied all or none, recovered after a crash, undone."""
