"""Compaction: what is shortened, what never is, and when."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.engine.transcript.compact import TRIGGER, estimate_tokens, fits, plan_compaction
from brasstag.engine.transcript.render import Transcript, transcript_of
from brasstag.engine.transcript.shorten import short_result
from brasstag.words.events import Entry, EntryKind
from brasstag.words.messages import Assistant, Image, Message, Result, Text, Thinking, User
from brasstag.words.tokens import IMAGE_TOKENS, estimated_tokens
from tests.engine.timelines import FENCE, Log, as_bytes, ending, timelines

K = EntryKind

THOUGHT = Thinking("hm " * 100, "signed").as_json()


def long_task(turns: int, result: Any = "word " * 2000, **arguments: Any) -> Log:
    log = Log()
    log.open("Read everything.")
    for turn in range(turns):
        log.turn(
            ("read_file", {"path": f"{turn}.md"} | arguments), text=f"Thought {turn}.", thinking=[THOUGHT]
        )
        log.done(f"{turn}.0", result)
    return log


def compact(log: Log, transcript: Transcript, limit: int) -> dict[str, Any]:
    """Compact as the engine does: what was planned goes through the timeline."""
    payload = plan_compaction(transcript, limit)
    assert payload is not None
    transcript.add(log.add(K.COMPACTED, payload))
    return payload


def results(messages: tuple[Message, ...]) -> list[Result]:
    return [message for message in messages if isinstance(message, Result)]


def words(message: Message) -> str:
    assert isinstance(message, User | Result)
    return "\n".join(block.text for block in message.blocks if isinstance(block, Text))


class TestEstimates:
    def test_four_bytes_are_about_a_token(self) -> None:
        assert estimated_tokens("") == 0
        assert estimated_tokens("abcde") == 2
        assert estimated_tokens("漢字漢字") == 3
        assert estimated_tokens("\ud800") == 1

    def test_everything_in_a_message_weighs_something(self) -> None:
        picture = User((Image("a.png", "image/png", "d"),))
        assert estimate_tokens([picture]) >= IMAGE_TOKENS
        light = Assistant("")
        heavy = Assistant("", thinking=(Thinking("x" * 400),))
        assert estimate_tokens([heavy]) == estimate_tokens([light]) + 100

    def test_a_transcript_knows_its_estimate_without_counting_again(self) -> None:
        transcript = transcript_of(long_task(5).entries, FENCE)
        assert transcript.tokens == estimate_tokens(transcript.messages())

    def test_what_a_turn_really_took_corrects_the_estimate(self) -> None:
        log = long_task(3)
        estimated = transcript_of(log.entries, FENCE).tokens
        log.turn(text="Hm.", usage={"input_tokens": estimated + 5000})
        transcript = transcript_of(log.entries, FENCE)
        assert transcript.tokens == estimate_tokens(transcript.messages()) + 5000


class TestPlans:
    def test_what_fits_is_never_compacted(self) -> None:
        transcript = transcript_of(long_task(10).entries, FENCE)
        assert plan_compaction(transcript, int(transcript.tokens / TRIGGER) + 1) is None

    def test_old_results_become_a_summary_and_their_tag_and_new_ones_stay(self) -> None:
        log = long_task(10)
        transcript = transcript_of(log.entries, FENCE)
        whole = results(transcript.messages())
        tags = {f"c{turn}_0": log.entries[2 + 2 * turn].tag for turn in range(10)}
        payload = compact(log, transcript, 30_000)
        shown = results(transcript.messages())
        assert [one.call_id for one in shown] == [one.call_id for one in whole]
        assert all(tags[one.call_id] in words(one) for one in shown)
        old = payload["turns"]
        assert 0 < old <= 8
        for one, before in zip(shown[:old], whole[:old], strict=True):
            assert words(one).startswith(f"[shortened; whole result: {tags[one.call_id]}]\n")
            assert "word word" in words(one)
            assert "10000 characters" in words(one)
            assert len(words(one)) < len(words(before)) / 10
        assert shown[old:] == whole[old:]

    def test_the_first_message_and_all_the_agent_said_stay(self) -> None:
        log = long_task(10)
        transcript = transcript_of(log.entries, FENCE)
        before = transcript.messages()
        compact(log, transcript, 30_000)
        after = transcript.messages()
        assert after[:2] == before[:2]
        assert [m.text for m in after if isinstance(m, Assistant)] == [f"Thought {n}." for n in range(10)]

    def test_thinking_goes_with_old_turns_and_stays_with_the_newest(self) -> None:
        log = long_task(10)
        transcript = transcript_of(log.entries, FENCE)
        payload = compact(log, transcript, 30_000)
        turns = [m for m in transcript.messages() if isinstance(m, Assistant)]
        assert [bool(turn.thinking) for turn in turns] == [n >= payload["turns"] for n in range(10)]

    def test_the_payload_says_what_it_comes_to(self) -> None:
        log = long_task(10)
        transcript = transcript_of(log.entries, FENCE)
        before = transcript.tokens
        payload = compact(log, transcript, 30_000)
        assert payload["tokens_before"] == before
        assert payload["tokens_after"] == transcript.tokens == estimate_tokens(transcript.messages())
        assert transcript.tokens < 0.6 * 30_000

    def test_a_second_compaction_goes_on_from_the_first(self) -> None:
        log = long_task(10)
        transcript = transcript_of(log.entries, FENCE)
        first = compact(log, transcript, 30_000)
        assert plan_compaction(transcript, 30_000) is None
        for turn in range(10, 20):
            start = len(log.entries)
            log.turn(("read_file", {}))
            log.done(f"{turn}.0", "more " * 2000)
            for entry in log.entries[start:]:
                transcript.add(entry)
        second = compact(log, transcript, 30_000)
        assert second["turns"] > first["turns"]
        listed = [one["call"] for payload in (first, second) for one in payload["results"]]
        assert listed == [f"c{turn}_0" for turn in range(second["turns"])]
        assert as_bytes(transcript.messages()) == as_bytes(transcript_of(log.entries, FENCE).messages())

    def test_a_result_shorter_than_its_short_form_stays_as_it_is(self) -> None:
        log = Log()
        log.open()
        for turn in range(10):
            log.turn(("stop_and_think", {"thoughts": "hm"}), ("read_file", {}))
            log.done(f"{turn}.0", {"logged": True})
            log.done(f"{turn}.1", "word " * 2000)
        payload = compact(log, transcript_of(log.entries, FENCE), 30_000)
        assert {one["call"].partition("_")[2] for one in payload["results"]} == {"1"}

    def test_long_arguments_are_shortened_only_where_results_are_not_enough(self) -> None:
        log = long_task(10, result="ok", content="word " * 2000)
        transcript = transcript_of(log.entries, FENCE)
        payload = compact(log, transcript, 30_000)
        turns = [m for m in transcript.messages() if isinstance(m, Assistant)]
        assert payload["arguments"]
        old, new = turns[0].calls[0].arguments, turns[-1].calls[0].arguments
        assert isinstance(old, dict)
        assert isinstance(new, dict)
        assert old["path"] == "0.md"
        assert old["content"].startswith("word word")
        assert old["content"].endswith("[shortened; 10000 characters in all]")
        assert new["content"] == "word " * 2000
        assert "arguments" not in compact(long_task(10), transcript_of(long_task(10).entries, FENCE), 30_000)

    def test_what_was_saved_to_short_term_memory_stays_in_view(self) -> None:
        note = "Revenue is in euros. " * 100
        log = Log()
        log.open()
        log.turn(("save_to_short_term_memory", {"content": note}))
        log.done("0.0", {"logged": True})
        for turn in range(1, 11):
            log.turn(("write_file", {"content": "word " * 2000}))
            log.done(f"{turn}.0", "ok")
        transcript = transcript_of(log.entries, FENCE)
        assert compact(log, transcript, 30_000)["arguments"]
        turn = transcript.messages()[2]
        assert isinstance(turn, Assistant)
        assert turn.calls[0].arguments == {"content": note}

    def test_the_last_two_turns_stay_whole_while_that_leaves_room(self) -> None:
        log = long_task(4, result="word " * 6000)
        transcript = transcript_of(log.entries, FENCE)
        payload = compact(log, transcript, 20_000)
        assert payload["turns"] == 2

    def test_even_the_newest_results_are_shortened_before_a_task_has_to_end(self) -> None:
        log = long_task(1, result="word " * 9000)
        transcript = transcript_of(log.entries, FENCE)
        assert not fits(transcript, 8_000)
        compact(log, transcript, 8_000)
        assert fits(transcript, 8_000)
        (result,) = results(transcript.messages())
        assert transcript.tokens > 6_000, "there was room for more of it"
        assert words(result).startswith("<result tag_task_1_0002 beginning ")
        turn = transcript.messages()[2]
        assert isinstance(turn, Assistant)
        assert turn.thinking

    def test_of_the_newest_result_as_much_is_shown_as_fits_and_how_to_read_on(self) -> None:
        text = "".join(f"{number:>9}\n" for number in range(9_000))
        log = long_task(3, result=text)
        transcript = transcript_of(log.entries, FENCE)
        compact(log, transcript, 8_000)
        *old, newest = results(transcript.messages())
        assert all(words(one).startswith("[shortened; whole result: ") for one in old)
        told = words(newest)
        shown = told.count("\n") * 10
        hint = json.loads(told[told.rindex("{") : told.rindex("}") + 1])
        assert shown > 15_000
        assert text[: hint["start"]] in told
        assert f"{len(text) - hint['start']} of its {len(text)} characters are not shown" in told
        assert hint["tag"] == transcript.receipts[newest.call_id].tag

        log.turn(("recall", hint))
        start = len(log.entries) - 1
        end = hint["start"] + hint["characters"]
        log.done("3.0", {"text": text[hint["start"] : end], "start": hint["start"]})
        for entry in log.entries[start:]:
            transcript.add(entry)
        compact(log, transcript, 8_000)
        *_, recalled = results(transcript.messages())
        assert "are not shown" not in words(recalled)
        assert text[:end].split()[-2] in words(recalled)
        assert as_bytes(transcript.messages()) == as_bytes(transcript_of(log.entries, FENCE).messages())

    def test_several_newest_results_share_what_is_left(self) -> None:
        log = Log()
        log.open()
        log.turn(*(("read_file", {"path": f"{n}.md"}) for n in range(3)))
        for index, size in enumerate((9000, 20, 9000)):
            log.done(f"0.{index}", "word " * size)
        transcript = transcript_of(log.entries, FENCE)
        compact(log, transcript, 8_000)
        first, short, last = map(words, results(transcript.messages()))
        assert short == words(results(transcript_of(log.entries[:-1], FENCE).messages())[1])
        assert 5_000 < len(first) < len(last) + 50 < 20_000

    def test_documents_of_a_newest_result_that_do_not_fit_are_named(self) -> None:
        log = Log()
        log.open()
        document = {"path": "analysis.md", "media_type": "text/markdown", "size_bytes": 9, "digest": "d"}
        document |= {"tokens": 9000, "text": "word " * 9000}
        log.turn(("route_to_analyst", {}))
        log.add(K.DELEGATED, {"to": "analyst"}, "0.0")
        log.done("0.0", "Up 15 %. " * 50, K.RETURNED, carried=[document])
        transcript = transcript_of(log.entries, FENCE)
        compact(log, transcript, 8_000)
        (result,) = results(transcript.messages())
        assert "Up 15 %. " * 50 in words(result)
        assert words(result).endswith('It came with the documents "analysis.md"; read_file reads them.')

    def test_where_nothing_is_enough_the_strongest_is_returned_and_does_not_fit(self) -> None:
        log = Log()
        log.open("word " * 9000)
        log.turn(("read_file", {}))
        log.done("0.0", "word " * 9000)
        transcript = transcript_of(log.entries, FENCE)
        payload = compact(log, transcript, 8_000)
        assert payload["results"] == [{"call": "c0_0", "tag": log.entries[2].tag, "summary": ""}]
        assert not fits(transcript, 8_000)
        assert plan_compaction(transcript, 8_000) is None

    def test_a_gain_that_is_not_worth_a_cache_is_left(self) -> None:
        log = Log()
        log.open("word " * 3000)
        for turn in range(4):
            log.turn(("read_file", {}))
            log.done(f"{turn}.0", "word " * 100)
        transcript = transcript_of(log.entries, FENCE)
        limit = int(transcript.tokens / 0.8)
        assert plan_compaction(transcript, limit) is None

    def test_documents_that_came_with_an_old_result_are_named_in_its_summary(self) -> None:
        log = Log()
        log.open()
        carried = [{"path": "analysis.md", "media_type": "text/markdown", "size_bytes": 9, "digest": "d"}]
        carried[0] |= {"tokens": 9000, "text": "word " * 6000}
        for turn in range(4):
            log.turn(("route_to_analyst", {}))
            log.add(K.DELEGATED, {"to": "analyst"}, f"{turn}.0")
            log.done(f"{turn}.0", "Up 15 %.", K.RETURNED, carried=carried)
        transcript = transcript_of(log.entries, FENCE)
        compact(log, transcript, 20_000)
        assert 'Up 15 %.\nwith the documents "analysis.md"' in words(results(transcript.messages())[0])

    def test_an_old_failure_keeps_its_words(self) -> None:
        log = long_task(4, result="word " * 6000)
        start = Log()
        start.open()
        start.turn(("read_file", {}))
        error = {"code": "FILE_NOT_FOUND", "message": "a.md is not there", "details": {"x": "y" * 2000}}
        start.add(K.CALLED, ending("failed", {"error": error}), "0.0")
        for entry in log.entries[3:]:
            start.entries.append(entry)
        transcript = transcript_of(start.entries, FENCE)
        payload = plan_compaction(transcript, 20_000)
        assert payload is not None
        assert payload["results"][0]["summary"].startswith("FILE_NOT_FOUND: a.md is not there")

    def test_the_context_of_a_question_is_shortened_too(self) -> None:
        question = Log("task_2")
        question.open("Euros?", type="ask_master", parent={"role": "analyst"})
        transcript = transcript_of(question.entries, FENCE, transcript_of(long_task(10).entries, FENCE))
        payload = compact(question, transcript, 30_000)
        assert payload["results"][0]["call"] == "mc0_0"
        assert fits(transcript, 30_000)


class TestLaws:
    @given(timelines(12), st.integers(500, 20_000))
    @settings(max_examples=150, deadline=None)
    def test_between_compactions_messages_only_grow_and_no_call_loses_its_result(
        self, entries: list[Entry], limit: int
    ) -> None:
        log = Log()
        transcript = Transcript(FENCE)
        shown: list[list[str]] = [[]]
        for entry in entries:
            transcript.add(entry)
            log.entries.append(entry)
            if transcript.open_calls or entry.kind is K.CLOSED:
                continue
            payload = plan_compaction(transcript, limit)
            if payload is not None:
                before = transcript.tokens
                added = log.add(K.COMPACTED, payload)
                transcript.add(added)
                assert transcript.tokens < before
                assert transcript.tokens == payload["tokens_after"]
                shown.append([])
            messages = transcript.messages()
            calls = [call.id for m in messages if isinstance(m, Assistant) for call in m.calls]
            assert calls == [result.call_id for result in results(messages)]
            for result in results(messages):
                assert transcript.receipts[result.call_id].tag in words(result)
            shown.append(as_bytes(messages))
        for earlier, later in pairwise(shown):
            assert not later or later[: len(earlier)] == earlier
        assert as_bytes(transcript_of(log.entries, FENCE).messages()) == as_bytes(transcript.messages())


def test_what_strangers_wrote_stays_marked_however_often_it_is_shortened() -> None:
    log = long_task(12, result={"text": "word " * 2000, "untrusted": True})
    transcript = transcript_of(log.entries, FENCE)
    assert all("<untrusted " in words(one) for one in results(transcript.messages()))
    compact(log, transcript, 30_000)
    shown = results(transcript.messages())
    short = [one for one in shown if words(one).startswith("[shortened")]
    assert short
    for one in (*shown, *(short_result(again, "tag_x", "their words", FENCE) for again in short)):
        assert "<untrusted " in words(one)
        assert "<summary" not in words(one)
