"""Documents: workspace files that agents find, read, compare and pass on."""
