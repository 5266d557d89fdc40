"""One life of the real mind: mailbox, journal, loop and mouth on a real disk, which dies at the step it is told to."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent import mailbox as mailbox_module
from agent.bus import Bus
from agent.context.carried import ContextLimits
from agent.context.epochs import Contexts
from agent.context.recollection import Recent
from agent.context.situation import place_in_time
from agent.context.tokens import TokenCounter
from agent.event import GROWTH, HOUSEHOLD, NIGHT, REFLECTION, Event
from agent.growth import cursor as growth_module
from agent.growth.occasions import Nights, Occasion, Occasions, Reflections
from agent.growth.said import Said
from agent.loop import Loop, Mind
from agent.mailbox import Mailbox
from agent.mailbox.mail import Purse
from agent.model.chain import Chain
from agent.record import Recorder
from agent.run.attention import Attention
from agent.run.budget import RunLimits
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.run.thinking.think import Thinker
from agent.time.quiet import QuietHours
from agent.tools.events import event_tools
from agent.tools.growth import reflection_tools
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import reply_tool
from agent.tools.tool import Call, Tool, tool
from appliance.output.voice import VoiceReplySink
from audio.playback.speech_output import SpeechOutput
from memory.json_value import Json
from memory.recall import index as recall_module
from memory.state import journal as journal_module
from memory.state import tiers as tiers_module
from memory.state.database import Database
from memory.state.journal import Journal
from memory.state.tiers import Tiers
from tests.agent.clock import JumpingClock
from tests.agent.confirmation.doors import SURE
from tests.agent.mind import OnePrompt, recalled_over
from tests.crash.body import DyingLoudspeaker, DyingModel, ReadableVoice
from tests.crash.deaths import Ledger, Steps, after_a_cut, noted
from tests.crash.elsewhere import NOTE, database_in, kills_server, lose_disk
from tests.crash.script import GROWING, MENDING, NIGHTS, Answering, Arrival, arrivals
from tests.loops import together

NOON: Final = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

LIMITS: Final = ContextLimits(history_messages=8, history_tokens=400, compress_above_tokens=1_500)
"""So small that a story of a few events is compressed several times."""

ENDS: Final = ("end-one", "end-two", "end-three")
"""What a night finds."""

NEVER_RESTS: Final = 1_000_000
"""Failures of its model in a row: a rest is of real seconds, and the clock of a story jumps."""

PATIENCE: Final = 120.0
"""Seconds after which a life that comes to no end has failed."""

CLOSINGS: Final = """
CREATE TABLE IF NOT EXISTS closings (id TEXT NOT NULL, was TEXT NOT NULL, became TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS note_closing AFTER UPDATE OF state ON mailbox
WHEN OLD.state IN ('completed', 'dead', 'withdrawn') OR NEW.state IN ('completed', 'dead', 'withdrawn')
BEGIN INSERT INTO closings VALUES (NEW.id, OLD.state, NEW.state); END;
"""
"""Written in the very transaction that closes an event, or touches one that is closed."""


@dataclass
class Life:
    """The parts of one life."""

    folder: Path
    seed: int
    steps: Steps
    mailbox: Mailbox
    mind: Loop
    mouth: SpeechOutput
    outlet: VoiceReplySink
    clock: JumpingClock
    ledger: Ledger
    occasions: Occasions
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def live(self) -> None:
        """Receive what was not accepted yet, as whoever sent it would again, and work until nothing is left to do."""
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            for loop in (together(self.mouth.loops()), self.mind.run(), self.mind.watch()):
                self.tasks.append(group.create_task(loop))
            expected = arrivals(self.seed, NOON)
            await self._receive([each for each in expected if not each.late])
            await self._rest()
            if GROWING <= self.seed < MENDING:
                await self._grow([each for each in expected if each.late])
            for task in self.tasks:
                task.cancel()
        if self.mind.run_in_hand is not None:
            self.ledger.note("left", self.mind.run_in_hand.event.id)

    async def _rest(self) -> None:
        while not self.clock.at_rest:
            await self.mailbox.until_idle()
            await asyncio.sleep(0)

    async def _grow(self, late: Sequence[Arrival]) -> None:
        """Let silence do its work, and somebody speak in the middle of it, until nothing is new."""
        while late or await self._has_news():
            again = await self.occasions.look()
            self.clock.moment = max(self.clock.moment, again or self.clock.moment)
            is_filed = [each for kind in GROWTH for each in await self.mailbox.waiting(kind, None)]
            if is_filed or not await self._has_news():
                await self._receive(late)
                late = ()
            await self._rest()

    async def _has_news(self) -> bool:
        """Whether something was said that no look, or no night, has seen."""
        kind = NIGHT if self.seed >= NIGHTS else REFLECTION
        return await self.occasions.database.read(
            lambda c: growth_module.since(c, HOUSEHOLD, kind) < growth_module.last_words(c)
        )

    async def _receive(self, expected: Sequence[Arrival]) -> None:
        accepted = noted(self.folder / "ledger", "accepted")
        for arrival in expected:
            for _ in range(arrival.turns):
                await asyncio.sleep(0)
            if arrival.event.id not in accepted:
                if arrival.interrupts:
                    self.interrupt()
                event = await self._said_now(arrival.event) if arrival.answers else arrival.event
                self.clock.at_rest = False  # the loop wakes before the disk has taken the event
                self.ledger.note("said", event.id)
                await self.mailbox.enqueue(event)
                self.ledger.note("accepted", event.id)

    async def _said_now(self, event: Event) -> Event:
        """Return the words as they are said when all before them was heard, surely and by somebody near."""
        while not self.clock.at_rest:
            await self.mailbox.until_idle()
            await asyncio.sleep(0)
        now = self.clock.now()
        heard: dict[str, Json] = {"evidence": SURE, "timing": {"speech_started": now.timestamp()}}
        return replace(event, created_at=now, metadata=heard)

    def interrupt(self) -> None:
        """Do what the ears do when somebody means it."""
        if event_id := self.outlet.stop_speaking():
            self.mind.interrupt(event_id)


@asynccontextmanager
async def born(folder: Path, seed: int, dies_at: int = 0, extra: Sequence[Tool] = ()) -> AsyncIterator[Life]:
    """Open the state in `folder`, as after a start of the machine."""
    cut = folder / "cut"
    if cut.exists():
        (lose_disk if (folder / NOTE).exists() else after_a_cut)(folder / "nakari.db")
        cut.unlink()
    steps, ledger = Steps(dies_at, cut, kills_server(folder, dies_at)), Ledger(folder / "ledger")
    lives = len(noted(folder / "ledger", "born"))
    clock = JumpingClock(NOON + timedelta(days=lives))
    ledger.note("born", str(dies_at))
    schemas = (
        journal_module.SCHEMA,
        mailbox_module.SCHEMA,
        tiers_module.SCHEMA,
        recall_module.SCHEMA,
        growth_module.SCHEMA,
        CLOSINGS,
    )
    held = AsyncExitStack()
    database = await held.enter_async_context(database_in(folder, steps, lives + 1, *schemas))
    await database.write(growth_module.begin)
    journal, mailbox = Journal(database), Mailbox(database, clock.now, clock.wait)
    bus, run_state = Bus(Recorder(journal)), RunState()
    player = DyingLoudspeaker(folder / "sound", steps, database.flush)
    mouth = SpeechOutput(ReadableVoice(), player)
    outlet = VoiceReplySink(mouth, bus, "en")
    contexts = Contexts(journal, bus, lambda: LIMITS, TokenCounter())
    recent = Recent(Tiers(database, journal, clock.now), TokenCounter(), 40)
    registry = ToolRegistry(
        [
            *event_tools(mailbox, run_state, contexts, RunLimits()),
            reply_tool(run_state, outlet),
            *_tools(steps, ledger, has_memory=bool(extra)),
            *reflection_tools(Said(journal, lambda: 200)),
            *_note_tools(folder, steps, ledger),
            *extra,
        ]
    )
    model = DyingModel(Answering(seed, NOON), steps, ledger)
    replies = SystemReplies(outlet, run_state, None, 0.0, lambda: clock.now().timestamp(), clock.now)
    chain = Chain.of([model])
    chain.models[0].breaker.forgiven = NEVER_RESTS
    thinker = Thinker(chain, bus, contexts, replies, mailbox)
    mind = Mind(mailbox, journal, bus, contexts, registry, run_state, thinker, [recent], recalled_over(journal))
    attention = Attention(mailbox, journal, replies, outlet.stop_speaking)
    prompt = OnePrompt("You are nakari.")
    loop = Loop(mind, attention, prompt, [place_in_time(UTC, clock.now)], clock.now, RunLimits())
    occasion: Occasion = Reflections(mailbox, database, lambda owner: True, lambda: True)
    if NIGHTS <= seed < MENDING:
        occasion = _nights(mailbox, database, steps, ledger)
    occasions = Occasions(mailbox, database, [occasion], lambda: False, clock.wait)
    life = Life(folder, seed, steps, mailbox, loop, mouth, outlet, clock, ledger, occasions)
    player.on_piece = lambda piece: life.interrupt() if (piece + seed) % 23 == 0 else None
    try:
        yield life
    finally:
        await held.aclose()
        await player.aclose()


def _tools(steps: Steps, ledger: Ledger, *, has_memory: bool) -> list[Tool]:
    async def look() -> str:
        """Look at something."""
        steps.boundary()
        return "seen"

    async def bell(call: Call) -> str:
        """Ring a bell, which cannot be taken back."""
        steps.boundary()
        ledger.note("rung", call.id)
        steps.effect()
        steps.boundary()
        return "rung"

    async def open_door(call: Call) -> str:
        """Open the door."""
        steps.boundary()
        ledger.note("opened", call.id)
        steps.effect()
        steps.boundary()
        return "opened"

    async def asks(arguments: object) -> str:
        steps.boundary()
        return "open the door"

    async def fail() -> str:
        """Fail."""
        steps.boundary()
        raise ZeroDivisionError

    async def remember() -> str:
        """Remember; there is no memory here."""
        return "there is none"

    own = [tool(look, effect="pure"), tool(bell, effect="irreversible"), tool(fail), tool(open_door, asks_first=asks)]
    return own if has_memory else [*own, tool(remember)]


def _nights(mailbox: Mailbox, database: Database, steps: Steps, ledger: Ledger) -> Nights:
    async def evidence(since: int) -> dict[str, int]:
        steps.boundary()
        return {"unlinked": len(ENDS)}

    async def save(reason: str) -> None:
        steps.boundary()
        ledger.note("saved", reason)
        steps.boundary()

    hours = QuietHours(time(2), time(5), UTC)
    return Nights(mailbox, database, hours, Purse(1_000_000, 1.0), lambda: True, evidence, save)


def _note_tools(folder: Path, steps: Steps, ledger: Ledger) -> list[Tool]:
    async def note(event: Event, of: str) -> str:
        """Write a note of something that was said, which lasts."""
        steps.boundary()
        ledger.note("noted", f"{of} in {event.id}")
        steps.effect()
        steps.boundary()
        return f"noted {of}"

    async def notes() -> str:
        """Look what there are notes of."""
        steps.boundary()
        return " ".join(["notes", *(line.split()[0] for line in noted(folder / "ledger", "noted"))])

    async def loose_ends() -> Json:
        """List what the night is about."""
        steps.boundary()
        return {"said": [{"id": name} for name in ENDS]}

    return [
        tool(note, effect="irreversible", is_undoable=True),
        *(tool(each, effect="pure") for each in (notes, loose_ends)),
    ]


async def live(folder: Path, seed: int, dies_at: int) -> int:
    """Live once, to the end or to death; return the boundaries passed."""
    async with born(folder, seed, dies_at) as life:
        await life.live()
        return life.steps.passed
