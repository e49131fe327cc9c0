"""DOCX: the body of a document with its styles, notes, pages and pictures."""
