"""What an engine keeps, and says, when its server is killed, frozen, filled or started anew."""

import asyncio
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from memory.engine.interface import DEADLINE, Delivery, Engine, LogRecord, Message, Subscription
from memory.errors import EngineFailure, EngineFull, EngineUnreachable, OutcomeUnknown
from tests.engine_servers import Server, can_mount, grow, small_disk
from tests.memory.engine.conftest import MAKE
from tests.memory.engine.rigs import Rig, real

pytestmark = pytest.mark.shows("H10")

RECORDS = 120


async def surely(engine: Engine, record: bytes, after: int) -> None:
    """Append, again and again until the engine acknowledges it."""
    while True:
        try:
            assert await engine.log.append(record, after=after, id=f"id-{after}") == after + 1
        except (EngineUnreachable, OutcomeUnknown):
            await asyncio.sleep(0)
        else:
            return


async def test_a_server_killed_in_mid_append_has_each_acknowledged_record_once(own_rig: Rig) -> None:
    engine, follower = await own_rig.machine(), await own_rig.machine()
    seen: list[LogRecord] = []

    async def follow() -> None:
        async with aclosing(follower.log.follow(0)) as records:  # type: ignore[type-var]
            async for record in records:
                seen.append(record)
                if record.position == RECORDS:
                    return

    async with asyncio.TaskGroup() as group:
        group.create_task(follow())
        for after in range(RECORDS):
            if after % 40 == 20:
                under_way = group.create_task(surely(engine, b"x" * 2000, after))
                await asyncio.sleep(0)
                own_rig.server.kill()
                own_rig.server.start()
                await under_way
            else:
                await surely(engine, b"x" * 2000, after)
    records = [record for after in range(0, RECORDS, 100) for record in await engine.log.read(after, 100)]
    assert [(each.position, each.id) for each in records] == [(n + 1, f"id-{n}") for n in range(RECORDS)]
    assert seen == records


async def test_a_frozen_server_costs_one_deadline_and_what_it_had_is_kept_once(own_rig: Rig) -> None:
    engine = await own_rig.machine()
    own_rig.server.freeze()
    began = asyncio.get_running_loop().time()
    with pytest.raises(OutcomeUnknown, match="gave no answer"):
        await engine.log.append(b"frozen", after=0, id="frozen")
    assert asyncio.get_running_loop().time() - began >= DEADLINE - 0.1
    own_rig.server.thaw()
    while True:
        try:
            assert await engine.log.append(b"frozen", after=0, id="frozen") == 1
        except EngineFailure:
            await asyncio.sleep(0)
        else:
            break
    assert await engine.log.end() == 1


async def test_a_server_that_is_away_is_told_with_its_fix_and_comes_back_by_itself(own_rig: Rig) -> None:
    engine = await own_rig.machine()
    inbox = engine.inbox("mind")
    own_rig.server.kill()
    with pytest.raises((EngineUnreachable, OutcomeUnknown)):
        await engine.log.append(b"lost", after=0, id="lost")
    with pytest.raises(EngineUnreachable, match=r"cannot be reached.*; start it"):
        await engine.log.append(b"lost", after=0, id="lost")
    assert not engine.is_reachable
    assert "start it" in next(iter(await engine.check()))
    async with asyncio.TaskGroup() as group:
        taking = group.create_task(inbox.take())
        await asyncio.sleep(0)
        own_rig.server.start()
        other = await own_rig.machine()
        await other.inbox("mind").put(b"hello", id="hello")
    assert taking.result().message == b"hello"
    assert await engine.log.end() == 0


async def first(messages: Subscription) -> Message:
    return await anext(aiter(messages))


async def test_subscriptions_come_back_with_the_server(own_rig: Rig) -> None:
    engine = await own_rig.machine()
    async with engine.topics.subscribe("presence.*") as presence:
        own_rig.server.kill()
        own_rig.server.start()
        other = await own_rig.machine()
        async with asyncio.TaskGroup() as group:
            heard = group.create_task(first(presence))
            while not heard.done():
                await other.topics.publish("presence.mind", b"here")
                await asyncio.sleep(0)
        assert heard.result().data == b"here"


async def test_what_was_taken_by_a_machine_that_died_comes_to_another(own_rig: Rig) -> None:
    dead, living = await own_rig.machine(1.0), await own_rig.machine(1.0)
    for name in ("first", "second"):
        await dead.inbox("mind").put(name.encode(), id=name)
    assert (await dead.inbox("mind").take()).id == "first"
    await dead.close()
    taken: list[Delivery] = []
    while len(taken) < 2:
        taken.append(await living.inbox("mind").take())
        await taken[-1].ack()
    assert [each.id for each in taken] == ["first", "second"]
    assert taken[0].tries == 2


async def test_what_was_in_hand_when_the_server_was_killed_comes_again_in_its_order(own_rig: Rig) -> None:
    engine = await own_rig.machine(1.0)
    for name in ("first", "second"):
        await engine.inbox("mind").put(name.encode(), id=name)
    await engine.inbox("mind").take()
    own_rig.server.kill()
    own_rig.server.start()
    again = await engine.inbox("mind").take()
    assert again.id == "first"
    own_rig.server.kill()
    own_rig.server.start()
    while again.id != "second":
        with suppress(EngineFailure):  # NATS answers no acknowledgement of what it forgot that it handed out
            await again.ack()
        assert again.id == "first"
        again = await engine.inbox("mind").take()


async def test_a_storm_of_redeliveries_ends_with_each_message_done_once_in_order(own_rig: Rig) -> None:
    engine = await own_rig.machine()
    inbox = engine.inbox("mind")
    for n in range(10):
        await inbox.put(b"x", id=str(n))
    done = []
    for n in range(10):
        for _ in range(5):
            await (await inbox.take()).release()
        taken = await inbox.take()
        done.append((taken.id, taken.tries))
        await taken.ack()
        assert await inbox.waiting() == 9 - n
    assert done == [(str(n), 6) for n in range(10)]


async def filled_up(engine: Engine) -> tuple[int, EngineFailure]:
    """Append until that fails; return the end, and how it failed."""
    after = 0
    while True:
        try:
            after = await engine.log.append(bytes(400_000), after=after, id=f"id-{after}")
        except EngineFailure as failure:
            return after, failure


@pytest.mark.skipif(not can_mount(), reason="needs root, to mount a small disk")
@pytest.mark.parametrize(
    "kind", [pytest.param("nats", marks=pytest.mark.nats), pytest.param("redis", marks=pytest.mark.redis)]
)
async def test_a_full_disk_refuses_and_loses_nothing_that_was_acknowledged(kind: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 24) as disk:
        server: Server = MAKE[kind](disk)
        server.start()
        try:
            async with real(server) as rig:
                engine = await rig.machine()
                after, refused = await filled_up(engine)
                assert isinstance(refused, EngineFull | OutcomeUnknown), refused
                assert 10 < after < 70
                server.kill()
                grow(disk, 64)
                server.start()
                again = await rig.machine()
                assert await again.log.end() in (after, after + 1)
                await surely(again, bytes(400_000), after)
                records = [record for n in range(after + 1) for record in await again.log.read(n, 1)]
                assert [each.id for each in records] == [f"id-{n}" for n in range(after + 1)]
        finally:
            server.kill()
