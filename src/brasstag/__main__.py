"""``python -m brasstag``."""

from brasstag.surfaces.cli.main import main

if __name__ == "__main__":
    main()
