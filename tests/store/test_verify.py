"""A chain is worth what its verification finds."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from brasstag.store.books import Books, Decision
from brasstag.store.database import Database
from brasstag.store.schema import approvals, checkpoints, entries, tasks
from brasstag.store.seals import Sealer, ephemeral_key
from brasstag.store.timeline import Timeline, read_entries
from brasstag.store.verify import Report, verify
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.errors import ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.previews import Preview
from brasstag.words.times import utc_now
from tests.store.conftest import OpenBooks, call_at, open_desk


def check(books: Books) -> Report:
    key = books.sealer.key
    return books.read(lambda connection: verify(connection, {key.id: key}, books.sealer.witness()))


def fill(books: Books, desks: int = 6, calls: int = 7) -> None:
    for _ in range(desks):
        task = open_desk(books)
        for number in range(calls):
            call = call_at(task, path=f"{number}.md")
            books.record(
                call, EntryKind.CALLED, {"tool": "read_file", "input": dict(call.arguments), "result": number}
            )
        books.close_task(task, "done", {"result": None})


def test_an_untouched_room_verifies(books: Books) -> None:
    fill(books)
    report = check(books)
    assert report.ok
    assert not report.unseen
    assert (report.tasks, report.entries) == (6, 6 * 9)


def test_entries_after_the_last_seal_are_named_as_unseen(books: Books) -> None:
    task = open_desk(books)
    books.record(call_at(task), EntryKind.CALLED, {"result": 1})
    report = check(books)
    assert report.ok
    assert report.unseen == [
        f"{task}: its last 1 entries are signed but not sealed yet; putting back an older copy of them would not show"
    ]


def test_a_long_task_is_sealed_on_the_way(books: Books) -> None:
    task = open_desk(books)
    for _ in range(130):
        books.record(call_at(task), EntryKind.CALLED, {"result": 1})
    sealed = books.read(lambda c: c.execute(select(checkpoints.c.task_seq)).scalars().all())
    assert sealed == [0, 63, 127]


def test_redaction_removes_the_words_and_keeps_the_chain(books: Books) -> None:
    fill(books, desks=1)
    entry = books.read(lambda c: next(e for e in read_entries(c) if e.kind is EntryKind.CALLED))
    books.redact(entry, "ada", "a secret")
    row = books.read(lambda c: c.execute(select(entries).where(entries.c.tag == entry.tag)).one())
    assert (row.payload, row.salt) == (None, None)
    with pytest.raises(ToolError, match="nothing left"):
        books.redact(entry, "ada", "again")
    report = check(books)
    assert report.ok
    assert report.redacted == 1


def test_redacting_a_call_removes_it_from_all_its_entries_and_its_approval(books: Books) -> None:
    task = open_desk(books)
    approval = _approval(task, {"content": "a secret"})
    books.ask(approval, {"approval": approval.id, "input": {"content": "a secret"}})
    asked = books.read(lambda c: next(e for e in read_entries(c) if e.kind is EntryKind.ASKED))
    with pytest.raises(ToolError, match="still waits"):
        books.redact(asked, "ada", "a secret")
    decision = Decision(ApprovalState.DENIED, "ada (terminal)", "no")
    books.decide(approval, decision, {"approval": approval.id, "state": "denied", "by": "ada (terminal)"})
    assert books.redact(asked, "ada", "a secret").entries == 2
    with books.database.read() as connection:
        assert all(
            "secret" not in (row.payload or "")
            for row in connection.execute(select(entries))
            if row.kind != "redacted"
        )
        assert connection.execute(select(approvals.c.arguments)).scalar_one() == "{}"
    assert check(books).ok


def test_a_payload_removed_without_a_record_shows(books: Books) -> None:
    fill(books, desks=1)
    with books.database.write() as transaction:
        transaction.execute(text("UPDATE entries SET payload = NULL, salt = NULL WHERE seq = 2"))
    assert "no redaction is on record" in check(books).findings[0].what


def test_without_the_key_it_says_what_it_could_not_check(books: Books) -> None:
    fill(books, desks=1)
    report = books.read(lambda connection: verify(connection, {}, None))
    assert report.ok
    assert any("is not on this machine" in line for line in report.unseen)
    assert any("no witness" in line for line in report.unseen)


def test_an_approval_changed_in_the_table_shows(books: Books) -> None:
    task = open_desk(books)
    approval = _approval(task)
    books.ask(approval, {"approval": approval.id})
    decision = Decision(ApprovalState.DENIED, "ada (terminal)", "no")
    books.decide(approval, decision, {"approval": approval.id, "state": "denied", "by": "ada (terminal)"})
    assert check(books).ok
    with books.database.write() as transaction:
        transaction.execute(text("UPDATE approvals SET state = 'approved'"))
    assert "denied by ada (terminal)" in check(books).findings[0].what


def test_entries_added_without_the_key_show(books: Books) -> None:
    """Somebody with the database, but without the key, writes one more entry with sound hashes."""
    task = open_desk(books)
    books.record(call_at(task), EntryKind.CALLED, {"result": 1})
    forger = Timeline(Sealer(ephemeral_key(), None), utc_now)
    with books.database.write() as transaction:
        forger.append(transaction, task, EntryKind.CALLED, "call_forged", {"result": "approved by everybody"})
    assert "signed with a strange key" in str(check(books).findings)
    with books.database.write() as transaction:
        transaction.execute(
            text(f"UPDATE tasks SET signature = '{books.sealer.key.id}:' || substr(signature, 42)")
        )
    assert "not signed by us" in str(check(books).findings)


def _approval(task: str, arguments: dict[str, Any] | None = None) -> Approval:
    return Approval(
        id=new_id("apr"), call_id=new_id("call"), task_id=task, tool="write_file", tool_version="v",
        arguments=arguments or {}, actor="a", role="operator", reason="r", rule="r", preview=Preview(), digest="d",
        state=ApprovalState.OPEN,
        requested_at="2026-01-01T00:00:00.000000Z",
    )  # fmt: skip


# One function a kind of attack. Each changes exactly one thing, as somebody with the database but without the key could.


def _edit_entry(connection: Connection, chance: random.Random) -> None:
    row = chance.choice(connection.execute(select(entries)).all())
    column = chance.choice(["payload", "salt", "digest", "hash", "kind", "tag", "call_id", "at"])
    value = getattr(row, column)
    if column == "payload":
        payload: dict[str, Any] = json.loads(value)
        payload[chance.choice(["result", "tool", "input", "timestamp"])] = chance.random()
        changed: str = json.dumps(payload)
    else:
        changed = f"{value}x"
    connection.execute(entries.update().where(entries.c.tag == row.tag).values({column: changed}))


def _remove_entry(connection: Connection, chance: random.Random) -> None:
    tag = chance.choice(connection.execute(select(entries.c.tag)).scalars().all())
    connection.execute(entries.delete().where(entries.c.tag == tag))


def _swap_entries(connection: Connection, chance: random.Random) -> None:
    task = chance.choice(connection.execute(select(tasks.c.id)).scalars().all())
    one, other = chance.sample(connection.execute(select(entries).where(entries.c.task_id == task)).all(), 2)
    for tag, seq in ((one.tag, -1), (other.tag, one.seq), (one.tag, other.seq)):
        connection.execute(entries.update().where(entries.c.tag == tag).values(seq=seq))


def _cut_tail(connection: Connection, chance: random.Random) -> None:
    """Cut a task short and make its row agree."""
    task = chance.choice(connection.execute(select(tasks)).all())
    keep = chance.randrange(1, task.next_seq)
    connection.execute(entries.delete().where(entries.c.task_id == task.id, entries.c.seq >= keep))
    head = connection.execute(
        select(entries.c.hash).where(entries.c.task_id == task.id, entries.c.seq == keep - 1)
    ).scalar_one()
    connection.execute(
        tasks.update().where(tasks.c.id == task.id).values(next_seq=keep, head=head, status="running")
    )


def _remove_task(connection: Connection, chance: random.Random) -> None:
    """Remove a task whole: its row, its entries, and, half the time, its seals."""
    task = chance.choice(connection.execute(select(tasks.c.id)).scalars().all())
    connection.execute(entries.delete().where(entries.c.task_id == task))
    connection.execute(tasks.delete().where(tasks.c.id == task))
    if chance.random() < 0.5:
        connection.execute(checkpoints.delete().where(checkpoints.c.task_id == task))


def _cut_checkpoints(connection: Connection, chance: random.Random) -> None:
    """Forget the newest task together with every trace of it."""
    last = connection.execute(select(checkpoints).order_by(checkpoints.c.seq.desc()).limit(1)).one()
    connection.execute(entries.delete().where(entries.c.task_id == last.task_id))
    connection.execute(tasks.delete().where(tasks.c.id == last.task_id))
    connection.execute(checkpoints.delete().where(checkpoints.c.task_id == last.task_id))


def _edit_checkpoint(connection: Connection, chance: random.Random) -> None:
    row = chance.choice(connection.execute(select(checkpoints)).all())
    column = chance.choice(["task_id", "task_seq", "head", "at", "hash", "key_id", "signature"])
    value = getattr(row, column)
    changed = value + 1 if isinstance(value, int) else f"{value}x"
    connection.execute(checkpoints.update().where(checkpoints.c.seq == row.seq).values({column: changed}))


def _edit_task(connection: Connection, chance: random.Random) -> None:
    row = chance.choice(connection.execute(select(tasks)).all())
    column, value = chance.choice(
        [
            ("actor", "mallory"),
            ("role", "x"),
            ("status", "cancelled"),
            ("head", "0"),
            ("next_seq", row.next_seq + 1),
        ]
    )
    connection.execute(tasks.update().where(tasks.c.id == row.id).values({column: value}))


ATTACKS = [
    _edit_entry, _remove_entry, _swap_entries, _cut_tail, _remove_task, _cut_checkpoints, _edit_checkpoint, _edit_task,
]  # fmt: skip


def test_verify_finds_every_one_of_a_thousand_single_mutations(open_books: OpenBooks, tmp_path: Path) -> None:
    books = open_books()
    fill(books)
    assert check(books).ok
    key, witness = books.sealer.key, books.sealer.witness()
    books.database.close()
    attacked = Database(tmp_path / "state" / "state.db")
    missed = []
    for number in range(1000):
        chance = random.Random(number)
        attack = ATTACKS[number % len(ATTACKS)]
        with pytest.raises(_Undone), attacked.write() as transaction:
            attack(transaction.connection, chance)
            if verify(transaction.connection, {key.id: key}, witness).ok:
                missed.append((attack.__name__, number))
            raise _Undone
    attacked.close()
    assert missed == []


class _Undone(Exception):
    """Rolls a mutation back, so that the next one starts from the sound room."""
