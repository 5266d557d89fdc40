"""The echo guard of a box with a loudspeaker: cancels, measures the residual, and chooses the duplex mode by it."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

import numpy as np
import structlog
from msgspec import Struct, field
from numpy.typing import NDArray

from audio.echo.calibration import LATEST, Calibration, delay_in_speech, measure
from audio.echo.canceller import Canceller, Cleaned, CleanedStream
from audio.echo.duplex import DUCKED_BELOW_DB, NOT_MEASURED, Duplex, HalfDuplex, Leak, Mode, choose
from audio.echo.meter import HINT, HINT_CHUNKS, EchoMeter, SpeechInResidue
from audio.echo.near_end import NearEnd
from audio.echo.reference import PlayedReference
from audio.pcm import CHUNK_SECONDS, AudioChunk, Samples, power_of

log = structlog.get_logger()

CHOOSE_CHUNKS: Final = round(0.5 / CHUNK_SECONDS)
"""Chunks with nakari's voice between two checks of the leak."""

TAPE_SECONDS: Final = 6.0
"""Of sound kept for a calibration; the oldest goes first."""

SETTLED_SECONDS: Final = 0.7
"""After the last sound that was played: its echo is on the tape, unless it is later than `PROMPT_SECONDS`."""

PROMPT_SECONDS: Final = 0.5
LATE_SECONDS: Final = LATEST + 0.2
"""After the last sound: an echo through the air or the network is on the tape too."""

LOST_DB: Final = 6.0
"""By which the canceller lowers nakari's voice at least where it is paired with its echo."""

LOST_CHECKS: Final = 6
"""Checks in a row (3 s of nakari's voice) in which it does not, after which the echo is looked for elsewhere."""

PATIENT_CHECKS: Final = 40
"""Checks (20 s of nakari's voice) until it is looked for again."""

LOOKED_SECONDS: Final = 8.0
"""Of sound, kept while the echo is lost."""

RECALLED_SECONDS: Final = 1.5
"""Of nakari's voice after which the canceller has settled and a mode that was kept over a restart holds."""

EASY_SECONDS: Final = (0.008, 0.15)
"""From the reference to its echo: the canceller has learned that by itself, and would have to learn another anew."""

PLAIN_CHUNKS: Final = round(2.0 / CHUNK_SECONDS)
"""After nakari's voice, until sound is taken as in silence. The detector's energy gate has closed by then, and what was
raised for it does not go over into the next reply's echo."""

TAIL_CHUNKS: Final = round(0.5 / CHUNK_SECONDS)
"""After nakari's voice, in which what is left of it may still be heard."""

UNSURE_CHUNKS: Final = round(2.0 / CHUNK_SECONDS)
"""With nakari's voice after the machine stood still: its echo comes at another time than the canceller has learned."""

EXPLAINED_CHUNKS: Final = round(0.3 / CHUNK_SECONDS)
"""Of sound, about a syllable: how much of it nakari's voice explains."""

NOT_HEARD: Final = "nothing of the loudspeaker is heard: headphones, or it is mute"


class Tape(Struct):
    """Records what is played and heard, side by side, while a calibration runs."""

    cleaned: deque[Cleaned] = field(default_factory=lambda: deque(maxlen=round(TAPE_SECONDS / CHUNK_SECONDS)))
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with the first chunk."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something was played and a usual echo is over."""
    settled_late: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the latest echo is over too."""
    _silent: int | None = None
    """Chunks since something was played; None before."""

    def add(self, cleaned: Cleaned) -> None:
        """Keep one chunk."""
        self.cleaned.append(cleaned)
        self.begun.set()
        if np.any(cleaned.far):
            self._silent = 0
        elif self._silent is not None:
            self._silent += 1
            if self._silent >= SETTLED_SECONDS / CHUNK_SECONDS:
                self.settled.set()
            if self._silent >= LATE_SECONDS / CHUNK_SECONDS:
                self.settled_late.set()

    @property
    def holds_echo(self) -> bool:
        """Whether a usual echo is on the tape: then nothing later has to be waited for."""
        found = self.measure()
        return found.is_heard and found.delay <= PROMPT_SECONDS

    def measure(self) -> Calibration:
        """Return what is on the tape."""
        return measure(*self.sounds()) if self.cleaned else Calibration(is_heard=False)

    def sounds(self) -> tuple[Samples, Samples, Samples]:
        """Return what was played, recorded and left, each in one row."""
        far, near, left = (
            np.concatenate([getattr(each, name) for each in self.cleaned]) for name in ("far", "near", "left")
        )
        return far, near, left


class RoomProfile(Struct, frozen=True):
    """What was learned of one room, as one microphone hears one loudspeaker in it: kept over a restart."""

    devices: str
    """The names of both: with others nothing of it holds."""
    mode: Mode
    echo_delay: float
    """Seconds by which the reference was moved to pair with its echo."""
    raw_floor: float
    left_floor: float
    """Power of the room's noise before and after the canceller, relative to full scale."""
    path: NDArray[np.float32]
    """The echo path as near-end detection has learned it: its impulse response, shape (n,), at its rate."""
    expected: NDArray[np.float64]
    """What it leaves, the room's noise and the loudspeaker's distortion, dB, shape (3, bands)."""


class CancellingGuard:
    """An `EchoGuard` with a canceller, put in when it is loaded; half duplex until the leak has been measured."""

    def __init__(self, reference: PlayedReference, half_duplex: HalfDuplex, canceller: Canceller | None = None) -> None:
        self.duplex = Duplex(Mode.HALF, reason=NOT_MEASURED)
        self.is_given_up = False
        """Whether there will be no canceller."""
        self._reference = reference
        self._stream = CleanedStream(reference, canceller)
        self._stalls = 0
        """Of the reference, when it was looked at last."""
        self._unsure = 0
        """Chunks with nakari's voice in which nothing is believed yet."""
        self._meter = EchoMeter()
        self._near_end = NearEnd()
        self._residue = SpeechInResidue()
        self._hints: deque[float] = deque(maxlen=HINT_CHUNKS)
        """The newest probabilities of speech."""
        self._half_duplex = half_duplex
        self._tape: Tape | None = None
        self._passed: AudioChunk | None = None
        """The newest chunk, where it was left uncleaned."""
        self._sounding = 0
        """Chunks with nakari's voice, since the start."""
        self.astray = asyncio.Event()
        """Set when its echo is heard and not where it is looked for; `seek` is to be called then."""
        self._looked: deque[Cleaned] = deque(maxlen=round(LOOKED_SECONDS / CHUNK_SECONDS))
        """What was cleaned since the echo is lost."""
        self._after = PLAIN_CHUNKS
        """Chunks since nakari's voice sounded."""
        self._lost = 0
        """Checks in a row in which the canceller did nothing; negative while nobody looks again."""
        self._recalled: Mode | None = None
        """The mode that was kept over a restart, until it is measured again."""

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        """Return the chunk without nakari's voice, 16 ms behind: its time is that of its samples."""
        if self._passed is not None:
            self._stream.process(self._passed)
            self._passed = None
        cleaned = self._stream.process(chunk)
        self._meter.note(cleaned.chunk.started_at, *map(power_of, (cleaned.far, cleaned.near, cleaned.left)))
        self._near_end.follow(cleaned.near, cleaned.far)
        if self._tape is not None:
            self._tape.add(cleaned)
        if self._lost > 0:
            self._looked.append(cleaned)
        sounds = np.count_nonzero(cleaned.far) > 0
        self._after = 0 if sounds else self._after + 1
        self._unsure = max(0, self._unsure - int(sounds))
        if self._reference.stalls != self._stalls:
            self._stalls, self._unsure = self._reference.stalls, UNSURE_CHUNKS
        if sounds and self._tape is None:
            self._sounding += 1
            if self._sounding % CHOOSE_CHUNKS == 0:
                self._choose_again()
        return cleaned.chunk

    def passes(self, chunk: AudioChunk) -> bool:
        """Whether nothing was played for a second, and nothing is measured: then the chunk needs no cleaning.

        The newest one that passed fills the delay when there is something to clean again.
        """
        if self._tape is not None or not self._stream.rests(chunk):
            return False
        self._passed = chunk
        self._after += 1
        return True

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take what a voice detector makes of the chunk that was cleaned last, as a `ChunkWatcher`."""
        self._hints.append(probability)
        sounds = self._after < TAIL_CHUNKS and self._tape is None
        self._residue.note(probability, sounds=sounds, is_another=self.hears_another)

    def is_plain(self) -> bool:
        """Whether nakari's voice sounded `PLAIN_CHUNKS` ago or earlier: nothing that cancelling left of it is there."""
        return self._after >= PLAIN_CHUNKS

    @property
    def mode(self) -> Mode:
        """How nakari listens while it speaks."""
        return self.duplex.mode

    def covers(self, chunk: AudioChunk) -> bool:
        """Whether no utterance may begin or go on in the chunk: it sounds, and is not cancelled, or not surely yet."""
        late = AudioChunk(chunk.samples, chunk.started_at - max(0.0, self._stream.echo_delay))
        is_unsure = self.duplex.mode is Mode.HALF or self._tape is not None or self._unsure > 0
        return is_unsure and self._half_duplex.covers(late)

    @property
    def hears_another(self) -> bool:
        """Whether something began in the last chunk that is neither nakari's voice nor the room's usual noise.

        Where the residual fluctuates by itself, the voice detector has to take some of it for a voice at least.
        """
        near_end = self._near_end
        return near_end.stands_out and (near_end.is_steady or max(self._hints, default=0.0) >= HINT)

    def unexplained(self, seconds: float) -> Samples:
        """Return the newest sound with the linear echo taken off and no more: int16, 16 kHz, 2.2 s at most."""
        return self._near_end.unexplained(seconds)

    @property
    def is_doubtful(self) -> bool:
        """Whether speech that begins over nakari's voice may be what the canceller left of it."""
        return self._residue.is_doubtful

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Return in [0, 1] the share of the sound between two moments that the residual of nakari's voice explains."""
        return self._meter.suspicion(started_at, ended_at)

    @property
    def explained(self) -> float:
        """Which share of the newest sound, 0 to 1, the residual of nakari's voice explains."""
        return self._meter.newest(EXPLAINED_CHUNKS)

    def use(self, canceller: Canceller) -> None:
        """Cancel from the next chunk on."""
        self._stream.canceller = canceller

    def expect_echo_after(self, seconds: float) -> None:
        """Pair by a delay that is known: of the echo behind the moment that the player tells for its sound."""
        self._stream.expect_echo_after(seconds)
        self._near_end, self._residue = NearEnd(), SpeechInResidue()
        self._meter.forget()
        self._recalled = None

    def stay_half_duplex(self, reason: str) -> None:
        """Give cancellation up."""
        self.is_given_up = True
        self._change(Duplex(Mode.HALF, reason=reason))

    def record(self) -> Tape:
        """Begin a tape, with a canceller that knows nothing yet: one that has learned speech leaves much of a chime.

        Until the tape is handed to `calibrate_by` or given up by `discard` no utterance begins while it sounds.
        """
        self._stream.begin_anew()
        self._tape = Tape()
        return self._tape

    def discard(self) -> None:
        """Give the tape up: nothing was measured."""
        self._tape = None

    def calibrate_by(self, tape: Tape) -> Calibration:
        """Pair by the echo that is on the tape, forget the leak measured so far, and choose the mode anew."""
        self._tape = None
        found = tape.measure()
        self._meter.forget()
        if not found.is_heard:
            self._change(Duplex(choose(None, self.duplex.mode), reason=NOT_HEARD))
            return found
        delay = found.delay - self._stream.lead
        if not EASY_SECONDS[0] <= found.delay <= EASY_SECONDS[1]:
            self.expect_echo_after(delay)
        self._change(Duplex(choose(found.leak, self.duplex.mode), found.leak, delay))
        return found

    def seek(self) -> Callable[[], float | None]:
        """Return a search, for a worker thread, for the echo in the newest seconds; `found_astray` takes its result."""
        looked = Tape(self._looked.copy())
        return lambda: delay_in_speech(*looked.sounds()[:2]) if looked.cleaned else None

    def found_astray(self, seconds: float | None) -> None:
        """Pair by an echo that was found so long after the reference as it is laid now; None: it was not found."""
        self._lost = -PATIENT_CHECKS
        self._looked.clear()
        if seconds is not None and not EASY_SECONDS[0] <= seconds <= EASY_SECONDS[1]:
            delay = seconds - self._stream.lead
            self.expect_echo_after(delay)
            self._change(Duplex(Mode.HALF, delay=delay, reason="its echo is somewhere else, and is measured"))

    def profile(self, devices: str) -> RoomProfile | None:
        """Return what was learned of this room; None until there is something."""
        path, expected = self._near_end.learned or (None, None)
        if path is None or expected is None or self._stream.canceller is None or self._lost > 0:
            return None
        raw, left = self._meter.floors
        return RoomProfile(devices, self.duplex.mode, self._stream.echo_delay, raw, left, path, expected)

    def recall(self, profile: RoomProfile) -> None:
        """Begin with what was learned before a restart; each part holds when the first of nakari's voice agrees."""
        if profile.echo_delay != self._stream.echo_delay:
            self.expect_echo_after(profile.echo_delay)
        self._near_end = NearEnd(profile.path, profile.expected)
        self._meter.recall(profile.raw_floor, profile.left_floor)
        self._recalled = profile.mode

    def _choose_again(self) -> None:
        if self._stream.canceller is None:
            return
        left, raw = self._meter.leak_db, self._meter.raw_leak_db
        if left is None or raw is None:
            if self._recalled is not None and self._sounding >= RECALLED_SECONDS / CHUNK_SECONDS:
                self._change(Duplex(self._recalled, reason="as before the restart"))
                self._recalled = None
            return
        leak = Leak(left, raw, self._residue.share)
        self._change(Duplex(choose(leak, self.duplex.mode), leak, self.duplex.delay))
        is_lost = left > DUCKED_BELOW_DB and raw - left < LOST_DB
        self._lost = self._lost + 1 if is_lost or self._lost < 0 else 0
        if self._lost == 0:
            self._looked.clear()
        elif self._lost >= LOST_CHECKS and not self.astray.is_set():
            self.astray.set()

    def _change(self, duplex: Duplex) -> None:
        before, self.duplex = self.duplex, duplex
        if before.mode is not duplex.mode:
            log.info("duplex_chosen", mode=str(duplex.mode), told=duplex.describe())
