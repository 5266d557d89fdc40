"""Requests on the bus: all handlers of a topic are called, one answer counts, a failure is an envelope of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.bus import INBOX_CAPACITY, Bus, Handler
from agent.event import Event
from agent.mailbox import Mailbox
from memory.state.database import Database
from tests.agent.buses import Keeper, Pair


@asynccontextmanager
async def serving(bus: Bus, *handlers: tuple[str, Handler]) -> AsyncIterator[None]:
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        tasks = [group.create_task(bus.serve(pattern, handler)) for pattern, handler in handlers]
        await asyncio.sleep(0)
        yield
        for task in tasks:
            task.cancel()


async def shout(event: Event) -> Event:
    return replace(event, status="completed", result=event.content.upper())


async def never(event: Event) -> Event:
    await asyncio.Event().wait()
    return event


async def fail(event: Event) -> Event:
    raise ZeroDivisionError("a bug")


@pytest.mark.shows("E2", "E8", "E5", "E11")
async def test_a_request_comes_back_with_the_result_and_the_status_its_handler_set(pair: Pair) -> None:
    keeper, bus = pair.keeper, pair.here
    request = Event(type="action.execute", content="hello", session_id="s1")
    before = repr(request)
    async with serving(pair.there, ("action.*", shout)):
        answer = await bus.request(request)
    assert (answer.status, answer.result, answer.parent_id, answer.session_id) == (
        "completed", "HELLO", request.id, "s1",
    )  # fmt: skip
    assert repr(request) == before
    assert [event.id for event in keeper.kept] == [request.id, answer.id], "both are in the journal"


@pytest.mark.shows("E9", "E11")
async def test_without_a_handler_a_request_comes_back_unchanged(pair: Pair) -> None:
    bus = pair.here
    request = Event(type="action.execute")
    assert await bus.request(request) is request


@pytest.mark.shows("E8", "E11")
async def test_an_exception_comes_back_as_a_new_failed_envelope(pair: Pair) -> None:
    bus = pair.here
    request = Event(type="action.execute")
    async with serving(pair.there, ("action.execute", fail)):
        answer = await bus.request(request)
        again = await bus.request(request)
    assert (answer.status, answer.error, request.status) == ("failed", "ZeroDivisionError: a bug", "pending")
    assert answer.id != request.id
    assert again.status == "failed", "the handler lives on"


@pytest.mark.shows("E11")
async def test_what_is_no_event_is_no_answer(pair: Pair) -> None:
    async def wrong(event: Event) -> Event:
        return "yes"  # type: ignore[return-value]

    bus = pair.here
    async with serving(pair.there, ("*", wrong)):
        assert "no Event" in (await bus.request(Event(type="x"))).error


@pytest.mark.shows("E10", "E11")
async def test_all_handlers_are_called_and_a_slow_or_broken_one_delays_nobody(pair: Pair) -> None:
    called: list[str] = []

    async def slow(event: Event) -> Event:
        called.append("slow")
        return await never(event)

    async def broken(event: Event) -> Event:
        called.append("broken")
        return await fail(event)

    bus = pair.here
    async with serving(pair.there, ("*", slow), ("*", broken), ("action.*", shout)):
        answer = await bus.request(Event(type="action.execute", content="now"))
        assert answer.result == "NOW"
        assert sorted(called) == ["broken", "slow"]
        assert (await bus.request(Event(type="action.execute", content="again"))).result == "AGAIN"


@pytest.mark.shows("E11")
async def test_a_request_that_nobody_answers_in_time_is_failed(pair: Pair) -> None:
    bus = pair.here
    async with serving(pair.there, ("*", never)):
        answer = await bus.request(Event(type="x"), seconds=0.01)
    assert answer.error == "nobody answered x within 0.01 s"


@pytest.mark.shows("E11")
async def test_a_handler_that_goes_away_leaves_nobody_waiting(pair: Pair) -> None:
    bus = pair.here
    counted = asyncio.Queue[Event](2)

    async def count(event: Event) -> Event:
        counted.put_nowait(event)
        return await fail(event)

    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        served = [group.create_task(pair.there.serve("*", handler)) for handler in (never, count)]
        await asyncio.sleep(0)
        asked = [group.create_task(bus.request(Event(type="x"))) for _ in range(2)]
        for _ in asked:
            await counted.get()
        for each in served:
            each.cancel()
        assert {(await one).error for one in asked} == {"the handler of * has gone"}
    assert (await bus.request(Event(type="x"))).status == "pending", "nobody serves any more"


@pytest.mark.shows("E8", "E4", "E11")
async def test_a_message_may_be_sent_without_waiting_for_an_answer(pair: Pair) -> None:
    arrived = asyncio.Queue[str](10)

    async def take(event: Event) -> None:
        await arrived.put(event.content)

    bus = pair.here
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        attending = group.create_task(pair.there.attend("node.message", take, everywhere=True))
        await asyncio.sleep(0)
        await bus.publish(Event(type="node.message", content="one"), Event(type="node.message", content="two"))
        assert [await arrived.get(), await arrived.get()] == ["one", "two"]
        attending.cancel()


@pytest.mark.shows("E11")
async def test_a_handler_with_too_much_to_do_says_so(pair: Pair) -> None:
    """So many connections at once may take a busy machine longer than one of them is given: then another is asked.

    So it is where the handler's own connection broke meanwhile: a request that finds none comes back unchanged.
    """
    async with serving(pair.there, ("*", never)), asyncio.TaskGroup() as group:

        def asked() -> asyncio.Task[Event]:
            return group.create_task(pair.here.request(Event(type="x")))

        waiting = {asked() for _ in range(INBOX_CAPACITY + 2)}
        errors: list[str] = []
        while not any("too much to do" in error for error in errors):
            assert all(not error or "cannot be reached" in error for error in errors), errors
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            errors = [each.result().error for each in done]
            waiting |= {asked() for _ in done}
        for each in waiting:
            each.cancel()


@pytest.mark.shows("E1")
async def test_only_events_travel_and_only_events_are_filed(tmp_path: Path) -> None:
    bus = Bus(Keeper())
    with pytest.raises(TypeError, match="only an Event"):
        await Mailbox(Database(tmp_path / "never opened")).enqueue({"type": "x"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="only an Event"):
        await bus.publish({"type": "x"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="only an Event"):
        bus.show("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="only an Event"):
        await bus.request(b"x")  # type: ignore[arg-type]
