"""Proper names that the recognizer should expect: gathered from those who know some, fresh, bounded, per language."""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, Protocol

import structlog
from msgspec import Struct, field

from agent.bus import Bus
from agent.event import Event
from audio.loops import until_set
from audio.reflexes.words import asked
from memory.backoff import Backoff
from memory.errors import MemoryFailure
from memory.graph.proper_names import Read, proper_names, script_of

log = structlog.get_logger()

MOST_NAMES: Final = 50
MOST_CHARACTERS: Final = 200
"""Of all names together: each token of a prompt costs time in every decode."""

SETTLE_SECONDS: Final = 20.0
"""After a change before the names are read again: what is learned in one conversation costs a few reads."""

AT_LEAST_EVERY: Final = 3600.0
"""Seconds after which they are read without a change: another program may write into the same graph."""

MOST_USES: Final = 20
"""Statements about the memory that are looked at for the names used in them."""

LONGEST_USE: Final = 4_000
"""Characters of such a statement."""

_SCRIPTS: Final = {
    "CJK": "zh yue ja ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CYRILLIC": "ru uk be bg mk sr kk mn",
    "GREEK": "el",
    "ARABIC": "ar fa ur",
    "HEBREW": "he",
    "DEVANAGARI": "hi mr ne",
    "THAI": "th",
}
"""The languages that are not written in Latin letters, by script."""

_NOT_LATIN: Final = frozenset(" ".join(_SCRIPTS.values()).split())

_OF_SENTENCES: Final = re.compile(
    r"\b(?:all|and|are|but|delete|do|erase|every|everything|forget|forward|give|ignore|instructions|is|me|must|my|not|now"
    r"|off|on|please|previous|prompt|remember|run|say|send|stop|system|tell|the|to|turn|what|you|your)\b",
    re.IGNORECASE,
)
"""English words that are in no name and in most sentences: a name with one of them is none."""


class NameSource(Protocol):
    """Knows proper names: the memory, a home's areas. On the event loop."""

    async def names(self) -> Sequence[str]:
        """Return them, the most important first. Raises `MemoryFailure` where they cannot be had now."""

    def observe(self, changed: Callable[[], None]) -> None:
        """Have somebody called when they may have changed; on the event loop, has to return at once."""


class KnownNames:
    """The names of all sources. `run` keeps them fresh; asking for them waits for nothing, from any thread.

    They go to the recognizer of this machine and nowhere else.
    """

    def __init__(self, *sources: NameSource, pause: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._sources = sources
        self._pause = pause
        self._known: tuple[str, ...] = ()
        self._have_changed = asyncio.Event()
        for source in sources:
            source.observe(self._have_changed.set)

    def __call__(self, language: str) -> Sequence[str]:
        """Return those in the script of a language (ISO 639-1, "" for unknown), the most important first."""
        return bounded([name for name in self._known if _is_written_with(script_of(name), language)])

    async def run(self) -> None:
        """Read them again whenever they have changed, until cancelled; a memory that is down is asked again."""
        rests = Backoff(SETTLE_SECONDS / 4, AT_LEAST_EVERY)
        while True:
            self._have_changed.clear()
            try:
                known = [name for source in self._sources for name in await source.names()]
            except MemoryFailure as error:
                log.debug("names_not_read", reason=str(error))
                await self._pause(rests.failed())
                continue
            rests.worked()
            self._known = tuple(dict.fromkeys(name for name in known if not is_order(name)))
            await until_set(self._have_changed, AT_LEAST_EVERY)
            await self._pause(SETTLE_SECONDS)


class GraphNames(Struct, eq=False):
    """A `NameSource` over the household's graph: first what its memory was lately asked or told about.

    `run` follows the memory's tools; only of those who share the graph, so that no visitor's words decide anything.
    """

    read: Read
    bus: Bus
    shares: Callable[[str], bool]
    """Says of an owner key whether its events use the graph that `read` reads."""
    _uses: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_USES))
    _observers: list[Callable[[], None]] = []

    async def names(self) -> Sequence[str]:
        """Return the names of the graph. Raises `MemoryFailure`."""
        found = await proper_names(self.read)
        return sorted(found, key=self._age_of)

    def observe(self, changed: Callable[[], None]) -> None:
        """Have somebody called when the memory was used."""
        self._observers.append(changed)

    async def run(self) -> None:
        """Take note of what the memory is asked and told, until cancelled."""
        await self.bus.attend("tools.requests", self._see)

    async def _see(self, step: Event) -> None:
        if step.metadata.get("tool_name") in {"memory_write", "memory_query"} and self.shares(step.owner_key):
            self._uses.appendleft(str(step.metadata.get("args", ""))[:LONGEST_USE])
            for changed in self._observers:
                changed()

    def _age_of(self, name: str) -> int:
        """Return how many statements ago the name was used."""
        return next((age for age, use in enumerate(self._uses) if name in use), MOST_USES)


def _is_written_with(script: str, language: str) -> bool:
    return language not in _NOT_LATIN if script == "LATIN" else language in _SCRIPTS.get(script, "").split()


def bounded(names: Collection[str]) -> list[str]:
    """Return the first names, up to `MOST_NAMES` and `MOST_CHARACTERS` with what separates them."""
    kept: list[str] = []
    left = MOST_CHARACTERS
    for name in names:
        left -= len(name) + 2 * bool(kept)
        if left < 0 or len(kept) == MOST_NAMES:
            break
        kept.append(name)
    return kept


def is_order(name: str) -> bool:
    """Say whether a name reads like words to somebody: a reflex, or with a word that only sentences have.

    A recognizer that expects a name may hear it where nobody said it.
    """
    return asked(name) is not None or _OF_SENTENCES.search(name) is not None
