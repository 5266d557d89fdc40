"""The bus between two machines: what only two of them can do to each other, and what an engine does to both."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from agent.bus import Bus
from agent.event import Event, to_json
from agent.transport import EVENTS, REQUESTS, WAITING, EngineTransport
from memory.engine.interface import MESSAGE_LIMIT
from tests.agent.buses import Keeper, Pair, joined
from tests.agent.test_bus import numbered
from tests.agent.test_bus_requests import fail, serving, shout
from tests.engine_fake import FakeEngine, FakeServer
from tests.room.virtual_time import passed, run_virtually

pytestmark = pytest.mark.shows("E11", "H10")


class Two:
    """Two machines on an engine in memory."""

    def __init__(self, server: FakeServer, here: FakeEngine, there: FakeEngine, pair: Pair) -> None:
        self.server = server
        self.here = here
        self.there = there
        self.pair = pair


def on_two(story: Callable[[Two], Awaitable[None]]) -> None:
    """Run a story of two machines in virtual time."""

    async def run() -> None:
        server = FakeServer()
        here, there = FakeEngine(server), FakeEngine(server)
        async with joined(here.topics, there.topics) as pair:
            await story(Two(server, here, there, pair))

    run_virtually(run())


def test_an_envelope_is_seen_by_both_machines_once_and_never_comes_back() -> None:
    async def story(two: Two) -> None:
        here, there = two.pair.here, two.pair.there
        at_home, away = here.observe("*", everywhere=True), there.observe("*", everywhere=True)
        acting = there.observe("*")
        await here.publish(*numbered(1, 2))
        await there.publish(*numbered(3))
        await passed(1)
        assert [event.content for event in at_home.waiting()] == ["1", "2", "3"]
        assert sorted(event.content for event in away.waiting()) == ["1", "2", "3"]
        assert [event.content for event in acting.waiting()] == ["3"], "who acts, acts on its own machine"

    on_two(story)


def test_an_observer_is_told_which_machine_published() -> None:
    async def story(two: Two) -> None:
        seen = two.pair.there.observe("*", everywhere=True)
        await two.pair.there.publish(*numbered(1))
        await two.pair.here.publish(*numbered(2))
        stream = seen.by_machine()
        assert [(machine, event.content) for machine, event in [await anext(stream), await anext(stream)]] == [
            ("", "1"),
            ("here", "2"),
        ]

    on_two(story)


def test_what_is_shown_here_waits_for_no_network() -> None:
    async def story(two: Two) -> None:
        two.here.link.delay = 7.0
        local, other = two.pair.here.observe("*"), two.pair.observe("*")
        clock = asyncio.get_running_loop().time
        began = clock()
        await two.pair.here.publish(*numbered(1))
        assert [event.content for event in local.waiting()] == ["1"]
        assert clock() == began
        await anext(aiter(other))
        assert clock() == began + 7.0

    on_two(story)


def test_a_gap_in_the_numbers_is_counted_by_who_missed_it() -> None:
    async def story(two: Two) -> None:
        seen, other_topic, acting = two.pair.observe("node.*"), two.pair.observe("ui.*"), two.pair.there.observe("*")
        await two.pair.here.publish(*numbered(1))
        await passed(1)
        two.there.link.cut()
        await two.pair.here.publish(*numbered(2, 3, 4))
        await passed(1)
        two.there.link.mend()
        await two.pair.here.publish(*numbered(5))
        await passed(1)
        assert [event.content for event in seen.waiting()] == ["1", "5"]
        assert (seen.lost, other_topic.lost, acting.lost) == (3, 3, 0), "of what topic they were, nobody knows"

    on_two(story)


def test_a_doubled_message_is_shown_once() -> None:
    async def story(two: Two) -> None:
        seen = two.pair.observe("*")
        two.here.link.double = 3
        two.pair.here.show(numbered(1)[0])
        await two.pair.here.publish(*numbered(2, 3))
        await passed(1)
        assert [event.content for event in seen.waiting()] == ["1", "2", "3"]
        assert seen.lost == 0

    on_two(story)


def test_a_doubled_request_is_handled_once() -> None:
    async def story(two: Two) -> None:
        handled: list[str] = []

        async def take(event: Event) -> Event:
            handled.append(event.content)
            return replace(event, status="completed")

        async with serving(two.pair.there, ("*", take)):
            two.here.link.double = 2  # what shows the request, and what asks it
            assert (await two.pair.here.request(*numbered(1))).status == "completed"
            await passed(1)
        assert handled == ["1"]

    on_two(story)


def test_a_server_that_is_away_costs_what_finds_no_room_and_is_told_once() -> None:
    async def story(two: Two) -> None:
        seen, local = two.pair.observe("*"), two.pair.here.observe("*")
        await two.pair.here.publish(*numbered(0))
        await passed(1)
        with capture_logs() as logs:
            two.server.kill()
            for number in range(1, WAITING + 11):
                two.pair.here.show(numbered(number)[0])
                if number % 100 == 0:
                    await passed(1)
                    assert len(list(local.waiting())) >= 100, "whoever is here goes on"
            await passed(600)
            two.server.start()
            await passed(10)
        assert [(line["event"], line.get("lost")) for line in logs if line["log_level"] != "debug"] == [
            ("bus_does_not_send", None),
            ("bus_sends_again", 10),
        ]
        kept = [int(event.content) for event in seen.waiting()]
        assert kept == [0, *range(11, WAITING + 11)][-1024:], "what waited came in its order, once"
        assert seen.lost == 10 + (len([0, *range(11, WAITING + 11)]) - len(kept))

    on_two(story)


def test_what_is_too_large_for_the_engine_is_lost_and_the_next_one_is_not() -> None:
    async def story(two: Two) -> None:
        seen = two.pair.observe("*")
        await two.pair.here.publish(*numbered(0))
        with capture_logs() as logs:
            await two.pair.here.publish(Event("node.message", "x" * MESSAGE_LIMIT), *numbered(1))
            await passed(1)
        assert [event.content for event in seen.waiting()] == ["0", "1"]
        assert seen.lost == 1
        assert [line["event"] for line in logs] == ["bus_does_not_send", "bus_sends_again"]

    on_two(story)


def test_a_machine_that_starts_again_counts_anew() -> None:
    async def story(two: Two) -> None:
        seen = two.pair.observe("*")
        await two.pair.here.publish(*numbered(1, 2))
        again = EngineTransport(two.here.topics, "here")
        bus = Bus(Keeper(), again)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(again.run(bus))
            await bus.publish(*numbered(3))
            await passed(1)
            running.cancel()
        assert [event.content for event in seen.waiting()] == ["1", "2", "3"]
        assert seen.lost == 0

    on_two(story)


BAD = (
    ({"v": 2, "machine": "new", "start": "a", "number": 1, "event": "of a newer form"}, "version 2"),
    ({"v": 1, "machine": "new", "start": "a", "number": 1, "event": "{}"}, "no envelope"),
    ({"v": 1, "machine": "new", "start": "a", "number": 1, "event": '{"type": 3}'}, "no envelope"),
    ({"v": 1, "machine": "new", "start": "a", "event": to_json(Event("x"))}, "without a number"),
    ({"v": 1}, "no message"),
    (["v", 1], "no message"),
)


@pytest.mark.parametrize(("message", "reason"), BAD)
def test_a_newer_or_a_broken_message_is_refused_with_one_sentence(message: object, reason: str) -> None:
    async def story(two: Two) -> None:
        seen = two.pair.observe("*")
        with capture_logs() as logs:
            for _ in range(3):
                await two.here.topics.publish(EVENTS, json.dumps(message).encode())
            await two.pair.here.publish(*numbered(1))
            await passed(1)
        assert [event.content for event in seen.waiting()] == ["1"], "nothing of it is read, and the next one is"
        told = [str(line["reason"]) for line in logs if line["event"] == "bus_message_refused"]
        assert len(told) == 2, "once at each machine"
        assert all(reason in each and "update this machine" in each for each in told)

    on_two(story)


def test_a_request_of_a_newer_version_reaches_no_handler() -> None:
    async def story(two: Two) -> None:
        handled: list[Event] = []

        async def take(event: Event) -> Event:
            handled.append(event)
            return event

        async with serving(two.pair.there, ("*", take)):
            message = {"v": 2, "machine": "new", "start": "a", "id": "r", "event": to_json(Event("x"))}
            async with two.here.topics.ask(REQUESTS, json.dumps(message).encode()):
                await passed(1)
        assert handled == []

    on_two(story)


def test_the_first_good_answer_counts_wherever_it_is_from() -> None:
    async def story(two: Two) -> None:
        async with serving(two.pair.here, ("*", fail)), serving(two.pair.there, ("action.*", shout)):
            assert (await two.pair.here.request(Event("action.execute", "there"))).result == "THERE"
            assert (await two.pair.there.request(Event("action.execute", "own"))).result == "OWN"
            assert (await two.pair.here.request(Event("other"))).error == "ZeroDivisionError: a bug"

    on_two(story)


def test_without_the_engine_handlers_here_answer_and_others_are_a_failure() -> None:
    async def story(two: Two) -> None:
        two.server.kill()
        assert "other machines cannot be asked" in (await two.pair.here.request(Event("x"))).error
        async with serving(two.pair.here, ("*", shout)):
            assert (await two.pair.here.request(Event("x", "on"))).result == "ON"

    on_two(story)


def test_a_handler_sees_the_requests_of_a_machine_in_their_order() -> None:
    async def story(two: Two) -> None:
        handled: list[int] = []

        async def take(event: Event) -> Event:
            handled.append(int(event.content))
            return replace(event, status="completed")

        async with serving(two.pair.there, ("*", take)), asyncio.TaskGroup() as group:
            two.here.link.delay = 0.04
            for event in numbered(*range(40)):
                group.create_task(two.pair.here.request(event))
        assert handled == list(range(40))

    on_two(story)


def test_an_answer_that_cannot_be_sent_is_a_failed_one() -> None:
    async def too_much(event: Event) -> Event:
        return replace(event, status="completed", result="x" * MESSAGE_LIMIT)

    async def story(two: Two) -> None:
        async with serving(two.pair.there, ("*", too_much)):
            answer = await two.pair.here.request(Event("x"))
        assert (answer.status, "could not be sent" in answer.error) == ("failed", True)

    on_two(story)


def test_the_status_tells_what_was_carried_and_lost() -> None:
    async def tell() -> None:
        engine = FakeEngine()
        await engine.open()
        way = EngineTransport(engine.topics, "one")
        way.show(Event("x"))
        assert way.describe() == {"waiting": 1, "sent": 0, "lost": 0, "came": 0, "missed": 0, "refused": 0}

    run_virtually(tell())
