"""Events it makes for an event: a parent waits for all of them, and they cannot run away."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.context import block
from agent.errors import TooManyEvents
from agent.event import Event
from agent.mailbox import CHILDREN, MAX_ATTEMPTS, Wake
from agent.mailbox.children import MOST_CHILDREN, MOST_OPEN, Child
from tests.agent.mailboxes import NothingDue, Rig, filed, handled, work
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

FOR_CHILDREN = Wake("event", name=CHILDREN)


def child(parent: Event, content: str = "part") -> Event:
    return work(content, source="self", parent_id=parent.id)


async def suspended_parent(rig: Rig, *contents: str) -> tuple[Event, list[Event]]:
    """File a parent and its children, and suspend it for them."""
    parent = work("the whole", priority=5)
    children = [child(parent, content) for content in contents]
    await filed(rig, parent)
    assert (await rig.take_now()).event == parent
    await filed(rig, *children)
    assert await rig.mailbox.suspend(parent.id, "split", FOR_CHILDREN)
    return parent, children


@pytest.mark.shows("A13")
async def test_a_parent_comes_back_when_all_its_children_are_closed(rig: Rig) -> None:
    parent, children = await suspended_parent(rig, "one", "two", "three")
    ends: list[Callable[[str], Awaitable[bool]]] = [
        lambda event_id: rig.mailbox.complete(event_id, "done", {}),
        lambda event_id: rig.mailbox.fail(event_id, "broken"),
        lambda event_id: rig.mailbox.complete(event_id, "", {}),
    ]
    for one, end in zip(children, ends, strict=True):
        assert (await rig.take_now()).event == one, "the parent waits"
        assert await end(one.id)
    hand = await rig.take_now()
    assert (hand.event, hand.note) == (parent, "split")
    assert await rig.mailbox.children(parent.id) == [
        Child("one", "completed", "done"), Child("two", "dead", "broken"), Child("three", "completed", ""),
    ]  # fmt: skip


async def test_a_parent_waits_for_its_children_also_over_a_restart_and_while_one_is_put_back(rig: Rig) -> None:
    parent, (first, second) = await suspended_parent(rig, "one", "two")
    hand = await rig.take_now()
    await rig.mailbox.suspend(hand.event.id, "later", Wake("time", at=rig.clock.after(60)))
    await rig.restart()
    assert (await rig.take_now()).event == second
    await rig.mailbox.complete(second.id, "", {})
    with pytest.raises(NothingDue):
        await rig.take_now()
    assert await rig.mailbox.withdraw(first.id, "not needed")
    assert (await rig.take_now()).event == parent


async def test_a_child_that_is_closed_wakes_nobody_but_a_parent_that_waits_for_it(rig: Rig) -> None:
    waiting, (first, _) = await suspended_parent(rig, "one", "two")
    timer = work("a timer", id="timer", not_before=rig.clock.after(3600))
    await filed(rig, timer, child(timer, "of the timer"), child(first, "of the first"))
    assert (await rig.take_now()).event == first
    await rig.mailbox.suspend(first.id, "", Wake("event", name="sun"))
    assert await handled(rig) == ["two", "of the timer", "of the first"]
    with pytest.raises(NothingDue):
        await rig.take_now()
    assert await rig.mailbox.wake(CHILDREN) == 1, "it waits yet"
    assert (await rig.take_now()).event == waiting


async def test_a_parent_comes_back_when_a_child_is_given_up_because_the_process_died_with_it(rig: Rig) -> None:
    parent, (child,) = await suspended_parent(rig, "deadly")
    for _ in range(MAX_ATTEMPTS):
        assert (await rig.take_now()).event == child
        [found] = await rig.restart()
    assert found.is_given_up
    assert (await rig.take_now()).event == parent


async def test_who_waits_for_children_that_are_all_closed_comes_back_after_a_moment(rig: Rig) -> None:
    parent = work("alone")
    await filed(rig, parent)
    await rig.take_now()
    await rig.mailbox.suspend(parent.id, "", FOR_CHILDREN)
    with pytest.raises(NothingDue):
        await rig.take_now()
    rig.clock.advance(2)
    assert (await rig.take_now()).event == parent


async def test_what_is_not_of_its_making_is_no_child(rig: Rig) -> None:
    parent = work("the whole")
    await filed(rig, parent)
    await rig.take_now()
    await filed(rig, work("a timer", source="timer", parent_id=parent.id, not_before=rig.clock.after(3600)))
    await rig.mailbox.suspend(parent.id, "", FOR_CHILDREN)
    rig.clock.advance(2)
    assert (await rig.take_now()).event == parent


@pytest.mark.shows("A16")
async def test_an_event_can_have_so_many_children_and_no_more_also_when_they_are_done(rig: Rig) -> None:
    parent, other = work("runaway"), work("another")
    for number in range(MOST_CHILDREN):
        await rig.mailbox.enqueue(child(parent, str(number)))
    hand = await rig.take_now()
    await rig.mailbox.complete(hand.event.id, "", {})
    with pytest.raises(TooManyEvents, match=f"{MOST_CHILDREN} events were made for this event"):
        await rig.mailbox.enqueue(child(parent, "one more"))
    assert await rig.mailbox.enqueue(child(other, "of another"))
    assert await rig.mailbox.enqueue(spoken("a person is never refused"))


@pytest.mark.shows("A16")
async def test_so_many_of_its_own_may_be_open_and_no_more(rig: Rig) -> None:
    for number in range(MOST_OPEN):
        rig.clock.advance(6)  # no more than ten in a minute
        await rig.mailbox.enqueue(work(source="self", parent_id=f"p{number // 10}"))
    with pytest.raises(TooManyEvents, match="finish some"):
        await rig.mailbox.enqueue(work(source="self", parent_id="new"))
    assert await rig.mailbox.enqueue(work("theirs", source="self", parent_id="t", owner_key="guest", priority=-1))
    assert await rig.mailbox.enqueue(work("a timer for an event", source="system", parent_id="new", priority=-1))
    await rig.mailbox.complete((await rig.take_now()).event.id, "", {})
    assert await rig.mailbox.enqueue(work(source="self", parent_id="new"))
    assert await rig.mailbox.enqueue(work("a plan that came of no event", source="self"))


@pytest.mark.shows("A13", "A16", "A11")
async def test_it_splits_an_event_waits_and_is_told_what_became_of_the_parts(tmp_path: Path) -> None:
    split = calls(
        ("create_event", '{"content": "count the plums"}'), ("create_event", '{"content": "count the pears"}'),
        ("suspend_event", '{"note": "split in two", "wake_on": "children"}'), prefix="a",
    )  # fmt: skip
    done = [calls(("complete_event", f'{{"summary": "{n} of them"}}'), prefix=f"d{n}") for n in (3, 4)]
    model = ScriptedModel(split, *done, calls(("reply", '{"text": "Seven."}'), prefix="z"))
    event = spoken("count the fruit")
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(event)
        assert await mind.state_of(event) == "suspended"
        await mind.handle_next()
        await mind.handle_next()
        await mind.handle_next()
        assert await mind.state_of(event) == "completed"
        assert mind.outlet.said == ["Seven."]
    seen = block.parse(model.requests[3][-1].content)
    assert seen is not None
    assert seen.situation["Note"] == "split in two"
    assert seen.situation["Children"].split("; ") == [
        "completed: count the plums -> 3 of them", "completed: count the pears -> 4 of them",
    ]  # fmt: skip


@pytest.mark.shows("A16")
async def test_too_many_are_told_in_words(tmp_path: Path) -> None:
    create = [("create_event", f'{{"content": "{n}"}}') for n in range(MOST_CHILDREN + 1)]
    model = ScriptedModel(calls(*create, prefix="a"), calls(("reply", '{"text": "Enough."}'), prefix="z"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("split it", max_tool_calls=50))
    results = [message.content for message in model.requests[1] if message.role == "tool"]
    assert [result.startswith("error: ") for result in results] == [False] * MOST_CHILDREN + [True]
