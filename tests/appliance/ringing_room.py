"""A ringer on a real state database, a real mouth, a clock of the test's own, a scripted voice and player."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent import mailbox as mailbox_module
from agent.bus import Bus
from agent.event import TIMER, Event, in_room
from agent.mailbox import Mailbox
from agent.record import Recorder
from appliance.output.voice import VoiceReplySink
from appliance.rooms.rooms import Room, Rooms
from appliance.timers.due import PATIENCE, RANG, STOPPED, DueTimers
from appliance.timers.ringer import Pace, Ringer, RingerHere
from appliance.wiring.memory.state import State
from audio.playback.speech_output import SpeechOutput
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.images import FOLDER, Images
from memory.state.journal import Journal
from tests.agent.clock import Clock
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice
from tests.loops import together


@dataclass
class Somebody:
    """Who may be speaking in a room, as `HeardIn`."""

    speaks: bool = False
    last_room: str = ""

    def is_spoken_to(self, room: str, seconds: float) -> bool:
        """Whether they do."""
        return self.speaks


@dataclass
class RingingRoom:
    """What a test looks at."""

    clock: Clock
    state: State
    rooms: Rooms
    ringer: Ringer
    voice: ScriptedVoice
    player: ScriptedPlayer
    somebody: Somebody

    @property
    def mouth(self) -> SpeechOutput:
        """The box's own."""
        speech = self.rooms.own.speech
        assert isinstance(speech, SpeechOutput)
        return speech

    @property
    def here(self) -> RingerHere:
        """The ringer, as somebody beside the box means it."""
        return RingerHere(self.ringer, self.rooms.own)

    async def set(self, seconds: float, label: str = "pasta", room: str = "", kind: str = "Timer") -> Event:
        """Set a timer, or an "Alarm"."""
        content = f"{kind} '{label}' ({seconds:.0f} seconds) is due."
        timer = Event(TIMER, content, priority=20, not_before=self.clock.after(seconds), metadata={"label": label})
        timer = in_room(timer, room)
        assert await self.state.mailbox.enqueue(timer)
        return timer

    @property
    def said(self) -> list[str]:
        """What was asked of the voice."""
        return [text for text, _ in self.voice.asked]

    async def rings(self, count: int) -> None:
        """Wait until the bell was heard so often, with its words, and the pause after it has begun."""
        while self.player.happened.count("drain") < count:
            await self.settle()
        await self.settle()  # the last sound is not yet the pause: a clock set on before it would move its end

    async def noticed(self, count: int) -> None:
        """Wait until so many timers are journaled as ringing, and the ringer knows."""
        while len(await self.rang()) < count:
            await self.settle()
        await self.settle()

    async def settle(self) -> None:
        """Let everything run that can run now, the database's thread included."""
        for _ in range(10):  # twice what the ringer asks of the database between two waits
            await self.state.mailbox.counts()
            await asyncio.sleep(0)

    async def rang(self) -> list[tuple[str, object]]:
        """Return (event id, seconds late) of each ring in the journal."""
        entries = await self.state.journal.entries(topic=RANG)
        return [(entry.event_id, entry.body["late_seconds"]) for entry in entries]

    async def stops(self) -> list[object]:
        """Return the words in the journal that stopped a ring."""
        return [entry.body["words"] for entry in await self.state.journal.entries(topic=STOPPED)]


@asynccontextmanager
async def ringing_room(
    folder: Path, start: datetime | None = None, patience: float = PATIENCE
) -> AsyncIterator[RingingRoom]:
    """Start as after a boot of the machine at that time, with so many seconds' patience with the disk."""
    clock = Clock(start) if start else Clock()
    database = Database(folder / "nakari.db")
    await database.open(journal_module.SCHEMA, mailbox_module.SCHEMA)
    journal = Journal(database)
    mailbox, images = Mailbox(database, clock, clock.wait), Images(folder / FOLDER, database)
    state = State(journal, mailbox, Bus(Recorder(journal)), images)
    voice, player = ScriptedVoice(), ScriptedPlayer()
    mouth = SpeechOutput(voice, player)
    pace = Pace(lambda: clock().timestamp(), lambda changed, seconds: clock.wait(changed, clock.after(seconds)))
    somebody = Somebody()
    rooms = Rooms(Room("", mouth, VoiceReplySink(mouth, state.bus, "en"), lambda: True))
    ringer = Ringer(DueTimers(state, clock, clock.wait, patience), rooms, "en", somebody, pace)
    try:
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            running = [group.create_task(together(ringer.loops())), group.create_task(together(mouth.loops()))]
            yield RingingRoom(clock, state, rooms, ringer, voice, player, somebody)
            for task in running:
                task.cancel()
    finally:
        await database.close()
