"""Verify: walk every chain of a room, and name what does not fit and what cannot be seen.

entries      numbers without gap, each hash over the one before, each payload under its digest or redacted on record
tasks        head and length as their row says, opened and closed as their entries say, limits and what they used, too
checkpoints  unbroken, signed, each naming a head that is really there; as long as the witness remembers
the tables   approvals, permissions, claims, versions, documents and memories say what the timelines tell
contents     their bytes are under their digests; what was found out about them is signed

``coverage`` says of every column whether it is compared.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, select

from brasstag.store.contents.blobs import Blobs
from brasstag.store.database.schema import checkpoints, entries, tasks
from brasstag.store.maintenance.coverage import GAPS, Gap, gaps
from brasstag.store.maintenance.fold import Folded
from brasstag.store.maintenance.fold_versions import are_close
from brasstag.store.maintenance.verify_contents import VerifiedContents
from brasstag.store.tasks.origins import differing
from brasstag.store.tasks.rows import ENDED
from brasstag.store.timeline.lines import entry_hash, payload_digest
from brasstag.store.timeline.seals import GENESIS, Key, Witness, head_words, link_hash
from brasstag.store.timeline.spending import Account
from brasstag.store.timeline.timeline import NEEDS_OPEN_TASK
from brasstag.words.events import EntryKind


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not fit."""

    where: str
    what: str


@dataclass(slots=True)
class Report:
    """What a verification found."""

    tasks: int = 0
    entries: int = 0
    checkpoints: int = 0
    redacted: int = 0
    findings: list[Finding] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """What this verification could not see, in plain words."""
    not_compared: tuple[Gap, ...] = GAPS
    """What it does not compare in any room."""
    about_files: int = 0
    """How many findings are about files beside the timeline, which itself may hold."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def add_first(self, where: str, what: str) -> None:
        """Put a finding before all others."""
        self.findings.insert(0, Finding(where, what))


@dataclass(slots=True)
class _Chain:
    """What walking one task's entries showed."""

    hashes: list[str] = field(default_factory=list)
    erased: set[int] = field(default_factory=set)
    redactions: set[int] = field(default_factory=set)
    opened: dict[str, Any] | None = None
    opened_at: str = ""
    closed: dict[str, Any] | None = None
    closed_at: str = ""
    is_closed: bool = False
    account: Account = field(default_factory=Account)
    sound: bool = True
    """Whether each of its entries is what it was."""
    head_key: str = ""
    """The key its head claims to be signed with, where this machine does not hold it."""


def verify(
    connection: Connection,
    keys: Mapping[str, Key],
    witness: Witness | None,
    blobs: Blobs | None = None,
    *,
    contents: bool = False,
) -> Report:
    """Check the whole room; ``keys`` are those this machine holds, by id. With ``contents``, read all files of ``blobs``."""
    report = Report(not_compared=gaps(contents=contents))
    try:
        _check_everything(connection, keys, witness, report)
        _check_contents(connection, keys, VerifiedContents(blobs, reads_files=contents), report)
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        # Columns that hold what we never write there; the database itself does not forbid it.
        report.findings.append(Finding("the room", f"its tables hold what cannot be read: {error}"))
    return report


def _check_everything(
    connection: Connection, keys: Mapping[str, Key], witness: Witness | None, report: Report
) -> None:
    folded = Folded()
    chains = _walk_entries(connection, report, folded)
    _check_tasks(connection, chains, keys, report)
    sealed = _check_checkpoints(connection, chains, keys, witness, report)
    for task_id, chain in chains.items():
        if task_id not in sealed:
            report.findings.append(Finding(task_id, "it was never sealed, as every task is when it opens"))
        behind = len(chain.hashes) - 1 - sealed.get(task_id, -1)
        if behind > 0:
            report.unseen.append(
                f"{task_id}: its newest entries ({behind}) are signed but not sealed yet; "
                "putting back an older copy of them would not show"
            )
    report.findings += [Finding(where, what) for where, what in folded.differences(connection, keys)]
    if folded.versions.outside:
        report.unseen.append(
            f"versions that no call made ({folded.versions.outside}) are on no timeline; what they held was not compared"
        )
    if folded.redacted:
        calls = len(folded.redacted)
        report.unseen.append(
            f"the approvals, claims and costs of redacted calls ({calls}) could not be compared, nor what was said"
            " of documents"
        )


def _check_contents(
    connection: Connection, keys: Mapping[str, Key], held: VerifiedContents, report: Report
) -> None:
    report.findings += [Finding(where, what) for where, what in held.differences(connection, keys)]
    if held.missing:
        report.unseen.append(
            f"contents that versions name ({held.missing}) are not kept: they were too large, or pruned, or removed"
        )


def _walk_entries(connection: Connection, report: Report, folded: Folded) -> dict[str, _Chain]:
    chains: dict[str, _Chain] = {}
    query = select(entries).order_by(entries.c.task_id, entries.c.seq)
    for row in connection.execution_options(yield_per=500).execute(query):
        chain = chains.setdefault(row.task_id, _Chain())
        report.entries += 1
        doubts = [Finding(f"{row.task_id} #{row.seq}", what) for what in _check_entry(row, chain)]
        report.findings += doubts
        chain.hashes.append(row.hash)
        if doubts:
            chain.sound = False
            folded.unsound.add(row.call_id)
            continue
        payload = None if row.payload is None else json.loads(row.payload)
        _note(row, payload, chain)
        chain.account.add(row.kind, payload)
        if payload is not None:
            folded.add(row, payload)
        else:
            chain.erased.add(row.seq)
            folded.redacted.add(row.call_id)
            report.redacted += 1
    for task_id, chain in chains.items():
        for seq in sorted(chain.erased - chain.redactions):
            report.findings.append(
                Finding(f"{task_id} #{seq}", "its payload was removed, and no redaction is on record")
            )
    return chains


def _check_entry(row: Row[Any], chain: _Chain) -> Iterator[str]:
    previous = chain.hashes[-1] if chain.hashes else GENESIS
    if row.seq != len(chain.hashes):
        yield f"number {len(chain.hashes)} was expected here; entries are missing or out of order"
    if (row.payload is None) != (row.salt is None):
        yield "its payload and salt do not belong together"
    elif row.payload is not None and payload_digest(row.salt, row.payload) != row.digest:
        yield "its payload was changed"
    expected = entry_hash(previous, row.task_id, row.seq, row.kind, row.tag, row.call_id, row.at, row.digest)
    if expected != row.hash:
        yield "its hash does not follow from the entry before it"
    if chain.is_closed and row.kind in NEEDS_OPEN_TASK:
        yield "it was added after its task had ended"


def _note(row: Row[Any], payload: dict[str, Any] | None, chain: _Chain) -> None:
    """Note where the task stands; a redacted entry tells that, too, by its kind."""
    match row.kind:
        case EntryKind.OPENED:
            chain.opened, chain.opened_at = payload, row.at
        case EntryKind.CLOSED:
            chain.closed, chain.closed_at = payload, row.at
            chain.is_closed = True
        case EntryKind.RESUMED:
            chain.closed, chain.closed_at, chain.is_closed = None, "", False
        case EntryKind.REDACTED:
            chain.redactions.update((payload or {}).get("redacted_seqs", ()))
        case _:
            pass


def _check_tasks(
    connection: Connection, chains: dict[str, _Chain], keys: Mapping[str, Key], report: Report
) -> None:
    known = set()
    for row in connection.execute(select(tasks).order_by(tasks.c.id)):
        known.add(row.id)
        report.tasks += 1
        chain = chains.get(row.id)
        doubts = ["it has no entries"] if chain is None else [*_check_task(row, chain, keys)]
        if chain is not None and chain.sound:
            doubts += chain.account.differences(row)
            doubts += _check_times(row, chain)
        report.findings += [Finding(row.id, what) for what in doubts]
    for task_id in sorted(set(chains) - known):
        report.findings.append(Finding(task_id, "its entries are here but the task itself was removed"))


def _check_task(row: Row[Any], chain: _Chain, keys: Mapping[str, Key]) -> Iterator[str]:
    if row.next_seq != len(chain.hashes):
        yield f"its row counts {row.next_seq} entries, {len(chain.hashes)} are here"
    if row.head != chain.hashes[-1]:
        yield "its row names another head than its last entry"
    key_id, _, signature = row.signature.partition(":")
    key = keys.get(key_id)
    if not signature:
        yield "its head is not signed"
    elif key is None:
        chain.head_key = key_id
    elif not key.signed(head_words(row.id, row.next_seq, row.head), signature):
        yield "its head is not signed with our key: it was moved without the key"
    if chain.opened is not None and (wrong := differing(row, chain.opened)):
        yield f"its row has another {', '.join(wrong)} than its first entry"
    if (row.status in ENDED) != chain.is_closed:
        yield f"its row says {row.status}, its entries {'that it ended' if chain.is_closed else 'no end'}"
    elif chain.closed is not None and chain.closed.get("status") != row.status:
        yield f"its row says {row.status}, its last entry {chain.closed.get('status')}"


def _check_times(row: Row[Any], chain: _Chain) -> Iterator[str]:
    told = {"opened_at": chain.opened_at, "closed_at": chain.closed_at}
    for name, at in told.items():
        held = getattr(row, name)
        if bool(held) != bool(at) or (held and not are_close(held, at)):
            yield f"its row has another {name} ({held}) than its entries"


def _check_checkpoints(
    connection: Connection,
    chains: dict[str, _Chain],
    keys: Mapping[str, Key],
    witness: Witness | None,
    report: Report,
) -> dict[str, int]:
    sealed: dict[str, int] = {}
    links: list[str] = []
    unknown_keys: set[str] = set()
    ours: set[str] = set()
    for row in connection.execute(select(checkpoints).order_by(checkpoints.c.seq)):
        report.checkpoints += 1
        where = f"seal {row.seq}"
        if row.key_id in keys:
            ours.add(row.task_id)
        elif ours:
            report.findings.append(
                Finding(where, "it is signed with a strange key, after seals signed with ours")
            )
        else:
            unknown_keys.add(row.key_id)
        report.findings += [
            Finding(where, what) for what in _check_link(row, links, keys.get(row.key_id), chains)
        ]
        links.append(row.hash)
        sealed[row.task_id] = max(sealed.get(row.task_id, -1), row.task_seq)
    if witness is None:
        report.unseen.append("no witness is kept here; a cut of the newest seals would not show")
    elif witness.seq >= len(links) or links[witness.seq] != witness.hash:
        report.findings.append(
            Finding("seals", f"the witness outside the project remembers seal {witness.seq}; it is not here")
        )
    for task_id, chain in chains.items():
        if chain.head_key and ours:
            report.findings.append(Finding(task_id, "its head is signed with a strange key"))
        elif chain.head_key:
            unknown_keys.add(chain.head_key)
    for key_id in sorted(unknown_keys):
        report.unseen.append(f"{key_id} is not on this machine; seals made with it were not checked")
    return sealed


def _check_link(row: Row[Any], links: list[str], key: Key | None, chains: dict[str, _Chain]) -> Iterator[str]:
    if row.seq != len(links):
        yield f"seal {len(links)} was expected here; seals are missing"
    previous = links[-1] if links else GENESIS
    expected = link_hash(previous, row.seq, row.task_id, row.task_seq, row.head, row.at, row.key_id)
    if expected != row.hash:
        yield "its hash does not follow from the seal before it"
    if key is not None and not key.signed(row.hash, row.signature):
        yield "its signature is not ours"
    chain = chains.get(row.task_id)
    if chain is None:
        yield f"it seals {row.task_id}, which is gone"
    elif row.task_seq >= len(chain.hashes):
        yield f"it seals {row.task_id} up to #{row.task_seq}, which was cut off"
    elif chain.hashes[row.task_seq] != row.head:
        yield f"it seals another #{row.task_seq} of {row.task_id} than the one that is here"
