"""What lasts, opened: the state database with journal and mailbox, and the bus that writes into them."""

import asyncio
import errno
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct

from agent import mailbox as mailbox_module
from agent.bus import Bus, Transport
from agent.event import utc_now
from agent.growth import cursor as growth_module
from agent.mailbox import Allowance, Mailbox
from agent.mailbox.queue import move_timers
from agent.record import Recorder
from agent.time.clock_steps import ClockSteps
from agent.time.series import at_home
from appliance.admin import exchange, upgrade
from appliance.config.agent.own_work import EconomySettings
from appliance.logs.steps import logged
from memory.errors import DiskSilent, StateUnusable
from memory.graph import name_usage as asked_module
from memory.history import audit_anchor as anchor_module
from memory.json_value import Json
from memory.recall import index as recall_module
from memory.state import journal as journal_module
from memory.state import owner_settings as settings_module
from memory.state import tiers as tiers_module
from memory.state.database import Database
from memory.state.images import FOLDER, Images
from memory.state.journal import Journal

log = structlog.get_logger()

DatabaseT = TypeVar("DatabaseT", bound=Database)

PATIENCE: Final = 1.0
"""Seconds that the status waits for the disk: less than for any of its parts."""

COMMAND_SECONDS: Final = 5.0
"""Within which most commands that are at the state without a service have done with it."""

PAUSE: Final = 0.05
"""Seconds between two looks at whether they have."""

FULL: Final = 1_000_000
"""Bytes; with less free room the next commit may be the one that the disk refuses."""


class State(Struct, frozen=True):
    """The durable parts, and the one way into the journal."""

    journal: Journal
    mailbox: Mailbox
    bus: Bus
    images: Images


SCHEMAS: Final = tuple(
    module.SCHEMA
    for module in (
        journal_module,
        mailbox_module,
        tiers_module,
        recall_module,
        settings_module,
        asked_module,
        anchor_module,
        growth_module,
    )
)
"""Of everything that is kept in the state database, for `Database.open`."""


@asynccontextmanager
async def open_state(
    state_folder: Path,
    allowance: Allowance | None = None,
    now: Callable[[], datetime] = utc_now,
    transport: Transport | None = None,
) -> AsyncIterator[State]:
    """Open the state folder for this process alone; a restore that was cut off is finished first, an old one upgraded.

    `allowance` is what the agent's own work may take; None is the usual one, for who does not let it think. `now` is
    the mailbox's clock, aware; `transport` leads the bus to other machines.

    Raises `StateUnusable` when it cannot be written, `StateInUse` when another nakari has it.
    """
    async with opened(Database(state_folder / exchange.DATABASE)) as database:
        yield state_in(database, allowance, now, transport)


@asynccontextmanager
async def opened(database: DatabaseT) -> AsyncIterator[DatabaseT]:
    """Open a state database with all schemas for this process alone. Raises as `open_state` does."""
    await _let_go_of(database.path.parent)
    await asyncio.to_thread(upgrade.bring_to_date, database.path.parent)
    await database.open(*SCHEMAS)
    try:
        yield database
    finally:
        await database.close()


async def _let_go_of(state_folder: Path) -> None:
    """Wait until no other process has a state, for a moment: a command that is at it soon has done with it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(COMMAND_SECONDS):
            while exchange.is_used(state_folder):  # noqa: ASYNC110  the kernel tells nobody of a lock that is free
                await asyncio.sleep(PAUSE)


def state_in(
    database: Database,
    allowance: Allowance | None = None,
    now: Callable[[], datetime] = utc_now,
    transport: Transport | None = None,
) -> State:
    """Return the state that is kept in an open database; the others as for `open_state`."""
    journal = Journal(database)
    steps = ClockSteps(now, zone=(allowance or Allowance()).zone) if now is utc_now else None
    mailbox = Mailbox(database, now, allowance=allowance, clock_steps=steps)
    images = Images(database.path.parent / FOLDER, database)
    return State(journal, mailbox, Bus(logged(Recorder(journal)), transport), images)


async def follow_home(state: State, zone: tzinfo) -> None:
    """Have alarms that were set in another zone wait for the same time of the clock in this one, the household's."""
    home, now = ZoneInfo(str(zone)), state.mailbox.now()
    moved = await state.journal.database.write(
        lambda connection: move_timers(connection, lambda timer: at_home(timer, home, now))
    )
    if moved:
        log.warning("alarms_moved", zone=home.key, alarms=moved)


def allowance_of(economy: EconomySettings, zone: tzinfo) -> Allowance:
    """Return what the agent's own work may take, by the household's days."""
    return Allowance(
        depth=economy.depth,
        per_minute=economy.per_minute,
        calls_per_task=economy.calls_per_task,
        calls_per_day=economy.calls_per_day,
        usd_per_day=economy.usd_per_day,
        zone=zone,
    )


def disk_of(folder: Path) -> dict[str, Json]:
    """Return how the disk of the state folder looks, nothing written: whether it takes words, and its free bytes."""
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        return {"disk": f"gone ({error.strerror})"}
    free = disk.f_bavail * disk.f_frsize
    if not os.access(folder, os.W_OK):
        return {"disk": "read-only", "disk_free_bytes": free}
    return {"disk": "full" if free < FULL or takes_no_file(disk) else "has room", "disk_free_bytes": free}


async def tried_disk(database: Database) -> dict[str, Json]:
    """Return how the disk of a state database is, for the status: a byte is written, as no look tells that it fails."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await database.read(lambda _: _written(database.path.parent))
    except (TimeoutError, DiskSilent):
        return {"disk": "does not answer"}
    except StateUnusable:  # the file cannot be used, whatever its disk
        return disk_of(database.path.parent)


def _written(folder: Path) -> dict[str, Json]:
    told = disk_of(folder)
    if told["disk"] == "has room":
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"?")
        except OSError as error:
            told["disk"] = "read-only" if error.errno == errno.EROFS else f"takes nothing ({error.strerror})"
    return told


def takes_no_file(disk: os.statvfs_result) -> bool:
    """Whether a file system that counts its files (inodes) has none left, whatever its free bytes."""
    return disk.f_files > 0 and disk.f_favail == 0
