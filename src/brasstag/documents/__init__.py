"""Documents: workspace files as agents read and pass them on."""
