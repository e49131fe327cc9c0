"""The workspace: look, don't touch; then change everything or nothing.

A tool function is given a Draft. Reads go to the disk, writes are only staged. What was staged is a list of
Changes, which is judged and claimed before ``apply_changes`` carries it out.

looking      paths      what a path may look like, and how links on it are followed
             control    the files tools can neither see nor change
             workspace  the directory itself, held open
             reader     one call's eyes: opening, digests, listings
drafting     staging    what a call wants the disk to be, and the Changes that lead there
             view       disk and stage seen as one
             trees      removing and moving whole directories
             globs      which files a search looks into
             keeping    the bytes a list of Changes needs, put into the blobs
             browsing   reading, listing and walking for one call
             draft      what a tool function holds: it browses, and stages what it wants changed
             undo       a later call that takes a list of Changes back
changing     renames    take, place, exchange: the only ways anything moves
             site       where one call works: its private names, what it had to keep
             supplies   where new content comes from: the blobs, or another path
             steps      one Change as steps that can be taken back
             effects    a list of Changes, all or nothing
after crash  scene      what a dead process left of one Change
             recover    all Changes of its call, settled
             sweeping   temporary names nobody needs any more
errors       what the kernel said, as codes
"""
