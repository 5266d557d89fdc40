"""A whole box in virtual time with more rooms: real loop, mailbox, routing and mouths; scripted voices and people."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace

from agent.event import Event
from agent.model.interface import CachedPrefix, ChatModel
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.config.sections import VoiceSettings
from appliance.input.intake import Intake
from appliance.input.suppressed import SuppressedTurns
from appliance.model.catalog import ModelCatalog
from appliance.output.voice import VoiceReplySink
from appliance.rooms.rooms import Room, origin_of
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import Environment
from audio.interfaces import Player
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from audio.speech import RecognizedTurn, SpeechAudio, SpeechStarted, Transcript, Utterance
from audio.turns.surroundings import SpeechActivity
from tests.audio.mouth_fakes import ScriptedVoice
from tests.loops import together
from tests.room.virtual_time import passed, run_virtually
from tests.service.process import Household

T = TypeVar("T")


class TimedPlayer:
    """A `Player` whose sound takes its time on the loop's clock; nothing of it is kept."""

    name = "timed"

    def __init__(self) -> None:
        self.busy_until = 0.0
        self._stopped = asyncio.Event()

    async def start(self) -> None:
        """It is open."""

    async def play(self, audio: SpeechAudio) -> None:
        now = asyncio.get_running_loop().time()
        self.busy_until = max(self.busy_until, now) + len(audio.samples) / audio.sample_rate

    async def drain(self) -> None:
        while (left := self.busy_until - asyncio.get_running_loop().time()) > 0:
            self._stopped.clear()
            try:
                async with asyncio.timeout(left):
                    await self._stopped.wait()
            except TimeoutError:
                return

    def stop(self) -> float:
        now = asyncio.get_running_loop().time()
        left, self.busy_until = max(0.0, self.busy_until - now), min(self.busy_until, now)
        self._stopped.set()
        return left

    def pause(self) -> None:
        """Nobody pauses it here."""

    def resume(self) -> None:
        """It goes on."""

    def set_gain(self, factor: float) -> None:
        """It is as loud as ever."""

    async def aclose(self) -> None:
        """There is nothing to close."""


@dataclass
class Ledger(SpeechObserver):
    """What was heard in a room, in order."""

    heard: list[str] = field(default_factory=list)
    is_whole: list[bool] = field(default_factory=list)

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        if heard:
            self.heard.append(heard)
            self.is_whole.append(whole)


class Place:
    """One more room: a mouth, and ears whose turns a test tells."""

    def __init__(self, box: Box, name: str, clock: Callable[[], float]) -> None:
        bus, self.clock = box.household.bus, clock
        self.player, self.ledger, self.is_there = TimedPlayer(), Ledger(), True
        speech = SpeechOutput(ScriptedVoice(), self.player, clock)
        replies = VoiceReplySink(speech, bus, "en")
        self.room = Room(name, speech, replies, lambda: self.is_there, device=f"mac of {name}")
        speech.observe(self.ledger)
        box.output.rooms.add(self.room)
        self.activity = SpeechActivity(clock)
        self.company = box.output.company.turns_in(name, self.activity)
        self.ears = box.output.arbiter.ears(name)
        origin = origin_of(name, self.room.device)
        self.suppressed = SuppressedTurns(bus, lambda: datetime.now(UTC), origin, self.ears.told)

        async def reflex(heard: RecognizedTurn) -> bool:
            return False

        own_words = box.output.own_words
        self.intake = Intake(
            box.input.turns, 10, own_words, lambda _: "", self.ears, reflex, lambda _: {}, clock, origin
        )

    @property
    def heard(self) -> list[str]:
        """What was heard of its voice there."""
        return self.ledger.heard

    def go_away(self) -> None:
        """Be unplugged: what is said is heard by nobody."""
        self.is_there = False
        self.room.replies.stop_speaking()

    async def hears(self, words: str, seconds: float = 1.2, *, recognized_in: float = 0.3, **said: float) -> str:
        """Have a turn there, as a listener tells of it; return why nobody got it, "" where it became an event."""
        began = self.clock()
        for observer in (self.company, self.ears):
            observer.speech_started(SpeechStarted(began, lambda: None))
        self.activity.heard(began + seconds)
        await passed(seconds + recognized_in)
        turn = turn_of(words, began, began + seconds, **said)
        reason = await self.intake.admit(turn)
        for each in (self.company, self.ears, self.suppressed):
            each.turn_ended(turn, reason)
        if not reason:
            await self.intake.accept(turn)
        return reason


def turn_of(
    words: str, began: float, ended: float, *, snr: float = 25.0, level: float = -25.0, logprob: float = -0.3
) -> RecognizedTurn:
    """Return a turn as a recognizer understands it."""
    sound = Utterance(np.zeros(0, np.int16), began, ended, ended + 0.5, ended - began, level, level - snr)
    return RecognizedTurn(sound, Transcript(words, "en", "scripted", evidence={"avg_logprob": logprob}), ended + 0.8)


@dataclass
class Home:
    """The box and its rooms."""

    box: Box
    own: Ledger
    kitchen: Place
    study: Place

    async def says(self, words: str, **metadata: str) -> Event:
        """Have somebody say something to the box itself."""
        event = Event("asr_transcript", words, source="mic", priority=10, metadata=metadata)
        await self.box.household.mailbox.enqueue(event)
        return event

    async def over(self) -> None:
        """Return when nothing is left to do, and nothing sounds."""
        await self.box.household.mailbox.until_idle()
        for room in self.box.output.rooms:
            assert isinstance(room.speech, SpeechOutput)
            await room.speech.quiet()

    async def events(self) -> list[Event]:
        """Return all that people said, in order."""
        runs = await self.box.insight.journal.entries(topic="runs.new")
        found = [await self.box.household.mailbox.find(name) for name in dict.fromkeys(run.event_id for run in runs)]
        return [each.event for each in found if each is not None and each.event.is_from_person]


def live(
    folder: Path,
    story: Callable[[Home], Coroutine[Any, Any, T]],
    models: Sequence[ChatModel],
    **settings: dict[str, object],
) -> T:
    """Open a home, let the story happen while everything runs, and return what the story returns."""
    return run_virtually(_live(folder, story, models, settings))


async def _live(
    folder: Path,
    story: Callable[[Home], Coroutine[Any, Any, T]],
    models: Sequence[ChatModel],
    settings: dict[str, dict[str, object]],
) -> T:
    loop = asyncio.get_running_loop()
    began, start = loop.time(), datetime.now(UTC)

    async def player(settings: VoiceSettings, options: RunOptions) -> Player:
        return TimedPlayer()

    async def given(catalog: ModelCatalog, room: CachedPrefix) -> list[ChatModel]:
        return list(models)

    outside = replace(
        Environment(),
        source=lambda ears, options: None,
        player=player,
        voice=lambda settings, state_folder: ScriptedVoice(),
        models=given,
        clock=loop.time,
        now=lambda: start + timedelta(seconds=loop.time() - began),
    )
    config = load(Household(folder, {"reflexes": {"enabled": True}, **settings}).write(), {"HOME": str(folder)})
    told: list[T] = []
    async with open_box(config, RunOptions(), outside) as box:
        own = Ledger()
        box.output.speech.observe(own)
        home = Home(box, own, Place(box, "kitchen", loop.time), Place(box, "study", loop.time))

        async def tell() -> None:
            places = (home.kitchen, home.study)
            mouths = [place.room.speech for place in places]
            speaks = [together(mouth.loops()) for mouth in mouths if isinstance(mouth, SpeechOutput)]
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(each) for each in (*speaks, *(place.suppressed.run() for place in places))]
                told.append(await story(home))
                for task in running:
                    task.cancel()

        await serve(box, tell)
    return told[0]
