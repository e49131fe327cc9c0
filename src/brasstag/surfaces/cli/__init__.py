"""The command line.

main       the app: commands, exit codes, errors as one paragraph
console    what people read on a terminal, what programs read from a pipe
rooms      opening a room for a command; showing changed control files first
people     who sits at the terminal, and whose token this is
diffs      what a call would change, for eyes
call       call, undo
approvals  the queue: list, show, approve, deny
timeline   show, export, verify, redact, head
policy     test, explain, replay
tools      list, schema, docs, new
project    init, trust, stop, doctor, gc
approvers  tokens for deciding without a terminal
demo       the story `make demo` plays
"""
