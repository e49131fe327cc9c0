"""How results look: outcomes, entries, documents, versions, tools, tasks and diffs."""
