"""A whole mind among faults: models, streams, tools, people, clocks and the disk do whatever a seed draws."""

import asyncio
import random
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path
from typing import Final, TypeVar

from agent import mailbox as mailbox_module
from agent.bus import Bus
from agent.context.carried import ContextLimits
from agent.context.epochs import Contexts
from agent.context.recollection import Recent
from agent.context.situation import place_in_time
from agent.context.summary import REQUEST
from agent.context.tokens import TokenCounter
from agent.errors import ModelUnavailable, StreamBroken
from agent.event import ASR_TRANSCRIPT, SELF_CREATED, TIMER, Event, new_id
from agent.loop import Loop, Mind
from agent.mailbox import Allowance, Mailbox, MailboxRecord
from agent.model.chain import Chain
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolSpec, Usage
from agent.record import Recorder
from agent.run.attention import Attention
from agent.run.budget import RunLimits, ThoughtLimits
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.run.thinking.think import Thinker
from agent.tools.events import event_tools
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import reply_tool
from agent.tools.tool import Tool, tool
from appliance.output.voice import VoiceReplySink
from audio.playback.speech_output import SpeechOutput
from memory.errors import StateUnusable
from memory.json_value import Json
from memory.recall import index as recall_module
from memory.state import journal as journal_module
from memory.state import tiers as tiers_module
from memory.state.database import Database
from memory.state.journal import Journal
from memory.state.tiers import Tiers
from tests.agent.clock import JumpingClock
from tests.agent.mind import NOON, SYSTEM, OnePrompt, recalled_over
from tests.agent.wire_form import wire_form
from tests.audio.mouth_fakes import SilentPlayer
from tests.crash.body import ReadableVoice
from tests.fakes import calls
from tests.loops import together

T = TypeVar("T")

ENDED: Final = {"completed", "suspended", "dead", "withdrawn"}

MOST_OPEN: Final = 40
"""Events sent before the senders wait until nothing is due."""

REFUSED_EVERY: Final = 20
"""Events after which the disk refuses one of the next writes, however few of them chance refuses."""

LIMITS: Final = ContextLimits(history_messages=8, history_tokens=500, compress_above_tokens=2_000)


class FaultyDatabase(Database):
    """A state database whose disk now and then refuses a write, whole, as a full one does."""

    def __init__(self, path: Path, refuses: Callable[[], bool]) -> None:
        super().__init__(path)
        self._refuses = refuses

    async def write(self, change: Callable[[sqlite3.Connection], T], *, durable: bool = True) -> T:
        """Write as a `Database` does, or raise `StateUnusable`."""
        if self._refuses():
            raise StateUnusable("the disk is full")
        return await super().write(change, durable=durable)


class ChaosModel:
    """Answers in any way a model may, and breaks in any way a server may; what it is asked must be legal."""

    name = "chaos"
    sends_to = ()

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.asked = 0

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Stream an answer; raises what a server's failures become."""
        wire_form(messages)
        self.asked += 1
        fate = self._chance.random()
        if fate < 0.04:
            raise ModelUnavailable("gone")
        message = Message("assistant", "Summed up.") if messages[-1] == REQUEST else self._answer()
        items = _items(message)
        for item in items[: self._chance.randrange(len(items) + 1)] if fate < 0.12 else items:
            await asyncio.sleep(0)
            yield item
        if fate < 0.08:
            raise StreamBroken("reset", Message("assistant"))
        if fate >= 0.12:  # else it ends without an end
            yield Answer(message, Usage(100, 90, 10))

    async def warm(self) -> None:
        """Nothing is to be warmed."""

    async def aclose(self) -> None:
        """Nothing is open."""

    def _answer(self) -> Message:
        end = '{"note": "later", "wake_on": "x"}', '{"note": "soon", "wake_at": "2026-11-21 12:00:00 UTC"}'
        told = ("reply", '{"text": "So it is. And that is all."}')
        ways: tuple[Callable[[], Message], ...] = (
            lambda: calls(told, prefix=new_id()),
            lambda: calls(told, ("complete_event", "{}"), prefix=new_id()),
            lambda: Message("assistant", "So it is. And that is all."),
            self._acts,
            self._acts,
            lambda: calls(("reply", '{"text": "One. Half a'), ("no_such_tool", "[]"), ("fast", "{]"), prefix=new_id()),
            lambda: Message("assistant"),
            lambda: calls(("suspend_event", self._chance.choice(end)), prefix=new_id()),
            lambda: calls(("compress_context", '{"summary": "All so far."}'), prefix=new_id()),
        )
        return self._chance.choice(ways)()

    def _acts(self) -> Message:
        names = self._chance.choices(
            ["fail", "fast", "look", "ring", "create_event", "check_mailbox"], k=self._chance.randint(1, 4)
        )
        return calls(
            *((name, '{"content": "x"}' if name == "create_event" else "{}") for name in names), prefix=new_id()
        )


def _items(message: Message) -> list[StreamItem]:
    items: list[StreamItem] = [TextDelta(message.content)] if message.content else []
    for index, call in enumerate(message.tool_calls):
        half = len(call.arguments) // 2
        items.append(ToolCallStarted(index, call.id, call.name))
        items += [ArgumentsDelta(index, call.arguments[:half]), ArgumentsDelta(index, call.arguments[half:])]
    return items


def tools() -> list[Tool]:
    """Return tools that fail, flood, hang, and one that cannot be taken back."""

    async def fail() -> Json:
        """Fail."""
        raise ZeroDivisionError

    async def fast() -> Json:
        """Be fast."""
        await asyncio.sleep(0)
        return "x" * 2_000

    async def look() -> Json:
        """Look for ever."""
        await asyncio.Event().wait()
        return None

    async def ring() -> Json:
        """Ring a bell."""
        await asyncio.sleep(0)
        return "rung"

    return [tool(fail), tool(fast), tool(look, timeout=0.002, effect="pure"), tool(ring, effect="irreversible")]


@dataclass
class Chaos:
    """A mind, and everybody around it."""

    chance: random.Random
    mailbox: Mailbox
    loop: Loop
    mouth: SpeechOutput
    outlet: VoiceReplySink
    model: ChaosModel
    clock: JumpingClock
    faulty: bool = True
    """Whether the disk may refuse at random."""
    refuses_in: int = 0
    """The nth write from now on is refused; 0 is none."""
    sent: int = 0
    refused: int = 0

    def refuses(self) -> bool:
        """Whether the disk refuses a write."""
        is_meant = self.refuses_in == 1
        self.refuses_in = max(0, self.refuses_in - 1)
        refuses = is_meant or (self.faulty and self.chance.random() < 0.004)
        self.refused += refuses
        return refuses

    async def go_through(self, events: int) -> None:
        """Send so many events among faults, in several lives of the loop, and let all of them end."""
        last = self.sent + events
        while self.sent < last:
            async with asyncio.TaskGroup() as group:
                loops = [
                    group.create_task(loop)
                    for loop in (together(self.mouth.loops()), self.loop.run(), self.loop.watch())
                ]
                await self._send(min(last, self.sent + 4 * MOST_OPEN))
                if self.sent >= last:
                    await self._rest()
                for loop in loops:
                    loop.cancel()

    async def _send(self, last: int) -> None:
        before: Event | None = None
        while self.sent < last:
            before = self.an_event(before)
            await self._enqueue(before)
            self.sent += 1
            for _ in range(self.chance.randint(0, 12)):
                await asyncio.sleep(0)
            self._disturb()
            if self.sent % MOST_OPEN == 0:
                await self._rest()

    async def _enqueue(self, event: Event) -> None:
        """File an event; who is told that it was not, tries again."""
        while True:
            try:
                await self.mailbox.enqueue(event)
            except StateUnusable:
                continue
            return

    async def _rest(self) -> None:
        while not self.clock.at_rest:
            await self.mailbox.until_idle()
            await asyncio.sleep(0)

    def _disturb(self) -> None:
        if self.chance.random() < 0.2 and (event_id := self.outlet.stop_speaking()):
            self.loop.interrupt(event_id)
        if self.chance.random() < 0.1:
            self.loop.interrupt()
        if self.chance.random() < 0.1:
            self.set_clock(self.chance.choice((-24, -1, 1, 24)))
        if self.sent % REFUSED_EVERY == 0:
            self.refuses_in = self.chance.randint(1, REFUSED_EVERY)

    def set_clock(self, hours: int) -> None:
        """Set the clock forwards, or back."""
        self.clock.moment += timedelta(hours=hours)

    def an_event(self, before: Event | None) -> Event:
        """Return any event, perhaps one whose words go on after those of the one before."""
        kind = self.chance.random()
        if kind < 0.25:
            return Event(SELF_CREATED, "tidy", source="self", priority=self.chance.choice([-5, 0]))
        if kind < 0.35:
            due = self.clock.moment + timedelta(minutes=self.chance.randint(-5, 60))
            return Event(TIMER, "tea", source="timer", priority=20, not_before=due)
        goes_on = before is not None and self.chance.random() < 0.3
        metadata: dict[str, Json] = {"continues": before.id} if before is not None and goes_on else {}
        most = self.chance.randint(1, 4)
        return Event(ASR_TRANSCRIPT, "and so on", source="mic", priority=10, max_tool_calls=most, metadata=metadata)

    async def complaints(self) -> list[str]:
        """Return what must not be, once everything is at rest."""
        counts = await self.mailbox.counts()
        found = [f"{count} events are {state}" for state, count in counts.items() if count and state not in ENDED]
        found += ["a run is in hand"] if self.loop.run_in_hand is not None else []
        found += ["an event is in hand"] if await self.mailbox.in_hand() is not None else []
        for filed in (*await self.mailbox.listed("dead", 100_000), *await self.mailbox.listed("suspended", 100_000)):
            found += _wrong(filed)
        return found


def _wrong(filed: MailboxRecord) -> list[str]:
    name = f"{filed.event.id} is {filed.state}"
    if filed.state == "suspended":
        return [] if filed.waits_for and filed.due_at is None else [f"{name} and waits for nothing"]
    if not filed.reason or "an error inside" in filed.reason:
        return [f"{name} for {filed.reason or 'no reason'}"]
    return []


@asynccontextmanager
async def chaos(folder: Path, seed: int) -> AsyncIterator[Chaos]:
    """Open a mind in a folder, in the chaos of a seed."""
    chance, clock = random.Random(seed), JumpingClock(NOON)
    database = FaultyDatabase(folder / "nakari.db", lambda: made.refuses())
    await database.open(journal_module.SCHEMA, mailbox_module.SCHEMA, tiers_module.SCHEMA, recall_module.SCHEMA)
    allowance = Allowance(per_minute=1_000_000)  # what is put in from outside comes all at once
    journal, mailbox = Journal(database), Mailbox(database, clock.now, clock.wait, allowance)
    bus, run_state, model = Bus(Recorder(journal)), RunState(), ChaosModel(chance)
    mouth = SpeechOutput(ReadableVoice(), SilentPlayer())
    outlet = VoiceReplySink(mouth, bus, "en")
    contexts = Contexts(journal, bus, lambda: LIMITS, TokenCounter())
    events = event_tools(mailbox, run_state, contexts, RunLimits())
    registry = ToolRegistry([*events, reply_tool(run_state, outlet), *tools()])
    replies = SystemReplies(outlet, run_state, sign_after=0.0)
    mind = Mind(
        mailbox,
        journal,
        bus,
        contexts,
        registry,
        run_state,
        Thinker(Chain.of([model]), bus, contexts, replies, mailbox, ThoughtLimits(retries=0.0)),
        [Recent(Tiers(database, journal, clock.now), TokenCounter(), 50)],
        recalled_over(journal),
    )
    attention = Attention(mailbox, journal, replies, outlet.stop_speaking)
    limits = RunLimits(retry_seconds=0.0)
    loop = Loop(mind, attention, OnePrompt(SYSTEM), [place_in_time(UTC, clock.now)], clock.now, limits)
    made = Chaos(chance, mailbox, loop, mouth, outlet, model, clock)
    try:
        yield made
    finally:
        await database.close()
