"""A conversation with the offline model on a message list, as the runtime would keep it."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agent.context.block import Block, render
from agent.event import Event
from agent.intents.model import OfflineModel
from agent.mailbox import Mailbox
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolSpec
from agent.run.budget import RunLimits
from agent.run.run_state import RunState
from agent.tools.calendar import calendar_tools
from agent.tools.clock import clock_tool
from agent.tools.device import DeviceVerb, device_tools
from agent.tools.events import event_tools
from agent.tools.journal import recall_tool
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import reply_tool
from agent.tools.timers import timer_tools
from agent.tools.voices import voice_tool
from agent.tools.weather import weather_tool
from agent.web.weather import OpenMeteo
from memory.json_value import Json
from memory.recall import Recall
from memory.state.database import Database
from memory.state.journal import Journal
from memory.vectors.embedding import NoEmbedder
from tests.agent.clock import MORNING
from tests.agent.mind import no_contexts
from tests.agent.wire_form import wire_form
from tests.fakes import RecordingOutlet

if TYPE_CHECKING:
    from agent.calendars.household import Calendars

OFFLINE = OfflineModel()
"""One for all: it keeps nothing between calls but its sentences, which take a third of a second to parse."""

BERLIN = "Europe/Berlin (UTC+01:00)"
NOTHING_SAID: dict[str, object] = {"sureness": "nothing", "hits": []}


class NoDevice:
    """Stands where the device is: never called here."""

    async def set_volume(self, percent: int | None, change: int | None) -> int:
        raise NotImplementedError

    async def act(self, verb: DeviceVerb, minutes: float | None = None) -> str:
        raise NotImplementedError

    async def forget(self, event: Event, about: str = "", minutes: float | None = None) -> str:
        raise NotImplementedError

    async def would_forget(self, about: str, minutes: float | None) -> str:
        raise NotImplementedError


class NoCalendars:
    """Stands where the calendars are: never called here."""


class NoVoices:
    """Stands where the voices are: never called here."""

    async def learn(self, name: str, event: Event) -> str:
        raise NotImplementedError

    async def who(self, event: Event) -> Json:
        raise NotImplementedError

    async def correct(self, name: str, event: Event, of: str) -> str:
        raise NotImplementedError

    async def forget(self, name: str, event: Event) -> str:
        raise NotImplementedError


def real_tools() -> ToolRegistry:
    """The tools of the appliance, never called here: what the model calls is checked against their arguments."""
    database = Database(Path("never opened"))
    mailbox, desk = Mailbox(database, lambda: MORNING), RunState()
    return ToolRegistry(
        [
            *event_tools(mailbox, desk, no_contexts(), RunLimits()),
            reply_tool(desk, RecordingOutlet()),
            *timer_tools(mailbox, lambda: MORNING, "Europe/Berlin"),
            clock_tool(lambda: MORNING, "Europe/Berlin"),
            recall_tool(Recall(Journal(database), NoEmbedder())),
            *device_tools(NoDevice()),
            *calendar_tools(cast("Calendars", NoCalendars()), bool),
            weather_tool(OpenMeteo("nakari/test", ""), RunState()),
            voice_tool(NoVoices()),
        ]
    )


TOOLS = real_tools()


def without(*names: str) -> tuple[ToolSpec, ...]:
    return tuple(spec for spec in TOOLS.specs_for("") if spec.name not in names)


SPECS = without("set_volume", "device", "calendar_events", "calendar_add", "weather", "voice")
"""What a box without a loudspeaker of its own, calendars, a forecaster, and ears for voices, has."""


def a_timer(label: str, left: str, due: str = "2026-11-21 11:10:00 CET", id: str = "t1") -> dict[str, str]:
    """A timer as the timer tools show it."""
    return {"id": id, "label": label, "due": due, "left": left}


def a_hit(words: str, who: str = "", when: str = "2026-11-20 10:00:00 UTC") -> dict[str, str]:
    """One hit of recall."""
    return {"at": when, "speaker": who, "words": words}


def found(*utterances: str, who: str = "") -> dict[str, object]:
    """What recall gives for these utterances of one speaker."""
    return {"sureness": "sure", "hits": [a_hit(words, who) for words in utterances]}


class Talk:
    """A message list that grows: what is heard, what the model answers, what its calls result in."""

    def __init__(self, model: OfflineModel, tools: tuple[ToolSpec, ...] = SPECS) -> None:
        self.model = model
        self.tools = tools
        self.messages: list[Message] = [Message("system", "You are nakari.")]
        self.events = 0

    def hear(
        self, words: str, at: datetime = MORNING, confidence: str = "normal", zone: str = BERLIN, **situation: str
    ) -> None:
        """Append a person's words."""
        self._append(words, "asr_transcript", at, {"Timezone": zone, **situation}, {"confidence": confidence})

    def read(self, words: str, at: datetime = MORNING) -> None:
        """Append what a person typed."""
        self._append(words, "user_text", at, {"Timezone": BERLIN}, {})

    def happen(self, content: str, event_type: str, at: datetime = MORNING, **situation: str) -> None:
        """Append an event that no person caused."""
        self._append(content, event_type, at, {"Timezone": BERLIN, **situation}, {}, is_human=False)

    def _append(
        self,
        words: str,
        event_type: str,
        at: datetime,
        situation: dict[str, str],
        evidence: dict[str, str],
        *,
        is_human: bool = True,
    ) -> None:
        self.events += 1
        source = "mic" if is_human else "timer"
        block = Block(f"e{self.events}", event_type, source, words, is_human, 10, at, situation, evidence)
        self.messages.append(Message("user", render(block)))

    async def answer(self) -> list[tuple[str, dict[str, Any]]]:
        """Let the model answer, append its message, and return its calls, checked as the runtime does."""
        message = whole([item async for item in self.model.stream(self.messages, self.tools)])
        for call in message.tool_calls:
            called = TOOLS.find(call.name)
            assert called is not None
            called.arguments.model_validate_json(call.arguments)
        self.messages.append(message)
        return [(call.name, json.loads(call.arguments)) for call in message.tool_calls]

    def result(self, *results: object) -> None:
        """Append the results of the last answer's calls, in order."""
        calls = self.messages[-1].tool_calls
        for call, result in zip(calls, results, strict=True):
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            self.messages.append(Message("tool", text, tool_call_id=call.id))
        wire_form(self.messages)

    async def says(self) -> str:
        """Let the model answer with words, finish the event with them, and return them."""
        calls = await self.answer()
        assert [name for name, _ in calls] == ["reply", "complete_event"]
        self.result("delivered", "completed")
        return str(calls[0][1]["text"])

    async def calls(self, *results: object) -> list[tuple[str, dict[str, Any]]]:
        """Let the model call tools, give it these results, and return the calls."""
        calls = await self.answer()
        self.result(*results)
        return calls


def whole(items: Iterable[StreamItem]) -> Message:
    """Return the message of a stream, checked against its pieces: they come in order and say the same."""
    *pieces, last = items
    assert isinstance(last, Answer)
    text = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    started = [(piece.index, piece.id, piece.name) for piece in pieces if isinstance(piece, ToolCallStarted)]
    arguments = {index: "" for index, _, _ in started}
    for piece in pieces:
        if isinstance(piece, ArgumentsDelta):
            arguments[piece.index] += piece.text
    assert text == last.message.content
    assert [(c.id, c.name, c.arguments) for c in last.message.tool_calls] == [
        (id_, name, arguments[index]) for index, id_, name in started
    ]
    assert last.finish_reason == ("tool_calls" if started else "stop")
    return last.message


def at(hour: int, minute: int = 0, day: int = 21) -> datetime:
    """A time of November 2026 in UTC; Berlin's clocks are an hour ahead of it."""
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)
