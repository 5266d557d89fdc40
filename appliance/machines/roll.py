"""Which machines a household has now: as each tells on the engine, and as the server's users file lists them."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from appliance.config.load import Config
from appliance.errors import ConfigError
from appliance.machines.joining.users import UsersFile
from appliance.machines.namesakes import Namesakes
from appliance.machines.wire import FOLLOWS, PRESENCE, PRESENCE_SECONDS, Presence, WireRefused, unpack
from appliance.wiring.machines.engine import engine_of
from memory.json_value import Json

if TYPE_CHECKING:
    from memory.engine.interface import Engine

LISTENED: Final = 2 * PRESENCE_SECONDS
"""Seconds for which the machines are listened to: each tells once in half of it."""


async def roll_of(config: Config) -> dict[str, Json]:
    """Return `server`, `machines`, each with its name, role, room, state and what waits there, and `namesakes`.

    Raises `EngineUnreachable`, `EngineRefused`.
    """
    engine = engine_of(config)
    try:
        server = await engine.describe()
        heard = await listen(engine)
    finally:
        await engine.close()
    rows = rows_of(heard.present, known_of(config))
    return {"server": server, "machines": rows, "refused": heard.refused, "namesakes": [*heard.namesakes]}


class Heard(Struct, frozen=True):
    """What the machines told in a while."""

    present: dict[str, Presence]
    """By name."""
    refused: str
    """The sentence about one that this version does not read, "" where it reads all."""
    namesakes: tuple[str, ...]
    """The names that two machines have."""


async def listen(engine: "Engine", seconds: float = LISTENED) -> Heard:
    """Return who tells that it lives."""
    present: dict[str, Presence] = {}
    namesakes, refused = Namesakes(), ""
    async with engine.topics.subscribe(PRESENCE) as subscription:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                async for message in subscription:
                    try:
                        told = unpack(message.data)
                    except WireRefused as error:
                        refused = str(error)
                        continue
                    if isinstance(told, Presence):
                        present[told.machine] = told
                        namesakes.hear(told)
    return Heard(present, refused, namesakes.names)


def known_of(config: Config) -> dict[str, str]:
    """Return the roles by the names of those that were let in, where this machine keeps the list; else nothing."""
    if not config.machines.users:
        return {}
    try:
        users = UsersFile(Path(config.machines.users).expanduser(), config.machines.household).read()
    except (ConfigError, OSError):  # `nakari machines invite` tells of it
        return {}
    return {user.name: user.role for user in users if not user.until}


def rows_of(present: Mapping[str, Presence], known: Mapping[str, str]) -> list[Json]:
    """Return one row a machine, by name. Who leads is the mind with the highest epoch."""
    lead = max((each.epoch for each in present.values() if not each.leaves), default=0)
    rows: list[Json] = []
    for name in sorted({*present, *known}):
        each = present.get(name)
        if each is None or each.leaves:
            rows.append({"machine": name, "role": _role(each, known.get(name, "mind")), "state": "away"})
            continue
        if each.role == FOLLOWS:
            rows.append({"machine": name, "role": known.get(name, "mind"), "state": "follows"})
            continue
        leads = each.role != "ears" and each.epoch == lead > 0
        waiting = f"{each.waiting} turns" if each.waiting else ""
        row: dict[str, Json] = {"machine": name, "role": each.role, "room": each.room, "waiting": waiting}
        rows.append(row | {"state": "leads" if leads else "there"})
    return rows


def _role(each: Presence | None, known: str) -> str:
    """Return what a machine does that is away, as it told last, else as it was let in."""
    return known if each is None or each.role == FOLLOWS else each.role
