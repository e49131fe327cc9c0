"""The toolkit: what a tool is, how one is declared, and how it is shown to a model.

kinds       the six kinds and the one table that says what each does
parameters  what one argument may be
config      ToolConfig: a tool's words, limits and approval
arguments   a call's arguments, checked and completed; messages a model can act on
tool        Tool: the one thing every declaration becomes
declare     the decorator, and as_tool
functions   a Tool from a typed function
signatures  whether a function and its JSON say the same
classes     ToolClass: a tool as a class
registry    ToolRegistry: every tool of a room by name and alias
schemas     the shapes in which tools leave the house: OpenAI, Anthropic, MCP
loading     one JSON file into a ToolConfig, or every problem in it
discovery   tools found in a folder, a package, installed packages
repair      JSON that a small model wrote badly, mended where nothing can be lost
docs        docs/TOOLS.md
scaffold    the first files of a new tool
"""
