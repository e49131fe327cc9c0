"""What a room should hold, in memory: which tasks there are, where each stands, and how each call ended."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Key = tuple[str, ...]
"""Names a task by its way down from the root: the calls that led to it."""

SAY, FAIL = "say", "fail"
Plan = Sequence[str] | str
"""What a model answers: the tools it calls, or that it says its last word, or that it fails."""

_EVERYONES = frozenset({"ask_master", "handoff"})
TOOLS: Mapping[str, frozenset[str]] = {
    "boss": _EVERYONES | {"route_to_worker", "route_to_helper", "send", "repeat", "write_file"},
    "worker": _EVERYONES | {"route_to_helper", "send", "repeat", "write_file"},
    "helper": _EVERYONES | {"write_file"},
}
DONE, FAILED = frozenset({"done"}), frozenset({"failed"})


@dataclass(slots=True)
class Made:
    """A call of a model."""

    tool: str
    state: str = "planned"
    ends: frozenset[str] = frozenset()
    """How it may have ended; empty while it is open."""
    doubtful: bool = False
    """Whether it may have happened, so that a person is asked."""


@dataclass(slots=True)
class Node:
    """A task."""

    key: Key
    kind: str
    role: str
    status: str
    above: "Node | None" = None
    master: "Node | None" = None
    """Whose questions it answers, or who answers its own."""
    turns: list[list[Made]] = field(default_factory=list)
    below: list["Node"] = field(default_factory=list)

    @property
    def is_live(self) -> bool:
        """Whether it has not ended."""
        return self.status in ("ready", "blocked")

    def open(self) -> list[tuple[str, Made]]:
        """Return the open calls of its last turn, with their names."""
        number = len(self.turns) - 1
        last = self.turns[-1] if self.turns else []
        return [(f"{number}.{index}", made) for index, made in enumerate(last) if not made.ends]

    def whole(self) -> Iterator["Node"]:
        """Yield it and everything below it."""
        yield self
        for child in self.below:
            yield from child.whole()


class Expected:
    """The whole room; its methods are what may happen there."""

    def __init__(self) -> None:
        self.roots: list[Node] = []

    def nodes(self) -> list[Node]:
        """Return every task."""
        return [node for root in self.roots for node in root.whole()]

    def statuses(self) -> dict[Key, str]:
        """Return where each task stands."""
        return {node.key: node.status for node in self.nodes()}

    def ends(self) -> dict[Key, frozenset[str]]:
        """Return how each ended call may have ended."""
        return {
            (*node.key, f"{number}.{index}"): made.ends
            for node in self.nodes()
            for number, turn in enumerate(node.turns)
            for index, made in enumerate(turn)
            if made.ends
        }

    def asked(self) -> dict[Key, Node]:
        """Return the calls that wait for a person's yes, with the tasks that made them."""
        return {
            (*node.key, name): node
            for node in self.nodes()
            for name, made in node.open()
            if made.state == "asked"
        }

    def is_doubt(self, node: Node) -> bool:
        """Say whether a task asks what came of a call."""
        return node.above is not None and dict(node.above.open())[node.key[-1]].doubtful

    def start(self) -> Node:
        """A person begins a run."""
        self.roots.append(Node((str(len(self.roots)),), "agent", "boss", "ready"))
        return self.roots[-1]

    def advance(self, node: Node, plans: Mapping[int, Plan], doubts: Container[Key] = ()) -> None:
        """A worker takes a task as far as it goes; of ``doubts`` nobody knows what came, so a person is asked."""
        while node.is_live:
            waiting = node.open()
            runnable = [(name, made) for name, made in waiting if _is_runnable(made, len(waiting))]
            if runnable:
                for name, made in runnable:
                    self._run(node, name, made, doubts)
            elif waiting:
                node.status = "blocked"
                return
            else:
                self._take_turn(node, plans.get(len(node.turns), SAY))

    def end(self, node: Node, status: str) -> None:
        """A task ends, and whoever waits for it is told."""
        node.status = status
        self._tell(node, DONE if status == "done" else FAILED)
        if status == "done" and node.kind == "question" and node.master is not None:
            _wake(node.master)

    def cancel(self, node: Node) -> None:
        """A person stops a task with all that is below it."""
        for one in node.whole():
            if one.is_live:
                one.status = "cancelled"
                for _, made in one.open():
                    # Without a task there is nothing to approve.
                    made.state = "child" if made.state == "child" else "planned"
        self._tell(node, FAILED)

    def resume(self, root: Node) -> None:
        """A person lets a run go on; calls whose tasks were stopped with it hear of that now."""
        root.status = "ready"
        for _, made in root.open():
            if made.doubtful:
                made.state = "unsure"
            elif made.state == "child":
                made.ends = FAILED

    def decide(self, key: Key, *, yes: bool) -> None:
        """A person says yes or no to a call."""
        node = self.asked()[key]
        made = dict(node.open())[key[-1]]
        made.state = "approved"
        made.ends = frozenset() if yes else FAILED
        _wake(node)

    def _take_turn(self, node: Node, plan: Plan) -> None:
        if plan == FAIL:
            self.end(node, "failed")
            return
        node.turns.append([] if plan == SAY else [Made(tool) for tool in plan])
        if plan == SAY:
            self.end(node, "done")

    def _run(self, node: Node, name: str, made: Made, doubts: Container[Key]) -> None:
        if made.tool not in TOOLS[node.role]:
            made.ends = FAILED
        elif made.tool == "handoff":
            made.ends = DONE
            self.end(node, "done")
        elif made.tool == "ask_master":
            self._ask(node, name, made)
        elif made.tool.startswith("route_to_"):
            made.state = "child"
            role = made.tool.removeprefix("route_to_")
            node.below.append(Node((*node.key, name), "agent", role, "ready", node, node))
        elif made.tool == "repeat" and made.state == "planned":
            made.state = "asked"
        elif made.state == "unsure" or (made.tool == "send" and (*node.key, name) in doubts):
            made.doubtful = True
            self._ask_person(node, name, made)
        else:
            made.ends = DONE

    def _ask(self, node: Node, name: str, made: Made) -> None:
        master = node.master if node.kind == "agent" else node.master and node.master.above
        if master is None:
            self._ask_person(node, name, made)
        else:
            made.state = "child"
            node.below.append(Node((*node.key, name), "question", master.role, "ready", node, master))

    def _ask_person(self, node: Node, name: str, made: Made) -> None:
        made.state = "child"
        node.below.append(Node((*node.key, name), "question", "person", "blocked", node))

    def _tell(self, node: Node, how: frozenset[str]) -> None:
        if node.above is not None:
            dict(node.above.open())[node.key[-1]].ends = how
            _wake(node.above)


def _is_runnable(made: Made, waiting: int) -> bool:
    # A handoff comes last.
    return made.state in ("planned", "approved", "unsure") and (made.tool != "handoff" or waiting == 1)


def _wake(node: Node) -> None:
    if node.status == "blocked":
        node.status = "ready"
