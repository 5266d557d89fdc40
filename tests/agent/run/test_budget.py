"""The law of an event's budget, over its whole life: refusal, a last turn, fresh grants, the dead letter, in words."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import pytest

from agent.event import SELF_CREATED, Event
from agent.mailbox import Allowance, Mailbox
from agent.mailbox.economy import PUT_OFF
from agent.model.messages import Message, Usage
from agent.run.act import MOST_REPEATS, REFUSED
from agent.run.budget import Budget, RunLimits
from agent.tools.tool import tool
from memory.json_value import Json
from tests.agent.mind import Start, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

GAVE_UP = ["I have tried as often as I may, and I am giving this up: count."]
OUT = ["I have used up the steps I may take for: count.", "I kept a note of how far I got."]
HELLO = ("reply", '{"text": "It is about ten."}')


def restless() -> Callable[[Sequence[Message]], Message]:
    """A model that never stops making new calls."""
    number = count()

    def think(messages: Sequence[Message]) -> Message:
        at = next(number)
        return calls(("create_event", f'{{"content": "part {at}"}}'), prefix=f"c{at}")

    return think


async def comes_back(mind: TestMind, event: Event) -> None:
    """Hand the event over again, as the mailbox does once a person speaks where it was asked."""
    await mind.mailbox.wake(f"person in {event.session_id}")
    while (hand := await mind.mailbox.take()).event.id != event.id:
        await mind.mailbox.complete(hand.event.id, "", {})
    async with asyncio.timeout(120):
        await mind.loop.handle(hand)


@pytest.mark.shows("B7", "A3")
@pytest.mark.parametrize("most", [1, 2, 5])
async def test_each_grant_of_an_event_is_as_fresh_as_the_first_and_after_the_third_comes_the_dead_letter(
    tmp_path: Path, most: int
) -> None:
    model = ScriptedModel(*[restless()] * 60)
    event = spoken("count", max_tool_calls=most)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
        assert mind.outlet.said == OUT
        thoughts, made = [len(model.requests)], [len(await mind.mailbox.children(event.id))]
        for _ in range(2):
            assert await mind.state_of(event) == "suspended"
            await comes_back(mind, event)
            thoughts.append(len(model.requests))
            made.append(len(await mind.mailbox.children(event.id)))
        filed = await mind.mailbox.find(event.id)
        assert filed is not None
        assert (filed.state, filed.reason) == ("dead", "the budget was used up 3 times")
        assert thoughts == [(most + 2) * runs for runs in (1, 2, 3)], "its calls, the refused one, and one turn to end"
        assert made == [most * runs for runs in (1, 2, 3)]
        assert mind.outlet.said == [*OUT, *GAVE_UP], "told in words, and no sentence twice"


@pytest.mark.shows("B7")
@pytest.mark.parametrize("most", [1, 4, 10])
async def test_a_grant_has_its_budget_and_three_thoughts_where_no_call_is_counted(tmp_path: Path, most: int) -> None:
    """reply, complete_event, suspend_event and check_mailbox are exempt, so that only the thoughts end it."""
    number = count()

    def think(_: Sequence[Message]) -> Message:
        at = next(number)
        return calls(("reply", f'{{"text": "Part {at}."}}'), ("check_mailbox", "{}"), prefix=f"c{at}")

    model = ScriptedModel(*[think] * 60)
    event = spoken("count", max_tool_calls=most)
    async with a_mind(tmp_path, [model]) as mind:
        for runs in (1, 2, 3):
            await (comes_back(mind, event) if runs > 1 else mind.handle(event))
            assert len(model.requests) == (most + 3) * runs
        assert await mind.state_of(event) == "dead"
        refused = [each.content for request in model.requests for each in request if each.content == REFUSED]
    assert refused == []


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
        assert len(model.requests) == 2 + 3
        assert await mind.state_of(event) == "suspended"
        assert mind.outlet.said == ["I have used up the steps I may take for: hello.", OUT[1]]


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
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(hand))
            await anext(asked)
            life.cancel()
    async with a_mind(tmp_path, [ScriptedModel(calls(HELLO))]) as mind:
        hand = await mind.mailbox.take()
        assert hand.model_calls == 1


async def test_its_own_work_comes_back_by_itself_after_a_while(tmp_path: Path) -> None:
    event = Event(type=SELF_CREATED, content="count", source="self", max_tool_calls=1)
    async with a_mind(tmp_path, [ScriptedModel(*[restless()] * 9)]) as mind:
        await mind.handle(event)
        filed = await mind.mailbox.find(event.id)
        assert filed is not None
        assert (filed.state, filed.waits_for, filed.due_at is not None) == ("suspended", "person", True)
        assert filed.progress.note.startswith("The budget was used up, 1 of 3 times. Last calls: create_event")
        assert mind.outlet.said == [], "nobody waits for words"


@pytest.mark.shows("B8", "A3")
@pytest.mark.parametrize(
    ("limits", "asked", "most"),
    [
        (RunLimits(), None, 10),
        (RunLimits(10), 50, 10),
        (RunLimits(5), None, 5),
        (RunLimits(5), 50, 5),
        (RunLimits(5), 3, 3),
        (RunLimits(10, of_type={"asr_transcript": 7, "timer": 2}), None, 7),
        (RunLimits(5, of_type={"asr_transcript": 7, "timer": 2}), None, 5),
        (RunLimits(10, of_type={"timer": 2}), None, 10),
        (RunLimits(10, of_type={"asr_transcript": 7}), 9, 9),
        (RunLimits(10), 0, 0),
    ],
)
async def test_an_event_may_use_what_it_says_else_what_its_type_may_and_never_more_than_the_cap(
    tmp_path: Path, limits: RunLimits, asked: int | None, most: int
) -> None:
    model = ScriptedModel(*[restless()] * 60)
    event = spoken("count", max_tool_calls=asked)
    async with a_mind(tmp_path, [model], start=Start(limits=limits)) as mind:
        await mind.handle(event)
        assert len(await mind.mailbox.children(event.id)) == most
        assert mind.outlet.said == OUT
    assert len(model.requests) == most + 2


@pytest.mark.shows("B7")
async def test_the_calls_that_no_budget_counts_are_these(tmp_path: Path) -> None:
    async with a_mind(tmp_path, []) as mind:
        free = {tool.name for tool in mind.mind.registry if not tool.counted}
        counted = {tool.name for tool in mind.mind.registry if tool.counted}
    assert free == {"reply", "complete_event", "suspend_event", "check_mailbox"}
    assert counted == {"create_event", "mailbox", "compress_context"}


@pytest.mark.shows("B7", "A3")
async def test_a_day_that_is_used_up_ends_its_own_work_until_the_next_without_a_grant(tmp_path: Path) -> None:
    event = Event(type=SELF_CREATED, content="count", source="self")
    start = Start(mailbox=lambda database: Mailbox(database, allowance=Allowance(calls_per_day=4)))
    async with a_mind(tmp_path, [model := ScriptedModel(*[restless()] * 9)], start=start) as mind:
        await mind.handle(event)
        filed = await mind.mailbox.find(event.id)
        assert filed is not None
        assert (len(model.requests), filed.state, filed.progress.grants) == (4, "suspended", 0)
        assert filed.progress.note.startswith(PUT_OFF + " Last calls: create_event")
        await mind.handle(spoken("hello", max_tool_calls=1))
        assert len(model.requests) == 4 + 3, "a person is answered"


@pytest.mark.shows("B7", "A16")
async def test_what_is_left_of_a_task_that_took_its_calls_is_given_up_and_a_person_is_answered(tmp_path: Path) -> None:
    start = Start(mailbox=lambda database: Mailbox(database, allowance=Allowance(calls_per_task=5)))
    async with a_mind(tmp_path, [model := ScriptedModel(*[restless()] * 60)], start=start) as mind:
        event = spoken("count", max_tool_calls=3)
        await mind.handle(event)
        asked = len(model.requests)
        for _ in range(3):
            await mind.handle_next()
        assert len(model.requests) - asked == 5, "of all three together"
        found = [await mind.mailbox.find(child.id) for child in await mind.mailbox.children(event.id)]
        reasons = {each.reason for each in found if each is not None and each.state == "dead"}
        assert reasons == {"what came of its task has taken all the model calls that it may"}
        await mind.handle(spoken("hello", max_tool_calls=1))
        assert len(model.requests) == asked + 5 + 3


@pytest.mark.shows("B7")
async def test_what_its_own_work_costs_is_counted_for_the_day(tmp_path: Path) -> None:
    prices = [Usage(100, 0, 10, cost) for cost in (0.25, 0.5, 0.125)]
    think = restless()
    model = ScriptedModel(think, think, calls(HELLO, ("complete_event", "{}"), prefix="z"), costs=prices)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(Event(type=SELF_CREATED, content="count", source="self"))
        told = await mind.mailbox.economy("household")
        assert (told["model_calls_today"], told["usd_today"]) == (3, 0.875)


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


@pytest.mark.shows("B1")
async def test_whoever_makes_the_same_call_for_ever_has_one_more_answer(tmp_path: Path) -> None:
    """A small model on a small machine takes a minute for the answers that its budget would still let it give."""

    async def look() -> Json:
        """Look."""
        return "nothing"

    asked = [calls(("look", "{}"), prefix=f"c{n}") for n in range(20)]
    model = ScriptedModel(*asked)
    async with a_mind(tmp_path, [model], [tool(look, effect="pure")]) as mind:
        event = spoken("look")
        await mind.handle(event)
        assert await mind.state_of(event) == "suspended"
    assert len(model.requests) == 2 * MOST_REPEATS + 2
