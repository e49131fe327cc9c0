"""The door: the one way from a confined job to the web hosts it was granted."""
