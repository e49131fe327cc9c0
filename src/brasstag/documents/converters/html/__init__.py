"""HTML: what a reader would see of a page."""
