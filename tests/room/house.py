"""The whole box in a simulated room and in virtual time: everything real but sound card, clock and language model."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from agent.event import ASR_TRANSCRIPT, Event
from agent.model.interface import CachedPrefix, ChatModel, StreamItem
from agent.model.messages import Message, ToolSpec
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.config.sections import VoiceSettings
from appliance.input.event import PERSON_PRIORITY
from appliance.model.catalog import ModelCatalog
from appliance.satellites.interfaces import Devices
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import Environment
from audio.capture.live import LiveMicrophone
from audio.interfaces import Player
from audio.playback.live import LivePlayer
from audio.speech import RecognizedTurn, SpeechStarted
from tests.fakes import ScriptedModel, calls
from tests.room.acoustics import Loudspeaker, Sound, at_level
from tests.room.card import SimulatedCard, beside
from tests.room.virtual_time import REAL_PATIENCE, passed, run_virtually
from tests.room.voices import OWN_VOICE, Remembered
from tests.service.process import Household

T = TypeVar("T")

RECOGNITION_SECONDS = 0.3
"""Virtual time that words take: a small model's on a small box."""

PROMPT = "Tell me something of the household."
"""What `House.ask` asks."""

MOST_WAIT_SECONDS = 120.0
"""Virtual time after which a story gives up to wait for what it expects."""


@dataclass
class Turns:
    """A `TurnObserver` that keeps everything it is told, with the moment in seconds on the loop's clock."""

    clock: Callable[[], float]
    started: list[float] = field(default_factory=list)
    so_far: list[tuple[float, RecognizedTurn]] = field(default_factory=list)
    ended: list[tuple[float, RecognizedTurn | None, str]] = field(default_factory=list)
    """When, the words (None without any), and why nobody got them ("" when the mind did)."""

    def speech_started(self, started: SpeechStarted) -> None:
        self.started.append(self.clock())

    def words_so_far(self, heard: RecognizedTurn) -> None:
        self.so_far.append((self.clock(), heard))

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        self.ended.append((self.clock(), heard, suppressed))

    @property
    def taken_up(self) -> list[str]:
        """The words that reached the mailbox."""
        return self.since(0)

    def since(self, turn: int) -> list[str]:
        """Return the words that reached the mailbox from this turn (counted from 0) on."""
        told = self.ended[turn:]
        return [heard.transcript.text for _, heard, suppressed in told if heard is not None and not suppressed]


class TalkativeModel(ScriptedModel):
    """A model that answers every event by one `reply`: what `House.ask` asks by the next of the answers, in turn."""

    def __init__(self, answers: Sequence[str], aside: str, acts: str = "") -> None:
        super().__init__(name="talkative", piece=40)
        self._answers = cycle(answers)
        self._numbers = count()
        self._aside = aside
        """What else is said to it is answered by this; "" takes the next answer for that too."""
        self._acts = acts
        """Name of a tool that is called instead of the first answer; "" for none."""

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        is_asked = not self._aside or PROMPT in messages[-1].content
        prefix = f"reply{next(self._numbers)}"
        if self._acts:
            self.script.append(calls((self._acts, "{}"), prefix=prefix))
            self._acts = ""
        else:
            text = next(self._answers) if is_asked else self._aside
            self.script.append(calls(("reply", json.dumps({"text": text})), prefix=prefix))
        async for item in super().stream(messages, tools):
            yield item


@dataclass
class House:
    """A room with nakari in it, for a story that a test tells."""

    box: Box
    card: SimulatedCard
    model: TalkativeModel
    voice: Remembered
    turns: Turns

    @property
    def now(self) -> float:
        """Seconds on the loop's clock."""
        return asyncio.get_running_loop().time()

    async def wait(self, condition: Callable[[], object], seconds: float = MOST_WAIT_SECONDS) -> None:
        """Return when it holds, looked at every hundredth of a second. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not condition():
                await passed(0.01)

    def forget(self) -> None:
        """Let go of all that the house itself has kept of what happened so far."""
        self.model.requests.clear()
        self.model.tools.clear()
        self.voice.sentences.clear()
        del self.card.played[:-1]
        self.turns.started, self.turns.so_far, self.turns.ended = [], [], []

    @property
    def is_sounding(self) -> bool:
        """Whether sound of its own leaves the loudspeaker now, or did within the last 0.2 s."""
        return bool(self.card.played) and self.now < self.card.played[-1][1] + 0.2

    async def ask(self) -> None:
        """Have somebody have asked it, without a sound; return when it begins to answer."""
        before = len(self.card.played)
        await self.box.household.mailbox.enqueue(Event(ASR_TRANSCRIPT, PROMPT, source="mic", priority=PERSON_PRIORITY))
        await self.wait(lambda: len(self.card.played) > before)

    async def silence(self) -> None:
        """Return when it has said all it has to say."""
        await self.box.household.mailbox.until_idle()
        await self.box.output.speech.quiet()
        await self.wait(lambda: not self.is_sounding)

    def put(self, sound: Sound, dbfs: float, after: float = 0.0) -> float:
        """Have a sound begin in so many seconds, at an active level (dBFS); return when it ends."""
        return self.card.room.put(at_level(sound, dbfs), self.now + after)


class Surroundings(Struct, frozen=True):
    """What kind of room it is."""

    settings: dict[str, dict[str, object]] = {}
    """Over those of `Household`: espeak-ng, whisper-household, no graph, nothing beyond this machine."""
    answers: Sequence[str] = ("All right.",)
    aside: str = ""
    """Answers what nobody asked by `House.ask`; "" leaves that to the answers too."""
    acts: str = ""
    """Name of a tool that it calls instead of its first answer; "" for none."""
    voice: str = OWN_VOICE
    """Flite's or espeak-ng's name of its voice."""
    loudspeaker: Loudspeaker = Loudspeaker()
    noise_dbfs: float = -62.0
    microphone_ppm: float = 0.0
    satellites: Devices | None = None
    """Devices in other rooms."""
    patience: float = REAL_PATIENCE
    """Real seconds that one job may take; a benchmark on a crowded machine has more than a test."""


def live(folder: Path, story: Callable[[House], Coroutine[Any, Any, T]], around: Surroundings | None = None) -> T:
    """Open a house, let the story happen while everything runs, close it, and return what the story returns."""
    around = around or Surroundings()
    return run_virtually(_live(folder, story, around), {"transcribe": RECOGNITION_SECONDS}, around.patience)


async def _live(folder: Path, story: Callable[[House], Coroutine[Any, Any, T]], around: Surroundings) -> T:
    loop = asyncio.get_running_loop()
    began, start = loop.time(), datetime.now(UTC)
    card = SimulatedCard(loop, around.loudspeaker, around.noise_dbfs, around.microphone_ppm)
    model, voice, turns = (
        TalkativeModel(around.answers, around.aside, around.acts),
        Remembered(around.voice),
        Turns(loop.time),
    )
    config = load(Household(folder, around.settings).write(), {"HOME": str(folder)})

    async def player(settings: VoiceSettings, options: RunOptions) -> Player:
        opened = LivePlayer(card.output, "room", clock=loop.time)
        await opened.start()
        return opened

    async def models(catalog: ModelCatalog, room: CachedPrefix) -> list[ChatModel]:
        return [model]

    outside = Environment(
        source=lambda ears, options: LiveMicrophone(card.input, "room", clock=loop.time),
        player=player,
        voice=lambda settings, state_folder: voice,
        models=models,
        clock=loop.time,
        satellites=lambda config: around.satellites,
        now=lambda: start + timedelta(seconds=loop.time() - began),
    )

    async def open_and_tell() -> T:
        told: list[T] = []
        async with open_box(config, RunOptions(), outside) as box:
            assert box.input.ears is not None
            box.input.ears.listener.observe(turns)

            async def tell() -> None:
                told.append(await story(House(box, card, model, voice, turns)))

            await serve(box, tell)
        return told[0]

    return await beside(card, open_and_tell())
