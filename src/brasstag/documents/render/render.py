"""Render a text into a PDF or Word file, always confined: the text is not trusted, and neither are the libraries."""

import base64
import json
from collections.abc import Mapping

from brasstag.sandbox.process.job import JobLimits
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.module_jobs import ModuleJobs
from brasstag.words.errors import Code, ToolError

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PDF = "application/pdf"
RENDERED: Mapping[str, str] = {".pdf": PDF, ".docx": WORD}
"""What a text becomes, by the ending of its path."""

_NONE: Mapping[str, bytes] = {}
_PROGRAM = "brasstag.documents.render.program"
_LIMITS = JobLimits(
    wall_seconds=20.0, cpu_seconds=20.0, memory_bytes=1 << 30, processes=32, output_bytes=128 << 20
)


def render(
    module_jobs: ModuleJobs, text: str, media_type: str, pictures: Mapping[str, bytes] = _NONE
) -> bytes:
    """Return a text in Markdown as a file of a type, with the pictures at its addresses; raise ToolError if it cannot be."""
    held = {target: base64.b64encode(data).decode() for target, data in pictures.items()}
    request = json.dumps({"text": text, "media_type": media_type, "pictures": held}).encode()
    ran = module_jobs.run(ModuleJob(_PROGRAM, request, limits=_LIMITS))
    try:
        said = json.loads(ran.stdout)
    except ValueError:
        why = ran.ended_by or f"exit code {ran.exit_code}"
        raise ToolError(
            Code.EXECUTION_ERROR, f"the file could not be made of this text ({why}); try less text, or .md"
        ) from None
    if "failed" in said:
        raise ToolError(Code(said["failed"]["code"]), said["failed"]["message"])
    return base64.b64decode(said["done"]["file"])
