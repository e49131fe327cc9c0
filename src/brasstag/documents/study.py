"""Studying contents: their blocks, tokens and summary, each found out once and kept under the content's digest."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from brasstag.documents.converting import CONVERTER, Converted, Converter, NotConverted, Source
from brasstag.documents.counting import count_tokens
from brasstag.documents.decoding import decoded
from brasstag.documents.kinds import CONVERTED
from brasstag.documents.rendering import as_markdown
from brasstag.documents.summarising import EXTRACTIVE, summarise
from brasstag.store.blobs import Blobs
from brasstag.store.books import Books
from brasstag.store.contents import LARGEST, add_contents
from brasstag.store.conversions import Conversion, conversion_of, conversions_of, learn
from brasstag.words.blocks import Blocks, NotBlocks
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, StoreError, ToolError

MOST_STUDIED = 64_000_000
"""Bytes of the largest text whose tokens are counted and that is summed up."""


@dataclass(frozen=True, slots=True)
class Item:
    """A content, and what it is to be read as."""

    digest: str
    media_type: str
    name: str


class Study:
    """Finds out about the kept contents of one room."""

    def __init__(self, books: Books, converter: Converter | None) -> None:
        self._books = books
        self._converter = converter

    def blocks(self, item: Item) -> Blocks:
        """Return a content in blocks; raise ToolError, with the code it failed with, where there are none."""
        (found,) = self.blocks_of([item])
        if isinstance(found, NotConverted):
            raise ToolError(found.code, f"{item.name} cannot be read as blocks: {found.reason}")
        return found

    def blocks_of(self, items: Sequence[Item]) -> list[Converted]:
        """Return many contents in blocks, or why there are none, in the order given; several are converted at once."""
        known = self._books.read(
            lambda view: conversions_of(view, list(dict.fromkeys(item.digest for item in items)))
        )
        found: dict[int, Converted] = {}
        for place, item in enumerate(items):
            answer = self._kept(known.get((item.digest, item.media_type)))
            if answer is not None:
                found[place] = answer
        missing = [place for place in range(len(items)) if place not in found]
        for place, made in zip(missing, self._converted([items[place] for place in missing]), strict=True):
            self._keep(items[place], made)
            found[place] = made
        return [found[place] for place in range(len(items))]

    def text(self, item: Item) -> str:
        """Return a content as a model reads it: a text as it is, all else as Markdown."""
        if item.media_type not in CONVERTED:
            text = decoded(content_of(self._books.blobs, item.digest))
            if text is not None:
                return text
        return as_markdown(self.blocks(item))

    def facts(self, item: Item, size: int) -> Conversion:
        """Return all that is known of a content, its tokens and summary found out where nobody has yet."""
        known = self._books.read(lambda view: conversion_of(view, item.digest, item.media_type))
        if known.tokenizer or size > MOST_STUDIED:
            return known
        try:
            text = self.text(item)
        except ToolError:
            return known
        counted = count_tokens(text)
        summary = known.summary or summarise(text)
        with self._books.database.write() as transaction:
            return learn(
                transaction,
                known,
                tokens=counted.tokens,
                tokenizer=counted.tokenizer,
                summary=summary,
                summary_by=known.summary_by or EXTRACTIVE,
            )

    def sum_up(self, item: Item, summary: str, by: str) -> None:
        """Keep what a model or a person has written about a content as its summary."""
        with self._books.database.write() as transaction:
            learn(transaction, Conversion(item.digest, item.media_type), summary=summary, summary_by=by)

    def _kept(self, known: Conversion | None) -> Converted | None:
        if known is None or known.converter != CONVERTER:
            return None
        if known.failure is not None:
            return NotConverted(*known.failure)
        try:
            return Blocks.from_json(json.loads(self._books.blobs.get(known.blocks)))
        except (StoreError, NotBlocks, ValueError):
            # Collected, or of another form: they are made anew.
            return None

    def _converted(self, items: Sequence[Item]) -> list[Converted]:
        if not items:
            return []
        if self._converter is None:
            return [NotConverted(Code.NOT_SUPPORTED, "this room has no place to convert it in")] * len(items)
        answers: dict[int, Converted] = {}
        sources: dict[int, Source] = {}
        for place, item in enumerate(items):
            try:
                content = self._books.blobs.file(item.digest) or content_of(self._books.blobs, item.digest)
            except ToolError as error:
                answers[place] = NotConverted(error.code, error.message)
            else:
                sources[place] = Source(item.digest, item.media_type, item.name, content)
        made = self._converter.convert_many(list(sources.values()))
        answers |= dict(zip(sources, made, strict=True))
        return [answers[place] for place in range(len(items))]

    def _keep(self, item: Item, made: Converted) -> None:
        if isinstance(made, NotConverted):
            if made.is_lasting:
                with self._books.database.write() as transaction:
                    learn(
                        transaction,
                        Conversion(item.digest, item.media_type),
                        converter=CONVERTER,
                        blocks="",
                        code=made.code.value,
                        reason=made.reason,
                    )
            return
        data = json.dumps(made.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
        digest = sha256(data)
        if len(data) > LARGEST:
            self._books.blobs.put(data)
        with self._books.database.write() as transaction:
            if len(data) <= LARGEST:
                add_contents(transaction, {digest: data}, self._books.now())
            learn(
                transaction,
                Conversion(item.digest, item.media_type),
                converter=CONVERTER,
                blocks=digest,
                code="",
                reason="",
            )


def content_of(blobs: Blobs, digest: str) -> bytes:
    """Return kept bytes; raise ToolError where they were not kept, or are kept no longer."""
    try:
        return blobs.get(digest)
    except StoreError as error:
        raise ToolError(
            Code.NOT_KEPT, f"its bytes are not kept: {error}. Another version may be", {"digest": digest}
        ) from None
