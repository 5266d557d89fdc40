"""The ears of a remote place: presses of a button and open microphones, through the recognizers and the gate."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager
from typing import Final, Literal, TypeAlias

import numpy as np
import structlog
from msgspec import Struct, field

from agent.bus import Bus
from agent.event import HOUSEHOLD, Event, utc_now
from appliance.errors import Exit, Problem
from appliance.input.event import Origin
from appliance.input.intake import Contest, Filing, Guard, Intake, TurnGate
from appliance.input.not_understood import understood_guard
from appliance.input.prewarm import LookAhead
from appliance.input.suppressed import SuppressedTurns
from appliance.output.interruption import Interruption
from appliance.remote.decoding import MOST_SECONDS
from appliance.remote.microphone import RemoteMicrophone
from appliance.remote.mouth import NAME, PlaceMouth
from appliance.remote.outbox import Heard, Trouble
from appliance.remote.recording import as_one, utterances_in
from appliance.rooms.arbitration import Undisputed
from audio.echo.duplex import Mode
from audio.echo.self_echo import SelfEcho
from audio.errors import RecognitionFailed
from audio.interfaces import Recognizer, TurnObserver, VoiceDetector
from audio.language import sentence_language
from audio.loops import Loop
from audio.pcm import SAMPLE_RATE, Samples
from audio.playback.speech_output import SpokenSentence
from audio.recognizer.sharing import RecognizerTurns
from audio.recognizer.wrapped import WrappedRecognizer
from audio.reflexes.words import asked
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.endpointer import Endpointer
from audio.turns.evidence import evidence_guard
from audio.turns.listener import FAILED, NO_WORDS, REFLEX, TOO_SHORT, Listener, Surroundings
from audio.turns.surroundings import SpeechActivity
from memory.json_value import Json

log = structlog.get_logger()

HeardAs: TypeAlias = Literal["push_to_talk", "open"]
"""Whether a button says what belongs together, or the pauses do."""

BUTTON: Final = "a pressed button"
"""The name under which a button holds the mouth."""

MOST_TO_HEAR: Final = 4
"""Presses and microphones that may wait to be understood, one after the other."""


class Recognizing(Struct, frozen=True):
    """What remote ears share with the room's."""

    recognizer: Recognizer
    turns: RecognizerTurns
    detector: Callable[[], VoiceDetector]
    thread: Executor
    """In which speech is detected, for all of them."""
    language: str
    """ISO 639-1."""
    commit_silence: float
    """Seconds of silence that end a turn."""
    clock: Callable[[], float]

    async def recognized(
        self, samples: Samples, began: float, is_wanted: Callable[[], bool] = lambda: True
    ) -> RecognizedTurn | None:
        """Return the words of a recording (int16, shape (n,), 16 kHz); None where nobody speaks in it.

        `began` are seconds on the clock. What nobody wants any more when its turn has come is not recognized. Raises
        `RecognitionFailed`.
        """
        loop = asyncio.get_running_loop()
        detector = await asyncio.to_thread(self.detector)
        turns = []
        for utterance in await loop.run_in_executor(self.thread, utterances_in, samples, detector, began):
            async with self.turns.other():
                if not is_wanted():
                    return None
                transcript = await asyncio.to_thread(self.recognizer.transcribe, utterance)
            turns.append(RecognizedTurn(utterance, transcript, self.clock()))
        return as_one(turns) if turns else None


class Mind(Struct, frozen=True):
    """Where what was heard goes."""

    filing: Filing
    interrupt: Callable[[str], bool]
    """Ends the run of an event (`agent.loop.Loop.interrupt`)."""
    typed: Callable[[str], Awaitable[str]]
    """Acts on the household's reflex words that mean the box (`Reflexes.typed`); the sentence that answers, or ""."""
    bus: Bus
    max_tool_calls: int
    marks: Callable[[RecognizedTurn], Mapping[str, Json]]
    """Says who spoke, as far as the voice tells; goes into the event's evidence."""
    look_ahead: Callable[[str, str], Awaitable[None]]
    """Looks up what words of an owner bring back (`agent.context.recollection.Recalled.look_ahead`)."""


class OthersCancel:
    """An `OwnVoice` for a place that cancels its echo itself, as browsers do: it listens while it speaks."""

    mode = Mode.FULL
    hears_another = False
    is_doubtful = False
    explained = 0.0


class Press:
    """What is said while a button is held down."""

    def __init__(self, began: float) -> None:
        self.began = began
        """Seconds on the clock."""
        self.is_too_long = False
        self._bytes = bytearray()

    def feed(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz; what is more than `MOST_SECONDS` is left out."""
        room = round(MOST_SECONDS * SAMPLE_RATE) * 2 - len(self._bytes)
        self._bytes += pcm[:room]
        self.is_too_long |= len(pcm) > room

    @property
    def samples(self) -> Samples:
        """All of it: int16, shape (n,), 16 kHz."""
        return np.frombuffer(bytes(self._bytes[: len(self._bytes) // 2 * 2]), "<i2")


Telling: TypeAlias = Callable[[Heard | Trouble], None]
"""Takes what whoever spoke is told, at once (`appliance.remote.outbox.Outbox.put`)."""


class Standing(Struct, frozen=True):
    """Where ears stand among others."""

    origin: Origin
    contest: Contest
    own_words: Guard
    """Holds back what it said itself and they heard."""
    recognizing: Callable[[], AbstractAsyncContextManager[None]]
    """Returns what is held while the recognizer is at work (`audio.recognizer.sharing.RecognizerTurns`)."""
    activity: SpeechActivity = field(default_factory=SpeechActivity)
    """Told when speech is under way."""
    observers: tuple[TurnObserver, ...] = ()
    """Told of each turn, before the ears' own."""


class PlaceEars:
    """What all ears elsewhere than in the room do with a microphone. All on the event loop."""

    def __init__(
        self, shared: Recognizing, mind: Mind, standing: Standing, mouth: PlaceMouth, telling: Telling
    ) -> None:
        self._shared = shared
        self._mind = mind
        self._standing = standing
        self._origin = standing.origin
        self._mouth = mouth
        self._telling = telling
        understood = understood_guard(shared.language)
        self._gate = TurnGate(_passes, evidence_guard, standing.own_words, _passes, understood)
        self._suppressed = SuppressedTurns(mind.bus, utc_now, standing.origin, standing.contest.told)
        self._ahead = LookAhead(lambda words: mind.look_ahead(words, standing.origin.owner_key))
        self._newest = ""
        """Id of the event that was filed last."""

    def _intake(self, over_reply: Guard) -> Intake:
        most, clock = self._mind.max_tool_calls, self._shared.clock
        guards = (self._gate, over_reply, self._standing.contest)
        return Intake(self, most, *guards, self._reflex, self._mind.marks, clock, self._origin)

    def _listener(
        self, microphone: RemoteMicrophone, intake: Intake, endpointer: Endpointer, *observers: TurnObserver
    ) -> Listener:
        """Return what makes events of what a microphone hears, told to these and to the journal."""
        shared, speech = self._shared, self._mouth.speech
        around = Surroundings(
            clock=shared.clock,
            activity=self._standing.activity,
            may_rest=lambda: speech.current is None,
            recognizing=self._standing.recognizing,
        )
        listener = Listener(microphone, microphone, endpointer, Warm(shared.recognizer), intake, around)
        listener.observe(*self._standing.observers, *observers, self._ahead, self._suppressed)
        return listener

    async def file(self, event: Event) -> None:
        """Put an event into the mailbox, as a `Filing`; whoever spoke is told that it was understood, or why not."""
        self._newest = event.id
        try:
            await self._mind.filing.file(event)
        except Problem as problem:
            self._telling(Trouble(problem.sentence, problem.code))
        else:
            self._telling(Heard(event.content, event.id))

    def loops(self) -> Mapping[str, Loop]:
        """Return what happens beside hearing, until cancelled."""
        return {
            "remote: turns that nobody gets": self._suppressed.run,
            "remote: what the words so far bring back, in a pause": self._ahead.run,
        }

    def stop(self) -> bool:
        """Be silent at once there, and end the run of what was said there last; whether there was anything to end."""
        was_speaking = self._mouth.speech.current is not None
        event_id = self._mouth.voice.stop_speaking() or self._newest
        return (bool(event_id) and self._mind.interrupt(event_id)) or was_speaking

    async def _reflex(self, heard: RecognizedTurn) -> bool:
        """Act on a word that means what is said there, or else the box; return whether there is no more to it.

        What cannot be taken back is left to the mind: it can ask.
        """
        words, speech = heard.transcript.text, self._mouth.speech
        order = asked(words)
        if order == "stop" and self.stop():
            return True
        if order == "wait" and speech.current is not None:
            speech.pause()
            return True
        if order == "go on" and speech.is_paused:
            speech.resume()
            return True
        sentence = self._acted_there(words)
        if not sentence and order not in {"mute", "forget"} and self._origin.owner_key == HOUSEHOLD:
            sentence = await self._mind.typed(words)
        if sentence:
            language = sentence_language(sentence, self._shared.language)
            await speech.say(SpokenSentence("", 0, sentence, language))
        return bool(sentence)

    def _acted_there(self, words: str) -> str:
        """Act on words that mean the place itself; return the sentence that answers them, "" where they do not."""
        return ""


class RemoteEars(PlaceEars, TurnObserver):
    """Hears one press or microphone after the other; `hear` is its loop."""

    def __init__(self, shared: Recognizing, mind: Mind, origin: Origin, mouth: PlaceMouth, telling: Telling) -> None:
        own_words = SelfEcho(mouth.speech, shared.clock)
        super().__init__(shared, mind, Standing(origin, Undisputed(), own_words, shared.turns.other), mouth, telling)
        self._interruption = Interruption(
            mouth.speech, mouth.voice, mind.interrupt, OthersCancel(), self._is_held_back, shared.clock
        )
        self._over_reply = self._intake(self._interruption.guard)
        self._on_purpose = self._intake(_passes)
        """Whoever presses a button means what they say, be it only a "yes" over a reply."""
        self._to_hear: asyncio.Queue[RemoteMicrophone | Press | None] = asyncio.Queue(MOST_TO_HEAR + 1)
        """With room for what ends it."""
        self._open: RemoteMicrophone | Press | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody may be speaking into it."""
        return self._open is not None

    async def begin(self, how: HeardAs) -> None:
        """Take what is fed from now on as what somebody says. Raises `Problem` where too much waits."""
        self.end()
        if self._to_hear.qsize() >= MOST_TO_HEAR:
            raise Problem("what was said before is still being understood; try again in a moment", Exit.UNAVAILABLE)
        shared = self._shared
        if how == "push_to_talk":
            self._open = Press(shared.clock())
            self._mouth.speech.pause(BUTTON)
            return
        detector = await asyncio.to_thread(shared.detector)
        self._open = RemoteMicrophone(NAME, detector, shared.thread, shared.clock)
        self._to_hear.put_nowait(self._open)

    def feed(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz; returns at once. What comes before `begin` is nothing."""
        if self._open is not None:
            self._open.feed(pcm)

    def end(self) -> None:
        """Take that the button was let go, or the microphone closed."""
        opened, self._open = self._open, None
        if isinstance(opened, RemoteMicrophone):
            opened.end()
        elif opened is not None:
            self._to_hear.put_nowait(opened)

    def leave(self) -> None:
        """Take that nobody is there: what was said is understood, but for a button that was never let go."""
        if isinstance(self._open, RemoteMicrophone):
            self._open.end()
        self._open = None
        self._to_hear.put_nowait(None)

    async def hear(self) -> None:
        """Understand what was said, in order, until `leave`."""
        while (what := await self._to_hear.get()) is not None:
            if isinstance(what, RemoteMicrophone):
                await self._listen(what)
                continue
            if what.is_too_long:
                self._telling(Trouble(f"only the first {MOST_SECONDS:g} seconds were taken", Exit.USAGE))
            try:
                await self.understand(what.samples, what.began)
            finally:
                self._mouth.speech.resume(BUTTON)

    def loops(self) -> Mapping[str, Loop]:
        """Return what happens beside hearing, until cancelled."""
        return {"remote: goes on with a reply when it was nothing": self._interruption.run, **super().loops()}

    async def understand(self, samples: Samples, began: float) -> str:
        """Take a recording as one utterance; return why nobody gets its words, "" where they became an event.

        int16, shape (n,), 16 kHz; `began` are seconds on the clock.
        """
        self._interruption.speech_started(SpeechStarted(began, _unasked))
        turn, reason = None, FAILED
        try:
            turn = await self._shared.recognized(samples, began)
            reason = NO_WORDS if turn is None or not turn.transcript.text else await self._on_purpose.admit(turn)
        except RecognitionFailed as error:
            log.warning("recognition_failed", reason=str(error))
        finally:
            for observer in (self._interruption, self._suppressed):
                observer.turn_ended(turn, reason)
        if turn is not None and not reason:
            await self._on_purpose.accept(turn)
        else:
            self._tell(turn, reason)
        return reason

    async def _listen(self, microphone: RemoteMicrophone) -> None:
        endpointer = Endpointer(self._shared.commit_silence)
        listener = self._listener(microphone, self._over_reply, endpointer, self._interruption, self)
        listener.watch(self._interruption)
        async with asyncio.TaskGroup() as group:
            group.create_task(listener.listen(), name="remote: chunks to utterances")
            group.create_task(listener.recognize(), name="remote: utterances to events")

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Tell what was held back; what became an event is told with its id, and a cough not at all."""
        if suppressed not in {"", TOO_SHORT, NO_WORDS}:
            self._tell(heard, suppressed)

    def _tell(self, heard: RecognizedTurn | None, reason: str) -> None:
        text = heard.transcript.text if heard is not None else ""
        self._telling(Heard(text, held_back="" if reason == REFLEX else reason))

    def _is_held_back(self, heard: RecognizedTurn) -> str:
        return self._gate(heard) or (REFLEX if asked(heard.transcript.text) else "")


class Warm(WrappedRecognizer):
    """A recognizer that somebody else keeps warm, or that loads with the first words."""

    def warm(self) -> None:
        """Leave it as it is."""


def _passes(heard: RecognizedTurn) -> str:
    return ""


def _unasked() -> None:
    """Nobody peeks at a recording: it is whole."""
