"""The toolkit: what a tool is, how one is declared, and how it is shown to a model.

kinds        the six kinds and the one table that says what each does
parameters   what one argument may be
config       ToolConfig: a tool's words, limits and approval
tool         Tool: the one thing every declaration becomes
arguments    a call's arguments: made our own, completed, checked
sentences    what is wrong with a value, in words a model can act on
complaints   what is wrong with a config, all at once
plainschema  JSON schemas from elsewhere, made plain

declare      the decorator, and as_tool
functions    a Tool from a typed function; docstrings reads its words
classes      ToolClass: a tool as a class
loading      one JSON file into a ToolConfig, or every problem in it
signatures   whether a function and its JSON say the same
pairing      functions and their JSON brought together
discovery    tools found in a folder, a package, installed packages
registry     ToolRegistry: every tool of a room by name and alias
routes       route_to_NAME: the tools with which roles give work to one another

schemas      the shapes in which tools leave the house: OpenAI, Anthropic, MCP
repair       JSON that a small model wrote badly, mended where nothing can be lost
docs         docs/TOOLS.md
scaffold     the first files of a new tool
"""
