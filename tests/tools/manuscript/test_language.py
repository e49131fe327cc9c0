"""What sentences say: sentences and quotes, numbers, dates, times, languages."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.tools.manuscript.language.clock import clock_times_in, durations_in
from brasstag.tools.manuscript.language.judge_language import why_not_judged
from brasstag.tools.manuscript.language.sentences import LONGEST_SENTENCE, sentences_in
from brasstag.tools.manuscript.language.word_lists import word_list
from tests.tools.manuscript.support import one_sentence, source

SMALL = word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
TENS = word_list("zero ten twenty thirty forty fifty sixty seventy eighty ninety")


def spelled(number: int) -> str:
    if number >= 1000:
        rest = number % 1000
        return f"{spelled(number // 1000)} thousand" + (f" {spelled(rest)}" if rest >= 100 else "")
    if number >= 100:
        rest = f" and {spelled(number % 100)}" if number % 100 else ""
        return f"{SMALL[number // 100]} hundred{rest}"
    if number < 20:
        return SMALL[number]
    return TENS[number // 10] + (f"-{SMALL[number % 10]}" if number % 10 else "")


class TestSentences:
    @given(st.text(alphabet=st.sampled_from(list("Ab .!?\"'“”’\n\r\té日*#-:1")), max_size=300))
    def test_each_is_a_piece_of_the_text_and_each_quote_stands_in_its_line(self, text: str) -> None:
        whole = source(text)
        lines = text.split("\n")
        end = 0
        for sentence in sentences_in(whole):
            assert sentence.start >= end
            end = sentence.start + len(sentence.text)
            assert whole.plain[sentence.start : end].replace("\n", " ") == sentence.text
            for word in sentence.words:
                quote = sentence.quote(word.start, word.end)
                assert quote.text in lines[quote.line - 1]
                assert word.text in quote.text

    @given(st.text(alphabet=st.sampled_from(list('Ab ."“”\n')), max_size=200))
    def test_every_letter_is_in_exactly_one(self, text: str) -> None:
        letters = sum(sentence.text.count("A") for sentence in sentences_in(source(text)))
        assert letters == text.count("A")

    def test_a_title_or_an_initial_does_not_end_one(self) -> None:
        assert len(list(sentences_in(source("Mr. Holm met J. Lund at St. Olaf. He left.")))) == 2

    def test_one_without_an_end_is_cut_into_bounded_pieces(self) -> None:
        pieces = list(sentences_in(source("word " * 10_000)))
        assert max(len(piece.text) for piece in pieces) <= LONGEST_SENTENCE
        assert sum(len(piece.words) for piece in pieces) == 10_000

    @pytest.mark.parametrize(
        "text",
        ['"Go home," she said.', "“Go home,” she said.", "‘Go home,’ she said.", "'Go home,' she said."],
    )
    def test_what_is_between_quotation_marks_is_spoken(self, text: str) -> None:
        sentence = one_sentence(text)
        spoken = [word.text for word in sentence.words if sentence.is_spoken(word.start)]
        assert spoken == ["Go", "home"]

    def test_an_apostrophe_opens_no_speech(self) -> None:
        assert one_sentence("It was Mara's mill and she didn't sell.").speech == ()


class TestNumbers:
    @given(
        st.integers(0, 9999).filter(
            lambda number: number < 1000 or number % 1000 == 0 or number % 1000 >= 100
        )
    )
    def test_a_number_in_words_has_its_value(self, number: int) -> None:
        (found,) = one_sentence(f"She saw {spelled(number)} gulls.").numbers
        assert found.value == number

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("a hundred and twelve steps", 112),
            ("1,500 sheep", 1500),
            ("half a dozen eggs", 6),
            ("the 31st", 31),
        ],
    )
    def test_other_forms_have_theirs(self, text: str, value: int) -> None:
        assert one_sentence(text).numbers[0].value == value

    def test_two_numbers_side_by_side_stay_two(self) -> None:
        assert [one.value for one in one_sentence("one, two, three").numbers] == [1, 2, 3]


class TestDates:
    FORMS = ("%d %B %Y", "%B %d, %Y", "%A, %d %B %Y", "%A %d %B %Y", "%Y-%m-%d", "the %d of %B %Y")

    @given(st.dates(date(1500, 1, 1), date(2100, 1, 1)), st.sampled_from(FORMS))
    def test_a_date_is_understood_in_every_form(self, day: date, form: str) -> None:
        (found,) = (one_sentence(f"It was {day.strftime(form)} then")).dates
        assert found.exact == day
        assert found.weekday in (None, day.weekday())

    def test_a_weekday_belongs_to_the_date_behind_it(self) -> None:
        (found,) = (one_sentence("On Friday, the fourth of October, she left")).dates
        assert (found.weekday, found.day, found.month) == (4, 4, 10)

    def test_may_and_march_are_words_too(self) -> None:
        assert (one_sentence("She may march")).dates == []
        assert [one.month for one in (one_sentence("He died in March")).dates] == [3]

    @given(st.dates(date(1900, 1, 1), date(2000, 1, 1)), st.integers(1, 400))
    def test_two_days_contradict_each_other_and_a_day_never_itself(self, day: date, later: int) -> None:
        one, other = (
            (one_sentence(f"On {when.strftime('%d %B %Y')}")).dates[0]
            for when in (day, day + timedelta(later))
        )
        assert one.contradicts(other)
        assert not one.contradicts(one)

    def test_a_day_that_no_calendar_has_is_impossible(self) -> None:
        assert (one_sentence("It was 31 June 1980")).dates[0].is_impossible
        assert not (one_sentence("It was 29 February")).dates[0].is_impossible


class TestClock:
    @pytest.mark.parametrize(
        ("text", "minutes"),
        [
            ("at half past five", 330), ("at ten to seven in the morning", 410), ("six o'clock", 360),
            ("at six in the evening", 1080), ("at 14:20", 860), ("a quarter past nine", 555), ("at six", 360),
        ],
    )  # fmt: skip
    def test_times_of_day(self, text: str, minutes: int) -> None:
        assert [time.minutes for time in clock_times_in(one_sentence(text))] == [minutes]

    def test_what_is_counted_is_no_time(self) -> None:
        assert clock_times_in(one_sentence("at six metres he saw two boats")) == []

    @pytest.mark.parametrize(
        ("text", "minutes"),
        [
            ("forty minutes", 40), ("an hour and a half", 90), ("half an hour", 30), ("two and a half hours", 150),
            ("three quarters of an hour", 45), ("two hours", 120),
        ],
    )  # fmt: skip
    def test_lengths_of_time(self, text: str, minutes: int) -> None:
        assert [one.minutes for one in durations_in(one_sentence(f"It took {text}."))] == [minutes]


class TestLanguages:
    ENGLISH = "She went down to the quay and it was dark, and the boats were in. " * 4

    def test_english_is_judged(self) -> None:
        assert why_not_judged(self.ENGLISH) is None

    @pytest.mark.parametrize(
        "text",
        [
            "Sie ging hinunter zum Hafen, und es wurde dunkel; die Boote lagen schon fest vertäut am Kai. "
            * 4,
            "Hun gikk ned til kaia, det ble mørkt, og båtene lå allerede fortøyd ved brygga i havna. " * 4,
            "Κατέβηκε στο λιμάνι και ήταν σκοτεινά. " * 4,
            "彼女は港へ降りていった。もう暗かった。" * 4,
            "نزلت إلى الميناء وكان الظلام قد حل. " * 4,
        ],
        ids=["German", "Norwegian", "Greek", "Japanese", "Arabic"],
    )
    def test_other_languages_are_not(self, text: str) -> None:
        assert "only English sentences are judged" in (why_not_judged(text) or "")
