"""The demo of a crew: a lead, an analyst and a visualizer analyse Q3 and ask a person twice.

What the three say is a script. Everything else is real: the tasks, the documents, the sums, the chart, the approval, the
timeline.
"""

import json
from typing import TYPE_CHECKING, Any

from brasstag.app import is_question_to_people
from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.words.approvals import ApprovalState

if TYPE_CHECKING:
    from brasstag.store import Store
    from brasstag.surfaces.cli.demo.stage import Stage

REQUEST = "Analyse Q3 sales against Q2, and show it in a chart."
DATA = "sales_raw.csv"
SCRIPT_FILE = "script.json"
_QUESTION = "Online grew by 40.7 %, far more than any region. Is that an exception I should leave out?"
_ANSWER = "No, keep it in: the web shop opened in July."
LAST_QUARTER = "# Q2 2025\n\nNothing to compare with yet.\n"
ANALYSIS = """# Q3 2025 against Q2

Revenue rose from 292,480.29 to 336,715.86: up 44,235.57, or 15.1 %.

| region | Q2 | Q3 | change |
|---|---|---|---|
| North | 65,627.69 | 67,202.88 | +2.4 % |
| South | 51,417.92 | 62,078.94 | +20.7 % |
| East | 45,267.63 | 46,934.60 | +3.7 % |
| West | 53,688.26 | 52,885.20 | -1.5 % |
| Online | 76,478.79 | 107,614.24 | +40.7 % |

Online brought 31,135.45 of the 44,235.57. Its web shop opened in July, so this is no exception.
The data does not say what was earned on it.
"""


_BY_QUARTER = (
    "SELECT quarter, round(sum(revenue), 2) AS revenue FROM sales_raw GROUP BY quarter ORDER BY quarter"
)
_BY_REGION = """\
SELECT region,
       round(sum(revenue) FILTER (quarter = 'Q2'), 2) AS q2,
       round(sum(revenue) FILTER (quarter = 'Q3'), 2) AS q3
FROM sales_raw GROUP BY region ORDER BY q3 - q2 DESC"""


def _call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


SCRIPT: dict[str, Any] = {
    "lead": [
        {
            "when": _QUESTION,
            "turns": [
                {"text": "I cannot know that; I ask.", "calls": [_call("ask_master", question=_QUESTION)]},
                {"text": "No: the web shop opened in July. Keep it in, and say so."},
            ],
        },
        {
            "turns": [
                {
                    "text": "The analyst finds the figures; I check what comes back.",
                    "calls": [
                        _call(
                            "route_to_analyst",
                            request="Compare Q3 with Q2, overall and by region, and have it drawn.",
                            documents=[DATA],
                        )
                    ],
                },
                {
                    "calls": [
                        _call(
                            "handoff",
                            result="Q3 brought 336,715.86, up 15.1 % from 292,480.29. Online brought most of the rise.",
                            documents=["analysis.md", "charts.png"],
                        )
                    ]
                },
            ]
        },
    ],
    "analyst": [
        {
            "text": "First the figures, from the file itself.",
            "calls": [
                _call("ask_data", documents=[DATA], question="How much revenue did each quarter bring?")
            ],
        },
        {"calls": [_call("ask_data", documents=[DATA], sql=_BY_REGION)]},
        {"calls": [_call("ask_master", question=_QUESTION)]},
        {"calls": [_call("write_file", path="analysis.md", content=ANALYSIS)]},
        {
            "calls": [
                _call(
                    "route_to_visualizer",
                    request="Draw revenue by month, Q2 and Q3.",
                    documents=[DATA, "analysis.md"],
                )
            ]
        },
        {
            "calls": [
                _call(
                    "handoff", result="Up 15.1 %, most of it Online.", documents=["analysis.md", "charts.png"]
                )
            ]
        },
    ],
    "ask_data": [{"text": f"```sql\n{_BY_QUARTER}\n```"}],
    "visualizer": [
        {
            "calls": [
                _call(
                    "plot_data",
                    documents=[DATA],
                    x="month",
                    y="revenue",
                    aggregate="sum",
                    path="charts.png",
                    title="Revenue by month, April to September 2025",
                )
            ]
        },
        {"calls": [_call("handoff", result="Revenue rises every month.", documents=["charts.png"])]},
    ],
}
"""What the three say; every figure in it is one that the tools compute from the file."""


def tell(stage: "Stage") -> None:
    """Tell the whole story; end with the proof of it."""
    stage.chapter("A crew of three, and the one directory they may touch.")
    stage.run("init", str(stage.project), "--crew", "analyst")
    stage.enter()
    (stage.project / SCRIPT_FILE).write_text(json.dumps(SCRIPT, indent=1), encoding="utf-8")
    (stage.project / "data" / "analysis.md").write_text(LAST_QUARTER, encoding="utf-8")

    stage.chapter(
        f"The crew starts. No model is asked: a script speaks for the agents, in {SCRIPT_FILE}.\n"
        "Everything else is real. The lead gives work and data to the analyst. The analyst asks the lead\n"
        "a question. The lead does not know the answer, so it asks a person, and the run waits."
    )
    stage.run(
        *("run", REQUEST, "--document", DATA, "--model", f"scripted:{SCRIPT_FILE}", "--later"),
        ends=Exit.WAITING,
    )

    stage.chapter("The run may wait for days; nothing runs meanwhile. Ada answers, and the run continues.")
    stage.let_ada_decide()
    run = stage.look(_run)
    stage.run("answer", stage.look(_question), _ANSWER)
    stage.run("resume", run, "--later", ends=Exit.WAITING)

    stage.chapter(
        "The analyst wants to overwrite last quarter's analysis.md. Ada sees the change and approves it."
    )
    approval = stage.look(_approval)
    stage.run("approvals", "show", approval)
    stage.run("approvals", "approve", approval)

    stage.chapter(
        "The rest needs no person: the visualizer draws the chart from the file, the documents go back up\n"
        "with the results, and the lead hands off. At the end you see which task worked for which."
    )
    stage.run("resume", run, "--later")

    stage.chapter("The documents, the cost, and the proof that no entry of the timeline was changed.")
    stage.run("call", "list_files")
    stage.run("cost", run)
    stage.run("timeline", "verify")


def _run(store: "Store") -> str:
    return next(task.id for task in store.tasks() if task.kind == "agent" and not task.parent_id)


def _question(store: "Store") -> str:
    return next(task.id for task in store.tasks() if is_question_to_people(task) and not task.has_ended)


def _approval(store: "Store") -> str:
    return store.approvals(ApprovalState.OPEN)[0].id
