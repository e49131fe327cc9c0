"""Study contents: blocks, tokens and summary, each found once and kept by digest."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from brasstag.documents.blocks.pieces import own_text
from brasstag.documents.blocks.render import as_markdown
from brasstag.documents.formats.convert import CONVERTER, ConversionSource, Converted, Converter, NotConverted
from brasstag.documents.formats.kinds import (
    BINARY,
    CONVERTED,
    LINK,
    PICTURES,
    is_own_text,
    is_text_kind,
    kind_of,
)
from brasstag.documents.formats.pictures import picture_size
from brasstag.documents.formats.text import BEGINNING
from brasstag.documents.study.describe import describe_blocks, describe_picture, describe_text
from brasstag.documents.study.summarize import EXTRACTIVE
from brasstag.documents.study.tokens import count_tokens
from brasstag.store.contents.blobs import Blobs
from brasstag.store.documents.conversions import Conversion, conversion_of, conversions_of
from brasstag.store.store import Store
from brasstag.words.blocks import Blocks, NotBlocks
from brasstag.words.errors import Code, StoreError, ToolError

MOST_STUDIED = 64_000_000
"""Bytes of the largest text whose tokens are counted and that is summed up."""

_READ = CONVERTED | PICTURES | {BINARY, LINK}
"""Types that need no look at the bytes to know how they are read."""


@dataclass(frozen=True, slots=True)
class ContentToRead:
    """A content, and what it is to be read as."""

    digest: str
    media_type: str
    name: str


class Study:
    """Finds out about the kept contents of one room."""

    def __init__(self, store: Store, converter: Converter | None) -> None:
        self._store = store
        self._converter = converter
        self._key = store.sealer.key

    def blocks(self, item: ContentToRead) -> Blocks:
        """Return a content in blocks; raise ToolError, with the code it failed with, where there are none."""
        (found,) = self.blocks_of([item])
        if isinstance(found, NotConverted):
            raise ToolError(found.code, f"{item.name} cannot be read as blocks: {found.reason}")
        return found

    def blocks_of(self, items: Sequence[ContentToRead], seconds: float = float("inf")) -> list[Converted]:
        """Return many contents in blocks, or why there are none, in the order given; several are converted at once.

        What has to be converted first is, as far as there is time.
        """
        items = [self._as_it_reads(item) for item in items]
        known = self._store.read(
            lambda view: conversions_of(view, self._key, list(dict.fromkeys(item.digest for item in items)))
        )
        found: dict[int, Converted] = {}
        for place, item in enumerate(items):
            answer = self._kept(known.get((item.digest, item.media_type)))
            if answer is not None:
                found[place] = answer
        missing = [place for place in range(len(items)) if place not in found]
        made_now = self._converted([items[place] for place in missing], seconds)
        for place, made in zip(missing, made_now, strict=True):
            self._keep(items[place], made)
            found[place] = made
        return [found[place] for place in range(len(items))]

    def text(self, item: ContentToRead) -> str:
        """Return a content as a model reads it: a text as it is, all else as Markdown."""
        item = self._as_it_reads(item)
        text = self._own_text(item)
        return as_markdown(self.blocks(item)) if text is None else text

    def facts(self, item: ContentToRead, size: int) -> Conversion:
        """Return all that is known of a content; find out its tokens and summary where they are not known yet."""
        item = self._as_it_reads(item)
        known = self._store.read(lambda view: conversion_of(view, self._key, item.digest, item.media_type))
        is_outdated = known.converter not in ("", CONVERTER)
        if (known.tokenizer and not is_outdated) or size > MOST_STUDIED:
            return known
        try:
            found = (
                self._picture_facts(item, known) if item.media_type in PICTURES else self._text_facts(item)
            )
        except ToolError:
            return known
        if known.summary_by not in ("", EXTRACTIVE):
            found.pop("summary", None)
        elif "summary" in found:
            found["summary_by"] = EXTRACTIVE
        if not found:
            return known
        return self._store.documents.learn(known, **found)

    def _text_facts(self, item: ContentToRead) -> dict[str, Any]:
        """Return tokens and summary of what has words; of anything else there is nothing to count."""
        if item.media_type not in CONVERTED and not is_text_kind(item.media_type):
            return {}
        text = self._own_text(item)
        if text is None:
            blocks = self.blocks(item)
            text = as_markdown(blocks)
            summary = describe_blocks(blocks, text)
        else:
            summary = describe_text(text, item.media_type)
        counted = count_tokens(text)
        return {"tokens": counted.tokens, "tokenizer": counted.tokenizer, "summary": summary}

    def _picture_facts(self, item: ContentToRead, known: Conversion) -> dict[str, Any]:
        if known.summary:
            return {}
        size = picture_size(content_of(self._store.blobs, item.digest), item.media_type)
        return {"summary": describe_picture(item.media_type, size)} if size else {}

    def _as_it_reads(self, item: ContentToRead) -> ContentToRead:
        """Return a content as what it can be read as: a type that its writer named may be unknown here."""
        if is_text_kind(item.media_type) or item.media_type in _READ:
            return item
        try:
            with self._store.blobs.open(item.digest) as content:
                found = kind_of(item.name, content.read(BEGINNING))
        except (StoreError, OSError):
            return item
        return replace(item, media_type=found) if is_text_kind(found) or found in _READ else item

    def _own_text(self, item: ContentToRead) -> str | None:
        """Return the text a content is; None where it shows only once it is converted."""
        if not is_own_text(item.media_type):
            return None
        found = own_text(content_of(self._store.blobs, item.digest), item.media_type)
        return None if found is None else found[0]

    def sum_up(self, item: ContentToRead, summary: str, by: str) -> None:
        """Keep what a model or a person has written about a content as its summary."""
        self._store.documents.learn(Conversion(item.digest, item.media_type), summary=summary, summary_by=by)

    def _kept(self, known: Conversion | None) -> Converted | None:
        if known is None or known.converter != CONVERTER:
            return None
        if known.failure is not None:
            return NotConverted(*known.failure)
        try:
            return Blocks.from_json(json.loads(self._store.blobs.get(known.blocks)))
        except (StoreError, NotBlocks, ValueError):
            # The blocks were collected, or have another form: they are made again.
            return None

    def _converted(self, items: Sequence[ContentToRead], seconds: float) -> list[Converted]:
        if not items:
            return []
        if self._converter is None:
            return [NotConverted(Code.NOT_SUPPORTED, "this room has no place to convert it in")] * len(items)
        answers: dict[int, Converted] = {}
        sources: dict[int, ConversionSource] = {}
        for place, item in enumerate(items):
            try:
                content = self._store.blobs.file(item.digest) or content_of(self._store.blobs, item.digest)
            except ToolError as error:
                answers[place] = NotConverted(error.code, error.message)
            else:
                sources[place] = ConversionSource(item.digest, item.media_type, item.name, content)
        made = self._converter.convert_many(list(sources.values()), seconds=seconds)
        answers |= dict(zip(sources, made, strict=True))
        return [answers[place] for place in range(len(items))]

    def _keep(self, item: ContentToRead, made: Converted) -> None:
        if not isinstance(made, NotConverted):
            blocks = json.dumps(made.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
            self._store.documents.keep_blocks(item.digest, item.media_type, CONVERTER, blocks)
        elif made.is_lasting:
            self._store.documents.learn(
                Conversion(item.digest, item.media_type),
                converter=CONVERTER,
                blocks="",
                code=made.code.value,
                reason=made.reason,
            )


def content_of(blobs: Blobs, digest: str) -> bytes:
    """Return kept bytes; raise ToolError where they were not kept, or are kept no longer."""
    try:
        return blobs.get(digest)
    except StoreError as error:
        raise ToolError(
            Code.NOT_KEPT, f"its bytes are not kept: {error}. Another version may be", {"digest": digest}
        ) from None
