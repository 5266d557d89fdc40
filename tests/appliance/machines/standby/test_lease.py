"""The lease, checked by simulation: whatever happens to cables, machines and clocks, one mind's writes are accepted."""

import asyncio
import json
import random
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from appliance.machines.standby.lease import AWAY_SECONDS, EXPIRY_SECONDS, LOOK_SECONDS, RENEW_SECONDS, Expiry, Lease
from memory.errors import EngineRefused, EngineUnreachable, LogMoved, OutcomeUnknown
from tests.appliance.machines.wire import SLOW, Machine, Server, calm, trouble
from tests.room.virtual_time import passed, run_virtually

pytestmark = pytest.mark.shows("H10", "X18")

TROUBLE_SECONDS = 240.0
CALM_SECONDS = 40.0


class Superseded(Exception):
    """A later epoch is in the log."""


class LeaseLost(Exception):
    """Another machine has it, or will."""


@dataclass
class Mind:
    """What leads by the lease and writes into the log, as a state database does: after its own last position."""

    machine: Machine
    lease: Lease
    position: int = 0
    epoch_seen: int = 0
    epoch_by: str = ""
    kept: list[str] = field(default_factory=list)
    """What the engine has acknowledged to it."""
    count: int = 0
    leads_since: list[float] = field(default_factory=list)

    async def run(self) -> None:
        """Take the lease, lead, lose it, and so on, until cancelled."""
        while True:
            epoch = await self.lease.take(lambda: self.epoch_seen)
            with suppress(Superseded, LeaseLost):
                await self._until_lost(epoch)
            await self.lease.release()

    async def _until_lost(self, epoch: int) -> None:
        async def keep() -> None:
            await self.lease.keep()
            raise LeaseLost

        is_lost = False
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(keep())
                group.create_task(self._lead(epoch))
        except* (Superseded, LeaseLost):
            is_lost = True  # raised within here it would come in a group of its own, on Python 3.11.2
        if is_lost:
            raise LeaseLost

    async def _lead(self, epoch: int) -> None:
        await self._append({"epoch": epoch, "by": self.machine.name, "id": f"epoch-{epoch}-{self.machine.name}"}, epoch)
        self.leads_since.append(asyncio.get_running_loop().time())
        while True:
            self.count += 1
            name = f"{self.machine.name}-{self.count}"
            await self._append({"write": epoch, "by": self.machine.name, "id": name}, epoch)
            self.kept.append(name)
            await self.machine.rest(0.3)

    async def _append(self, record: dict[str, object], epoch: int) -> None:
        """Append it, whatever it takes; what is unknown is sent again at the same place. Raises `Superseded`."""
        begins = "epoch" in record
        while True:
            try:
                if begins and await self._is_begun(epoch):
                    return
                line = json.dumps(record).encode()
                self.position = await self.machine.append(line, after=self.position, id=str(record["id"]))
            except (EngineUnreachable, OutcomeUnknown):
                continue
            except LogMoved:
                if not begins:
                    raise Superseded from None
                continue
            return

    async def _is_begun(self, epoch: int) -> bool:
        """Read the log to its end; return whether this epoch's record is in it already. Raises `Superseded`."""
        while found := await self.machine.read(self.position):
            self.position = found[-1].position
            for each in (json.loads(one.record) for one in found):
                if "epoch" in each:
                    self.epoch_seen, self.epoch_by = each["epoch"], each["by"]
        if (self.epoch_seen, self.epoch_by) == (epoch, self.machine.name):
            return True
        if self.epoch_seen >= epoch:
            raise Superseded
        return False


def check(server: Server, minds: list[Mind]) -> None:
    """Fail where two machines' writes were accepted beside each other, or one that was acknowledged is not there."""
    current: tuple[int, str] = (0, "")
    there = set[str]()
    for each in (json.loads(record.record) for record in server.log):
        assert each["id"] not in there, f"{each} is there twice"
        there.add(each["id"])
        if "epoch" in each:
            assert each["epoch"] > current[0], f"{each} after {current}"
            current = (each["epoch"], each["by"])
        else:
            assert (each["write"], each["by"]) == current, f"{each} was accepted under {current}"
    for mind in minds:
        assert there.issuperset(mind.kept)


async def life(seed: int, machines: int = 3) -> tuple[Server, list[Mind]]:
    """Let machines of a household live through what a seed says, then in calm; return the server and the minds."""
    chance, server, loop = random.Random(seed), Server(), asyncio.get_running_loop()
    all_ = [Machine(f"m{n}", server, chance, chance.uniform(0.97, 1.03)) for n in range(machines)]
    calm(all_)
    minds = [Mind(each, Lease(each, each.name, each.clock, each.rest)) for each in all_]
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(mind.run()) for mind in minds]
        await trouble(all_, chance, loop.time() + TROUBLE_SECONDS)
        calm_since = loop.time()
        await passed(CALM_SECONDS)
        for task in running:
            task.cancel()
    await passed(2 * SLOW)
    leading = [mind for mind in minds if mind.lease.epoch]
    assert len(leading) == 1, "after the trouble exactly one leads"
    assert json.loads(server.log[-1].record)["by"] == leading[0].machine.name, "and its writes are accepted"
    assert max(leading[0].leads_since) < calm_since + 20
    return server, minds


@pytest.mark.parametrize("seed", range(24))
def test_one_minds_writes_are_accepted_whatever_happens(seed: int) -> None:
    server, minds = run_virtually(life(seed))
    check(server, minds)
    assert sum(len(mind.kept) for mind in minds) > 100


def test_the_troubles_do_change_who_leads() -> None:
    """Else the property above would say little."""
    server, _ = run_virtually(life(3))
    assert sum(b'"epoch"' in each.record for each in server.log) >= 3


def machines(count: int = 2) -> tuple[Server, list[Machine], list[Lease]]:
    """Return a server and machines that all is well with."""
    server = Server()
    all_ = [Machine(f"m{n}", server, random.Random(n)) for n in range(count)]
    calm(all_)
    return server, all_, [Lease(each, each.name, each.clock, each.rest) for each in all_]


def test_a_dead_holder_is_followed_within_seven_seconds() -> None:
    async def story() -> float:
        loop = asyncio.get_running_loop()
        _, _, (one, two) = machines()
        assert await one.take() == 1
        async with asyncio.TaskGroup() as group:
            keeping, waiting = group.create_task(one.keep()), group.create_task(two.take())
            await passed(30)
            assert not waiting.done(), "while it is renewed nobody takes it"
            keeping.cancel()
            died = loop.time()
        assert waiting.result() == 2
        return loop.time() - died

    assert EXPIRY_SECONDS - RENEW_SECONDS - LOOK_SECONDS < run_virtually(story()) < EXPIRY_SECONDS + 2 * LOOK_SECONDS


def test_one_that_was_given_away_is_taken_at_once_and_left_to_the_other() -> None:
    async def story() -> tuple[float, str]:
        loop = asyncio.get_running_loop()
        _, _, (one, two) = machines()
        await one.take()
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(two.take())
            await passed(1)
            released = loop.time()
            assert await one.release()
            again = group.create_task(one.take())
            await waiting
            took = loop.time() - released
            keeping = group.create_task(two.keep())
            await passed(3 * AWAY_SECONDS)
            assert not again.done()
            again.cancel()
            keeping.cancel()
        return took, two.seen.last if two.seen else ""

    took, last = run_virtually(story())
    assert took < 2 * LOOK_SECONDS
    assert last == "m0"


def test_one_that_nobody_wants_is_taken_back() -> None:
    async def story() -> float:
        loop = asyncio.get_running_loop()
        _, _, (one,) = machines(1)
        await one.take()
        await one.release()
        released = loop.time()
        assert await one.take() == 2
        return loop.time() - released

    assert AWAY_SECONDS <= run_virtually(story()) < AWAY_SECONDS + 2 * LOOK_SECONDS


def test_a_holder_that_stood_still_learns_that_it_lost() -> None:
    async def story() -> None:
        _, (first, _), (one, two) = machines()
        await one.take()
        async with asyncio.TaskGroup() as group, asyncio.timeout(120):
            group.create_task(one.keep())
            first.runs.clear()
            await two.take()
            first.runs.set()
        assert one.epoch == 0
        assert two.epoch > 1

    run_virtually(story())


def test_an_engine_that_was_away_for_all_costs_nobody_the_lease() -> None:
    async def story() -> None:
        _, all_, (one, two) = machines()
        await one.take()
        async with asyncio.TaskGroup() as group:
            keeping, waiting = group.create_task(one.keep()), group.create_task(two.take())
            for seconds in (5, 8, 30, 600):
                for each in all_:
                    each.is_cut = True
                await passed(seconds)
                calm(all_)
                await passed(12)
            assert not waiting.done()
            keeping.cancel()
            waiting.cancel()
        assert one.epoch == 1

    run_virtually(story())


def test_a_lost_bucket_begins_above_the_epoch_of_the_log() -> None:
    async def story() -> None:
        server, _, (one, _) = machines()
        assert await one.take(lambda: 41) == 42
        server.keys.clear()

    run_virtually(story())


def test_a_lease_of_a_newer_version_is_not_half_read() -> None:
    async def story() -> None:
        server, _, (one, _) = machines()
        server.set("lease", b'{"version": 2, "machine": "m9"}', 0)
        with pytest.raises(EngineRefused, match="newer nakari"):
            await one.take()

    run_virtually(story())


def test_only_an_unbroken_look_counts_as_expiry() -> None:
    expiry = Expiry()
    assert [expiry.look(7, at) for at in (0.0, 1.0, 2.0, 3.0)] == [0.0, 1.0, 2.0, 3.0]
    assert expiry.look(8, 3.5) == 0.0
    assert expiry.look(8, 5.0) == 1.5
    assert expiry.look(8, 60.0) == 0.0, "nobody looked in between"
    assert expiry.look(8, 61.0) == 1.0
    assert expiry.look(8, 50.0) == 0.0, "a clock that goes back proves nothing"
