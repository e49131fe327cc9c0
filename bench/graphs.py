"""The same work as a crew of one does, built with LangGraph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

TurnBegins = Callable[[int], None]


class ReadingGraph:
    """A model node that calls one tool per turn, a tool node, and a saver that keeps each step before the next."""

    def __init__(self, saver: Any, chapter: Path) -> None:
        self._turns = 0
        self._turn = 0
        self._threads = 0
        self._on_turn: TurnBegins = lambda _turn: None

        @tool
        def read_file(path: str) -> dict[str, Any]:
            """Read a file of the workspace."""
            file = chapter.parent / path
            return {"content": file.read_text(), "size": file.stat().st_size}

        graph = StateGraph(MessagesState)
        graph.add_node("model", self._respond)
        graph.add_node("tools", ToolNode([read_file]))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        self._app = graph.compile(checkpointer=saver)

    def run(self, turns: int, on_turn: TurnBegins = lambda _turn: None) -> None:
        """Take so many tool turns on a thread of their own; ``on_turn`` is told the number of each as it begins."""
        self._turns, self._turn, self._on_turn = turns, 0, on_turn
        self._threads += 1
        config: Any = {"configurable": {"thread_id": str(self._threads)}, "recursion_limit": 2 * turns + 10}
        asked: Any = {"messages": [HumanMessage("Read the chapter.")]}
        found = self._app.invoke(asked, config, durability="sync")
        assert len(found["messages"]) == 2 * turns + 2

    def _respond(self, _state: MessagesState) -> dict[str, Any]:
        turn = self._turn
        self._turn += 1
        self._on_turn(turn)
        if turn >= self._turns:
            return {"messages": [AIMessage("Done.")]}
        call = {"name": "read_file", "args": {"path": "chapter.md"}, "id": f"c{turn}_0"}
        return {"messages": [AIMessage("", tool_calls=[call])]}
