"""Reflexes over a real mouth, a real state database and a scripted loudspeaker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np
from msgspec import Struct

from agent.event import Event
from agent.mailbox import Lease
from appliance.reflexes.device import Device
from appliance.reflexes.forget import mindless
from appliance.reflexes.kept import KeptSwitches, TimedMute
from appliance.reflexes.record import REFLEX, ReflexRecord
from appliance.reflexes.reflexes import Reflexes, Wording
from appliance.reflexes.verbs import Verbs
from appliance.reflexes.voice import Voice
from appliance.reflexes.words import Forgot
from appliance.timers.ringer import Ringer
from appliance.wiring.memory.state import State
from audio.loops import running
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from audio.reflexes.keyword_search import Spotted
from audio.reflexes.words import Reflex, calls
from audio.speech import Confidence, RecognizedTurn, Transcript, Utterance
from tests.agent.clock import MORNING
from tests.appliance.ringing_room import RingingRoom, ringing_room
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice


@dataclass
class ReflexRoom:
    """What a test looks at."""

    ringing: RingingRoom
    switches: KeptSwitches
    folder: Path
    interrupted: list[str] = field(default_factory=list)
    now: float = 100.0
    """Seconds on the source's clock."""
    doubt: str = ""
    """Why whatever is heard is nobody's order."""
    forgotten: list[str] = field(default_factory=list)
    """The sessions in which it was, "it" for what was heard."""
    has_memory: bool = False
    """Whether there is anything to forget."""
    is_own_voice: bool = False
    """Whether whatever is heard was said over its own voice."""
    is_speech: bool = True
    minutes: float = 60.0
    """How long a mute lasts."""
    wake_word: str = ""
    awaited: int = 0
    """How often an answer was waited for."""

    def __post_init__(self) -> None:
        mouth, ringer, clock = self.ringing.mouth, self.ringing.here, self.ringing.clock
        mute = TimedMute(self.switches, self.minutes, clock, clock.wait)
        self.body = Verbs(mouth, mute, self.switches, ringer, self.interrupt, mouth.hush)
        self.record = ReflexRecord(self.ringing.state.bus, lambda: self.now)
        self.reflexes = Reflexes(
            self.body,
            Voice(mouth, self.ringing.player, "en"),
            self.record,
            Wording(wake_word=self.wake_word),
            HeardIn(self),
            self.forget,
        )

    async def forget(self, session: str) -> Forgot:
        """Stand for `Forgetting.last`."""
        self.forgotten.append(session or "it")
        if not self.has_memory:
            return Forgot("nothing to forget")
        return Forgot("forgotten", "“the dentist is on Friday”", self._drop)

    async def _drop(self) -> None:
        self.forgotten.append("what saying it kept")

    @property
    def device(self) -> Device:
        """The verbs as the tools reach them, where nothing but the journal is forgotten."""
        return Device(self.reflexes, self.body, mindless(self.state), "en")

    @property
    def mouth(self) -> SpeechOutput:
        return self.ringing.mouth

    @property
    def player(self) -> ScriptedPlayer:
        return self.ringing.player

    @property
    def voice(self) -> ScriptedVoice:
        return self.ringing.voice

    @property
    def state(self) -> State:
        return self.ringing.state

    @property
    def ringer(self) -> Ringer:
        return self.ringing.ringer

    def interrupt(self) -> bool:
        """Stand for `Loop.interrupt`."""
        self.interrupted.append("now")
        return True

    async def speak(self, *sentences: str) -> None:
        """Let it be in the middle of a reply."""
        self.player.at_once = False
        for number, text in enumerate(sentences, 1):
            await self.mouth.say(SpokenSentence("reply", number, text, "en"))
        await self.player.draining.wait()

    async def settle(self) -> None:
        """Let everything run that can run now."""
        await self.reflexes.kept()
        for _ in range(4):
            await self.ringing.settle()

    async def journaled(self) -> list[tuple[object, ...]]:
        """Return (reflex, what it did, how, words) of each reflex in the journal."""
        await self.settle()
        entries = await self.state.journal.entries(topic=REFLEX)
        return [tuple(entry.body.get(key) for key in ("reflex", "did", "how", "words")) for entry in entries]

    def told(self, session: str = "room") -> dict[str, str]:
        """Return what the next block of a session says."""
        return dict(self.record.situation(Lease(Event("user_text", "hello", session_id=session))))

    def spot(self, reflex: Reflex, ago: float = 0.3, seconds: float = 0.4) -> None:
        """Spot a word that ended so many seconds ago."""
        end = self.now - ago
        self.reflexes.spotted(Spotted(reflex, reflex, end - seconds, end))


class HeardIn(Struct, frozen=True):
    """An `OrderEvidence` of what the room says; a turn is called that has the name in it."""

    room: ReflexRoom

    def __call__(self, words: str, started_at: float, ended_at: float) -> str:
        return self.room.doubt

    def is_over_own_voice(self, started_at: float) -> bool:
        return self.room.is_own_voice

    def is_speech(self, heard: RecognizedTurn) -> bool:
        return self.room.is_speech

    def is_called(self, heard: RecognizedTurn) -> bool:
        return calls(heard.transcript.text)

    def is_clear(self, heard: RecognizedTurn) -> bool:
        return not self.room.is_own_voice and heard.transcript.confidence == "normal"

    def await_answer(self, now: float) -> None:
        self.room.awaited += 1


def heard(words: str, ended_at: float, seconds: float = 0.5, confidence: Confidence = "normal") -> RecognizedTurn:
    """Return a turn that ended then."""
    utterance = Utterance(np.zeros(8000, np.int16), ended_at - seconds, ended_at, ended_at + 0.7, seconds)
    return RecognizedTurn(utterance, Transcript(words, "en", "scripted", confidence), ended_at + 0.8)


@asynccontextmanager
async def reflex_room(
    folder: Path, start: datetime = MORNING, minutes: float = 60.0, wake_word: str = ""
) -> AsyncIterator[ReflexRoom]:
    """Open the room; its state folder may have been used before."""
    async with ringing_room(folder, start) as ringing:
        kept = KeptSwitches(folder / "switches.json")
        ringing.mouth.volume.percent = kept.volume_for(100)
        room = ReflexRoom(ringing, kept, folder, minutes=minutes, wake_word=wake_word)
        async with running(room.reflexes.loops()):
            yield room
