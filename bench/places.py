"""Where benchmarks keep their files."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def scratch() -> Iterator[Path]:
    """A directory beside the benchmarks, on the same disk, with a user directory of its own."""
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as name:
        folder = Path(name)
        # Should a benchmark be killed, what it leaves behind is nothing that anybody keeps.
        (folder / ".gitignore").write_text("*\n")
        os.environ["BRASSTAG_USER_DIR"] = str(folder / "user")
        yield folder
