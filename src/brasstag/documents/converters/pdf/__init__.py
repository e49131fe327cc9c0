"""PDF: pages with headings, paragraphs, lists and tables, found by their layout."""
