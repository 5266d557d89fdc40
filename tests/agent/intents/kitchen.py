"""A box with the real tools of timers, to which whole conversations are said without a model."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import agent.mailbox as mailbox_module
from agent.event import ASR_TRANSCRIPT, Event
from agent.mailbox import Mailbox
from agent.tools.timers import timer_tools
from agent.tools.tool import Call, run_tool
from memory.state.database import Database
from tests.agent.clock import MORNING, Clock
from tests.agent.offline_talk import OFFLINE, Talk


class Kitchen:
    """A box with the real tools of timers; Saturday, eleven o'clock."""

    def __init__(self, mailbox: Mailbox, clock: Clock) -> None:
        self._talk = Talk(OFFLINE)
        self._tools = {each.spec.name: each for each in timer_tools(mailbox, clock, "Europe/Berlin")}
        self._seconds = 0

    async def hear(self, words: str) -> str:
        """Return what is answered in the end, after the calls that it needs."""
        self._seconds += 3
        at = MORNING + timedelta(seconds=self._seconds)
        event = Event(ASR_TRANSCRIPT, words, source="mic", created_at=at)
        self._talk.hear(words, at=at)
        said: list[str] = []
        for _ in range(8):
            calls = await self._talk.answer()
            said += [str(arguments["text"]) for name, arguments in calls if name == "reply"]
            self._talk.result(*[await self._run(name, arguments, event) for name, arguments in calls])
            if calls[-1][0] == "complete_event":
                return " ".join(said)
        raise AssertionError("no answer")

    async def _run(self, name: str, arguments: dict[str, object], event: Event) -> str:
        if name == "reply":
            return "delivered"
        return (
            await run_tool(self._tools[name], json.dumps(arguments), Call("c", event)) if name in self._tools else "{}"
        )

    async def rings(self) -> list[str]:
        """Return what is set: when it is due, how it repeats, and what it is for."""
        told = await run_tool(self._tools["list_timers"], "{}", Call("c", Event(ASR_TRANSCRIPT, "", source="mic")))
        return (
            []
            if told == "no timer is set"
            else [
                " ".join(filter(None, (each["due"][:16], each.get("repeats", ""), each["label"])))
                for each in json.loads(told)
            ]
        )


@asynccontextmanager
async def a_kitchen(folder: Path) -> AsyncIterator[Kitchen]:
    """A box on which nothing is set."""
    database, clock = Database(folder / "state.sqlite3"), Clock()
    await database.open(mailbox_module.SCHEMA)
    try:
        yield Kitchen(Mailbox(database, clock), clock)
    finally:
        await database.close()
