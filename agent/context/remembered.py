"""What the agent carries into each conversation: a standing query of its own, read at the opening of an epoch."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, TypeAlias, cast

import structlog

from agent.context.tokens import TokenCounter
from agent.event import Event
from agent.model.messages import Message
from memory.errors import GraphRefused, MemoryFailure, TooLarge
from memory.graph.cypher import Statement
from memory.graph.results import Result
from memory.json_value import Json
from memory.state.owner_settings import OwnerSettings

REMEMBERED: Final = "Remembered"
"""Name of the part of a block."""

SETTING: Final = "memory.remember_at_start"
"""What the owner's setting is called that has the query: `{cypher, params, event}` as JSON, "" for none."""

SECONDS: Final = 2.0
"""For the query, when an epoch opens: somebody waits for the answer."""

ROWS: Final = 40

LONGEST_REASON: Final = 200
"""Characters of why the query gave nothing."""

Read: TypeAlias = Callable[[Statement, Mapping[str, object]], Awaitable[Result]]
"""Runs a statement that only reads. Raises `MemoryFailure`."""

log = structlog.get_logger()


class Remembered:
    """One standing query of each owner, which the agent alone sets, over the graph that they share.

    Guarantees: what is told takes at most `most_tokens` and `ROWS` lines; a query that fails, or takes longer than
    `SECONDS`, holds up no conversation. Who may keep no settings, a visitor, has none.
    """

    name = REMEMBERED

    def __init__(
        self, settings: OwnerSettings, read: Read, tokens: TokenCounter, most_tokens: int, seconds: float = SECONDS
    ) -> None:
        self.most_tokens = most_tokens
        self._seconds = seconds
        self._settings = settings
        self._read = read
        self._tokens = tokens

    async def set(self, event: Event, statement: Statement, params: Mapping[str, object]) -> str:
        """Keep the query for the owner of the event in hand, and return what it tells now.

        Raises `RegistrationNeeded` for a visitor, and what the query raises: then the one before stays.
        """
        self._settings.require_keeping(event.owner_key)
        try:
            told = await self._told(statement, params)
        except TimeoutError as error:
            raise TooLarge(
                f"it takes longer than {self._seconds:g} s: ask for less, by a name or with LIMIT"
            ) from error
        kept = {"cypher": statement.text, "params": dict(params), "event": event.id}
        await self._settings.keep(event.owner_key, SETTING, json.dumps(kept, ensure_ascii=False))
        return told

    async def clear(self, owner_key: str) -> None:
        """Have an owner's conversations begin without any. Raises `RegistrationNeeded` for a visitor."""
        await self._settings.keep(owner_key, SETTING, "")

    async def forget_event(self, event_id: str) -> None:
        """Clear the queries that were set for an event: their parameters may repeat its words."""
        for owner_key in self._settings.owners:
            if self._kept(owner_key).get("event") == event_id:
                await self.clear(owner_key)

    async def lines(self, event: Event, messages: Sequence[Message], besides: Collection[str]) -> str:
        """Return what the owner's query tells now, or why it tells nothing; "" where there is none."""
        kept = self._kept(event.owner_key)
        if not kept:
            return ""
        try:
            return await self._told(Statement.parse(str(kept["cypher"])), cast("dict[str, object]", kept["params"]))
        except (MemoryFailure, TimeoutError) as error:
            log.warning("remembered_not_read", kind=type(error).__name__)
            why = str(error)[:LONGEST_REASON] or f"it took longer than {self._seconds:g} s"
            is_lasting = isinstance(error, GraphRefused | TimeoutError)
            return f"not read: {why}{'; set it anew with remember_at_start' if is_lasting else ''}"

    def _kept(self, owner_key: str) -> dict[str, Json]:
        text = self._settings.of(owner_key, SETTING).value
        return json.loads(text) if isinstance(text, str) and text else {}

    async def _told(self, statement: Statement, params: Mapping[str, object]) -> str:
        """Return a line for each row, as far as there is room. Raises `MemoryFailure`, TimeoutError."""
        async with asyncio.timeout(self._seconds):
            found = await self._read(statement, params)
        lines, room = list[str](), self.most_tokens
        for line in map(_line, found.records[:ROWS]):
            cost = self._tokens.count(f"{line}\n")
            if cost > room:
                lines += [] if lines else [f"{self._tokens.cut(line, room)}…"]
                break
            lines.append(line)
            room -= cost
        more = len(found.records) + found.truncated - len(lines)
        return "\n".join([*(lines or ["nothing"]), *([f"… {more} more rows"] if more > 0 else [])])


def _line(row: Mapping[str, Json]) -> str:
    """Return a row as one line: a single text as it is, everything else as JSON."""
    value = next(iter(row.values())) if len(row) == 1 else dict(row)
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
