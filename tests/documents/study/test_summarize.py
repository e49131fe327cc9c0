"""A summary is made of the document's own sentences, always the same ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.study.summarize import LONGEST, summarise

TEXT = """# The harbour

The harbour handles grain and timber from the northern provinces. Its cranes were built before the war.
Grain leaves the harbour by rail, and timber leaves the harbour by road.

```python
the_code = is_never("a sentence of the summary")
```

| a table | is none | either | of course |
|---|---|---|---|

A cat sleeps on the wall most days. The harbour handles grain and timber from the northern provinces.
"""


def test_a_summary_is_sentences_of_the_text_in_their_order() -> None:
    summary = summarise(TEXT)
    assert summary.startswith("The harbour handles grain and timber from the northern provinces.")
    assert summary.count("northern provinces") == 1
    assert "Grain leaves the harbour" in summary
    assert "code" not in summary
    assert "table" not in summary


@pytest.mark.parametrize(
    "text",
    [
        "東京は日本の首都です。人口は約千四百万人です。多くの人が東京で働いています。雨です。今日は雨です。",
        "Столица находится на реке. Город был основан давно. В городе живёт много людей. Там холодно зимой.",
    ],
)
def test_other_scripts_have_summaries_too(text: str) -> None:
    summary = summarise(text)
    assert summary
    assert all(sentence.strip() in text for sentence in summary.replace("。", "。\n").splitlines())


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("", ""),
        ("a,b\n1,2\n", "a,b 1,2"),
        ("One short thing", "One short thing"),
        ("# Shopping\n\n- milk\n- two eggs\n", "Shopping: milk; two eggs"),
        ("# README\n## Use\nRun it\n", "README: Use: Run it"),
        ("Bring:\n1. milk\n2) eggs\n", "Bring: milk; eggs"),
        ("#include <a.h>\n", "#include <a.h>"),
    ],
)
def test_a_text_without_sentences_is_told_by_its_beginning(text: str, summary: str) -> None:
    assert summarise(text) == summary


def test_items_of_a_list_do_not_run_into_each_other() -> None:
    text = "The web shop opened in July.\n\n- buy nails\n  - long ones\n1. one\n2. two\n"
    assert summarise(text) == "The web shop opened in July."
    items = "- Buy long nails in town\n- [ ] Ask Jo for some wood\n  that is dry\n\n> Bring the car\n> and the dog.\n"
    assert (
        summarise(items)
        == "Buy long nails in town; Ask Jo for some wood that is dry; Bring the car and the dog."
    )


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["word ", "a. ", "> ", "[", "```\n", "\n\n", "# "]), max_size=90).map("".join)
)
def test_any_text_has_a_bounded_summary_that_does_not_change(text: str) -> None:
    summary = summarise(text)
    assert len(summary) <= LONGEST
    assert summarise(text) == summary


@pytest.mark.parametrize(
    "said",
    [" " * 300_000 + "x", "](" * 150_000, "*`" * 150_000, '."' * 150_000, "\n " * 150_000, "> " * 150_000],
)
@pytest.mark.timeout(300)
def test_texts_made_to_take_long_do_not(said: str) -> None:
    assert len(summarise(said)) <= LONGEST
