"""The shipped tools: a function here, its words in configs/. A new tool is one JSON file and one function."""
