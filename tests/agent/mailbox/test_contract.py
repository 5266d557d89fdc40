"""What every mailbox promises, in memory, in a file, or in a server."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from msgspec.structs import replace

from agent.event import TIMER, Event
from agent.mailbox import MAX_ATTEMPTS, Wake
from memory.json_value import Json
from tests.agent.mailboxes import Rig, filed, finish, handled, next_due, work


@pytest.mark.shows("A1", "A2", "A5", "A11")
@pytest.mark.parametrize(
    "content", ["", "plain", "心情 \U0001f600 </Human_Input>", "nul \0 inside\r\n\t\x1b", "\ud83d", "字" * 21_845]
)
async def test_an_event_comes_out_as_it_went_in_also_after_a_crash(rig: Rig, content: str) -> None:
    metadata: dict[str, Json] = {"evidence": {"confidence": 0.93, "language": "zh"}, "list": [1, None, "\0"]}
    event = Event(
        "x.never_heard_of",
        content,
        owner_key="alice",
        session_id="desk",
        parent_id="parent",
        source="http",
        target="mouth",
        max_tool_calls=3,
        priority=7,
        importance=0.75,
        not_before=rig.clock.after(-1).astimezone(timezone(timedelta(hours=8))),
        metadata=metadata,
        created_at=datetime(2026, 11, 21, 9, 59, 58, 123456, tzinfo=UTC),
    )
    assert await rig.mailbox.enqueue(event)
    assert (await rig.mailbox.take()).event == event
    await rig.restart()
    assert (await rig.mailbox.take()).event == event


async def test_what_cannot_be_kept_is_refused_and_not_half_kept(rig: Rig) -> None:
    with pytest.raises(ValueError, match="zone"):
        await rig.mailbox.enqueue(work(not_before=datetime(2026, 11, 21)))  # noqa: DTZ001  naive is the point
    with pytest.raises(TypeError):
        await rig.mailbox.enqueue(work(metadata={"x": object()}))
    assert sum((await rig.mailbox.counts()).values()) == 0


async def test_a_known_event_is_not_filed_again_whatever_became_of_it(rig: Rig) -> None:
    event = work(id="one")
    assert await rig.mailbox.enqueue(event)
    assert not await rig.mailbox.enqueue(work("other words", id="one"))
    assert await handled(rig) == ["work"]
    assert not await rig.mailbox.enqueue(event)
    assert await handled(rig) == []


@pytest.mark.shows("A4")
async def test_priority_then_arrival_also_after_a_restart(rig: Rig) -> None:
    for content, priority in (("c", 0), ("a", 20), ("d", 0), ("b", 10), ("e", 0)):
        await filed(rig, work(content, priority=priority))
    first = await rig.take_now()
    assert first.event.content == "a"
    await finish(rig, first.event.id)
    await rig.restart()
    assert await handled(rig) == ["b", "c", "d", "e"]


@pytest.mark.shows("A14", "A15")
async def test_one_event_is_in_hand_and_taking_again_gives_the_same(rig: Rig) -> None:
    assert await rig.mailbox.in_hand() is None
    await filed(rig, work("first"), work("second"))
    taken = await rig.mailbox.take()
    await filed(rig, work("urgent", priority=100))
    assert await rig.mailbox.take() == taken
    assert await rig.mailbox.in_hand() == taken
    assert (await rig.mailbox.counts())["in_hand"] == 1


@pytest.mark.shows("A15", "A22")
async def test_an_empty_mailbox_sleeps_until_something_comes_and_looks_only_then(rig: Rig) -> None:
    async with asyncio.TaskGroup() as together:
        taken = together.create_task(rig.mailbox.take())
        await rig.clock.someone_sleeps()
        for _ in range(24):
            rig.clock.advance(3600)
            await rig.clock.someone_sleeps()
        looked = len(rig.clock.waits)
        assert set(rig.clock.waits) == {None}  # an hour that passes is the test's doing: nothing sets an alarm
        await filed(rig, work("at last"))
    assert taken.result().event.content == "at last"
    assert len(rig.clock.waits) == looked == 25


@pytest.mark.shows("A17")
async def test_nothing_comes_before_its_time_and_it_comes_at_its_time(rig: Rig) -> None:
    due = rig.clock.after(60)
    await filed(rig, work("later", not_before=due))
    assert await next_due(rig) == due
    async with asyncio.TaskGroup() as together:
        taken = together.create_task(rig.mailbox.take())
        await rig.clock.someone_sleeps()
        rig.clock.advance(59.999)
        await rig.clock.someone_sleeps()
        assert rig.clock.waits == [due, due]
        assert not taken.done()
        rig.clock.advance(0.001)
    assert taken.result().event.content == "later"
    assert await next_due(rig) is None


@pytest.mark.shows("A17")
async def test_a_clock_that_was_wrong_changes_when_not_whether(rig: Rig) -> None:
    await filed(rig, work("noon", not_before=rig.clock.after(7200)))
    rig.clock.advance(-86_400)
    assert await handled(rig) == []
    await rig.restart()
    rig.clock.advance(86_400 + 7200)
    assert await handled(rig) == ["noon"]


async def test_what_was_in_hand_comes_back_though_the_clock_was_set_back_meanwhile(rig: Rig) -> None:
    await filed(rig, work("noon", not_before=rig.clock.after(60)))
    rig.clock.advance(60)
    await rig.take_now()
    rig.clock.advance(-3600)
    await rig.restart()
    assert await handled(rig) == ["noon"]


async def test_what_comes_meanwhile_is_not_kept_waiting_by_what_is_set_for_later(rig: Rig) -> None:
    await filed(rig, work("later", not_before=rig.clock.after(3600), priority=100))
    async with asyncio.TaskGroup() as together:
        taken = together.create_task(rig.mailbox.take())
        await rig.clock.someone_sleeps()
        await filed(rig, work("now"))
    assert taken.result().event.content == "now"


async def test_a_take_that_is_cancelled_loses_nothing(rig: Rig) -> None:
    async with asyncio.TaskGroup() as together:
        waiting = together.create_task(rig.mailbox.take())
        await rig.clock.someone_sleeps()
        waiting.cancel()
    await filed(rig, work("still here"))
    assert await handled(rig) == ["still here"]


@pytest.mark.shows("A18")
async def test_idle_work_comes_only_when_nothing_else_is_due(rig: Rig) -> None:
    await filed(rig, work("tidy", priority=-1), work("reflect", priority=-1), work("sleep", priority=-5))
    await filed(rig, work("soon", not_before=rig.clock.after(5)), work("plain"))
    assert await handled(rig) == ["plain", "tidy", "reflect", "sleep"]
    rig.clock.advance(5)
    assert await handled(rig) == ["soon"]


@pytest.mark.shows("A21")
async def test_a_completed_event_is_archived_and_completing_twice_changes_nothing(rig: Rig) -> None:
    await filed(rig, work(id="w"))
    assert not await rig.mailbox.complete("w", "not yet in hand", {})
    await rig.take_now()
    rig.clock.advance(3)
    figures: dict[str, Json] = {"seconds": 3.0, "prompt_tokens": 812, "model_calls": 1}
    assert await rig.mailbox.complete("w", "said the time", figures)
    rig.clock.advance(1)
    assert not await rig.mailbox.complete("w", "again", {})
    assert not await rig.mailbox.fail("w", "too late")
    found = await rig.mailbox.find("w")
    assert found is not None
    assert (found.state, found.summary, found.figures) == ("completed", "said the time", figures)
    assert found.closed_at == rig.clock.after(-1)
    assert await rig.mailbox.in_hand() is None
    assert await rig.mailbox.find("unknown") is None


async def test_a_failed_event_is_in_the_dead_letter_with_its_reason(rig: Rig) -> None:
    await filed(rig, work("one", id="one"), work("two", id="two"))
    for event_id in ("one", "two"):
        await rig.take_now()
        assert await rig.mailbox.fail(event_id, f"no budget left for {event_id}: \ud83d")
    dead = await rig.mailbox.listed("dead", limit=1)
    assert [(letter.event.id, letter.reason) for letter in dead] == [("two", "no budget left for two: ?")]
    assert len(await rig.mailbox.listed("dead")) == (await rig.mailbox.counts())["dead"] == 2
    assert await handled(rig) == []


@pytest.mark.shows("A24")
async def test_what_was_in_hand_at_a_crash_comes_back_before_its_peers(rig: Rig) -> None:
    await filed(rig, work("early", not_before=rig.clock.after(10)), work("in hand", id="w"))
    assert (await rig.take_now()).attempt == 1
    rig.clock.advance(10)
    await filed(rig, work("urgent", priority=10))
    [found] = await rig.restart()
    assert (found.event.id, found.attempt, found.is_given_up) == ("w", 2, False)
    assert await rig.mailbox.in_hand() is None
    assert await handled(rig) == ["urgent", "in hand", "early"]
    assert await rig.restart() == []


async def test_an_event_that_kills_the_process_again_and_again_is_given_up(rig: Rig) -> None:
    await filed(rig, work("poison", id="p"), work("harmless"))
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert (await rig.take_now()).attempt == attempt
        [found] = await rig.restart()
    assert found.is_given_up
    poison = await rig.mailbox.find("p")
    assert poison is not None
    assert (poison.state, poison.reason) == ("dead", "the process died 5 times while this event was in hand")
    assert poison.closed_at == rig.clock()
    assert await handled(rig) == ["harmless"]


@pytest.mark.shows("V29")
async def test_of_an_erased_event_no_word_is_left_and_what_became_of_it_stays(rig: Rig) -> None:
    secret = work("I am Ada", id="e", result="Ada", error="Ada", metadata={"heard": "Ada"}, priority=3)
    await filed(rig, secret)
    await rig.take_now()
    await rig.mailbox.suspend("e", "told me about Ada", Wake("event", name="sun"))
    await rig.mailbox.wake("sun")
    await rig.take_now()
    await rig.mailbox.complete("e", "greeted Ada", {"model_calls": 2})
    assert await rig.mailbox.erase("e")
    await rig.restart()
    found = await rig.mailbox.find("e")
    assert found is not None
    assert found.event == found.progress.event == replace(secret, content="", result="", error="", metadata={})
    assert (found.state, found.progress.note, found.summary) == ("completed", "", "")
    assert (found.figures, found.closed_at) == ({"model_calls": 2}, rig.clock())
    assert not await rig.mailbox.erase("never heard of")


async def test_a_withdrawn_event_never_comes_and_one_in_hand_cannot_be_withdrawn(rig: Rig) -> None:
    await filed(rig, work("later", id="later", not_before=rig.clock.after(60)), work("now", id="now"))
    await rig.take_now()
    assert not await rig.mailbox.withdraw("now", "")
    assert await rig.mailbox.withdraw("later", "cancelled")
    assert not await rig.mailbox.withdraw("later", "twice")
    await finish(rig, "now")
    rig.clock.advance(60)
    assert await handled(rig) == []
    assert (await rig.mailbox.counts())["withdrawn"] == 1


async def test_waiting_events_are_listed_by_their_time_for_one_owner(rig: Rig) -> None:
    for content, seconds, owner in (("b", 60, "h"), ("a", 30, "h"), ("c", 90, "h"), ("other", 10, "alice")):
        await filed(rig, Event(TIMER, content, owner_key=owner, not_before=rig.clock.after(seconds)))
    await filed(rig, work("no timer"))
    assert [event.content for event in await rig.mailbox.waiting(TIMER, "h")] == ["a", "b", "c"]
    assert await next_due(rig) == rig.clock.after(10)


@pytest.mark.shows("F12")
async def test_the_events_of_one_owner_are_listed_and_counted_alone(rig: Rig) -> None:
    await filed(rig, work("ada", owner_key="ada"), work("bob", owner_key="bob"), work("more", owner_key="ada"))
    assert [letter.event.content for letter in await rig.mailbox.listed("pending", owner_key="ada")] == ["more", "ada"]
    assert [letter.event.content for letter in await rig.mailbox.listed("pending", 1)] == ["more"]
    assert (await rig.mailbox.counts("bob"))["pending"] == 1
    assert sum((await rig.mailbox.counts("eve")).values()) == 0


@pytest.mark.shows("F12")
async def test_nobody_goes_on_with_another_s_words(rig: Rig) -> None:
    await filed(rig, work("ada", id="first", owner_key="ada"))
    await filed(rig, work("bob", owner_key="bob", metadata={"continues": "first"}))
    assert await handled(rig) == ["ada", "bob"]


@pytest.mark.shows("F12")
@pytest.mark.parametrize("name", ["person", "asr_transcript"])
async def test_what_waits_for_somebody_waits_for_who_it_is_of(rig: Rig, name: str) -> None:
    await filed(rig, work("ada's", id="w", owner_key="ada"))
    await rig.take_now()
    assert await rig.mailbox.suspend("w", "", Wake("event", name=name))
    rig.clock.advance(5)
    for owner, is_awake in (("bob", False), ("ada", True)):
        await filed(rig, Event("asr_transcript", owner, owner_key=owner, priority=10))
        assert (await rig.take_now()).event.content == owner
        await finish(rig, (await rig.take_now()).event.id)
        found = await rig.mailbox.find("w")
        assert found is not None
        assert (found.waits_for == "") is is_awake


async def test_every_observer_is_told_of_each_arrival_and_each_change(rig: Rig) -> None:
    arrived: list[str] = []
    changed: list[str] = []
    for name in ("one", "other"):
        rig.mailbox.observe_arrivals(lambda event, name=name: arrived.append(f"{name}: {event.content}"))  # type: ignore[misc]  # binds the name of now
        rig.mailbox.observe_changes(lambda name=name: changed.append(name))  # type: ignore[misc]
    event = work("tidy up")
    await filed(rig, event)
    assert not await rig.mailbox.enqueue(event), "it is known already"
    assert arrived == ["one: tidy up", "other: tidy up"]
    assert changed == ["one", "other"] * 2
    await rig.take_now()
    await finish(rig, event.id)
    assert changed == ["one", "other"] * 3


async def test_an_observer_of_one_type_is_told_of_what_may_concern_it(rig: Rig) -> None:
    changed: list[str] = []
    rig.mailbox.observe_changes(lambda: changed.append("timer"), of=TIMER)
    words, timer = Event("asr_transcript", "what time is it", id="w"), Event(TIMER, "tea", id="t")
    await filed(rig, words)
    assert not changed
    await filed(rig, replace(timer, not_before=rig.clock.after(3600)))
    assert changed == ["timer"]
    assert await rig.mailbox.erase("t")
    assert changed == ["timer"] * 2, "whoever keeps its words must not"
    await rig.take_now()
    await finish(rig, "w")
    assert changed == ["timer"] * 3, "what else a step closes or wakes is not known"


@pytest.mark.shows("F32", "A24")
async def test_an_orderly_stop_suspends_what_is_in_hand_however_often_and_it_goes_on_before_its_peers(rig: Rig) -> None:
    await filed(rig, work("long", id="w"), work("peer"))
    for _ in range(MAX_ATTEMPTS + 1):
        taken = await rig.take_now()
        assert (taken.event.id, taken.attempt) == ("w", 1), "nothing died of it"
        assert await rig.mailbox.give_back()
        assert (await rig.mailbox.counts())["suspended"] == 1
        assert await rig.restart() == []
    assert (await rig.take_now()).redelivered, "it goes on where it broke off"
    await finish(rig, "w")
    assert await handled(rig) == ["peer"]
    assert not await rig.mailbox.give_back()
