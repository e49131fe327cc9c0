"""The words of the contract: what a bound agent is told when its task opens, and when a reply of it is refused."""

from collections.abc import Iterable

from brasstag.catalog.evidence.items import EvidenceProblem

_CONTRACT = """\
Evidence
Before a reply may end your task, whether as text or with `handoff`, its evidence is checked. Give at least one of these \
for what you claim, each on a line of its own:
QUOTE path:line "text" [tag_…]
LINE_REF path:10-14 [tag_…]
SCOPE_SCAN what was searched, how, nothing found [tag_…]
- A QUOTE has the words exactly as they stand in that line, or begin there; whole words only. A LINE_REF names lines \
without their words. A SCOPE_SCAN says that nothing was found, and needs the tag of the search.
- The tag is that of the result in which you saw it. Without a tag, the version of the file that you saw last counts.
- Say that you searched, read or used a tool only in a line that has the tag of that call.
- In a `handoff` whose result is an object, the items may be a list `evidence` of objects: {{"type": "QUOTE", "file": …, \
"line": …, "text": …, "tag": …}}.
- If you claim nothing about the workspace, say so instead, on a line of its own: NO_CLAIMS: why. Then cite nothing.
- A reply whose evidence does not hold comes back with the reasons. After {tries} such replies your task fails."""


def contract(tries: int) -> str:
    """Return what an agent is told whose replies are checked."""
    return _CONTRACT.format(tries=tries)


def refusal(problems: Iterable[EvidenceProblem], refused: int, tries: int) -> str:
    """Return what an agent is told of a reply whose evidence does not hold."""
    reasons = "\n".join(f"- {problem}" for problem in problems)
    return (
        f"Your reply does not count yet ({refused} of {tries} tries): its evidence does not hold.\n{reasons}\n"
        "Mend this, and give the whole reply again."
    )
