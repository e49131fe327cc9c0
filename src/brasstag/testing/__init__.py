"""For tests of rooms and tools.

accept  a project whose control files count as accepted, in a temporary user directory
clock   a clock that only moves when told to
"""
