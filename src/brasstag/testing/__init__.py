"""For tests of rooms and tools.

clock  a clock that only moves when told to
"""
