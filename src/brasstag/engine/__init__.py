"""The engine: the path of one call.

threads    sync work off the event loop, on threads that can be left behind
looking    admit a call, and find out what it would do without doing it
judging    what the rules say of it
performing run a granted call by its kind, between claim and settle
dispatch   the Counter: the whole path, in order
asking     approvals: ask a person, take the answer, go on
recovery   what a dead process left behind
payloads   what each step writes on the timeline
audience   who is told what goes on meanwhile

And the work on one task, from its wake until it ends or blocks.

floor        takes ready tasks, and looks after what hints cannot tell
advance      one task: its calls, its model's turns, its end
calling      the open calls of a task, in the order that matters (order)
allowance    what is left of a task's limits and of its run's
minutes      a task's timeline as its worker follows it: standing and transcript
nodes        what a new task is told, and whom it tells when it ends
growth       how far a run may grow below a task
delegating   performing the kinds that pass work along the graph
render       entries to messages: exchanges, showing
compacting   old results in short form: shortening, summaries
prompting    the system prompt
steering     people answer, stop and resume
reconciling  dead and stopped workers, lost hints
"""
