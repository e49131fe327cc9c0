"""Each view of a text knows the way back to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.screen.views import views

texts = st.text(st.one_of(st.sampled_from("igno re-.*_/1034@é\u200b\n"), st.characters()))


@given(texts)
def test_every_character_of_every_view_has_a_place_in_the_text(text: str) -> None:
    for view in views(text):
        places = view.trace()
        assert len(places) == len(view.data.decode())
        assert all(0 <= place < len(text) for place in places)


@given(texts, st.data())
def test_a_span_of_a_view_lies_in_the_text(text: str, data: st.DataObject) -> None:
    for view in views(text):
        read = view.data.decode()
        if read:
            first = data.draw(st.integers(0, len(read) - 1))
            last = data.draw(st.integers(first + 1, len(read)))
            low, high = view.span(len(read[:first].encode()), len(read[:last].encode()))
            assert 0 <= low < high <= len(text)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("i-g-n-o-r-e it", b"ignore it"),
        ("i g n o r e  i t", b"ignore  it"),
        ("i.g.n.o.r.e", b"ignore"),
        ("ig_no_re", b"ignore"),
        ("1gn0r3 a11", b"ignore all"),
        ("vtaber", b"ignore"),
        ("rtmliv", b"ignore"),
        ("erongi", b"ignore"),
    ],
)
def test_one_of_the_views_reads_what_is_meant(written: str, read: bytes) -> None:
    assert read in [view.data for view in views(written)]


def test_the_way_back_leads_to_the_letters_as_they_were_written() -> None:
    text = "so: i-g-n-o-r-e!"
    view = next(view for view in views(text) if b"ignore" in view.data)
    start = view.data.index(b"ignore")
    low, high = view.span(start, start + len(b"ignore"))
    assert text[low:high] == "i-g-n-o-r-e"


def test_the_way_back_from_a_backward_text_is_backward() -> None:
    text = "now erongi"
    view = next(view for view in views(text) if view.encoding == "reversed_payload")
    low, high = view.span(0, len(b"ignore"))
    assert text[low:high] == "erongi"
