"""What somebody waits for in the house comes once, over restarts of either side, renamings, and what vanishes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from agent.event import HOME_WATCH, USER_TEXT, Event
from agent.home.watches import Watch, Watches, tell_of
from tests.agent.home.living import PATIENCE, Living, living
from tests.agent.home_server import SmallHome, small_home
from tests.agent.in_memory_mailbox import InMemoryMailbox

pytestmark = pytest.mark.shows("X10")

WASHER = Watch("sensor.washing_machine", "registered-sensor.washing_machine", "Washing Machine", "running", "done")
TELL = "The washing machine is done."
ASKED = Event(USER_TEXT, "tell me when the washing machine is done", session_id="room")


@dataclass
class Waiting:
    """A mailbox and the watches over it."""

    mailbox: InMemoryMailbox
    watches: Watches
    told: Living
    changed: asyncio.Event
    """Set after each change of the mailbox."""

    async def come(self) -> Event:
        """Wait until something has come, and return it."""
        async with asyncio.timeout(PATIENCE):
            event = (await self.mailbox.take()).event
        assert await self.mailbox.complete(event.id, "told", {})
        return event


@asynccontextmanager
async def waiting(server: SmallHome, mailbox: InMemoryMailbox | None = None) -> AsyncIterator[Waiting]:
    box = mailbox or InMemoryMailbox(lambda: datetime.now(UTC))
    watches, changed = Watches(box, look=0.05), asyncio.Event()
    box.observe_changes(changed.set)
    async with living(server, [watches.attend]) as told:
        told.home.observe(watches.look)
        yield Waiting(box, watches, told, changed)


async def followed(server: SmallHome) -> None:
    await server.was_asked["subscribe_entities"].wait()
    server.was_asked["subscribe_entities"].clear()


async def test_it_comes_once_with_the_words_that_were_wanted() -> None:
    async with small_home() as server, waiting(server) as house:
        watch = await house.watches.add(ASKED, WASHER, TELL)
        await followed(server)
        await server.change("sensor.washing_machine", "done")
        event = await house.come()
        assert (event.id, event.type, event.session_id) == (f"{watch.id}-come", HOME_WATCH, "room")
        assert event.content.startswith(f'{TELL} <From_Outside source="home"')
        assert "Washing Machine: done (it was running)" in event.content
        await server.change("sensor.washing_machine", "idle")
        await server.change("sensor.washing_machine", "done")
        assert await house.watches.all() == []
        assert await house.mailbox.waiting(HOME_WATCH, None) == []


async def test_what_happened_while_nakari_was_off_is_seen_at_the_start() -> None:
    async with small_home() as server:
        box = InMemoryMailbox(lambda: datetime.now(UTC))
        async with waiting(server, box) as house:
            await house.watches.add(ASKED, WASHER, TELL)
            await followed(server)
        await server.change("sensor.washing_machine", "done")
        async with waiting(server, box) as house:
            assert (await house.come()).content.startswith(TELL)


async def test_what_happened_over_a_restart_of_home_assistant_is_seen_when_it_is_back() -> None:
    """Meanwhile every device is unavailable, and that is no change."""
    async with small_home() as server, waiting(server) as house:
        any_change = replace(WASHER, state="")
        await house.watches.add(ASKED, any_change, TELL)
        await followed(server)
        await server.change("sensor.washing_machine", "unavailable")
        await server.stop()
        await house.told.home.until("lost")
        server.entities["sensor.washing_machine"]["state"] = "unknown"
        await server.start()
        await followed(server)
        await house.told.home.until("connected")
        assert len(await house.watches.all()) == 1
        await server.change("sensor.washing_machine", "done")
        assert "Washing Machine: done" in (await house.come()).content


async def test_a_crash_between_telling_and_forgetting_tells_it_once() -> None:
    async with small_home() as server:
        box = InMemoryMailbox(lambda: datetime.now(UTC))
        watch = await Watches(box).add(ASKED, WASHER, TELL)
        came = replace(watch, id=f"{watch.id}-come", not_before=None, metadata={})
        await box.enqueue(came)  # and there it stopped
        server.entities["sensor.washing_machine"]["state"] = "done"
        async with waiting(server, box) as house:
            await house.come()
            async with asyncio.timeout(PATIENCE):
                while await house.watches.all():
                    await house.changed.wait()
                    house.changed.clear()
            assert await box.waiting(HOME_WATCH, None) == []


@pytest.mark.parametrize(("above", "below", "first", "then"), [(None, 5.0, "80.2", "2"), (500.0, None, "430", "501.0")])
async def test_a_number_is_waited_for(above: float | None, below: float | None, first: str, then: str) -> None:
    async with small_home() as server, waiting(server) as house:
        power = Watch("sensor.power", "", "Power", "430.5", "", above, below)
        await house.watches.add(ASKED, power, TELL)
        await followed(server)
        for state in (first, "unavailable", then):
            await server.change("sensor.power", state)
        assert f"Power: {then}" in (await house.come()).content


async def test_an_entity_that_was_renamed_is_waited_for_all_the_same() -> None:
    async with small_home() as server, waiting(server) as house:
        await house.watches.add(ASKED, WASHER, TELL)
        await followed(server)
        await server.rename("sensor.washing_machine", "sensor.miele", "Miele")
        await followed(server)
        await server.change("sensor.miele", "done")
        assert "done" in (await house.come()).content


async def test_an_entity_that_vanished_is_told() -> None:
    async with small_home() as server, waiting(server) as house:
        await house.watches.add(ASKED, WASHER, TELL)
        await followed(server)
        await server.remove("sensor.washing_machine")
        event = await house.come()
        assert "Washing Machine is not there any more" in event.content
        assert not event.content.startswith(TELL)
        assert tell_of(event) == TELL


async def test_what_is_missing_while_it_starts_is_not_told_as_vanished() -> None:
    async with small_home(state="STARTING") as server:
        machine = server.entities.pop("sensor.washing_machine")
        async with waiting(server) as house:
            await house.watches.add(ASKED, WASHER, TELL)
            await followed(server)
            for _ in range(3):
                server.was_asked["get_config"].clear()
                await server.was_asked["get_config"].wait()
            assert len(await house.watches.all()) == 1
            server.entities[machine["id"]] = {**machine, "state": "done"}
            server.state = "RUNNING"
            await server.stop()
            await server.start()
            assert (await house.come()).content.startswith(TELL)


async def test_what_nobody_waits_for_any_more_does_not_come() -> None:
    async with small_home() as server, waiting(server) as house:
        first = await house.watches.add(ASKED, WASHER, "first")
        await house.watches.add(ASKED, WASHER, "second")
        await followed(server)
        assert await house.watches.remove(first)
        await server.change("sensor.washing_machine", "done")
        assert (await house.come()).content.startswith("second")
        assert await house.mailbox.waiting(HOME_WATCH, None) == []
