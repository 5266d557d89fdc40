"""The flight recorder: keeps the newest minute in memory, and writes what belongs to a turn once that is over."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import structlog
from msgspec import Struct, field
from msgspec.structs import asdict

from agent.event import HOUSEHOLD, Event, new_id, utc_now, utc_text
from appliance.config.sections import EarsSettings
from appliance.input.event import evidence_of
from appliance.recorder.recording import Hypothesis, Recording, Suspicion
from appliance.recorder.store import Recordings
from audio.capture.mute import MUTED
from audio.interfaces import EchoGuard, TurnObserver
from audio.loops import Loop, until_set
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples
from audio.recognizer.faster_whisper import Hotwords, no_hotwords
from audio.speech import RecognizedTurn, Utterance
from audio.turns.listener import Listener
from memory.json_value import Json

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

log = structlog.get_logger()

RING_SECONDS: Final = 60.0
"""Kept in memory: the longest turn, and a recognizer that takes half a minute for it."""

LEAD_SECONDS: Final = 1.0
"""Before speech began, so that a person hears the room too."""

TAIL_SECONDS: Final = 1.5
"""After the end of a turn: other settings may wait longer for it. Its event is filed meanwhile."""

STATE_CHUNKS: Final = 32
"""Between two states of the listener, about a second: each is a place from which a replay can begin."""

FILED_SECONDS: Final = 10.0
"""For words to be filed as an event, whose name the recording bears: a busy disk takes longer than the tail."""

TIDY_SECONDS: Final = 6 * 3600.0
"""Between two looks for what is too old, where nobody speaks."""

MOST_PENDING: Final = 8
"""Turns that wait to be written; past that the oldest is not."""

MOST_PLAYED: Final = 6000
"""Buffers of the loudspeaker, of 10 ms and more."""

MOST_TOLD: Final = 400
"""Hypotheses, suspicions and changes of a reply that are remembered."""


class _Heard(NamedTuple):
    """One chunk, and what was known of it."""

    microphone: AudioChunk
    cleaned: AudioChunk
    probability: float
    covered: bool
    state: "Mapping[str, ArrayLike]"
    """Of the listener before it; {} mostly."""


class _Played(NamedTuple):
    samples: Samples
    sample_rate: int
    at: float


class _Pending(Struct):
    """A turn that is over, and not written yet."""

    utterance: Utterance
    decided: dict[str, Json]
    language: str
    forgotten: int
    event_id: str = ""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it is known of which event it is, or that it is of none."""


class FlightRecorder(TurnObserver):
    """Follows the ears as `ChunkWatcher`, `TurnObserver`, `EchoGuard` and tap of the loudspeaker; `run` writes.

    As a guard it is another one, whose answers it remembers.

    On the path of the microphone it keeps a reference to each chunk, and nothing else; a second apart it also keeps a
    reference to what the listener remembers. What is written is cut out and put together in `run`, in a thread.
    """

    def __init__(
        self,
        recordings: Recordings,
        settings: EarsSettings,
        guard: EchoGuard,
        clock: Callable[[], float],
        names: Hotwords = no_hotwords,
    ) -> None:
        """`guard` is the one of the ears, `clock` the source's, in seconds; `names` are what the recognizer expects."""
        self.recordings = recordings
        self._settings: dict[str, Json] = asdict(settings)
        self._guard = guard
        self._clock = clock
        self._names = names
        self._ring: deque[_Heard] = deque(maxlen=round(RING_SECONDS / CHUNK_SECONDS))
        self._played: deque[_Played] = deque(maxlen=MOST_PLAYED)
        self._hypotheses: deque[Hypothesis] = deque(maxlen=MOST_TOLD)
        self._suspicions: deque[Suspicion] = deque(maxlen=MOST_TOLD)
        self._barge_in: deque[tuple[int, str]] = deque(maxlen=MOST_TOLD)
        self._count = 0
        """Chunks ever seen; the newest of the ring has the number before."""
        self._microphone: AudioChunk | None = None
        """The newest chunk before it was cleaned."""
        self._state: Mapping[str, ArrayLike] = {}
        self._listener: Listener | None = None
        self._listening: asyncio.Task[object] | None = None
        """The task that takes the chunks: who asks the guard from another one looks in between two of them."""
        self._pending: deque[_Pending] = deque(maxlen=MOST_PENDING)
        self._has_some = asyncio.Event()

    def follow(self, listener: Listener) -> None:
        """Be shown every chunk and told of every turn, for good."""
        self._listener = listener
        listener.watch(self)
        listener.observe(self)

    def loops(self) -> Mapping[str, Loop]:
        """Return what writes, until cancelled."""
        return {"recorder: turns that are over, to the disk": self.run}

    def played(self, samples: Samples, sample_rate: int, at: float) -> None:
        """Keep a copy of a buffer that leaves the loudspeaker at `at`, as a `PlaybackTap`; of silence nothing."""
        if samples.any():
            self._played.append(_Played(samples.copy(), sample_rate, at))

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        """Return what the guard does of a chunk, which is kept as it came."""
        self._microphone = chunk
        return self._guard.clean(chunk)

    def passes(self, chunk: AudioChunk) -> bool:
        """Return what the guard does."""
        return self._guard.passes(chunk)

    def covers(self, chunk: AudioChunk) -> bool:
        """Return what the guard does; from time to time, keep what the listener remembers before the chunk."""
        self._listening = self._listening or asyncio.current_task()
        if self._count % STATE_CHUNKS == 0 and self._listener is not None:
            self._state = self._listener.state()
        return self._guard.covers(chunk)

    def suspicion(self, started_at: float, ended_at: float) -> float:
        """Return, and keep, what the guard says of a stretch of sound."""
        value, is_peek = self._guard.suspicion(started_at, ended_at), asyncio.current_task() is not self._listening
        took = self._listener.recognition.last_took if self._listener is not None else 0.0
        told = Suspicion(
            chunk=self._count, started_at=started_at, ended_at=ended_at, value=value, is_peek=is_peek, last_took=took
        )
        self._suspicions.append(told)
        return value

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        """Take a cleaned chunk, as a `ChunkWatcher`."""
        self._ring.append(_Heard(self._microphone or chunk, chunk, probability, covered, self._state))
        self._microphone, self._state = None, {}
        self._count += 1

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Keep the words of a turn that is still open, and how long they took."""
        utterance, transcript = heard.utterance, heard.transcript
        asked = [each["chunk"] for each in self._suspicions if each["ended_at"] == utterance.ended_at]
        self._hypotheses.append(
            Hypothesis(
                asked_chunk=asked[-1] if asked else self._count,
                told_chunk=self._count,
                committed_at=utterance.committed_at,
                ended_at=utterance.ended_at,
                text=transcript.text,
                language=transcript.language,
                evidence=dict(transcript.evidence),
            )
        )

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Have the turn written by `run`; not one that was muted, and not what was no speech at all."""
        if heard is None or suppressed == MUTED:
            return
        decided = decided_of(heard, suppressed)
        pending = _Pending(heard.utterance, decided, heard.transcript.language, self.recordings.forgotten)
        if suppressed:
            pending.settled.set()
        self._pending.append(pending)
        self._has_some.set()

    def reply_changed(self, did: str) -> None:
        """Take what speech did to a reply that is being said."""
        self._barge_in.append((self._count, did))

    def filed(self, event: Event) -> None:
        """Take that an event was filed, as an observer of the mailbox: it may be of a turn that waits to be written."""
        timing = event.metadata.get("timing")
        committed = timing.get("committed") if isinstance(timing, Mapping) else None
        for pending in self._pending:
            if pending.utterance.committed_at == committed:
                pending.event_id = event.id
                pending.settled.set()

    def forget(self) -> None:
        """Keep nothing of what was heard so far, in memory."""
        for pending in self._pending:
            pending.settled.set()  # whoever waits for its event lets its sound go
        for kept in (self._ring, self._played, self._hypotheses, self._suspicions, self._barge_in, self._pending):
            kept.clear()

    async def run(self) -> None:
        """Write the turns that are over, for ever; what the disk refuses is left out."""
        while True:
            await asyncio.to_thread(self.recordings.tidy)
            await until_set(self._has_some, TIDY_SECONDS)
            self._has_some.clear()
            while self._pending:
                pending = self._pending[0]
                await asyncio.sleep(max(0.0, pending.utterance.committed_at + TAIL_SECONDS - self._clock()))
                cut = self._cut(pending)
                await until_set(pending.settled, FILED_SECONDS)
                if self._pending and self._pending[0] is pending:  # else it was forgotten
                    self._pending.popleft()
                    await self._write(cut)

    def _cut(self, pending: _Pending) -> "_Cut":
        """Copy the references, before newer sound takes the place of the oldest."""
        return _Cut(
            turn=pending,
            began=utc_now() - timedelta(seconds=max(0.0, self._clock() - pending.utterance.started_at)),
            settings=self._settings,
            heard=tuple(self._ring),
            count=self._count,
            played=tuple(self._played),
            hypotheses=tuple(self._hypotheses),
            suspicions=tuple(self._suspicions),
            barge_in=tuple(self._barge_in),
            names=tuple(self._names(pending.language)),
        )

    async def _write(self, cut: "_Cut") -> None:
        """Leave all that takes time to a thread."""
        name = cut.turn.event_id or f"turn-{new_id()[:12]}"
        try:
            kept = await asyncio.to_thread(self._keep, cut, name)
        except OSError as error:
            log.warning("turn_not_recorded", reason=f"the disk refused it ({error.strerror})")
        else:
            log.info("turn_recorded", recording=name, event_id=cut.turn.event_id, kept=kept)

    def _keep(self, cut: "_Cut", name: str) -> bool:
        recording = cut.recording(name)
        return recording is not None and self.recordings.keep(recording, cut.turn.forgotten)


class _Cut(Struct, frozen=True):
    """References to all that is in memory when a turn is written."""

    turn: _Pending
    began: datetime
    settings: Mapping[str, Json]
    heard: Sequence[_Heard]
    count: int
    """Chunks ever seen: the last of `heard` has the number before."""
    played: Sequence[_Played]
    hypotheses: tuple[Hypothesis, ...]
    suspicions: tuple[Suspicion, ...]
    barge_in: tuple[tuple[int, str], ...]
    names: tuple[str, ...]

    def recording(self, name: str) -> Recording | None:
        """Return the recording under this id, its chunks numbered from its own first; None where nothing is left of it.

        Takes some milliseconds.
        """
        if (place := self._place()) is None:
            return None
        state = self.heard[place].state
        start = max(0, place - (int(np.asarray(state["listener"])[0]) if state else 0))
        until = self.turn.utterance.committed_at + TAIL_SECONDS
        heard = [each for each in self.heard[start:] if each.cleaned.started_at < until]
        base = self.count - len(self.heard) + start
        end = base + len(heard)
        return Recording(
            id=name,
            owner_key=HOUSEHOLD,
            began=utc_text(self.began.astimezone(UTC)),
            settings=self.settings,
            decided=self.turn.decided,
            microphone=np.concatenate([each.microphone.samples for each in heard]),
            cleaned=np.concatenate([each.cleaned.samples for each in heard]),
            reference=_mixed(self.played, heard[0].microphone.started_at, len(heard) * CHUNK_SAMPLES),
            microphone_at=np.array([each.microphone.started_at for each in heard]),
            cleaned_at=np.array([each.cleaned.started_at for each in heard]),
            probability=np.array([each.probability for each in heard]),
            covered=np.array([each.covered for each in heard]),
            first=place - start,
            state=state,
            hypotheses=tuple(
                {**each, "asked_chunk": each["asked_chunk"] - base, "told_chunk": each["told_chunk"] - base}
                for each in self.hypotheses
                if base < each["told_chunk"] <= end
            ),
            suspicions=tuple(
                {**each, "chunk": each["chunk"] - base} for each in self.suspicions if base < each["chunk"] <= end
            ),
            barge_in=tuple((chunk - base, did) for chunk, did in self.barge_in if base < chunk <= end),
            names=self.names,
        )

    def _place(self) -> int | None:
        """Return the chunk from which a replay begins: the newest with a state early enough, else what there is."""
        began = self.turn.utterance.started_at
        begins = [at for at, each in enumerate(self.heard) if each.cleaned.started_at <= began]
        states = [at for at in begins if self.heard[at].state]
        early = [at for at in states if self.heard[at].cleaned.started_at <= began - LEAD_SECONDS]
        return next(iter([*early[-1:], *states[-1:], *begins[:1]]), None)


def decided_of(heard: RecognizedTurn, suppressed: str) -> dict[str, Json]:
    """Return what was decided of a turn, by name; times in seconds on the source's clock."""
    utterance = heard.utterance
    return {
        "text": heard.transcript.text,
        "reason": suppressed,
        "speech_began": utterance.started_at,
        "speech_ended": utterance.ended_at,
        "committed": utterance.committed_at,
        "closing_silence": round(utterance.committed_at - utterance.ended_at, 3),
        "detector_probability": utterance.probability,
        "samples": len(utterance.samples),
        **evidence_of(heard),
    }


def _mixed(played: Sequence[_Played], at: float, count: int) -> Samples:
    """Return what left the loudspeaker from `at` on (int16, shape (count,), 16 kHz); silence where nothing did."""
    mixed = np.zeros(count, np.int16)
    for buffer in played:
        length = round(len(buffer.samples) * SAMPLE_RATE / buffer.sample_rate)
        start = round((buffer.at - at) * SAMPLE_RATE)
        if start >= count or start + length <= 0 or not length:
            continue
        places = np.linspace(0, len(buffer.samples) - 1, length)
        sound = np.interp(places, np.arange(len(buffer.samples)), buffer.samples).astype(np.int16)
        begin, end = max(0, start), min(count, start + length)
        mixed[begin:end] = sound[begin - start : end - start]
    return mixed
