"""Takes over what can change of the configuration while nakari runs, and tells what has to wait for a start."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

import structlog
from msgspec import Struct
from msgspec.structs import fields

from appliance.config.load import Config
from appliance.config.sections import Settings
from appliance.notify import Notifier

LIVE: Final = frozenset(
    ("log.level", "log.words", "log.file", "voice.volume", "announcements.per_day", "announcements.urgent_wait")
)
"""Keys that `nakari config reload` takes over; every other one holds from the next start on."""

log = structlog.get_logger()

TakesOver: TypeAlias = Callable[[Config], Awaitable[None]]
"""Has one part go by another configuration from now on."""


class Reloaded(Struct, frozen=True):
    """What a reload found changed since the start, or since the reload before."""

    now: tuple[str, ...] = ()
    """Keys that hold from now on."""
    later: tuple[str, ...] = ()
    """Keys that hold from the next start on; told again by each reload until then."""


def changed(before: Settings, after: Settings) -> list[str]:
    """Return what is set otherwise, in the file's order: keys as "section.key", and whole tables such as "models"."""
    found: list[str] = []
    for section in fields(Settings):
        old, new = getattr(before, section.name), getattr(after, section.name)
        if isinstance(old, Struct):
            keys = (field.name for field in fields(old) if getattr(old, field.name) != getattr(new, field.name))
            found += [f"{section.name}.{key}" for key in keys]
        elif old != new:
            found.append(section.name)
    return found


class Reload:
    """Reads the configuration again when asked, one at a time."""

    def __init__(
        self,
        config: Config,
        read: Callable[[], Config],
        parts: Mapping[tuple[str, ...], TakesOver],
        notifier: Notifier | None = None,
    ) -> None:
        """`parts`: who takes which keys over ("section.key"); what nobody takes waits for the next start."""
        self._config = config
        self._read = read
        self._parts = parts
        self._notifier = notifier or Notifier(config.supervisor.notify_socket)
        self._one = asyncio.Lock()
        self._taken: dict[str, object] = {}

    @property
    def takes(self) -> frozenset[str]:
        """Return the keys that somebody takes over."""
        return frozenset(key for keys in self._parts for key in keys)

    async def __call__(self) -> Reloaded:
        """Take over what can be. Raises `ConfigError` for a file that is wrong, and leaves all as it was."""
        async with self._one:
            self._notifier.reloading()
            try:
                return await self._take_over(await asyncio.to_thread(self._read))
            finally:
                self._notifier.ready()

    async def _take_over(self, config: Config) -> Reloaded:
        different = [key for key in changed(self._config, config) if self._taken.get(key) != _at(config, key)]
        # What was taken over before, and is now as it was at the start, has changed too.
        different += [key for key in self._taken if key not in different and self._taken[key] != _at(config, key)]
        done: list[str] = []
        for keys, take_over in self._parts.items():
            if wanted := [key for key in keys if key in different]:
                await take_over(config)
                done += wanted
        self._taken |= {key: _at(config, key) for key in done}
        found = Reloaded(tuple(done), tuple(key for key in different if key not in done))
        log.info("configuration_reloaded", now=list(found.now), later=list(found.later))
        return found


def _at(config: Config, key: str) -> object:
    """Return the value of "section.key", or a whole table."""
    section, _, name = key.partition(".")
    found = getattr(config, section)
    return getattr(found, name) if name else found
