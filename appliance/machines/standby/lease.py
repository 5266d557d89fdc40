"""The lease: which machine of a household has the mind, kept in the engine by compare-and-set and renewed.

It decides who *should* lead, and when another may take over; what keeps a stale mind from being heeded is not this, nor
any clock, but the log: whoever takes the lease appends its epoch there, so that what an older one appends afterwards is
refused by its position. A lease may therefore be wrong about who is alive without any harm but a change of machines.
(Gray and Cheriton, "Leases", 1989, for the first; the fencing token of the second as in Chubby's sequencers, 2006.)
"""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Self

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memory.engine.interface import KeyEntry, Keys
from memory.errors import EngineFailure, EngineRefused, EngineUnreachable, KeyMoved, OutcomeUnknown

log = structlog.get_logger()

KEY: Final = "lease"
"""Its name in the household's keys."""

RENEW_SECONDS: Final = 2.0
"""Between two renewals."""

EXPIRY_SECONDS: Final = 6.0
"""A lease that has not been renewed for so long, as the other machine sees it by its own clock, may be taken."""

LOOK_SECONDS: Final = 0.5
"""Between two looks of a machine that waits for it: how soon a lease is taken that was released."""

BLIND_SECONDS: Final = 4.0
"""Looks further apart than this prove nothing: the engine, or this machine, stood still, and perhaps the holder could
not renew it either. The time is counted anew."""

AWAY_SECONDS: Final = 12.0
"""How long a machine that gave the lease away leaves it to another, before it takes it again itself."""

VERSION: Final = 1

_AWAY: Final = (EngineUnreachable, OutcomeUnknown, KeyMoved)
"""What is tried again."""


class Holding(Struct, frozen=True):
    """What the lease says."""

    machine: str
    """The name of who has it; "" when it was released."""
    epoch: int
    """Raised by whoever takes it, never lowered: the fencing token."""
    token: str
    """Of one taking, by one process: a machine of the same name, or the same one before it died, is another."""
    last: str = ""
    """The name of who had it before."""

    def to_bytes(self) -> bytes:
        """Return it as JSON."""
        value = {"version": VERSION, "machine": self.machine, "epoch": self.epoch, "token": self.token}
        return json.dumps({**value, "last": self.last}).encode()

    @classmethod
    def of(cls, value: bytes) -> Self:
        """Return what a value of the key says. Raises `EngineRefused` for one of a newer nakari, or none at all."""
        try:
            read = json.loads(value)
            if read["version"] > VERSION:
                raise EngineRefused("a newer nakari has written the lease; update nakari on this machine")
            return cls(str(read["machine"]), int(read["epoch"]), str(read["token"]), str(read.get("last", "")))
        except (ValueError, KeyError, TypeError) as error:
            raise EngineRefused(
                "what the engine keeps as the lease is none: give the household another name"
            ) from error


class Expiry:
    """Says for how long a lease that is looked at again and again was not renewed; no clock but one's own counts."""

    def __init__(self) -> None:
        self._revision = -1
        self._since = 0.0
        self._looked = 0.0

    def look(self, revision: int, now: float) -> float:
        """Take note of the revision at `now` (s, monotonic); return for how many seconds it has surely stood still."""
        if revision != self._revision or now - self._looked > BLIND_SECONDS or now < self._looked:
            self._revision, self._since = revision, now
        self._looked = now
        return now - self._since


class Lease:
    """One machine's view of the lease: it waits for it, keeps it, gives it away. One task uses it at a time.

    Guarantees: each taking has an epoch above every one before it, and above the `floor` it was told; of two machines
    that take it at once one is refused. Not guaranteed: that nobody else believes to hold it too, which a machine that
    stood still does until it looks.
    """

    def __init__(
        self,
        keys: Keys,
        machine: str,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`clock` is this machine's own, seconds, monotonic; None is the event loop's."""
        self.machine = machine
        self.seen: Holding | None = None
        """What the lease said at the last look; None before, and where there was none yet."""
        self._keys = keys
        self._clock = clock
        self._sleep = sleep
        self._held: Holding | None = None
        self._revision = 0
        self._yielded = float("-inf")
        """When it was given away, by this machine's clock."""

    @property
    def epoch(self) -> int:
        """The epoch under which this machine holds it, 0 while it does not, as far as it knows."""
        return self._held.epoch if self._held and self._is_mine() else 0

    async def take(self, floor: Callable[[], int] = lambda: 0) -> int:
        """Wait until it is free, or was not renewed for `EXPIRY_SECONDS`, and take it; return the epoch.

        `floor` is an epoch that is known from the log, so that a lease that the engine lost begins above it. While the
        engine cannot be reached it goes on waiting. Raises `EngineRefused`.
        """
        expiry = Expiry()
        while True:
            with suppress(*_AWAY):
                found = await self._look()
                now = self._now()
                still = expiry.look(found.revision if found else 0, now)
                if self._is_mine():
                    break
                if self._may_take(still, now):
                    await self._try(found, floor())
                    break
            await self._sleep(LOOK_SECONDS)
        assert self._held is not None
        log.info("lease_taken", machine=self.machine, epoch=self._held.epoch, before=self._held.last)
        return self._held.epoch

    async def keep(self) -> None:
        """Renew it until another has it; return then. What the engine cannot be asked meanwhile is tried again."""
        while self._held is not None:
            await self._sleep(RENEW_SECONDS)
            with suppress(EngineFailure):
                await self._renew()
        log.warning("lease_lost", machine=self.machine, now=self.seen.machine if self.seen else "")

    async def release(self) -> bool:
        """Give it away; False where that could not be, or it was another's already: then it expires by itself."""
        held, self._held = self._held, None
        self._yielded = self._now()
        if held is None:
            return False
        free = replace(held, machine="", last=self.machine)
        try:
            await self._keys.update(KEY, free.to_bytes(), revision=self._revision)
        except EngineFailure:
            return False
        log.info("lease_released", machine=self.machine, epoch=held.epoch)
        return True

    def _now(self) -> float:
        return self._clock() if self._clock else asyncio.get_running_loop().time()

    def _may_take(self, still: float, now: float) -> bool:
        if self.seen is None:
            return True
        if self.seen.machine:
            return still >= EXPIRY_SECONDS
        return self.seen.last != self.machine or now - self._yielded >= AWAY_SECONDS

    def _is_mine(self) -> bool:
        return self._held is not None and self.seen is not None and self.seen.token == self._held.token

    async def _look(self) -> KeyEntry | None:
        found = await self._keys.get(KEY)
        self.seen = Holding.of(found.value) if found else None
        self._revision = found.revision if found else 0
        return found

    async def _try(self, found: KeyEntry | None, floor: int) -> None:
        """Take it from what was found; what came of it, where the answer is lost or wrong, the next look tells."""
        before = self.seen or Holding("", 0, "")
        epoch = max(before.epoch, floor) + 1
        self._held = Holding(self.machine, epoch, uuid.uuid4().hex, before.machine or before.last)
        if found is None:
            self._revision = await self._keys.create(KEY, self._held.to_bytes())
        else:
            self._revision = await self._keys.update(KEY, self._held.to_bytes(), revision=found.revision)
        self.seen = self._held

    async def _renew(self) -> None:
        assert self._held is not None
        try:
            self._revision = await self._keys.update(KEY, self._held.to_bytes(), revision=self._revision)
        except KeyMoved:  # perhaps by a renewal of its own whose answer never came
            await self._look()
            if not self._is_mine():
                self._held = None
