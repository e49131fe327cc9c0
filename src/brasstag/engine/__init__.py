"""The engine: the path of one call.

threads    sync work off the event loop, on threads that can be left behind
looking    admit a call, and find out what it would do without doing it
judging    what the rules say of it
performing run a granted call by its kind, between claim and settle
dispatch   the Counter: the whole path, in order
asking     approvals: ask a person, take the answer, go on
recovery   what a dead process left behind
payloads   what each step writes on the timeline
"""
