"""The standby: of a household's machines that could have the mind one leads, the others follow and take over.

Whoever has the lease leads: it brings its state up to the log, begins its epoch there, and opens the whole box on that
state as after a crash. The others keep a state that is equal, and little to do when it is their turn. A mind that loses
the lease, or whose append is refused, stops within a step, closes the box and follows; the process stays.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Timer
from time import monotonic
from typing import Final, TypeAlias, TypeVar

import structlog

from agent.bus import Transport
from agent.event import utc_now
from agent.transport import EngineTransport
from appliance.admin import exchange
from appliance.errors import Exit, first_of
from appliance.machines.standby.lease import Lease
from appliance.machines.wire import FOLLOWS, PROCESS, Presence, tell_presence
from appliance.notify import Watchdog
from appliance.service import Serving, end_within
from appliance.wiring.machines.engine import engine_of
from memory.engine.interface import Engine, Request
from memory.errors import EngineFailure, EngineUnreachable, MemoryFailure, NobodyServes, OutcomeUnknown, Superseded
from memory.json_value import Json
from memory.state.replicated import ReplicatedDatabase

T = TypeVar("T")

log = structlog.get_logger()

FOLLOWING: Final = "standby.following"
"""Topic that every machine serves that could take over now."""

GIVE_BACK: Final = "standby.give_back"
"""Topic that the machine serves that leads."""

GIVING_SECONDS: Final = 30.0
"""How long giving back takes at most: the farewell to what is under way, and closing the box."""

CLOSING_SECONDS: Final = 20.0
"""How long closing the box may take, given back or lost. A box that hangs would keep the lease for ever, or speak
beside the one that leads: the process ends then, the lease expires, and systemd starts it again."""

LOOK_SECONDS: Final = 1.0
"""Between two looks at who leads, for the supervisor's status."""

AGAIN_SECONDS: Final = 0.3
"""Between two tries to begin an epoch, and two looks whether the state has caught up."""


class LeaseLost(Exception):
    """Ends a term: another machine leads, or may."""


@dataclass(eq=False)
class Term:
    """A time of leading."""

    machine: str
    epoch: int
    before: str
    """Who led before, "" where nobody did or it was this machine."""
    database: ReplicatedDatabase
    """The state, which this machine may write as long as the term lasts."""
    began: datetime = field(default_factory=utc_now)
    asked_for: asyncio.Event = field(default_factory=asyncio.Event)
    """Another machine is to lead: what is in hand is finished or suspended first."""

    def describe(self) -> dict[str, Json]:
        """Return it for the status."""
        since = self.began.isoformat(timespec="seconds")
        return {"machine": self.machine, "state": "leads", "epoch": self.epoch, "since": since, "before": self.before}


Lead: TypeAlias = Callable[[Term], Awaitable[None]]
"""Opens the box on the term's state and serves until told to stop, or until the term is asked for; cancelled when the
term is lost, and then to be gone at once without a word."""


class Standby:
    """One machine's turns of following and leading; it tells systemd which."""

    def __init__(
        self,
        engine: Engine,
        state: ReplicatedDatabase,
        lease: Lease,
        watchdog: Watchdog,
        preload: Callable[[], object],
        *,
        closing_seconds: float = CLOSING_SECONDS,
    ) -> None:
        """`state` is open. `watchdog` is fed while it follows. `preload` imports what the box needs; blocking."""
        self._engine = engine
        self._state = state
        self._lease = lease
        self._watchdog = watchdog
        self._preload = preload
        self._closing_seconds = closing_seconds
        self._superseded = asyncio.Event()
        self._to_answer: list[Request] = []
        """Who asked for the lease, and hears what came of it."""
        self._cut: Timer | None = None
        """Ends the process if the box does not close."""
        state.observe_superseded(self._superseded.set)

    async def run(self, lead: Lead, stop: asyncio.Event) -> None:
        """Lead and follow by turns until `stop` is set, or `lead` has nothing more to do.

        Raises what `lead` raises, `StateUnusable` where the state cannot follow, `EngineRefused`.
        """
        async with asyncio.TaskGroup() as group:
            following = group.create_task(self._state.follow(), name="standby: what the others write")
            while (epoch := await self._follow(stop)) is not None:
                if not await self._lead(epoch, lead):
                    break
            following.cancel()

    async def _follow(self, stop: asyncio.Event) -> int | None:
        """Follow until the lease is this machine's; return the epoch, None when it is to stop."""
        here = Presence(self._lease.machine, FOLLOWS, process=PROCESS)
        async with asyncio.TaskGroup() as group:
            beside = [
                group.create_task(self._tell(), name="standby: tells systemd whom it follows"),
                group.create_task(self._watchdog.run(), name="standby: tells systemd that it lives"),
                group.create_task(asyncio.to_thread(self._preload), name="standby: loads the program"),
                group.create_task(self._serve_following(), name="standby: says that it could take over"),
                group.create_task(tell_presence(self._engine, lambda: here), name="standby: tells that it follows"),
            ]
            epoch = await _unless(stop, self._take())
            for task in beside:
                task.cancel()
        return epoch

    async def _take(self) -> int:
        await self._caught_up()
        return await self._lease.take(lambda: self._state.position.epoch)

    async def _caught_up(self) -> None:
        """Return when the state holds what the log did: a machine that is empty yet leaves the lease to others."""
        end: int | None = None
        while end is None or self._state.position.position < end:
            with suppress(EngineUnreachable):
                end = await self._engine.log.end() if end is None else end
                if self._state.position.position >= end:
                    return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _lead(self, epoch: int, lead: Lead) -> bool:
        """Lead until the term ends; return whether this machine goes on by following."""
        before = self._lease.seen.last if self._lease.seen else ""
        before = "" if before == self._lease.machine else before
        term = Term(self._lease.machine, epoch, before, self._state)
        self._superseded.clear()
        is_lost = False
        try:
            async with asyncio.TaskGroup() as group:
                watching = [
                    group.create_task(self._until_lost(), name="standby: renews the lease"),
                    group.create_task(self._serve(GIVE_BACK, self._ask(term)), name="standby: gives the lease away"),
                ]
                await self._begin(term)
                await lead(term)
                for task in watching:
                    task.cancel()
        except* (LeaseLost, Superseded) as lost:
            is_lost = True
            log.warning("mind_lost", epoch=epoch, reason=str(first_of(lost)))
        finally:
            await self._end()
        return is_lost or term.asked_for.is_set()

    async def _begin(self, term: Term) -> None:
        """Begin the epoch in the log, however often that takes. Raises `Superseded`."""
        began = monotonic()
        while True:
            try:
                await self._state.lead(term.epoch)
            except (EngineUnreachable, OutcomeUnknown) as error:
                log.warning("epoch_not_begun", epoch=term.epoch, reason=str(error))
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            break
        seconds = round(monotonic() - began, 3)
        if term.before:
            log.warning("mind_taken_over", before=term.before, epoch=term.epoch, seconds=seconds)
        else:
            log.info("mind_leads", epoch=term.epoch, seconds=seconds)

    def _bound(self) -> None:
        self._cut = self._cut or end_within(self._closing_seconds, Exit.UNAVAILABLE)

    async def _end(self) -> None:
        """Write no more, and leave the lease to others, who hear of it."""
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
        with suppress(MemoryFailure):
            await self._state.step_down()
        is_free = await self._lease.release()
        answers, self._to_answer = self._to_answer, []
        for request in answers:
            with suppress(EngineFailure):
                await request.answer(json.dumps({"given": is_free, "by": self._lease.machine}).encode())

    async def _until_lost(self) -> None:
        await _unless(self._superseded, self._lease.keep())
        self._bound()
        raise LeaseLost("another machine leads")

    async def _tell(self) -> None:
        """Tell systemd that it is ready, and whom it follows."""
        told = ""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            seen = self._lease.seen
            text = f"follows {seen.machine}, to take over when that is gone" if seen and seen.machine else ""
            text = text or "waits until it may lead the household"
            if text != told:
                self._watchdog.notifier.ready(text)
                log.info("following", machine=seen.machine if seen else "")
            told = text

    async def _serve_following(self) -> None:
        await self._caught_up()

        async def answer(request: Request) -> None:
            with suppress(EngineFailure):
                await request.answer(json.dumps({"machine": self._lease.machine}).encode())

        await self._serve(FOLLOWING, answer)

    def _ask(self, term: Term) -> Callable[[Request], Awaitable[None]]:
        async def ask(request: Request) -> None:
            self._to_answer.append(request)
            log.info("mind_asked_for", epoch=term.epoch)
            term.asked_for.set()
            self._bound()

        return ask

    async def _serve(self, topic: str, handle: Callable[[Request], Awaitable[None]]) -> None:
        """Serve a topic until cancelled, also when the engine is away at first."""
        while True:
            with suppress(EngineUnreachable):
                async with self._engine.topics.serve(topic) as requests:
                    async for request in requests:
                        await handle(request)
            await asyncio.sleep(LOOK_SECONDS)


async def give_back(engine: Engine) -> str:
    """Have the machine that leads give the lease to one that follows; return its name.

    Raises `NobodyServes` with a sentence when no machine follows, or none leads; `EngineFailure`.
    """
    try:
        await engine.topics.request(FOLLOWING, b"{}")
    except NobodyServes as error:
        what = "no other machine follows that could take over; start nakari there, and look with `nakari machines`"
        raise NobodyServes(what) from error
    try:
        answer = json.loads(await engine.topics.request(GIVE_BACK, b"{}", seconds=GIVING_SECONDS))
    except NobodyServes as error:
        raise NobodyServes("no machine leads at this moment; one takes over by itself within seconds") from error
    return str(answer.get("by", ""))


async def _unless(event: asyncio.Event, work: Coroutine[None, None, T]) -> T | None:
    """Return what some work returns, None where the event comes first: then the work is cancelled."""
    async with asyncio.TaskGroup() as group:
        waiting, working = group.create_task(event.wait()), group.create_task(work)
        await asyncio.wait((waiting, working), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        working.cancel()
    return None if working.cancelled() else working.result()


async def take_turns(serving: Serving) -> None:
    """Follow and lead by turns, until stopped.

    Raises what opening the box raises, `StateUnusable` where the state cannot follow, `EngineRefused`.
    """
    from appliance.wiring.memory.state import opened

    serving.heed_signals()
    config, machines = serving.config, serving.config.machines
    path, name = config.state_folder / exchange.DATABASE, machines.own_name
    engine = engine_of(config)
    state = ReplicatedDatabase(path, engine, household=machines.household, machine=name)
    try:
        with suppress(EngineUnreachable):  # each call tries again
            await engine.open()
        async with opened(state):
            watchdog = Watchdog(serving.notifier, config.supervisor.watchdog, ())
            standby = Standby(engine, state, Lease(engine.keys, name), watchdog, preload)
            transport = EngineTransport(engine.topics, name)
            await standby.run(partial(_serve, serving, transport), serving.stop)
    finally:
        await engine.close()


def preload() -> None:
    """Import what a box is opened with: most of what a start takes. Blocking."""
    import appliance.http.app
    import appliance.http.server
    import appliance.wiring.box  # noqa: F401


async def _serve(serving: Serving, transport: Transport, term: Term) -> None:
    """Open the whole box on the state of a term, and serve until stopped or asked for the term."""
    from appliance.wiring.box import box_on
    from appliance.wiring.environment import REAL, World
    from appliance.wiring.machines.roles import of_role
    from appliance.wiring.memory.state import allowance_of, state_in

    began, config = monotonic(), serving.config
    state = state_in(term.database, allowance_of(config.economy, config.zone), REAL.now, transport)
    config, environment = of_role(config, serving.options, REAL)
    world = World(config, serving.options, state, environment, epoch=term.epoch)
    async with box_on(world, {"standby": term.describe}) as box:
        log.info("box_opened", epoch=term.epoch, seconds=round(monotonic() - began, 3))
        await serving.serve(box, term.asked_for)
