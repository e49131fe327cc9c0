"""A chain is worth what its verification finds."""

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from brasstag.store.database.schema import approvals, checkpoints, entries, tasks
from brasstag.store.maintenance.redact import redact
from brasstag.store.maintenance.verify import Report, verify
from brasstag.store.store import Store
from brasstag.store.tasks.end import Decision
from brasstag.store.timeline.lines import entry_hash, payload_digest
from brasstag.store.timeline.timeline import proven_entries, read_entries
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.errors import StoreError, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.previews import Change, Preview
from tests.store.conftest import OpenBooks, call_at, on_sqlite, open_desk


def check(store: Store) -> Report:
    key = store.sealer.key
    return store.read(lambda connection: verify(connection, {key.id: key}, store.sealer.witness()))


def fill(store: Store, desks: int = 6, calls: int = 7) -> None:
    for _ in range(desks):
        task = open_desk(store)
        for number in range(calls):
            call = call_at(task, path=f"{number}.md")
            store.record(
                call, EntryKind.CALLED, {"tool": "read_file", "input": dict(call.arguments), "result": number}
            )
        store.close_task(task, "done", {"result": None})


def test_an_untouched_room_verifies(store: Store) -> None:
    fill(store)
    report = check(store)
    assert report.ok
    assert not report.unseen
    assert (report.tasks, report.entries) == (6, 6 * 9)


def test_entries_after_the_last_seal_are_named_as_unseen(store: Store) -> None:
    task = open_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {"result": 1})
    report = check(store)
    assert report.ok
    (unseen,) = report.unseen
    assert unseen.startswith(f"{task}: its newest entries (1) are signed but not sealed yet")


def test_a_long_task_is_sealed_on_the_way(store: Store) -> None:
    task = open_desk(store)
    for _ in range(130):
        store.record(call_at(task), EntryKind.CALLED, {"result": 1})
    sealed = store.read(lambda c: c.execute(select(checkpoints.c.task_seq)).scalars().all())
    assert sealed == [0, 63, 127]


def test_redaction_removes_the_words_and_keeps_the_chain(store: Store) -> None:
    fill(store, desks=1)
    entry = store.read(lambda c: next(e for e in read_entries(c) if e.kind is EntryKind.CALLED))
    redact(store, entry, "ada", "a secret")
    row = store.read(lambda c: c.execute(select(entries).where(entries.c.tag == entry.tag)).one())
    assert (row.payload, row.salt) == (None, None)
    with pytest.raises(ToolError, match="nothing left"):
        redact(store, entry, "ada", "again")
    report = check(store)
    assert report.ok
    assert report.redacted == 1


def test_redacting_a_call_removes_it_from_all_its_entries_and_its_approval(store: Store) -> None:
    task = open_desk(store)
    approval = _approval(task, {"content": "a secret"})
    store.ask(approval, _asked(approval))
    asked = store.read(lambda c: next(e for e in read_entries(c) if e.kind is EntryKind.ASKED))
    with pytest.raises(ToolError, match="still waits"):
        redact(store, asked, "ada", "a secret")
    decision = Decision(ApprovalState.DENIED, "ada (terminal)", "no")
    store.decide(approval, decision, {"approval": approval.id, "state": "denied", "by": "ada (terminal)"})
    assert redact(store, asked, "ada", "a secret").entries == 2
    with store.database.read() as connection:
        assert all(
            "secret" not in (row.payload or "")
            for row in connection.execute(select(entries))
            if row.kind != "redacted"
        )
        assert connection.execute(select(approvals.c.arguments)).scalar_one() == "{}"
    assert check(store).ok


def test_a_payload_removed_without_a_record_shows(store: Store) -> None:
    fill(store, desks=1)
    with store.database.write() as transaction:
        transaction.execute(text("UPDATE entries SET payload = NULL, salt = NULL WHERE seq = 2"))
    assert "no redaction is on record" in check(store).findings[0].what


def test_without_the_key_it_says_what_it_could_not_check(store: Store) -> None:
    fill(store, desks=1)
    report = store.read(lambda connection: verify(connection, {}, None))
    assert report.ok
    assert any("is not on this machine" in line for line in report.unseen)
    assert any("no witness" in line for line in report.unseen)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("state", "approved"), ("decided_by", "eve"), ("tool", "delete_file"), ("arguments", '{"path": "b"}'),
        ("digest", "0"), ("role", "admin"), ("call_id", "call_other"), ("original_arguments", "{}"), ("preview", "{}"),
        ("reason", "harmless"), ("expires_at", "2020"), ("tool_version", "x"), ("task_id", "task_x"), ("note", "fine"),
    ],
)  # fmt: skip
def test_an_approval_changed_in_the_table_shows(store: Store, column: str, value: str) -> None:
    task = open_desk(store)
    approval = _approval(task)
    store.ask(approval, _asked(approval))
    decision = Decision(ApprovalState.DENIED, "ada (terminal)", "no")
    store.decide(
        approval, decision, {"approval": approval.id, "state": "denied", "by": "ada (terminal)", "note": "no"}
    )
    assert check(store).ok
    with store.database.write() as transaction:
        transaction.execute(approvals.update().values({column: value}))
    assert check(store).findings[0].where == approval.id


def test_a_call_that_acted_on_what_nobody_approved_shows(store: Store) -> None:
    task = open_desk(store)
    approval = _approval(task)
    store.ask(approval, _asked(approval))
    with store.database.write() as transaction:
        transaction.execute(text("UPDATE approvals SET state = 'approved'"))
    call = replace(call_at(task, "write_file"), id=approval.call_id)
    store.claim(call, (), approval.id, {"approval": approval.id, "input": {}})
    assert "the timeline has no person who approved that" in str(check(store).findings)


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE calls SET state = 'settled'",
        "UPDATE calls SET tool = 'x'",
        "UPDATE calls SET changes = '[{}]'",
        "DELETE FROM calls",
        "INSERT INTO leases VALUES ('a.md', 'call_x')",
        "INSERT INTO calls VALUES ('call_x', 'task_x', 'write_file', 'claimed', 1, 'boot_x', '[]')",
        "UPDATE versions SET state = 'absent'",
        "DELETE FROM versions",
    ],
)
def test_ledger_and_versions_that_differ_from_the_timelines_show(store: Store, forgery: str) -> None:
    task = open_desk(store)
    change = Change("a.md", "absent", "file:" + "a" * 64)
    said = {"tool": "write_file", "role": "operator", "preview": {"changes": [change.as_json()]}}
    done = store.claim(call_at(task, "write_file"), (change,), None, said)
    store.settle(done, {"changes": [change.as_json()]}, (change,), "operator", "write_file")
    store.claim(call_at(task, "send"), (), None, {"tool": "send"})
    assert check(store).ok
    with store.database.write() as transaction:
        transaction.execute(text(forgery))
    assert not check(store).ok


def test_entries_added_without_the_key_show_and_nothing_is_added_to_them(store: Store) -> None:
    """Somebody with the database, but without the key, writes one more entry with sound hashes."""
    task = open_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {"result": 1})
    payload, salt = '{"result":"approved by everybody"}', "00"
    for signature in ("", "key_zz:00", f"{store.sealer.key.id}:00"):
        with pytest.raises(_Undone), store.database.write() as transaction:
            row = transaction.execute(select(tasks)).one()
            digest = payload_digest(salt, payload)
            said = ("called", "tag_forged", "call_forged", row.opened_at, digest)
            head = entry_hash(row.head, task, row.next_seq, *said)
            transaction.execute(
                entries.insert().values(
                    task_id=task, seq=row.next_seq, kind=said[0], tag=said[1], call_id=said[2], at=said[3],
                    payload=payload, salt=salt, digest=digest, hash=head,
                )
            )  # fmt: skip
            transaction.execute(
                tasks.update().values(head=head, next_seq=row.next_seq + 1, signature=signature)
            )
            key = store.sealer.key
            assert not verify(transaction.connection, {key.id: key}, store.sealer.witness()).ok
            with pytest.raises(StoreError, match="does not hold"):
                proven_entries(transaction.connection, task, key)
            with pytest.raises(StoreError, match="not signed"):
                store.timeline.append(transaction, task, EntryKind.CALLED, "", {})
            raise _Undone


@on_sqlite
def test_an_older_copy_put_back_is_not_added_to(open_store: OpenBooks, tmp_path: Path) -> None:
    store = open_store()
    fill(store, desks=1)
    store.database.close()
    shutil.copytree(tmp_path / "state", tmp_path / "old")
    store = open_store()
    fill(store, desks=1)
    store.database.close()
    shutil.rmtree(tmp_path / "state")
    shutil.copytree(tmp_path / "old", tmp_path / "state")
    back = open_store()
    assert not check(back).ok
    with pytest.raises(StoreError, match="put back or replaced"):
        fill(back, desks=1)


def test_a_task_without_any_seal_shows(store: Store) -> None:
    fill(store, desks=2)
    with store.database.write() as transaction:
        task = transaction.execute(select(tasks.c.id)).scalars().first()
        transaction.execute(text(f"DELETE FROM checkpoints WHERE task_id = '{task}'"))
    assert (task, "it was never sealed, as every task is when it opens") in [
        (finding.where, finding.what) for finding in check(store).findings
    ]


def _asked(approval: Approval) -> dict[str, Any]:
    return {
        "approval": approval.id, "tool": approval.tool, "actor": approval.actor, "role": approval.role,
        "input": dict(approval.arguments), "digest": approval.digest,
    }  # fmt: skip


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


def test_verify_finds_every_one_of_some_single_mutations(store: Store) -> None:
    finds_every_mutation(store, 5 * len(ATTACKS))


@pytest.mark.slow
def test_verify_finds_every_one_of_a_thousand_single_mutations(store: Store) -> None:
    finds_every_mutation(store, 1000)


def finds_every_mutation(store: Store, mutations: int) -> None:
    fill(store)
    assert check(store).ok
    key, witness = store.sealer.key, store.sealer.witness()
    missed = []
    for number in range(mutations):
        chance = random.Random(number)
        attack = ATTACKS[number % len(ATTACKS)]
        with pytest.raises(_Undone), store.database.write() as transaction:
            attack(transaction.connection, chance)
            if verify(transaction.connection, {key.id: key}, witness).ok:
                missed.append((attack.__name__, number))
            raise _Undone
    assert missed == []


class _Undone(Exception):
    """Rolls a mutation back, so that the next one starts from the sound room."""
