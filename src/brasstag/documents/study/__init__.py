"""Study: tokens, summary and description of a content, found out once and kept by digest."""
