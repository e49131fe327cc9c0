"""The composition root: where the rooms are fitted together.

room       Room, the library's front door
requests   what a caller hands over with a call
approving  approvals: looked up, decided, gone on with
waiting    waiting for the ends of calls that people or agents come to first
documents  RoomDocuments, what people and programs do with documents
abstracts  summaries of documents that a model writes
shelf      the tools of a room in the forms model providers take
classes    BaseTool, for tools written as classes

runs       what a room's people do with agents, and the floor they work on
watching   what happens in a run, in order, for whoever watches
listening  what programs print, for whoever listens
overview   a run at a glance: who stands where, and what waits for people
spending   what tasks and runs have taken
cautions   what a person should know of a run's model before it goes far
serving    marks on disk that say which process works on what
notices    tells a person that something waits

opening    fits out the engine for a project, or for a room in memory
loading    what a project's control files say, and what is wrong with them
trust      control files: nothing changed is loaded before a person has seen it
vault      the state of a room: books, key and lock
creating   makes a project
crews      the crews a project may begin with
"""
