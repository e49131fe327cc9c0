"""What an agent is told of the catalog: bounded, stable, complete, and fenced."""

from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.injection import inject, whole_text
from brasstag.catalog.merge import Catalog, CatalogEntry
from brasstag.words.review.prompt_tools import SCOPES, PromptTool, Source
from brasstag.words.tokens import estimated_tokens
from tests.engine.timelines import FENCE

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300)
entries = st.builds(
    CatalogEntry,
    st.builds(
        PromptTool,
        id=st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True),
        name=texts,
        archetype=st.sampled_from(["", "any", "editor", "planner"]),
        scope=st.sampled_from(SCOPES),
        usage_notes=texts,
        goals=texts,
        guardrails=texts,
        prompt=texts,
    ),
    st.sampled_from(get_args(Source)),
)
catalogs = st.lists(entries, max_size=30, unique_by=lambda entry: entry.tool.id).map(
    lambda found: Catalog(tuple(found))
)


@given(catalogs, st.sampled_from(["", "editor"]), st.sampled_from(SCOPES), st.integers(1, 3_000))
def test_it_never_takes_more_than_it_may_and_names_every_tool(
    catalog: Catalog, archetype: str, scope: str, tokens: int
) -> None:
    told = inject(catalog, archetype, scope, FENCE, tokens)  # type: ignore[arg-type]
    assert estimated_tokens(told.text) == told.tokens <= tokens
    assert {one.entry.tool.id for one in told.tools} == {entry.tool.id for entry in catalog.entries}
    for one in told.tools:
        assert (f"- {one.entry.tool.id}: " in told.text) or one.form != "named"
        assert (whole_text(one.entry, FENCE) in told.text) or one.form != "whole"


@given(catalogs, st.randoms())
def test_the_order_of_the_files_does_not_matter(catalog: Catalog, random: object) -> None:
    shuffled = list(catalog.entries)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert inject(Catalog(tuple(shuffled)), "editor", "file", FENCE) == inject(
        catalog, "editor", "file", FENCE
    )


@given(entries, texts)
def test_the_text_of_a_tool_stays_inside_its_marks(entry: CatalogEntry, more: str) -> None:
    first, *inside, last = whole_text(entry, FENCE).split("\n")
    mark = first.split()[-1].rstrip(">")
    assert last == f"</prompt_tool {mark}>"
    assert mark not in "\n".join(inside)


def test_what_does_not_fit_is_counted() -> None:
    tool = PromptTool("a", "A", "", "file", "Notes.", "g", "g", "p" * 500)
    many = tuple(CatalogEntry(replace(tool, id=f"tool_{number:04d}"), "user") for number in range(1_000))
    told = inject(Catalog(many), "", "file", FENCE, 1_500)
    left = sum(1 for one in told.tools if one.form == "left out")
    assert left
    assert f"and {left} more; `load_prompt_tool` with a query finds them" in told.text
