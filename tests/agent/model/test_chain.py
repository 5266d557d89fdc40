"""The chain of models: breakers on an own clock, prices, and a choice that waits for the next event."""

from collections.abc import Sequence

import pytest

from agent.errors import ContextTooLong, ModelUnavailable
from agent.model.chain import FAILURES, FIRST_REST, JITTER, LONGEST_REST, Chain, Guarded, Prices
from agent.model.faults import broken
from agent.model.interface import Answer
from agent.model.messages import Message, ToolSpec, Usage
from tests.fakes import ScriptedModel

HELLO = [Message("system", "s"), Message("user", "hello")]
YES = Message("assistant", "Yes.")


class ManualClock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds


def away(retry_after: float = 0.0) -> ModelUnavailable:
    return ModelUnavailable("it cannot be reached", retry_after=retry_after)


async def ask(model: Guarded) -> Answer:
    last = [item async for item in model.stream(HELLO, [])][-1]
    assert isinstance(last, Answer)
    return last


@pytest.mark.parametrize(("asked", "kept"), [(7.0, 7.0), (86_400.0, 900.0)])
async def test_what_a_server_asks_for_is_kept_to_at_once_within_reason(asked: float, kept: float) -> None:
    model = Guarded("first", ScriptedModel(away(asked)), clock=ManualClock())
    with pytest.raises(ModelUnavailable):
        await ask(model)
    assert model.breaker.rest == kept


async def test_an_answer_that_comes_to_no_end_keeps_no_other_question_waiting() -> None:
    model = Guarded(
        "first",
        ScriptedModel(*(broken("first", "broke off", is_of_answer=True) for _ in range(8)), YES),
        clock=ManualClock(),
    )
    for _ in range(8):
        with pytest.raises(ModelUnavailable):
            await ask(model)
    assert model.breaker.rest == 0.0
    assert (await ask(model)).message == YES


async def test_who_stays_away_rests_ever_longer_up_to_a_bound() -> None:
    clock, rests = ManualClock(), []
    model = Guarded("first", ScriptedModel(*(away() for _ in range(8))), clock=clock)
    for _ in range(8):
        with pytest.raises(ModelUnavailable):
            await ask(model)
        rests.append(model.breaker.rest)
        clock.advance(model.breaker.rest)
    assert rests[: FAILURES - 1] == [0] * (FAILURES - 1)
    assert rests[FAILURES - 1] == pytest.approx(FIRST_REST, rel=JITTER)
    assert rests[-1] == pytest.approx(LONGEST_REST, rel=JITTER)


@pytest.mark.shows("F6")
async def test_who_fails_twice_is_passed_over_until_its_rest_is_over() -> None:
    clock = ManualClock()
    first = Guarded("first", ScriptedModel(away(), away(), YES), clock=clock)
    spare, last = Guarded("spare", ScriptedModel()), Guarded("offline", ScriptedModel())
    chain = Chain([first, spare, last], frozenset({"spare"}))
    for _ in range(2):
        assert chain.to_ask == [first, spare, last]
        with pytest.raises(ModelUnavailable):
            await ask(first)
    assert chain.to_ask == [spare, last]
    assert chain.to_ask[-1] is last
    clock.advance(FIRST_REST)
    assert chain.to_ask == [first, spare, last]
    await ask(first)
    assert chain.to_ask == [first, spare, last]


@pytest.mark.shows("F6")
async def test_retry_after_of_a_server_lets_it_rest_at_the_first_failure() -> None:
    clock = ManualClock()
    first = Guarded("first", ScriptedModel(away(7.0)), clock=clock)
    chain = Chain([first, Guarded("offline", ScriptedModel())])
    with pytest.raises(ModelUnavailable):
        await ask(first)
    assert len(chain.to_ask) == 1
    clock.advance(7.0)
    assert len(chain.to_ask) == 2


@pytest.mark.shows("F3", "F2")
def test_another_model_thinks_from_the_next_event_on() -> None:
    chain = Chain([Guarded(alias, ScriptedModel(name=alias)) for alias in ("a", "b", "offline")])
    assert [model.name for model in chain.to_ask] == ["a", "offline"]
    chain.use("b")
    assert chain.first.name == "a"
    assert chain.settle() == "b"
    assert [model.name for model in chain.to_ask] == ["b", "offline"]
    chain.use("offline")
    chain.settle()
    assert [model.name for model in chain.to_ask] == ["offline"]
    with pytest.raises(KeyError):
        chain.use("nobody")


async def test_what_calls_cost_is_counted() -> None:
    model = Guarded("a", ScriptedModel(YES, YES), Prices(prompt=2.0, cached=0.2, completion=10.0))
    chain = Chain([model])
    answer = await ask(model)
    await ask(model)
    assert answer.usage.cost == pytest.approx((10 * 2.0 + 90 * 0.2 + 10 * 10.0) / 1e6)
    assert chain.spent.calls == 2
    assert chain.describe()["since_start"] == {
        "calls": 2,
        "prompt_tokens": 200,
        "cached_share": 0.9,
        "completion_tokens": 20,
        "cost_usd": round(2 * answer.usage.cost, 6),
    }


async def test_every_observer_is_told_of_each_answer() -> None:
    chain = Chain.of([ScriptedModel(YES)])
    today: list[Usage] = []
    chain.observe(today.append)
    await ask(chain.models[0])
    assert (chain.spent.calls, len(today)) == (1, 1), "the chain still counts itself"


def test_without_a_price_for_the_cache_it_costs_what_the_rest_does() -> None:
    assert Prices(prompt=1.0).of(Usage(100, 90, 50)) == pytest.approx(100 / 1e6)


class Local(ScriptedModel):
    """A model whose server reads ahead."""

    def __init__(self) -> None:
        super().__init__(name="local")
        self.read: list[Sequence[Message]] = []

    async def prefill(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        self.read.append(messages)


async def test_warming_lets_a_local_server_read_what_is_likely_to_go_on() -> None:
    local = Local()
    said: list[tuple[list[Message], list[ToolSpec]]] = []
    chain = Chain([Guarded("local", local), Guarded("offline", ScriptedModel())], prefix=lambda: next(iter(said), None))
    await chain.warm()
    assert local.read == []  # nothing was said yet
    said.append((HELLO, []))
    await chain.warm()
    assert local.read == [HELLO]


def test_a_plain_list_becomes_a_chain_in_its_order() -> None:
    models = [ScriptedModel(name="a"), ScriptedModel(name="b"), ScriptedModel(name="offline")]
    chain = Chain.of(models)
    assert [model.name for model in chain.to_ask] == ["a", "b", "offline"]
    assert Chain.of(chain) is chain


async def test_a_list_that_is_too_long_says_nothing_about_the_model() -> None:
    model = Guarded("a", ScriptedModel(*[ContextTooLong("too long")] * 3))
    for _ in range(3):
        with pytest.raises(ContextTooLong):
            await ask(model)
    assert model.breaker.rest == 0


def test_a_call_that_lost_is_counted_at_its_price_and_as_a_failure() -> None:
    model = Guarded("a", ScriptedModel(), Prices(prompt=2.0))
    chain = Chain([model, Guarded("offline", ScriptedModel())])
    assert [model.lost(1000).cost for _ in range(FAILURES)] == [pytest.approx(0.002)] * FAILURES
    assert (chain.spent.calls, chain.spent.prompt_tokens) == (FAILURES, 1000 * FAILURES)
    assert model.breaker.rest > 0
