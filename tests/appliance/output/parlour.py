"""A room without ears or a mind: the real state, mouth and announcer, and people who are heard when a test says so."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent import mailbox as mailbox_module
from agent.bus import Bus
from agent.event import ASR_TRANSCRIPT, SELF_CREATED, Event
from agent.mailbox import Lease, Mailbox
from agent.mailbox.economy import SELF
from agent.record import Recorder
from agent.replies import Reply
from agent.unasked.announcement import ANNOUNCEMENT
from agent.unasked.announcements import Announcements
from agent.unasked.decide import Rules
from appliance.output.company import Company, RoomTurns
from appliance.output.unasked import Announcer, UnaskedReplySink
from appliance.output.voice import VoiceReplySink
from audio.interfaces import Synthesizer
from audio.playback.speech_output import SpeechOutput
from audio.speech import SpeechStarted
from audio.turns.surroundings import SpeechActivity
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.journal import Journal
from tests.audio.heard import heard
from tests.crash.body import DyingLoudspeaker, ReadableVoice, sounded
from tests.crash.deaths import Steps
from tests.loops import together
from tests.room.virtual_time import passed

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@dataclass
class Scene:
    """What a parlour is made with."""

    begins: datetime = NOON
    """By the clock on the wall, when the loop's clock begins."""
    rules: Rules = field(default_factory=Rules)
    urgent: tuple[str, ...] = ()
    voice: Synthesizer = field(default_factory=ReadableVoice)
    database: Callable[[Path], Database] = Database
    steps: Steps = field(default_factory=Steps)


@dataclass
class Parlour:
    """The parts, and what can happen there."""

    folder: Path
    mailbox: Mailbox
    journal: Journal
    announcements: Announcements
    voice: VoiceReplySink
    company: Company
    turns: RoomTurns
    activity: SpeechActivity
    announcer: Announcer
    sink: UnaskedReplySink
    is_engaged: bool = False

    @property
    def said(self) -> list[str]:
        """Every sentence that sounded here, over all lives, in order."""
        return sounded(self.folder / "sound")

    async def wants_to_say(self, words: str, event: Event | None = None) -> None:
        """Have the agent reply to an event of its own."""
        stream = self.sink.open(Reply(event or own(words), "c1"))
        await stream.feed(words)
        await stream.close()
        await stream.ended()

    async def somebody_says(self, words: str = "hello", seconds: float = 1.5) -> None:
        """Have somebody speak for so long, and be understood half a second later."""
        self.turns.speech_started(SpeechStarted(0.0, lambda: None))
        for _ in range(round(seconds / 0.1)):
            self.activity.heard(asyncio.get_running_loop().time())
            await passed(0.1)
        await passed(0.5)
        self.turns.turn_ended(heard(words, 0.0, seconds), "")

    async def is_told(self) -> str:
        """Return what the next block of the room tells of what became of them."""
        return self.announcements.situation(Lease(Event(ASR_TRANSCRIPT, "and?"))).get("Unasked", "")

    async def waiting(self) -> int:
        """Return how many wait."""
        return len(await self.mailbox.waiting(ANNOUNCEMENT, None))


def own(words: str, about: str = "") -> Event:
    """Return an event that the agent made itself; the same words are always the same event."""
    return Event(SELF_CREATED, about or f"think of: {words}", id=f"event of {words}", source=SELF)


@asynccontextmanager
async def parlour(folder: Path, scene: Scene | None = None) -> AsyncIterator[Parlour]:
    """Open the parlour on what is in the folder, and run it; in virtual time."""
    scene, loop = scene or Scene(), asyncio.get_running_loop()
    start = loop.time()
    database = scene.database(folder / "nakari.db")
    await database.open(journal_module.SCHEMA, mailbox_module.SCHEMA)

    def now() -> datetime:
        return scene.begins + timedelta(seconds=loop.time() - start)

    mailbox, journal = Mailbox(database, now), Journal(database)
    bus = Bus(Recorder(journal))
    announcements = Announcements(mailbox, journal, bus, scene.rules.quiet, scene.urgent, now)
    await announcements.load()
    mailbox.observe_arrivals(announcements.arrived)
    player = DyingLoudspeaker(folder / "sound", scene.steps, database.flush)
    mouth = SpeechOutput(scene.voice, player, loop.time)
    voice = VoiceReplySink(mouth, bus, "en")
    activity = SpeechActivity(loop.time)
    company = Company(announcements.changed, loop.time)
    turns = company.turns_in("box", activity)
    company.listen_by(lambda: True)
    mouth.observe(company)

    async def is_engaged() -> bool:
        return room.is_engaged

    announcer = Announcer(announcements, voice, company, lambda: scene.rules, is_engaged, lambda _: True)
    sink = UnaskedReplySink(voice, announcements.file, company.sentence_over)
    room = Parlour(folder, mailbox, journal, announcements, voice, company, turns, activity, announcer, sink)
    try:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(together(mouth.loops(), {"announcer": announcer.run}))
            yield room
            running.cancel()
    finally:
        await database.close()
        await player.aclose()
