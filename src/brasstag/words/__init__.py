"""The words of Brasstag: frozen types every room shares, with no I/O.

ids        how things are named
errors     codes a caller sees, and the exceptions rooms raise to each other
canonical  one JSON form to hash, one to store
previews   what a call would do: Seen paths and Changes
calls      Call and its four Outcomes
views      the three shapes in which an outcome leaves the house
verdicts   allow, ask, deny
approvals  the request to a person and the answer
events     what a timeline is made of
messages   what a model is shown
fencing    marks around what came from files and tools
turns      a model's turn: request, answer, usage
blocks     a document in the one form all are read in
documents  documents on their way from task to task
budgets    how far a task or a run may go
tokens     about how many tokens a text or a message is
"""
