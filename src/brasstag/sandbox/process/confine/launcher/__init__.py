"""The launcher: a small process that starts confined programs, one fork each.

It is run from this folder alone, isolated, and imports nothing but the standard library; so its files import each other by
relative names. It has one thread, so it may fork, make namespaces and mount, which a program with threads cannot; what it
starts dies with it, and it ends with its parent.
"""
