"""Which model thinks, changed while it runs and kept over restarts; and what the models came to today."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import date, datetime, tzinfo
from typing import Any, Final, cast

from msgspec import Struct, field

from agent.bus import Bus
from agent.context.epochs import Contexts
from agent.event import HOUSEHOLD, Event, utc_now
from agent.model.chain import Chain, Spent
from agent.model.interface import CachedPrefix, ChatModel
from agent.model.messages import Message, ToolSpec, Usage
from agent.model.window import learn_window
from appliance.api.caller import ROOM
from appliance.errors import Exit, Problem
from memory.json_value import Json
from memory.state.journal import Journal

CHOSEN: Final = "models.chosen"
"""Type of the envelope that says who thinks from now on."""

ANSWERED: Final = "llm.results"
MOST_ANSWERS: Final = 5000
"""Answers of today that are counted again after a restart."""


class ModelChoice(Struct):
    """Changes the chain by alias, and remembers it in the journal."""

    chain: Chain
    journal: Journal
    bus: Bus
    zone: tzinfo
    now: Callable[[], datetime] = utc_now
    today: Spent = field(default_factory=Spent)
    _day: date | None = None
    _newest: ChatModel | None = None
    _is_chosen: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.chain.observe(self._count)

    async def restore(self) -> None:
        """Take up what was chosen before the start, unless the configuration no longer knows it, and today's costs."""
        chosen = await self.journal.entries(topic=CHOSEN, newest=True, limit=1)
        alias = str(chosen[0].body.get("alias", "")) if chosen else ""
        if alias in self.chain.aliases:
            self.chain.use(alias)
            self.chain.settle()
        self._day = self._here(self.now())
        for entry in await self.journal.entries(topic=ANSWERED, newest=True, limit=MOST_ANSWERS):
            if self._here(entry.at) == self._day:
                self.today.add(_usage_of(cast("dict[str, Any]", entry.body)))

    async def use(self, alias: str) -> str:
        """Let another model think from the next event on; durable on return. Raises `Problem` for an unknown one."""
        if alias not in self.chain.aliases:
            raise Problem(
                f"there is no model {alias}, only {', '.join(self.chain.aliases)}; "
                f"to have it, describe it below [models.{alias}] in the configuration, and restart",
                Exit.NO_INPUT,
            )
        await self.bus.publish(Event(CHOSEN, source="system", metadata={"alias": alias}))
        self.chain.use(alias)
        self._newest = next(each.model for each in self.chain.models if each.alias == alias)
        self._is_chosen.set()
        return f"{alias} thinks from the next event on."

    async def learn(self) -> None:
        """Ask the model that was chosen last what it reads, for ever; nobody waits for that."""
        while True:
            await self._is_chosen.wait()
            self._is_chosen.clear()
            await learn_window(self._newest)

    def describe(self) -> dict[str, Json]:
        """Return who thinks, and what it came to since the start and today."""
        self._turn_page()
        return {**self.chain.describe(), "today": self.today.describe()}

    def _count(self, usage: Usage) -> None:
        self._turn_page()
        self.today.add(usage)

    def _turn_page(self) -> None:
        if (day := self._here(self.now())) != self._day:
            self._day, self.today = day, Spent()

    def _here(self, moment: datetime) -> date:
        return moment.astimezone(self.zone).date()


def prefix_of_room(contexts: Contexts) -> CachedPrefix:
    """Return what finds the room's conversation, whose prefix local servers keep and read ahead while people speak."""

    def prefix() -> tuple[Sequence[Message], Sequence[ToolSpec]] | None:
        try:
            epoch = contexts.loaded(HOUSEHOLD, ROOM)
        except KeyError:
            return None
        return epoch.messages, epoch.tools

    return prefix


def _usage_of(body: dict[str, Any]) -> Usage:
    asked, cached, answered = (
        int(body.get(key) or 0) for key in ("prompt_tokens", "cached_tokens", "completion_tokens")
    )
    return Usage(asked, cached, answered, float(body.get("cost_usd") or 0.0))
