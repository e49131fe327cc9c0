"""The shipped tools: a function here, its words in configs/. Adding one is one JSON file and one function."""
