"""Trying again, and falling back, over real sockets; nobody really waits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from brasstag.models.address import destination
from brasstag.models.failures import Transient
from brasstag.models.provider.provider import ProviderModel
from brasstag.models.retry import LONGEST_WAIT, RetryingModel
from brasstag.words.errors import Code
from brasstag.words.turns import ModelError, Retrying
from tests.models.http_server import HANGING, HttpServer, Reply, as_json, chat_text
from tests.models.support import asking, compatible, turn_of

BUSY = as_json({"error": {"message": "slow down"}}, 429)
BROKEN = as_json({"error": {"message": "it broke"}}, 500)
CUT = Reply(chat_text("Half an").pieces[:2], breaks=True)


class Waits(list[float]):
    """Writes down how long somebody would have waited."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@asynccontextmanager
async def two(first: Reply, second: Reply) -> AsyncIterator[tuple[RetryingModel, HttpServer, HttpServer]]:
    """A model and its fallback, and the servers behind them."""
    async with (
        HttpServer(first) as server,
        HttpServer(second) as other,
        compatible(server.url, "first") as model,
        compatible(other.url, "second") as fallback,
    ):
        yield RetryingModel(model, fallback, tries=2, sleep=Waits()), server, other


async def test_what_works_at_the_third_try_is_the_answer() -> None:
    waits = Waits()
    async with HttpServer(BUSY, BROKEN, chat_text("at last")) as server, compatible(server.url) as model:
        turn, _ = await turn_of(RetryingModel(model, sleep=waits))
    assert (turn.text, turn.note) == ("at last", "")
    assert len(waits) == 2
    assert 0.25 <= waits[0] <= 0.5
    assert 0.5 <= waits[1] <= 1


async def test_a_provider_is_left_alone_for_as_long_as_it_asks() -> None:
    waits = Waits()
    asks = as_json({"error": {"message": "slow down"}}, 429, retry_after="11")
    async with HttpServer(asks, chat_text("ok")) as server, compatible(server.url) as model:
        await turn_of(RetryingModel(model, sleep=waits))
    assert waits == [11]


async def test_a_provider_that_wants_an_hour_is_not_waited_for() -> None:
    waits = Waits()
    asks = as_json({"error": {"message": "slow down"}}, 429, retry_after="3600")
    assert LONGEST_WAIT < 3600
    async with HttpServer(asks) as server, compatible(server.url) as model:
        with pytest.raises(ModelError, match="fallback"):
            await turn_of(RetryingModel(model, sleep=waits))
        assert len(server.asked) == 1
    assert waits == []


async def test_tries_are_bounded_and_the_failure_says_what_to_do() -> None:
    async with HttpServer(BROKEN) as server, compatible(server.url) as model:
        with pytest.raises(ModelError, match=r"it broke \(3 tries\).*later, or name a fallback") as raised:
            await turn_of(RetryingModel(model, tries=3, sleep=Waits()))
        assert len(server.asked) == 3
    assert raised.value.code is Code.MODEL_FAILED
    assert not isinstance(raised.value, Transient)


async def test_an_answer_that_broke_off_is_asked_for_again_as_a_whole() -> None:
    async with HttpServer(CUT, chat_text("Half an", " hour")) as server, compatible(server.url) as model:
        turn, heard = await turn_of(RetryingModel(model, sleep=Waits()))
        assert server.asked[0].body == server.asked[1].body
    assert turn.text == "Half an hour"
    assert heard[0] == "Half an"
    assert "asking again" in heard[1]
    assert heard[2:] == ["Half an", " hour"]


async def test_a_bad_key_fails_at_once_and_nobody_falls_back() -> None:
    refused = as_json({"error": {"message": "no"}}, 401)
    async with two(refused, chat_text("ok")) as (retrying, server, second):
        with pytest.raises(ModelError) as raised:
            await turn_of(retrying)
        assert (len(server.asked), len(second.asked)) == (1, 0)
    assert raised.value.code is Code.MODEL_NOT_CONFIGURED


async def test_the_turn_says_that_the_fallback_answered_and_why() -> None:
    async with two(BROKEN, chat_text("from the other")) as (retrying, _, _):
        turn, _ = await turn_of(retrying)
    assert turn.text == "from the other"
    assert turn.model == "openai-compatible:second"
    assert "openai-compatible:second" in turn.note
    assert "it broke" in turn.note
    assert retrying.name == "openai-compatible:first"


async def test_an_account_without_credit_goes_to_the_fallback_without_waiting() -> None:
    empty = as_json({"error": {"message": "you ran out", "code": "insufficient_quota"}}, 429)
    async with two(empty, chat_text("ok")) as (retrying, server, _):
        turn, _ = await turn_of(retrying)
        assert len(server.asked) == 1
    assert turn.text == "ok"


async def test_half_an_answer_of_the_first_is_not_mixed_with_that_of_the_fallback() -> None:
    async with two(CUT, chat_text("whole")) as (retrying, _, _):
        turn, heard = await turn_of(retrying)
    again = "\n[the answer broke off; asking again]\n"
    assert heard == ["Half an", again, "Half an", again, "whole"]
    assert turn.text == "whole"


async def test_when_both_fail_both_are_told() -> None:
    async with two(BROKEN, as_json({"error": {"message": "nor I"}}, 400)) as (retrying, _, _):
        with pytest.raises(ModelError, match=r"it broke.*nor I"):
            await turn_of(retrying)


def test_only_what_fits_into_both_models_is_sent() -> None:
    models = [ProviderModel(destination(f"ollama:m?context={size}", {})) for size in (9000, 7000)]
    assert RetryingModel(*models).context_tokens == RetryingModel(*reversed(models)).context_tokens == 7000
    assert RetryingModel(models[0]).context_tokens == 9000


async def test_each_failed_try_is_told_before_the_wait_for_the_next() -> None:
    told: list[Retrying] = []
    asks = as_json({"error": {"message": "slow down"}}, 429, retry_after="8")
    async with HttpServer(asks, asks, chat_text("ok")) as server, compatible(server.url) as model:
        retrying = RetryingModel(model, sleep=Waits())
        await turn_of(retrying, asking(on_retry=told.append))
    assert [(one.seconds, one.next_try, one.tries) for one in told] == [(8, 2, 5), (8, 3, 5)]
    assert str(told[0]).endswith("HTTP 429, slow down; tries again in 8 s (2/5)")
    assert told[0].as_json()["model"] == "openai-compatible:m"


async def test_a_server_that_is_not_there_is_tried_twice_only() -> None:
    waits = Waits()
    async with HttpServer() as server:
        url = server.url
    async with compatible(url) as model:
        with pytest.raises(ModelError, match=r"cannot be reached.*\(2 tries\)"):
            await turn_of(RetryingModel(model, sleep=waits))
    assert len(waits) == 1


async def test_a_server_that_says_nothing_is_tried_twice_only() -> None:
    async with HttpServer(HANGING) as server, compatible(server.url, silence=0.1) as model:
        with pytest.raises(ModelError, match=r"did not answer in time \(2 tries\)"):
            await turn_of(RetryingModel(model, sleep=Waits()))
        assert len(server.asked) == 2
