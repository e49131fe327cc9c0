"""The sandbox: what stands between a tool and the machine.

syscalls   the kernel calls Python has no name for
workspace  the one directory tools may touch: looking, drafts, file effects, recovery
process    a confined child process, and what it changed
network    the guard between tools and the web
notices    telling a person that something waits
editor     a person's own editor
"""
