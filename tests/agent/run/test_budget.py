"""The law of an event's budget, over its whole life: refusal, a last turn, fresh grants, the dead letter, in words."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest

from agent.event import SELF_CREATED, Event
from agent.model.messages import Message
from agent.run.act import REFUSED
from agent.run.budget import MAX_GRANTS, SPARE_MODEL_CALLS, Budget, RunLimits
from agent.tools.tool import tool
from memory.json_value import Json
from tests.agent.mind import Start, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

GAVE_UP = ["I have tried this as often as I may, and I am giving it up."]
OUT = ["I have used up the steps I may take for this.", "I kept a note of how far I got."]
HELLO = ("reply", '{"text": "It is about ten."}')


def restless() -> Callable[[Sequence[Message]], Message]:
    """A model that never stops making new calls."""
    number = count()

    def think(messages: Sequence[Message]) -> Message:
        at = next(number)
        return calls(("create_event", f'{{"content": "part {at}"}}'), prefix=f"c{at}")

    return think


async def comes_back(mind: TestMind, event: Event) -> None:
    """Hand the event over again, as the mailbox does once a person speaks."""
    await mind.mailbox.wake("person")
    while (hand := await mind.mailbox.take()).event.id != event.id:
        await mind.mailbox.complete(hand.event.id, "", {})
    async with asyncio.timeout(5):
        await mind.loop.handle(hand)


@pytest.mark.shows("B7", "A3")
@pytest.mark.parametrize("most", [1, 2, 5])
async def test_over_its_life_an_event_has_its_budget_and_three_thoughts_then_the_dead_letter(
    tmp_path: Path, most: int
) -> None:
    model = ScriptedModel(*[restless()] * 60)
    event = spoken("count", max_tool_calls=most)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
        thoughts = [len(model.requests)]
        for _ in range(MAX_GRANTS):
            assert await mind.state_of(event) == "suspended"
            await comes_back(mind, event)
            thoughts.append(len(model.requests))
        filed = await mind.mailbox.find(event.id)
        assert filed is not None
        assert (filed.state, filed.reason) == ("dead", f"the budget was used up {MAX_GRANTS + 1} times")
        assert thoughts[0] == most + 2, "its calls, the refused one, and one turn to end"
        assert thoughts[-1] == filed.progress.model_calls == most + SPARE_MODEL_CALLS
        assert mind.outlet.said[-1:] == GAVE_UP, "told in words"


@pytest.mark.shows("B8")
async def test_a_last_turn_with_words_is_the_answer(tmp_path: Path) -> None:
    answers = [calls(("create_event", f'{{"content": "{n}"}}'), prefix=f"c{n}") for n in range(2)]
    model = ScriptedModel(*answers, calls(HELLO, prefix="last"))
    event = spoken("count", max_tool_calls=1)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
        assert mind.outlet.said == ["It is about ten."]
        assert await mind.state_of(event) == "completed"


@pytest.mark.shows("B8")
async def test_words_of_an_earlier_turn_do_not_make_up_for_a_last_one_without(tmp_path: Path) -> None:
    first = calls(("reply", '{"text": "Let me count."}'), ("create_event", '{"content": "a"}'), prefix="a")
    rest = [calls(("create_event", f'{{"content": "{n}"}}'), prefix=f"c{n}") for n in range(2)]
    async with a_mind(tmp_path, [ScriptedModel(first, *rest)]) as mind:
        await mind.handle(spoken("count", max_tool_calls=1))
        assert mind.outlet.said == ["Let me count.", *OUT]


@pytest.mark.shows("B7", "B1")
async def test_a_model_without_words_is_not_asked_for_ever(tmp_path: Path) -> None:
    model = ScriptedModel(*[Message("assistant")] * 20)
    event = spoken("hello", max_tool_calls=2)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
        assert len(model.requests) == 2 + SPARE_MODEL_CALLS
        assert await mind.state_of(event) == "suspended"
        assert mind.outlet.said == OUT


@pytest.mark.shows("B7", "A6")
async def test_calls_stay_counted_when_work_is_put_aside_and_the_process_is_another(tmp_path: Path) -> None:
    waits = ("suspend_event", '{"note": "one is made", "wake_on": "parcel"}')
    first = calls(("create_event", '{"content": "1"}'), waits, prefix="a")
    model = ScriptedModel(first, calls(("create_event", '{"content": "2"}'), prefix="b"), calls(HELLO, prefix="c"))
    event = spoken("make two", max_tool_calls=1)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.mailbox.wake("parcel")
        await mind.handle_next()
        assert len(await mind.mailbox.children(event.id)) == 1
    assert model.requests[2][-1].content == REFUSED


@pytest.mark.shows("B7", "A24")
async def test_a_thought_counts_although_the_process_dies_in_it(tmp_path: Path) -> None:
    event = spoken("hello", max_tool_calls=2)
    async with a_mind(tmp_path, [model := ScriptedModel(calls(HELLO))]) as mind:
        model.hold[0] = asyncio.Event()
        asked = aiter(mind.mind.bus.observe("llm.requests"))
        await mind.mailbox.enqueue(event)
        hand = await mind.mailbox.take()
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(hand))
            await anext(asked)
            life.cancel()
    async with a_mind(tmp_path, [ScriptedModel(calls(HELLO))]) as mind:
        hand = await mind.mailbox.take()
        assert hand.model_calls == 1


async def test_her_own_work_comes_back_by_itself_after_a_while(tmp_path: Path) -> None:
    event = Event(type=SELF_CREATED, content="count", source="self", max_tool_calls=1)
    async with a_mind(tmp_path, [ScriptedModel(*[restless()] * 9)]) as mind:
        await mind.handle(event)
        filed = await mind.mailbox.find(event.id)
        assert filed is not None
        assert (filed.state, filed.waits_for, filed.due_at is not None) == ("suspended", "person", True)
        assert filed.progress.note.startswith("The budget was used up. Last calls: create_event")
        assert mind.outlet.said == [], "nobody waits for words"


@pytest.mark.shows("B8")
async def test_the_system_caps_what_an_event_may_ask_for(tmp_path: Path) -> None:
    model = ScriptedModel(*[restless()] * 60)
    async with a_mind(tmp_path, [model], start=Start(limits=RunLimits(max_tool_calls=5))) as mind:
        await mind.handle(spoken("count", max_tool_calls=50))
    assert len(model.requests) == 5 + 2


@pytest.mark.shows("B8", "F14")
@pytest.mark.parametrize(("owner", "most"), [("ada", 3), ("bob", 5), ("eve", 5)])
async def test_an_owner_may_want_less_and_gets_no_more(tmp_path: Path, owner: str, most: int) -> None:
    model = ScriptedModel(*[restless()] * 60)
    limits = RunLimits(5, {"ada": 3, "bob": 50}.get)
    async with a_mind(tmp_path, [model], start=Start(limits=limits)) as mind:
        await mind.handle(spoken("count", max_tool_calls=50, owner_key=owner))
    assert len(model.requests) == most + 2


@pytest.mark.shows("B7")
def test_of_parallel_calls_those_that_fit_are_granted() -> None:
    budget = Budget(3)
    assert [budget.grant(2), budget.grant(2), budget.grant(1)] == [2, 1, 0]
    assert budget.left == 0


@pytest.mark.shows("B1")
@pytest.mark.parametrize(
    ("spellings", "carried_out"),
    [
        (['{"q": 1, "p": 2}', '{"p":2,"q":1}', '{ "q":1, "p":2 }', '{"q": 1, "p": 2}'], 2),
        (['{"q": 1, "p": 2}', '{"q": 2, "p": 2}', '{"q": 3, "p": 2}', '{"q": 4, "p": 2}'], 4),
    ],
)
async def test_the_third_identical_call_of_a_run_is_told_that_it_is_one(
    tmp_path: Path, spellings: list[str], carried_out: int
) -> None:
    done: list[int] = []

    async def look(p: int, q: int) -> Json:
        """Look."""
        done.append(q)
        return q

    asked = [calls(("look", arguments), prefix=f"c{n}") for n, arguments in enumerate(spellings)]
    model = ScriptedModel(*asked, calls(HELLO, prefix="last"))
    async with a_mind(tmp_path, [model], [tool(look, effect="pure")]) as mind:
        await mind.handle(spoken("look"))
        results = [message.content for message in model.requests[-1] if message.role == "tool"]
    assert len(done) == carried_out
    assert [result.startswith("refused: you have made this very call") for result in results] == [
        n >= carried_out for n in range(len(spellings))
    ]
