"""A door that opens only after a yes, a letter, a page of the web: the hands of the tests of this folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from agent.errors import ToolFailed
from agent.event import ASR_TRANSCRIPT, Event
from agent.tools.tool import Call, Tool, from_outside, tool
from memory.json_value import Json
from tests.agent.mind import NOON, TestMind, spoken

QUESTION = "I am about to unlock the front door. Shall I?"

SURE: dict[str, Json] = {
    "confidence": "normal",
    "score": 0.9,
    "echo_suspicion": 0.0,
    "level_dbfs": -30.0,
    "addressed": "follow_up",
}


@dataclass
class Doors:
    """What was done, in order; what each tool says of itself."""

    opened: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    page: str = "Rain tomorrow."
    name: str = "front door"
    jams: str = ""
    """Why the door cannot be opened, if it cannot."""
    tells: str = ""
    """What the door says itself, if it does."""
    searched: Callable[[], object] = lambda: None
    """Called when the web was searched."""

    @property
    def tools(self) -> list[Tool]:
        async def about_to(arguments: Mapping[str, Json]) -> str:
            return "" if arguments["locked"] else f"unlock the {self.name}"

        async def lock(call: Call, locked: bool) -> Json:
            """Lock or unlock the front door."""
            if self.jams:
                raise ToolFailed(self.jams)
            self.opened.append(call.id)
            if self.tells:
                return {"answer": from_outside(self.tells, "the door")}
            return "locked" if locked else "unlocked"

        async def send_letter(to: str, text: str = "") -> str:
            """Send a letter."""
            self.sent.append(to)
            return "sent"

        async def web_search(words: str) -> str:
            """Search the web."""
            self.searched()
            return from_outside(self.page, "the web")

        return [
            tool(lock, asks_first=about_to),
            tool(send_letter),
            tool(web_search, effect="pure", outside="the web"),
        ]


UNLOCK = ("lock", '{"locked": false}')


@dataclass
class Time:
    """The clock on the wall of a mind, and that of its ears, in one."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    @property
    def seconds(self) -> float:
        return (self.now - NOON).total_seconds()

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def said(words: str, at: Time, ago: float = 0.0, **evidence: Json) -> Event:
    """Return words that began so many seconds ago, surely heard but for what is given."""
    timing: dict[str, Json] = {"speech_started": at.seconds - ago}
    began = at.now - timedelta(seconds=ago)
    metadata: dict[str, Json] = {"evidence": SURE | evidence, "timing": timing}
    return replace(spoken(words, metadata=metadata), type=ASR_TRANSCRIPT, created_at=began)


def results(mind: TestMind) -> list[str]:
    """Return what the room's calls came to."""
    return [message.content for message in mind.loop_epoch.messages if message.role == "tool"]
