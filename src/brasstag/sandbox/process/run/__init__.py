"""One running job: watched, measured, and ended when it breaks a limit."""
