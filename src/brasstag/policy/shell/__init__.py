"""Shell: commands are read and judged as written. Pure: nothing is run, and no file is opened.

What is computed cannot be read. So these rules advise, and route to a person; the sandbox is the boundary.
"""
