"""A box that lives in virtual time for as long as somebody wants, is stopped and started, and loses model and disk."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from agent.event import ASR_TRANSCRIPT, Event
from agent.model.interface import CachedPrefix, ChatModel
from appliance.api.requests.box import Hush
from appliance.config.load import Config, load
from appliance.config.options import RunOptions
from appliance.config.sections import VoiceSettings
from appliance.input.event import PERSON_PRIORITY
from appliance.model.catalog import ModelCatalog
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import Environment
from audio.interfaces import Player
from audio.speech import SpeechAudio
from tests.appliance.rooms.home import TimedPlayer
from tests.audio.mouth_fakes import ScriptedVoice
from tests.service.process import Household
from tests.year.mind import YearModel

BEGINS: Final = datetime(2027, 1, 1, 13, 0, tzinfo=UTC)
"""A day of the year is from one afternoon to the next: its alarm is far from where one ends."""
ZONE: Final = "Europe/Berlin"
"""With its two changes of the clocks."""

SETTINGS: Final[dict[str, dict[str, object]]] = {
    "mind": {"timezone": ZONE, "quiet_hours": "23:00-06:00"},
    "http": {"enabled": False},
    "reflexes": {"enabled": True},
}


@dataclass
class Clock:
    """The wall clock of the house: the loop's time, and what somebody or a server set it by."""

    set_by: timedelta = timedelta()

    def __post_init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.began = self.loop.time()

    def __call__(self) -> datetime:
        """Return the time, in any thread."""
        return BEGINS + timedelta(seconds=self.loop.time() - self.began) + self.set_by


@dataclass
class Voice(ScriptedVoice):
    """Tells what it says to whoever listens."""

    heard: Callable[[str], None] = lambda sentence: None

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        async for sound in super().speak(sentence, language):
            yield sound
        self.asked.clear()
        self.heard(sentence)


@dataclass
class Home:
    """What outlives a start of the box."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    model: YearModel = field(default_factory=YearModel)
    voice: Voice = field(default_factory=lambda: Voice(sample_rate=1000))

    def __post_init__(self) -> None:
        settings: dict[str, dict[str, object]] = {**SETTINGS, "log": {"file": str(self.log)}}
        self.config: Config = load(Household(self.folder, settings).write(), {"HOME": str(self.folder)})

    @property
    def state(self) -> Path:
        return self.config.state_folder

    @property
    def log(self) -> Path:
        return self.folder / "nakari.log"

    def environment(self) -> Environment:
        async def player(settings: VoiceSettings, options: RunOptions) -> Player:
            return TimedPlayer()

        async def models(catalog: ModelCatalog, room: CachedPrefix) -> Sequence[ChatModel]:
            return [self.model]

        return Environment(
            source=lambda ears, options: None,
            player=player,
            voice=lambda settings, state_folder: self.voice,
            models=models,
            clock=asyncio.get_running_loop().time,
            now=self.clock,
            satellites=lambda config: None,
        )


@dataclass
class Running:
    """The box between a start and a stop."""

    home: Home
    box: Box

    async def hears(self, words: str) -> None:
        """Somebody says it: it goes the way of a turn that was recognized."""
        event = Event(ASR_TRANSCRIPT, words, source="mic", priority=PERSON_PRIORITY)
        await self.box.input.turns.file(event)

    async def reads(self, words: str) -> str:
        """Somebody types it; return the answer."""
        return "".join([str(piece) async for piece in self.box.household.ask(words, "letters")])

    async def silenced(self) -> None:
        """Somebody says stop."""
        await self.box.household.hush(Hush(what="stop"))

    async def at_rest(self) -> None:
        """Return when nothing waits for the disk, all is answered, and it is silent."""
        await self.box.input.turns.none.wait()
        await self.box.household.mailbox.until_idle()
        await self.box.output.speech.quiet()


@asynccontextmanager
async def running(home: Home) -> AsyncIterator[Running]:
    """Start the box, and stop it as a signal does at the end of the block."""
    over = asyncio.Event()

    async def until_over() -> None:
        await over.wait()

    async with open_box(home.config, RunOptions(), home.environment()) as box, asyncio.TaskGroup() as group:
        group.create_task(serve(box, until_over), name="the box")
        try:
            yield Running(home, box)
        finally:
            over.set()
