"""The confined child process: code runs where it can hurt nothing, on a layer over the workspace.

Nothing it does has happened: its change set is read from the layer, staged into a Draft, judged, and lands like any other
change, whole or not at all.

what        jobs         a job, its limits, and how it ended
            confined     what a tool that runs code holds
            booth        where jobs run: the one thing others use, with ``stage``
confining   backend      what a way of confining has to offer
            bubblewrap   the one there is
            seccomp      the system call filter
            detecting    what this machine can do, tried out, not guessed
            programs     programs of the host that can be trusted
            interpreters the Python of a project, as confined code can use it
            errands      our own modules, run on what nobody trusts
            ripgrep      a search of the workspace, which names files and says nothing else
starting    launcher     a process of its own that forks, mounts and becomes the program
            spawning     our side of it
            starting     descriptors, limits, and the gate a job waits behind
running     running      from the first instruction until nothing is left
            output       what is kept of the output
            watchdog     which limit is broken
            proc         what a tree of processes uses
            disk         what a run takes on the disk, also where no name leads
            cgroups      limits the kernel itself keeps, where it lets us
layers      layers       an overlay, a copy, or read-only
            copying      the copy
            changes      what a run has changed, read from either
            landing      that, staged into a Draft
the web     doors        the one way out for a job with a network
"""
