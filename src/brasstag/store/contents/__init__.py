"""Contents: bytes by digest, and the versions of every path."""
