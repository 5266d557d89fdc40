"""What every engine promises when nothing breaks."""

import asyncio
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from memory.engine.interface import DEADLINE, MESSAGE_LIMIT, Engine
from memory.errors import (
    BlobMissing,
    EngineRefused,
    EngineUnreachable,
    KeyMoved,
    LogDropped,
    LogLost,
    LogMoved,
    NobodyServes,
)
from tests.memory.engine.rigs import Rig

pytestmark = pytest.mark.shows("H10", "F15")


async def filled(engine: Engine, count: int) -> None:
    for after in range(count):
        assert await engine.log.append(f"record {after}".encode(), after=after, id=f"id-{after}") == after + 1


async def test_all_machines_read_the_same_records_in_order(rig: Rig) -> None:
    one, other = await rig.machine(), await rig.machine()
    await filled(one, 5)
    records = await other.log.read(0)
    assert [(each.position, each.id) for each in records] == [(n + 1, f"id-{n}") for n in range(5)]
    assert records[4].record == b"record 4"
    assert [each.position for each in await other.log.read(2, 2)] == [3, 4]
    assert await other.log.read(5) in ([], ())
    assert await other.log.end() == 5


async def test_the_log_refuses_who_does_not_know_its_end(rig: Rig) -> None:
    one, other = await rig.machine(), await rig.machine()
    await filled(one, 2)
    for after in (0, 1, 7):
        with pytest.raises(LogMoved) as refused:
            await other.log.append(b"stale", after=after, id="stale")
        assert refused.value.end == 2
    assert await one.log.end() == 2


async def test_of_many_who_append_at_once_one_is_let_in(rig: Rig) -> None:
    machines = [await rig.machine() for _ in range(4)]
    tried = [each.log.append(b"mine", after=0, id=f"of-{n}") for n, each in enumerate(machines)]
    outcomes = await asyncio.gather(*tried, return_exceptions=True)
    assert sorted(str(type(each).__name__) for each in outcomes) == ["LogMoved"] * 3 + ["int"]
    assert await machines[0].log.end() == 1


async def test_an_append_that_is_repeated_is_there_once(rig: Rig) -> None:
    engine = await rig.machine()
    await filled(engine, 3)
    assert await engine.log.append(b"record 1", after=1, id="id-1") == 2
    assert await engine.log.end() == 3


async def test_a_record_of_several_megabytes_comes_whole(rig: Rig) -> None:
    one, other = await rig.machine(), await rig.machine()
    large = bytes(range(256)) * 10_000
    await one.log.append(b"small", after=0, id="small")
    assert await one.log.append(large, after=1, id="large") == 2
    assert [each.record for each in await other.log.read(0)] == [b"small", large]
    await one.log.drop_through(2)
    assert await one.log.append(large, after=2, id="again") == 3


async def test_a_follower_sees_what_was_and_what_comes_each_once(rig: Rig) -> None:
    one, other = await rig.machine(), await rig.machine()
    await filled(one, 3)
    async with aclosing(other.log.follow(1)) as records:  # type: ignore[type-var]  # an async generator
        assert [(await anext(records)).position for _ in range(2)] == [2, 3]
        await one.log.append(b"new", after=3, id="new")
        assert (await anext(records)).record == b"new"


async def test_what_was_dropped_is_told_from_what_never_was(rig: Rig) -> None:
    engine = await rig.machine()
    await filled(engine, 4)
    await engine.log.drop_through(2)
    await engine.log.drop_through(1)
    assert [each.position for each in await engine.log.read(2)] == [3, 4]
    with pytest.raises(LogDropped):
        await engine.log.read(1)
    with pytest.raises(LogLost):
        await engine.log.read(5)
    with pytest.raises(LogDropped):
        await anext(engine.log.follow(0))
    await engine.log.drop_through(4)
    assert await engine.log.end() == 4
    assert await engine.log.append(b"next", after=4, id="next") == 5


async def test_a_key_is_changed_by_who_knows_its_revision(rig: Rig) -> None:
    one, other = await rig.machine(), await rig.machine()
    first = await one.keys.create("lease.mind", b"one")
    with pytest.raises(KeyMoved):
        await other.keys.create("lease.mind", b"other")
    second = await other.keys.update("lease.mind", b"other", revision=first)
    assert second > first
    with pytest.raises(KeyMoved):
        await one.keys.update("lease.mind", b"stale", revision=first)
    found = await one.keys.get("lease.mind")
    assert found is not None
    assert (found.value, found.revision) == (b"other", second)
    assert await one.keys.get("lease") is None, "a key is known by its whole name"


async def test_an_inbox_hands_out_in_order_one_at_a_time(rig: Rig) -> None:
    ears, mind, standby = await rig.machine(), await rig.machine(), await rig.machine()
    for n in range(3):
        await ears.inbox("mind").put(f"event {n}".encode(), id=f"event-{n}")
    assert await mind.inbox("mind").waiting() == 3
    taken = await mind.inbox("mind").take()
    assert (taken.id, taken.message, taken.tries) == ("event-0", b"event 0", 1)
    async with asyncio.TaskGroup() as group:
        second = group.create_task(standby.inbox("mind").take())
        await mind.keys.get("lease")  # a way there and back: nothing is handed out beside what is in hand
        assert not second.done()
        await taken.ack()
    assert second.result().id == "event-1"
    await second.result().ack()
    assert (await mind.inbox("mind").take()).id == "event-2"


async def test_what_is_put_twice_comes_once(rig: Rig) -> None:
    ears = await rig.machine()
    inbox = ears.inbox("mind")
    await inbox.put(b"hello", id="same")
    await inbox.put(b"hello", id="same")
    await (await inbox.take()).ack()
    await inbox.put(b"hello", id="same")
    assert await inbox.waiting() == 0


async def test_what_is_handed_back_comes_again_before_any_other(rig: Rig) -> None:
    engine = await rig.machine()
    inbox = engine.inbox("mind")
    await inbox.put(b"first", id="first")
    await inbox.put(b"second", id="second")
    taken = await inbox.take()
    await taken.release()
    again = await inbox.take()
    assert (again.id, again.tries) == ("first", 2)
    await again.ack()
    await again.ack()
    assert (await inbox.take()).id == "second"


async def test_topics_reach_who_matches_in_the_order_of_the_publisher(rig: Rig) -> None:
    one, other = await rig.machine(), await rig.machine()
    async with other.topics.subscribe("runs.*") as runs, other.topics.subscribe("*") as everything:
        for n in range(20):
            await one.topics.publish("runs.new" if n % 2 else "runs.old.one", str(n).encode())
        await one.topics.publish("other", b"x")
        found = aiter(runs)
        assert [(await anext(found)).data for _ in range(20)] == [str(n).encode() for n in range(20)]
        found = aiter(everything)
        assert [(await anext(found)).topic for _ in range(21)][-2:] == ["runs.new", "other"]


async def test_a_slow_subscriber_loses_the_oldest_and_counts_them(rig: Rig) -> None:
    one, other = await rig.machine(), await rig.machine()
    async with other.topics.subscribe("flood", capacity=10) as slow, other.topics.subscribe("end") as end:
        for n in range(200):
            await one.topics.publish("flood", str(n).encode())
        await one.topics.publish("end", b"")
        await anext(aiter(end))
        while slow.lost < 190:  # noqa: ASYNC110  the other subscription may be ahead of this one
            await asyncio.sleep(0)
        found = aiter(slow)
        assert [(await anext(found)).data for _ in range(10)] == [str(n).encode() for n in range(190, 200)]


async def test_a_request_is_answered_by_all_who_serve_it(rig: Rig) -> None:
    asking, first, second = await rig.machine(), await rig.machine(), await rig.machine()

    async def serve(engine: Engine, name: bytes, ready: asyncio.Event) -> None:
        async with engine.topics.serve("command.*") as requests:
            ready.set()
            async for request in requests:
                await request.answer(name + request.data)

    with pytest.raises(NobodyServes):
        await asking.topics.request("command.status", b"?")
    async with asyncio.TaskGroup() as group:
        serving = []
        for engine, name in ((first, b"a"), (second, b"b")):
            ready = asyncio.Event()
            serving.append(group.create_task(serve(engine, name, ready)))
            await ready.wait()
        assert await asking.topics.request("command.status", b"?") in (b"a?", b"b?")
        async with asking.topics.ask("command.status", b"!") as answers:
            found = aiter(answers)
            assert {(await anext(found)).data for _ in range(2)} == {b"a!", b"b!"}
        for each in serving:
            each.cancel()


async def test_a_blob_is_whole_or_not_there(rig: Rig, tmp_path: Path) -> None:
    one, other = await rig.machine(), await rig.machine()
    source, target = tmp_path / "snapshot", tmp_path / "fetched"
    for content in (b"first" * 300_000, b"second"):
        source.write_bytes(content)
        await one.blobs.put("snapshot.1", source)
        await other.blobs.get("snapshot.1", target)
        assert target.read_bytes() == content
    assert list(await other.blobs.names()) == ["snapshot.1"]
    await one.blobs.delete("snapshot.1")
    await one.blobs.delete("snapshot.1")
    assert list(await other.blobs.names()) == []
    with pytest.raises(BlobMissing):
        await other.blobs.get("snapshot.1", tmp_path / "none")
    assert not (tmp_path / "none").exists()


async def test_what_is_too_large_is_refused_with_a_sentence(rig: Rig) -> None:
    engine = await rig.machine()
    for attempt in (
        engine.inbox("mind").put(bytes(MESSAGE_LIMIT + 1), id="x"),
        engine.keys.create("k", bytes(MESSAGE_LIMIT + 1)),
    ):
        with pytest.raises(EngineRefused, match="over the engine's limit"):
            await attempt


async def test_it_says_what_it_is_and_where_it_sends(rig: Rig) -> None:
    engine = await rig.machine()
    assert " at " in await engine.describe()
    assert engine.is_reachable
    assert engine.sends_to[0].to


@pytest.mark.parametrize("call", ["read", "publish", "subscribe"])
async def test_a_call_that_is_cancelled_ends_so_whatever_comes_in_that_moment(rig: Rig, call: str) -> None:
    """`asyncio.wait_for` before Python 3.12 takes a result that comes with the cancellation; nats-py waits by it."""
    engine = await rig.machine()

    async def for_ever() -> None:
        while True:
            await asyncio.sleep(0)
            with suppress(EngineUnreachable):  # a busy machine may take longer than a call's deadline
                if call == "read":
                    await engine.log.end()
                elif call == "publish":
                    await engine.topics.publish("moment", b"1")
                else:
                    async with engine.topics.subscribe("moment"):
                        pass

    for turns in range(0, 300, 2):
        async with asyncio.timeout(20 * DEADLINE), asyncio.TaskGroup() as group:
            task = group.create_task(for_ever())
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
