"""Send documents to a confined program that reads them as tables, and read its answer."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.sandbox.process.job import FILES, JobLimits, Ran, processor_seconds
from brasstag.sandbox.process.module_job import ModuleJob
from brasstag.sandbox.process.module_jobs import ModuleJobs
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.view.browse import KeptFile
from brasstag.toolkit.config.config import Limits
from brasstag.words.errors import Code, ToolError

_STARTING_SECONDS = 20
"""How many seconds a program may need beside the query itself."""
_STARTING_MB = 512
_MOST_SAID = 64 << 20
_LONGEST_WORDS = 500
_KILLED = 137
_MISSING = "ModuleNotFoundError"


@dataclass(frozen=True, slots=True)
class DataDocuments:
    """The documents of a call, kept as they are now."""

    module_jobs: ModuleJobs
    limits: Limits
    documents: Sequence[KeptFile]

    @classmethod
    def of(
        cls, module_jobs: ModuleJobs, limits: Limits, workspace: Draft, paths: Sequence[str]
    ) -> "DataDocuments":
        """Read each document once, so that rules are heard and the evidence names the content that was read."""
        most = limits.numbers["document_bytes"]
        return cls(module_jobs, limits, [workspace.keep(path, most) for path in dict.fromkeys(paths)])

    def send(self, program: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Let a program of ours work on the documents, confined, and return what it says; raise what it refuses."""
        numbers = self.limits.numbers
        files = [(str(place), one.file) for place, one in enumerate(self.documents) if one.file is not None]
        documents = [self._told(place, one) for place, one in enumerate(self.documents)]
        allowed = {"seconds": numbers["query_seconds"], "memory_mb": numbers["memory_mb"]}
        job = ModuleJob(
            f"brasstag.documents.data.{program}",
            json.dumps({"documents": documents, **allowed, **request}).encode(),
            tuple(files),
            self._run_limits(),
        )
        return self._answer(self.module_jobs.run(job))

    def sources(self, tables: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return what each view stands for, with the digest of the document it shows."""
        return [
            {
                "document": self.documents[table["document"]].path,
                "digest": self.documents[table["document"]].digest,
                "view": table["view"],
                **{name: table[name] for name in ("sheet", "note") if table[name]},
            }
            for table in tables
        ]

    def _told(self, place: int, document: KeptFile) -> dict[str, str]:
        if document.file is not None:
            return {"path": document.path, "file": f"{FILES}/{place}"}
        return {"path": document.path, "content": base64.b64encode(document.content).decode()}

    def _run_limits(self) -> JobLimits:
        numbers = self.limits.numbers
        seconds = numbers["query_seconds"] + _STARTING_SECONDS
        return JobLimits(
            wall_seconds=seconds,
            cpu_seconds=processor_seconds(seconds),
            memory_bytes=(numbers["memory_mb"] + _STARTING_MB) << 20,
            output_bytes=_MOST_SAID,
            temporary_bytes=numbers["memory_mb"] << 20,
        )

    def _answer(self, ran: Ran) -> dict[str, Any]:
        numbers = self.limits.numbers
        if ran.ended_by in ("time", "cpu"):
            said = f"it took longer than {numbers['query_seconds']} s; let it read or join less"
            raise ToolError(Code.TIMEOUT, said)
        if ran.ended_by == "memory" or ran.exit_code == _KILLED:
            said = f"it needs more than {numbers['memory_mb']} MB of memory; let it hold less at a time"
            raise ToolError(Code.EXECUTION_ERROR, said)
        if ran.ended_by == "cancelled":
            raise ToolError(Code.CANCELLED, "it was stopped; call again if it is still wanted")
        try:
            said = json.loads(ran.stdout)
        except ValueError:
            words = ran.stderr.decode(errors="replace").strip().rpartition("\n")[2][-_LONGEST_WORDS:]
            if _MISSING in words:
                said = f"a package it needs is not installed ({words})"
                hint = "run `pip install 'brasstag[data,docs]'`"
                raise ToolError(Code.NOT_SUPPORTED, said, hint=hint) from None
            why = words or ran.ended_by or f"exit code {ran.exit_code}"
            raise ToolError(Code.EXECUTION_ERROR, f"the query ended without an answer: {why}") from None
        if "failed" in said:
            failed = said["failed"]
            raise ToolError(Code(failed["code"]), failed["message"], failed["details"])
        done: dict[str, Any] = said["done"]
        return done
