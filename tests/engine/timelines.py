"""Timelines for tests: entries as the timeline gives them back, and random ones that could really have happened."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from brasstag.words.canonical import stored_json
from brasstag.words.documents import Carried
from brasstag.words.events import Entry, EntryKind
from brasstag.words.messages import Fences, Message, ToolUse

K = EntryKind
TASK = "task_1"
FENCE = Fences(b"the key of a room")


class Log:
    """Writes entries one after the other; what they say has been through the form in which it is stored."""

    def __init__(self, task_id: str = TASK) -> None:
        self.entries: list[Entry] = []
        self.turns = 0
        self._task_id = task_id

    def add(self, kind: EntryKind, payload: Mapping[str, Any], call: str = "") -> Entry:
        seq = len(self.entries)
        call_id = f"{self._task_id}:{call}" if call else ""
        stored = json.loads(stored_json(dict(payload)))
        entry = Entry(self._task_id, seq, kind, f"tag_{self._task_id}_{seq:04}", call_id, "", stored, "")
        self.entries.append(entry)
        return entry

    def open(self, request: str = "Analyse Q3", *carried: Carried, **more: Any) -> Entry:
        payload = {"type": "root", "system": "You are lead.", "input": {"request": request}}
        return self.add(K.OPENED, payload | {"carried": [one.as_json() for one in carried]} | more)

    def turn(self, *calls: tuple[str, Any], text: str = "", stop: str = "", **more: Any) -> int:
        number, self.turns = self.turns, self.turns + 1
        uses = [ToolUse(f"c{number}_{i}", tool, given).as_json() for i, (tool, given) in enumerate(calls)]
        payload = {"type": "turn", "turn": number, "text": text, "calls": uses, "thinking": []}
        self.add(K.TURN, payload | {"stop": stop or ("calls" if calls else "end_turn"), "usage": {}} | more)
        return number

    def done(self, call: str, result: Any, kind: EntryKind = K.CALLED, **more: Any) -> Entry:
        return self.add(kind, ending("done", result) | more, call)

    def failed(self, call: str, error: Mapping[str, Any], kind: EntryKind = K.REFUSED) -> Entry:
        return self.add(kind, ending("failed", {"error": error}), call)

    def redact(self, *seqs: int) -> Entry:
        for seq in seqs:
            self.entries[seq] = replace(self.entries[seq], payload=None)
        return self.add(K.REDACTED, {"redacted_seqs": list(seqs)})


def ending(outcome: str, result: Any, meta: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"tool": "some_tool", "outcome": outcome, "result": result, "meta": meta or {}}


def as_bytes(messages: tuple[Message, ...]) -> list[str]:
    return [stored_json(message.as_json()) for message in messages]


def document(text: str = "a,b\n1,2\n", path: str = "sales.csv", **more: Any) -> Carried:
    return Carried(path, "text/csv", len(text), "0" * 64, 2, text, **more)


Step = tuple[EntryKind, dict[str, Any]]
Story = list[Step]

WORDS = st.text(max_size=60)
VALUES = st.one_of(
    WORDS,
    st.integers(-9, 9),
    st.none(),
    st.dictionaries(WORDS, WORDS, max_size=3),
    st.lists(WORDS, max_size=3),
    st.integers(100, 4000).map(lambda size: "long " * size),
)
ERRORS = st.fixed_dictionaries(
    {"code": st.sampled_from(["DENIED", "FILE_NOT_FOUND"]), "message": WORDS},
    optional={"details": st.dictionaries(WORDS, WORDS, max_size=2)},
)
DOCUMENTS = st.lists(
    st.one_of(
        st.builds(document, WORDS),
        st.builds(document, WORDS, how=st.just("read it"), complete=st.just(False)),
        st.just(replace(document(""), path="chart.png", media_type="image/png", image=True)),
    ).map(Carried.as_json),
    max_size=2,
)
ENDINGS = st.one_of(
    VALUES.map(lambda value: ending("done", value)),
    ERRORS.map(lambda error: ending("failed", {"error": error})),
    ERRORS.map(lambda error: ending("unknown", {"error": error})),
)
CHANGED = st.fixed_dictionaries(
    {"path": WORDS, "version": st.integers(1, 9), "by": st.just("outside"), "state": st.just("absent")}
)
CHALLENGE = WORDS.map(
    lambda says: {"refused": 1, "tries": 3, "problems": [{"id": "NO_EVIDENCE", "line": 0, "says": says}]}
)
EDITED = VALUES.map(lambda value: ending("done", value, {"edited": {"by": "ada", "arguments": {"x": value}}}))


@st.composite
def came_back(draw: st.DrawFn, begun: EntryKind, ended: EntryKind) -> Story:
    result = draw(ENDINGS.filter(lambda ending: ending["outcome"] != "unknown"))
    return [(begun, {"to": "analyst"}), (ended, result | {"carried": draw(DOCUMENTS)})]


@st.composite
def consulted(draw: st.DrawFn) -> Story:
    begun, ended = draw(came_back(K.DELEGATED, K.RETURNED))
    asked = {"from": "analyst", "question": draw(WORDS), "answer": draw(VALUES)}
    return [begun, (K.CONSULTED, asked), ended]


STORIES: st.SearchStrategy[Story] = st.one_of(
    ENDINGS.map(lambda ending: [(K.CALLED, ending)]),
    ERRORS.map(lambda error: [(K.REFUSED, ending("failed", {"error": error}))]),
    ENDINGS.map(lambda ending: [(K.CLAIMED, {}), (K.SETTLED, ending)]),
    ERRORS.map(lambda error: [(K.ASKED, {}), (K.DECIDED, ending("failed", {"error": error}))]),
    EDITED.map(
        lambda ending: [
            (K.ASKED, {}),
            (K.DECIDED, {"state": "void"}),
            (K.ASKED, {}),
            (K.DECIDED, {"state": "approved"}),
            (K.CLAIMED, {}),
            (K.SETTLED, ending),
        ]
    ),
    came_back(K.DELEGATED, K.RETURNED),
    came_back(K.QUESTIONED, K.ANSWERED),
    consulted(),
)
ARGUMENTS = st.one_of(st.dictionaries(WORDS, VALUES, max_size=3), st.just("{not json"))


@st.composite
def timelines(draw: st.DrawFn, most_turns: int = 5) -> list[Entry]:
    """A task of some turns, whose calls close in any order, with resumes between them."""
    log = Log()
    log.open(draw(WORDS), *map(Carried.from_json, draw(DOCUMENTS)))
    for _ in range(draw(st.integers(0, most_turns))):
        stories = draw(st.lists(STORIES, max_size=4))
        calls = [(draw(st.sampled_from(["read_file", "route_to_x"])), draw(ARGUMENTS)) for _ in stories]
        stop = "calls" if calls else draw(st.sampled_from(["length", "end_turn"]))
        tokens = draw(st.sampled_from([0, 0, 50, 5000]))
        turn = log.turn(*calls, text=draw(WORDS), stop=stop, usage={"input_tokens": tokens})
        ahead = {f"{turn}.{index}": list(story) for index, story in enumerate(stories)}
        while ahead:
            call = draw(st.sampled_from(sorted(ahead)))
            kind, payload = ahead[call].pop(0)
            log.add(kind, payload, "" if kind is K.CONSULTED else call)
            if not ahead[call]:
                del ahead[call]
        if draw(st.integers(0, 4)) == 0:
            log.add(K.NOTICED, {"changes": draw(st.lists(CHANGED, min_size=1, max_size=3))})
        if stop == "end_turn" and draw(st.booleans()):
            log.add(K.CHALLENGED, draw(CHALLENGE))
        elif stop == "end_turn" or draw(st.integers(0, 9)) == 0:
            failure = {"error": {"code": "CANCELLED", "message": draw(WORDS)}}
            log.add(K.CLOSED, {"status": "failed", "result": failure})
            log.add(K.RESUMED, {"by": "ada", "note": draw(WORDS), "budget": {}})
    return log.entries
