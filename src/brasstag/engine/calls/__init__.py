"""One call, from its request to its outcome; the files follow the order in which a call passes them."""
