"""Words of reviews: prompt tools, proposals and issues."""
