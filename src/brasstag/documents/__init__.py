"""Documents: workspace files as agents read and pass them on.

kinds      what a file is, by its name or its first bytes
examining  a file read through in bounded memory: type, digest, size, beginning
extracts   what is shown of a text too long to be shown whole, and how to read on
carrying   files as they travel with a task, a question or a result
"""
