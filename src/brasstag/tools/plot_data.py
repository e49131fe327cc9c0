"""plot_data: a chart of documents, drawn confined and written like any file."""

import base64
import posixpath
from typing import Any

from brasstag.sandbox.process.module_jobs import ModuleJobs
from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.config.config import Limits
from brasstag.toolkit.declare.declare import tool
from brasstag.tools.data_program import DataDocuments
from brasstag.words.errors import Code, ToolError

_PROGRAM = "plot"
_FORMATS = (".png", ".svg")


@tool(execution_type="function")
def plot_data(
    workspace: Draft,
    module_jobs: ModuleJobs,
    limits: Limits,
    paths: list[str],
    path: str,
    kind: str = "bar",
    x: str | None = None,
    y: str | list[str] | None = None,
    series: str | None = None,
    aggregate: str | None = None,
    sql: str | None = None,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
) -> dict[str, Any]:
    """plot_data"""
    target = workspace.leads_to(path)
    ending = posixpath.splitext(target)[1].lower()
    if ending not in _FORMATS:
        said = f"{path}, or what it leads to, ends with neither .png nor .svg, and nothing else can be drawn"
        raise ToolError(Code.INVALID_ARGUMENTS, said)
    if sql is None and len(paths) > 1:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            "several documents need sql that says what of them is drawn; or name only one",
        )
    tables = DataDocuments.of(module_jobs, limits, workspace, paths)
    if target in {document.path for document in tables.documents}:
        said = f"{path} is one of the documents that are drawn from; write the chart to another path"
        raise ToolError(Code.INVALID_ARGUMENTS, said)
    wanted = {
        "kind": kind,
        "x": x,
        "y": [y] if isinstance(y, str) else y or [],
        "series": series,
        "aggregate": aggregate,
        "sql": sql,
    }
    words = {"title": title, "x_label": x_label, "y_label": y_label}
    drawn = tables.send(_PROGRAM, {**wanted, **words, "format": ending[1:]})
    picture = base64.b64decode(drawn["picture"])
    where = workspace.write_bytes(path, picture)
    told = ("width", "height", "sql", "columns", "rows", "row_count", "notes")
    return {
        "path": where,
        "size_bytes": len(picture),
        **{name: drawn[name] for name in told},
        "sources": tables.sources(drawn["tables"]),
    }
