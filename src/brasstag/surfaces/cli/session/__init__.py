"""What a command needs before it works: an open room, a person, accepted control files."""
