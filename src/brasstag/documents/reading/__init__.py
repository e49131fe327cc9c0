"""Reading: as much of a document as was asked for, and how two versions differ."""
