"""The composition root: where the rooms are fitted together.

room      Room, the library's front door
creating  makes a project
crews     the crews a project may begin with
loading   what a project's control files say, and what is wrong with them
opening   fits out the engine for a project, or for a room in memory
trust     control files: nothing changed is loaded before a person has seen it
shelf     the tools of a room in the forms model providers take
classes   BaseTool, for tools written as classes
notices   tells a person that something waits
"""
