"""The converter program: documents in on standard input, one line of JSON out for each as soon as it is done."""

import io
import json
import sys
from typing import Any, BinaryIO

from brasstag.documents.converters.table import TAKES, converter_for, family_of
from brasstag.documents.converters.writer import BlockWriter, Full, Unreadable

_NO_TEXT = ("image/", "application/octet-stream")


def main(given: BinaryIO, out: BinaryIO) -> None:
    """Convert what is described in the first line of ``given``, whose contents follow it or lie in files."""
    for document in json.loads(given.readline()):
        size, media_type = document["size"], document["media_type"]
        if document["file"]:
            with open(document["file"], "rb") as file:  # noqa: PTH123 - pathlib takes a while to import
                answer = convert(file, size, media_type)
        else:
            answer = convert(io.BytesIO(given.read(size)), size, media_type)
        out.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
        out.flush()


def convert(file: BinaryIO, size: int, media_type: str) -> dict[str, Any]:
    """Return the blocks of one document, or a code and a reason; whatever a library raises is that document's fault."""
    writer = BlockWriter(size)
    try:
        converter_for(media_type)(_contents(file, media_type, writer), media_type, writer)
    except Full:
        pass
    except Unreadable as error:
        return {"code": error.code, "reason": error.reason}
    except ModuleNotFoundError as error:
        return {
            "code": "NOT_SUPPORTED",
            "reason": f"to read {media_type}, install brasstag[docs], which has {error.name}",
        }
    except MemoryError:
        return {"code": "TOO_LARGE", "reason": "to read it takes more memory than a conversion may use"}
    # Libraries written in Rust raise what is no Exception.
    except BaseException as error:  # noqa: BLE001
        said = " ".join(str(error).split())[:200]
        return {"code": "CANNOT_CONVERT", "reason": f"it cannot be read: {type(error).__name__}: {said}"}
    return writer.as_json()


def _contents(file: BinaryIO, media_type: str, writer: BlockWriter) -> bytes:
    most, needs_all = TAKES[family_of(media_type)[0]]
    if needs_all and writer.size > most:
        raise Unreadable(
            "TOO_LARGE", f"it has {writer.size:,} bytes, and at most {most:,} of this kind are read"
        )
    data = file.read(most)
    if media_type.startswith(_NO_TEXT) or len(data) == writer.size:
        return data
    writer.leave_out(f"only the first {most:,} bytes are here")
    # Not in the middle of a character.
    return data[: data.rfind(b"\n") + 1] or data


if __name__ == "__main__":
    # What libraries print is none of the answer.
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    main(sys.stdin.buffer, answers)
