"""Which blobs must be kept: those a version, an unsettled claim or a waiting approval names, and their blocks."""

from sqlalchemy import Connection

from brasstag.store.approvals import list_approvals
from brasstag.store.conversions import kept_blocks
from brasstag.store.ledger import open_claims
from brasstag.store.versions import named_digests
from brasstag.words.approvals import WAITING_STATES
from brasstag.words.previews import Change, digest_in


def named_blobs(connection: Connection) -> frozenset[str]:
    """Return the digest of every blob that something still needs."""
    named = named_digests(connection) | waited_for(connection)
    return named | kept_blocks(connection, named)


def waited_for(connection: Connection) -> frozenset[str]:
    """Return the digest of every blob that an unsettled claim or a waiting approval needs."""
    waiting = list_approvals(connection, WAITING_STATES)
    changes: list[Change] = [change for approval in waiting for change in approval.preview.changes]
    changes += [change for claim in open_claims(connection) for change in claim.changes]
    states = {state for change in changes for state in (change.before, change.after)}
    return frozenset(digest for state in states if (digest := digest_in(state)))
