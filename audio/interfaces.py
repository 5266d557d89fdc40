"""The protocols of audio input and output; `appliance/wiring/` chooses implementations, `tests/fakes.py` has fakes."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from audio.egress import SendsTo
from audio.loops import Loop
from audio.pcm import AudioChunk, Samples
from audio.speech import PartialWords, RecognizedTurn, SpeechAudio, SpeechStarted, Transcript, Utterance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

T = TypeVar("T")


def always_awake() -> bool:
    """Whether the reader of a source rests: never."""
    return False


class AudioSource(Protocol):
    """Where sound comes from: a microphone, or a recording that takes its place."""

    @property
    def name(self) -> str:
        """The device's or the file's name, for people."""

    @property
    def is_live(self) -> bool:
        """Whether sound is lost when nobody takes it; a recording read as fast as it goes waits for its reader."""

    @property
    def dropped_chunks(self) -> int:
        """Chunks lost because the reader was late (or the device reported an overflow) since the start."""

    def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        """Yield chunks in order until the source ends (a recording) or for ever (a microphone).

        While `is_at_rest` (asked from any thread) they may come a few at a time, which costs less.
        Live sources buffer a bounded number of chunks; when the reader is late the oldest is dropped and counted.
        The device is opened at the first step and closed when the iterator is closed. Raises `DeviceUnavailable`.
        """


class VoiceDetector(Protocol):
    """Speech or not, chunk by chunk; keeps state over the chunks of one source; not thread-safe."""

    def probability(self, samples: Samples) -> float:
        """Return the probability of speech in [0, 1] for one chunk of 512 samples at 16 kHz."""

    def reset(self) -> None:
        """Forget the state, as at the start of a new source."""

    def state(self) -> "Mapping[str, ArrayLike]":
        """Return all that it remembers, by names without a dot; what is returned does not change any more."""
        return {}

    def recall(self, state: "Mapping[str, ArrayLike]") -> None:
        """Go on from a state of its own kind, as it was returned or read back as arrays."""
        return


class EchoGuard(Protocol):
    """Keeps nakari from hearing itself. All on the event loop, without waiting; fed with every chunk, in order."""

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        """Return the chunk without nakari's voice: same length, same time. Without a canceller the chunk itself."""

    def passes(self, chunk: AudioChunk) -> bool:
        """Whether nothing of nakari's voice can be in the chunk: whoever rests may leave it uncleaned, and is told so.

        What is cleaned after chunks that passed goes on behind them, without a gap.
        """

    def covers(self, chunk: AudioChunk) -> bool:
        """Whether no utterance may begin or go on in the chunk, because nakari's voice is still in it (half duplex)."""

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Return in [0, 1] how likely the sound between two moments of the source's clock is nakari's residual echo."""


class ChunkWatcher(Protocol):
    """Watches every chunk beside the endpointer, for reflexes or the wake word. On the event loop; never waits."""

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a cleaned chunk, its probability of speech, and whether the echo guard covers it."""


class TurnIntake(Protocol):
    """Receives whole turns with words. On the event loop."""

    async def admit(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets the words, `audio.turns.listener.REFLEX` when a reflex has done with them, else ""."""

    async def accept(self, heard: RecognizedTurn) -> None:
        """Take words that were admitted; once it returns nothing loses them any more."""


class TurnObserver(Protocol):
    """Follows the turns of people who speak; a subclass overrides what is wanted. Called on the event loop, at once."""

    def speech_started(self, started: SpeechStarted) -> None:
        """Speech began: nobody knows yet whether it will be words."""
        return

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Take the words of a turn that is still open: recognized ahead at its soft end, or because of a peek.

        The text may be empty. Nothing is told of words that were asked for before speech went on.
        """
        return

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Take the end of a turn: its words, None where it was never recognized.

        `suppressed` says why nobody gets them; `audio.turns.listener.REFLEX` when a reflex has done with them, ""
        when the mind gets them. Told before the mind does.
        """
        return


class Adapter(Protocol):
    """What hears or speaks for nakari, here or on another machine."""

    @property
    def name(self) -> str:
        """Its name, for people and logs."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What it hands to other machines, by its own settings; () for nothing. Told before it is used."""


class Recognizer(Adapter, Protocol):
    """Words from an utterance. Runs in a worker thread, one call at a time; never on the event loop."""

    def warm(self) -> None:
        """Load what is needed and run once, so that the first utterance pays nothing. Blocking."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        """Return the words; empty text when there are none. Blocking. Raises `RecognitionFailed`."""


@runtime_checkable
class WordVerifier(Protocol):
    """A recognizer that can also say how likely one word is, which somebody else believes to hear. From any thread."""

    def log_probability(self, words: str, samples: Samples) -> float | None:
        """Return the natural logarithm of how likely English words are the first of a sound (int16, 16 kHz).

        None while it cannot tell. Blocking. Raises `RecognitionFailed`.
        """


class TurnStream(Protocol):
    """One turn, recognized while it is spoken. Safe from several threads; for a worker thread, not the event loop."""

    def take(self, samples: Samples) -> PartialWords:
        """Take what comes next (int16, 16 kHz); return the words so far. Blocking. Raises `RecognitionFailed`."""


@runtime_checkable
class StreamingRecognizer(Recognizer, Protocol):
    """A recognizer that can follow turns while they are spoken.

    `transcribe` then gives what a turn has come to, if it was followed and whoever did still has its `TurnStream`, from
    the sound that `Utterance.samples` has in common with it; nothing has to be said about which turn it is.
    """

    def follow(self) -> TurnStream:
        """Begin a turn, beside others. At once. Raises `RecognitionFailed` while it cannot, as before `warm`."""


@runtime_checkable
class RemoteRecognizer(Adapter, Protocol):
    """Words from an utterance by a server: a member of `RecognizerChain`, which says how long it may take.

    Used from one event loop; whatever is under way ends when it is cancelled.
    """

    async def connect(self) -> None:
        """Open ahead what the next utterance needs, where that saves time. Raises `RecognitionFailed`."""

    async def recognize(self, utterance: Utterance) -> Transcript:
        """Return the words; empty text when there are none. Raises `RecognitionFailed`, whatever the server does."""

    async def aclose(self) -> None:
        """Let go of what is open; safe to call twice."""


class Synthesizer(ABC):
    """An `Adapter` that makes sound from one sentence; a subclass overrides what else it does."""

    name: str
    sends_to: tuple[SendsTo, ...]
    identity: str = ""
    """All that its sound depends on but the sentence: server, model, voices, settings; "" where the name says all.
    No secret."""

    @abstractmethod
    def speak(self, sentence: str, language: str) -> AsyncIterator[SpeechAudio]:
        """Yield the sentence's sound in order, the first piece as early as the voice can.

        `language` is ISO 639-1 or "" for unknown. A sentence is whole or an error: raises `SynthesisFailed` when sound
        is missing at the end, comes too late, or not at all; what was yielded before is real sound and may be played.
        """

    def load(self) -> None:
        """Import now what the first sentence would import. Blocking."""
        return

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps it ready, until cancelled; it speaks without."""
        return {}

    def expect(self) -> None:
        """Take that a sentence is likely to follow within seconds. Returns at once."""
        return


@asynccontextmanager
async def closing(pieces: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """Close an iterator of sound at the end of the block, so that its program, connection or device ends with it."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()


class Player(Protocol):
    """Where sound goes: a loudspeaker, or a file that takes its place. One user at a time."""

    @property
    def name(self) -> str:
        """Its name, for people and logs."""

    async def start(self) -> None:
        """Open the device and keep it open, so that no first syllable is clipped. Raises `DeviceUnavailable`."""

    async def play(self, audio: SpeechAudio) -> None:
        """Queue the samples behind what is queued; waits while more than about a second is ahead.

        Raises `DeviceUnavailable`.
        """

    async def drain(self) -> None:
        """Return when the last queued sample has left the device, its latency included."""

    def stop(self) -> float:
        """Drop what is queued, at once; return the seconds of sound that were dropped (they count as unheard).

        Ends a pause: what is played next is heard.
        """

    def pause(self) -> None:
        """Fall silent within one buffer of the device; what is queued stays, and counts as unheard until `resume`.

        `play` and `drain` wait meanwhile as if the sound were still to come. Safe to call twice.
        """

    def resume(self) -> None:
        """Go on exactly where `pause` cut in; safe to call when nothing is paused."""

    def set_gain(self, factor: float) -> None:
        """Scale, within one buffer of the device, all that is heard from now on by a factor in [0, 1]; 1 at first."""

    @property
    def busy_until(self) -> float:
        """Seconds on `time.monotonic` until which sound leaves (or left) the loudspeaker; 0 if nothing ever played.

        While it is paused, when the last sample before the pause left it.
        """

    async def aclose(self) -> None:
        """Close the device; safe to call twice."""
