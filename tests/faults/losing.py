"""Losing a database for a moment: a commit whose answer never arrives, or that never gets there."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from brasstag import Room
from brasstag.store.database.base import Transaction
from brasstag.store.database.postgres import PostgresDatabase
from brasstag.store.database.statements import Guarded
from brasstag.words.errors import StoreLost

Loses = Callable[[int], str]
"""Says of the n-th commit whether it is lost ``after`` it arrived, ``before`` that, or not at all (an empty text)."""


class Losses:
    """Stands between a room and its database, and loses commits."""

    def __init__(self, room: Room, loses: Loses) -> None:
        self.commits = 0
        self.lost = 0
        self._loses = loses
        database: Any = room.store.database
        self._write = database.write
        database.write = self.write
        if isinstance(database, PostgresDatabase):
            # A commit of its own there; on SQLite it is one of the others.
            self._add = database.add
            database.add = self.add

    def end(self) -> None:
        """Lose nothing more."""
        self._loses = lambda _: ""

    def add(self, statement: Guarded, **values: Any) -> bool:
        """One row and its commit, as the database's own."""
        when = self._next()
        if when == "before":
            raise self._loss(when)
        went_in: bool = self._add(statement, **values)
        if when:
            raise self._loss(when)
        return went_in

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One transaction, as the database's own, until its commit."""
        with self._write() as transaction:
            commit = transaction.commit

            def commit_or_not() -> None:
                when = self._next()
                if when != "before":
                    commit()
                if when:
                    raise self._loss(when)

            transaction.commit = commit_or_not
            yield transaction

    def _next(self) -> str:
        when = self._loses(self.commits)
        self.commits += 1
        return when

    def _loss(self, when: str) -> StoreLost:
        self.lost += 1
        return StoreLost(f"lost {when} its commit, for a test")


def only(number: int, when: str) -> Loses:
    """Lose one commit, counted from 0."""
    return lambda commit: when if commit == number else ""


def every(apart: int, first: int, when: str) -> Loses:
    """Lose one commit in so many, from the first on."""
    return lambda commit: when if commit % apart == first else ""


def sometimes(seed: int, share: float) -> Loses:
    """Lose some, at random."""
    dice = random.Random(seed)
    return lambda _: dice.choice(("before", "after")) if dice.random() < share else ""
