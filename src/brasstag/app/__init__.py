"""The composition root: it puts the packages together and offers them as Room."""
