"""A project on disk: create it, load its control files, and trust them only as a person accepted them."""
