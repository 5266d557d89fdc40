"""Settings and prompt overrides of owners, over the box's defaults and under its system keys."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from memory.errors import RegistrationNeeded, SettingRefused
from memory.state.database import Database

Value: TypeAlias = bool | int | float | str
Level: TypeAlias = Literal["system", "owner", "agent", "default"]
"""Where a value comes from. The agent's are those that an owner does not set, and may take back."""

PROMPT: Final = "prompt."
"""What the name of a prompt module's override begins with."""

LONGEST: Final = 20_000
"""Characters of a text; a prompt module has fewer."""

_WANTED: Final = {
    bool: "is true or false",
    int: "is a whole number",
    float: "is a number",
    str: f"is a text of at most {LONGEST} characters",
}

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS owner_setting (
    owner_key TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (owner_key, name)
) WITHOUT ROWID;
"""
"""For `Database.open`."""


class Effective(Struct, frozen=True):
    """What holds for an owner, and why."""

    value: Value
    level: Level


def effective(system: Value | None, default: Value | None, owner: Value | None) -> Effective | None:
    """Return what holds of three levels: the system's, which nobody overrides, else the owner's, else the default."""
    if system is not None:
        return Effective(system, "system")
    if owner is not None:
        return Effective(owner, "owner")
    return Effective(default, "default") if default is not None else None


class Levels(Struct, frozen=True):
    """What there is to be set, by name: the two levels that are the same for everybody."""

    system: Mapping[str, Value]
    """What nobody overrides."""
    default: Mapping[str, Value]
    """What anybody may, with the type each value has."""
    ranges: Mapping[str, tuple[int, int]] = {}
    """The smallest and the largest of a number, both included."""
    agent: Mapping[str, str] = {}
    """What the agent alone sets for an owner, who may take it back; texts, and what they begin with."""


class OwnerSettings:
    """What each owner has set for themselves; nobody's reaches another. Read from memory, written through.

    `may_keep` raises `RegistrationNeeded` for an owner who may keep nothing (a visitor), and says how to become one who
    may; it is asked at each look, so that what a member had set holds no longer once they are none.
    """

    def __init__(self, database: Database, levels: Levels, may_keep: Callable[[str], object]) -> None:
        self._database = database
        self._levels = levels
        self.require_keeping = may_keep
        self._kept: dict[str, dict[str, Value]] = {}

    async def load(self) -> None:
        """Read what was kept; once, before anything else."""
        self._kept = await self._database.read(_load)

    def of(self, owner_key: str, name: str) -> Effective:
        """Return what holds for an owner. Raises `SettingRefused` for a name that there is not."""
        found = self.all(owner_key).get(name)
        if found is None:
            raise SettingRefused(self._unknown(name))
        return found

    def all(self, owner_key: str) -> dict[str, Effective]:
        """Return everything that holds for an owner, by name."""
        kept = self._held(owner_key)
        found = {
            name: effective(self._levels.system.get(name), self._levels.default.get(name), kept.get(name))
            for name in self._names
        }
        own = {name: Effective(kept.get(name) or begin, "agent") for name, begin in self._levels.agent.items()}
        return {name: one for name, one in found.items() if one is not None} | own

    def prompts(self, owner_key: str) -> dict[str, str]:
        """Return the prompt modules that an owner has in words of their own, by module."""
        own = {name: one for name, one in self.all(owner_key).items() if one.level == "owner"}
        return {name.removeprefix(PROMPT): str(one.value) for name, one in own.items() if name.startswith(PROMPT)}

    async def set(self, owner_key: str, name: str, value: Value) -> None:
        """Keep a value for an owner, durable on return.

        Raises what `may_keep` raises for a visitor; `SettingRefused` for a system key, an unknown name or a value of
        another type.
        """
        self.require_keeping(owner_key)
        if name in self._levels.system:
            raise SettingRefused(f"{name} belongs to the box and holds for everybody; its configuration file sets it")
        if name in self._levels.agent:
            raise SettingRefused(f"{name} is the agent's own to set; `nakari settings reset {name}` takes it back")
        if name not in self._levels.default:
            raise SettingRefused(self._unknown(name))
        wanted = type(self._levels.default[name])
        if type(value) is not wanted or (isinstance(value, str) and len(value) > LONGEST):
            raise SettingRefused(f"{name} {_WANTED[wanted]}")
        least, most = self._levels.ranges.get(name, (value, value))
        if isinstance(value, int | float) and not float(least) <= value <= float(most):
            raise SettingRefused(f"{name} {_WANTED[wanted]} from {least} to {most}")
        await self._keep(owner_key, name, value)

    async def keep(self, owner_key: str, name: str, text: str) -> None:
        """Keep what the agent sets for an owner, durable on return.

        Raises what `may_keep` raises for a visitor; `SettingRefused` for what is not the agent's, or too long.
        """
        self.require_keeping(owner_key)
        if name not in self._levels.agent or len(text) > LONGEST:
            raise SettingRefused(f"{name} {_WANTED[str]}" if name in self._levels.agent else self._unknown(name))
        await self._keep(owner_key, name, text)

    @property
    def owners(self) -> list[str]:
        """Who has set anything."""
        return [*self._kept]

    async def _keep(self, owner_key: str, name: str, value: Value) -> None:
        row = (owner_key, name, json.dumps(value))
        keep = "INSERT OR REPLACE INTO owner_setting (owner_key, name, value) VALUES (?, ?, ?)"
        await self._database.write(lambda connection: connection.execute(keep, row))
        self._kept.setdefault(owner_key, {})[name] = value

    async def reset(self, owner_key: str, *names: str) -> None:
        """Take an owner's own values back, all of them where none is named.

        Raises what `may_keep` raises for a visitor, `SettingRefused` for a name that there is not.
        """
        self.require_keeping(owner_key)
        for name in names:
            self.of(owner_key, name)
        gone = names or tuple(self._kept.get(owner_key, {}))
        rows, drop = [(owner_key, name) for name in gone], "DELETE FROM owner_setting WHERE owner_key = ? AND name = ?"
        await self._database.write(lambda connection: connection.executemany(drop, rows))
        for name in gone:
            self._kept.get(owner_key, {}).pop(name, None)

    async def forget(self, owner_key: str) -> None:
        """Keep nothing that an owner ever set, be they a member or not."""
        await self._database.write(lambda c: c.execute("DELETE FROM owner_setting WHERE owner_key = ?", (owner_key,)))
        self._kept.pop(owner_key, None)

    def _held(self, owner_key: str) -> Mapping[str, Value]:
        kept = self._kept.get(owner_key, {})
        try:
            if kept:
                self.require_keeping(owner_key)
        except RegistrationNeeded:
            return {}
        return kept

    @property
    def _names(self) -> list[str]:
        return sorted({*self._levels.system, *self._levels.default})

    def _unknown(self, name: str) -> str:
        return f"there is no setting {name!r}; there are {', '.join(self._names)}"


def _load(connection: sqlite3.Connection) -> dict[str, dict[str, Value]]:
    kept: dict[str, dict[str, Value]] = {}
    for row in connection.execute("SELECT owner_key, name, value FROM owner_setting"):
        kept.setdefault(row["owner_key"], {})[row["name"]] = json.loads(row["value"])
    return kept
