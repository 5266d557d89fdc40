"""The ears of a satellite: the sound of each run through the endpointer, which ends it, to words and an event."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog
from msgspec import Struct, field

from agent.event import Event
from appliance.reflexes.words import sentence
from appliance.remote.ears import PlaceEars, Standing
from appliance.remote.microphone import RemoteMicrophone
from appliance.remote.outbox import Heard, Trouble
from appliance.remote.place import House
from appliance.rooms.arbitration import ECHO
from appliance.satellites.talk.mouth import SatelliteMouth
from appliance.satellites.talk.runs import FAILED_TO_RECOGNIZE, NOT_TAKEN, NOT_UNDERSTOOD, Run, Runs
from appliance.timers.ringer import RingerHere
from audio.interfaces import TurnObserver
from audio.loops import until_set
from audio.playback.volume import STEP
from audio.reflexes.words import asked, volume_asked
from audio.speech import RecognizedTurn
from audio.turns.endpointer import Committed, Dropped, Endpointer, Signal, Started
from audio.turns.listener import FAILED, REFLEX, TOO_SLOW
from audio.turns.vad import LateDetector

log = structlog.get_logger()

NOBODY_SECONDS: Final = 6.0
"""After a wake without a word its microphone is closed."""

STALLED_SECONDS: Final = 3.0
"""Without sound, though it should come 15 times a second, after which what was said is taken as all."""

LONGEST_SECONDS: Final = 40.0
"""That a microphone is open at most: coughs are no turn, and the longest turn takes 29."""

ABORTED: Final = "taken back there"
"""Why nobody gets what was said: somebody stopped the run at the device, or began anew."""

MOST_RUNS: Final = 4
"""That wait to be understood; then a wake is refused."""


class TurnEnd(Endpointer):
    """An endpointer that tells what it decides: its first committed turn is the whole of a run."""

    def __init__(self, commit_seconds: float, tell: Callable[[Signal], None]) -> None:
        super().__init__(commit_seconds)
        self._tell = tell

    def process(self, probability: float, started_at: float) -> tuple[Signal, ...]:
        """Take the next chunk; tell and return what it decides."""
        signals = super().process(probability, started_at)
        for signal in signals:
            self._tell(signal)
        return signals


class Hearing(Struct):
    """One run while it is heard."""

    run: Run
    microphone: RemoteMicrophone
    follows_reply: bool
    began_at: float
    """Seconds on the clock, as all here."""
    fed_at: float
    quiet_since: float | None
    """None while somebody speaks."""
    is_aborted: bool = False
    """Nobody wants what was said."""
    why: str = NOT_UNDERSTOOD
    """Its error, where no words come."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once its microphone is."""

    def close(self) -> None:
        """Take no more sound."""
        self.microphone.end()
        self.closed.set()

    @property
    def due(self) -> float:
        """When it is closed, if nothing happens until then."""
        due = min(self.began_at + LONGEST_SECONDS, self.fed_at + STALLED_SECONDS)
        return due if self.quiet_since is None else min(due, self.quiet_since + NOBODY_SECONDS)


class SatelliteEars(PlaceEars, TurnObserver):
    """Hears one run after the other; `hear` is its loop."""

    def __init__(
        self, house: House, standing: Standing, mouth: SatelliteMouth, runs: Runs, rings: RingerHere | None
    ) -> None:
        """`rings` is what rings in this room; None where nothing does."""
        shared = house.recognizing
        super().__init__(shared, house.mind, standing, mouth, self.put)
        self._device = device = mouth.device
        self._runs = runs
        self._rings = rings
        self._name = f"the satellite {device.name}"
        self._detector = LateDetector(shared.detector)
        self._to_hear: asyncio.Queue[Hearing] = asyncio.Queue(MOST_RUNS)
        self._open: Hearing | None = None
        """Whose microphone is open."""
        self._heard: Hearing | None = None
        """What is being understood."""
        self.volume: float | None = None
        """Of the device, in [0, 1], as it said last."""

    def wake(self, *, follows_reply: bool) -> bool:
        """Open a run and take the sound that follows; False where too much waits. What was open is taken back."""
        if self._to_hear.full():
            return False
        self.abort()
        shared, now = self._shared, self._shared.clock()
        microphone = RemoteMicrophone(self._name, self._detector, shared.thread, shared.clock)
        self._open = Hearing(self._runs.new(), microphone, follows_reply, now, now, now)
        self._to_hear.put_nowait(self._open)
        return True

    def feed(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz; returns at once."""
        if self._open is not None:
            self._open.fed_at = self._shared.clock()
            self._open.microphone.feed(pcm)

    def end(self) -> None:
        """Take that no more sound comes: what was said so far is all."""
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    def abort(self) -> bool:
        """Take back what is being said; whether there was anything."""
        if self._open is None:
            return False
        self._open.is_aborted = True
        self.end()
        return True

    async def hear(self) -> None:
        """Understand what was said, in order, for ever."""
        while True:
            self._heard = await self._to_hear.get()
            self._heard.run.begin()
            try:
                await self._listen(self._heard)
            finally:
                self._heard.run.heard()
                self._heard = None

    async def _listen(self, hearing: Hearing) -> None:
        run = hearing.run

        def decided(signal: Signal) -> None:
            match signal:
                case Started():
                    hearing.quiet_since = None
                case Dropped():
                    hearing.quiet_since = self._shared.clock()
                case Committed():
                    run.heard()
                    self._close(hearing)

        endpointer = TurnEnd(self._shared.commit_silence, decided)
        intake = self._intake(lambda heard: ABORTED if hearing.is_aborted else "")
        listener = self._listener(hearing.microphone, intake, endpointer, self)
        async with asyncio.TaskGroup() as group:
            group.create_task(listener.listen(), name="satellite: chunks to an utterance")
            group.create_task(listener.recognize(), name="satellite: an utterance to an event")
            group.create_task(self._watch(hearing), name="satellite: who says nothing")
        if run.is_hearing and hearing.follows_reply:
            run.end()
        elif run.is_hearing:
            run.fail(hearing.why, self._runs.sentence(hearing.why))

    def _close(self, hearing: Hearing) -> None:
        if self._open is hearing:
            self._open = None
        hearing.close()

    async def _watch(self, hearing: Hearing) -> None:
        """Close a microphone into which nobody speaks, or that gives no sound any more."""
        while not hearing.closed.is_set():
            if (left := hearing.due - self._shared.clock()) <= 0:
                log.info("satellite_microphone_closed", satellite=self._device.name)
                self._close(hearing)
                return
            await until_set(hearing.closed, left)

    async def file(self, event: Event) -> None:
        """Put an event into the mailbox, as a `Filing`; its run goes on until that of the event is over."""
        if self._heard is not None:
            self._heard.run.event_id = event.id
        await super().file(event)

    def put(self, item: Heard | Trouble) -> None:
        """Tell the device what was understood, or why it was not taken."""
        if self._heard is None:
            return
        if isinstance(item, Trouble):
            self._heard.run.fail(NOT_TAKEN, item.sentence)
        else:
            self._heard.run.understood(item.text)

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Tell that a reflex was heard, and what another room answers; of all else that is held back why."""
        if self._heard is None:
            return
        if suppressed in {REFLEX, ECHO} and heard is not None:
            self._heard.run.understood(heard.transcript.text)
            self._heard.run.answered("", is_last=self._mouth.speech.current is None)
        elif suppressed in {FAILED, TOO_SLOW}:
            self._heard.why = FAILED_TO_RECOGNIZE

    async def _reflex(self, heard: RecognizedTurn) -> bool:
        """Act on a word that means what rings there, what is said there, the device, or else the box."""
        if self._rings is not None and await self._rings.take(heard.transcript.text):
            return True
        return await super()._reflex(heard)

    def _acted_there(self, words: str) -> str:
        """Turn the device's own volume, or mute its microphone; return the sentence that says so."""
        order, language = asked(words), self._shared.language
        if order == "mute" and self._device.features.has_mute:
            self._device.set_muted(True)
            return sentence("muted there", language, words)
        if self.volume is None:
            return ""
        now = round(100 * self.volume)
        turned = {"louder": now + STEP, "quieter": now - STEP}
        percent = turned.get(order or "", volume_asked(words))
        if percent is None:
            return ""
        percent = min(max(percent, STEP if order == "quieter" else 0), 100)
        self.volume = percent / 100
        self._device.set_volume(self.volume)
        return sentence("volume", language, words, percent=percent)
