"""Packs a room, and unpacks it where a test wants it."""

import gzip
import io
import lzma
import re
import subprocess
import tarfile
from pathlib import Path

import psycopg

HERE = Path(__file__).parent

LEFT_OUT = ("state.db-shm", "__pycache__")
"""What is made anew by those who open the room."""


def releases() -> list[Path]:
    """Return the folder of each release that has left rooms, oldest first."""
    folders = [file.parent for file in HERE.glob("*/sqlite.json")]
    return sorted(folders, key=lambda folder: [int(number) for number in re.findall(r"\d+", folder.name)])


def pack(place: Path, file: Path) -> None:
    """Pack the project and the user's directory of a room; the same files always give the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(place.rglob("*")):
            if not any(part in LEFT_OUT for part in path.parts):
                tar.add(path, path.relative_to(place), recursive=False, filter=_plain)
    file.write_bytes(lzma.compress(packed.getvalue(), preset=9))


def _plain(found: tarfile.TarInfo) -> tarfile.TarInfo:
    found.uid = found.gid = 0
    found.uname = found.gname = ""
    found.mtime = int(found.mtime)
    return found


def dump(url: str, binaries: Path, place: Path, file: Path) -> None:
    """Write the room's schema as SQL that any client can run."""
    name = (place / "project" / ".brasstag" / "room").read_text().strip()
    words = ["--schema", name, "--no-owner", "--no-privileges", "--inserts", url]
    told = subprocess.run([binaries / "pg_dump", *words], capture_output=True, text=True, check=True)
    # Lines that begin so are for psql alone.
    lines = [line for line in told.stdout.splitlines(keepends=True) if not line.startswith("\\")]
    file.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def restore(folder: Path, kind: str, place: Path, url: str = "") -> Path:
    """Unpack a room of a release below ``place``, and on a server where it lived on one; return its project."""
    with tarfile.open(folder / f"{kind}.tar.xz") as tar:
        tar.extractall(place, filter="data")
    if kind == "postgres":
        name = (place / "project" / ".brasstag" / "room").read_text().strip()
        statements = gzip.decompress((folder / "postgres.sql.gz").read_bytes())
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())
            connection.execute(statements)
    return place / "project"
