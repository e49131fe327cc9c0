"""``python -P -m brasstag``; without ``-P`` it is refused, as Python then imports what lies in the current directory."""

import sys

UNSAFE = """\
brasstag: `python -m` also imports from the current directory, where agents may have written files.
Use the command `brasstag`, or `python -P -m brasstag`.
"""

if __name__ == "__main__":
    if not sys.flags.safe_path:
        sys.stderr.write(UNSAFE)
        sys.exit(2)
    from brasstag.surfaces.cli.main import main

    main()
