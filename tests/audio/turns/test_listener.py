"""From chunks to transcripts, with a scripted detector and recognizer: what is cut, kept, counted, and handed on."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from audio.echo.duplex import HalfDuplex
from audio.errors import DeviceUnavailable, ModelNotFound, RecognitionFailed
from audio.interfaces import EchoGuard, VoiceDetector
from audio.pcm import CHUNK_SECONDS, AudioChunk
from audio.recognizer.faster_whisper import FRAME_SAMPLES, WHOLE
from audio.recognizer.recognition import WAITING_UTTERANCES
from audio.speech import RecognizedTurn
from audio.turns.endpointer import Endpointer
from audio.turns.listener import REFLEX, Listener, NoEcho, Surroundings
from audio.turns.turn import PRE_ROLL_SECONDS
from audio.turns.vad import LateDetector
from tests.audio.ears_fakes import (
    FAILED,
    Intake,
    RecordingObserver,
    ScriptedDetector,
    ScriptedRecognizer,
    ScriptedSource,
    ScriptedStreams,
    chunk_numbers,
)

PRE_ROLL_CHUNKS = round(PRE_ROLL_SECONDS / CHUNK_SECONDS)
QUIET = "." * 40
WORD = "########"


@dataclass
class Room:
    """A listener over one pattern, and what came out of it."""

    pattern: str
    source: ScriptedSource = field(init=False)
    recognizer: ScriptedRecognizer = field(default_factory=ScriptedRecognizer)
    echo: EchoGuard = field(default_factory=NoEcho)
    streaming: ScriptedStreams | None = None
    intake: Intake = field(default_factory=Intake)
    turns: RecordingObserver = field(default_factory=RecordingObserver)
    endpointer: Endpointer = field(default_factory=Endpointer)

    def __post_init__(self) -> None:
        self.source = ScriptedSource(self.pattern)
        self.detector = ScriptedDetector(self.pattern)
        around = Surroundings(self.echo, streaming=self.streaming)
        self.listener = Listener(self.source, self.detector, self.endpointer, self.recognizer, self.intake, around)
        self.listener.observe(self.turns)

    @property
    def heard(self) -> list[RecognizedTurn]:
        return self.intake.heard

    def at_each_chunk(self, look: Callable[[], object]) -> None:
        def watch(chunk: AudioChunk, probability: float, covered: bool) -> None:
            look()

        self.listener.watch(watch)

    async def listen(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.listener.listen())
            group.create_task(self.listener.recognize())

    @property
    def words(self) -> list[str]:
        return [heard.transcript.text for heard in self.heard]


@pytest.mark.shows("V1")
async def test_two_turns_give_two_transcripts_in_order_at_their_times() -> None:
    room = Room(QUIET + WORD + QUIET + WORD + WORD + QUIET)
    await room.listen()
    assert room.words == ["utterance 0", "utterance 1"]
    first, second = (heard.utterance for heard in room.heard)
    assert first.started_at == pytest.approx(room.source.at(40))
    assert first.ended_at == pytest.approx(room.source.at(48))
    assert second.started_at == pytest.approx(room.source.at(88))
    assert second.speech_seconds == pytest.approx(16 * CHUNK_SECONDS)
    assert [started.at for started in room.turns.started] == [first.started_at, second.started_at]
    assert room.listener.ended.is_set()


@pytest.mark.shows("H9", "V1")
async def test_a_detector_that_comes_late_is_loaded_beside_the_loop_and_hears_from_the_first_chunk_on() -> None:
    room, loaded_in = Room(WORD + QUIET), []

    def load() -> VoiceDetector:
        loaded_in.append(threading.current_thread())
        return room.detector

    late = LateDetector(load)
    late.reset()
    assert not late.is_loaded
    listener = Listener(room.source, late, room.endpointer, room.recognizer, room.intake, Surroundings(room.echo))
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())
    assert len(loaded_in) == 1
    assert loaded_in[0] is not threading.main_thread()
    assert room.heard[0].utterance.started_at == room.source.at(0)


@pytest.mark.shows("V6")
async def test_an_utterance_is_its_speech_with_the_sound_before_and_a_short_silence() -> None:
    room = Room(QUIET + WORD + QUIET)
    await room.listen()
    kept = chunk_numbers(room.heard[0].utterance)
    assert kept.start == 40 - PRE_ROLL_CHUNKS + 1
    assert (40 - kept.start) * CHUNK_SECONDS * 1000 >= 200
    assert (kept.stop - 48) * CHUNK_SECONDS == pytest.approx(0.2, abs=CHUNK_SECONDS)


@pytest.mark.shows("V6")
async def test_who_speaks_right_after_a_turn_loses_no_syllable_either() -> None:
    room = recording(QUIET + WORD + "." * 23 + WORD + QUIET)
    await room.listen()
    assert len(room.heard) == 2
    second = chunk_numbers(room.heard[1].utterance)
    assert (71 - second.start) * CHUNK_SECONDS >= 0.3


async def test_after_a_cough_neither() -> None:
    room = Room(QUIET + "###" + "." * 23 + WORD + QUIET)
    await room.listen()
    (heard,) = room.heard
    assert chunk_numbers(heard.utterance).start <= 66 - 10
    assert room.listener.counters.suppressed == {"too short": 1}


async def test_a_turn_that_is_cut_for_its_length_goes_on_without_a_gap() -> None:
    room = Room(QUIET + "#" * 60 + QUIET, endpointer=Endpointer(longest_seconds=1.0))
    await room.listen()
    kept = [chunk_numbers(heard.utterance) for heard in room.heard]
    assert len(kept) == 2
    assert kept[1].start <= kept[0].stop
    assert kept[1].stop >= 100


@pytest.mark.shows("V7", "V10")
async def test_of_somebody_who_talks_on_each_turn_fits_into_whispers_window_and_nothing_is_lost() -> None:
    talk = round(70 / CHUNK_SECONDS)
    room = recording(QUIET + "#" * talk + QUIET)
    await room.listen()
    kept = [chunk_numbers(heard.utterance) for heard in room.heard]
    assert all(len(heard.utterance.samples) <= WHOLE * FRAME_SAMPLES for heard in room.heard)
    assert set(range(len(QUIET), len(QUIET) + talk)) <= {number for each in kept for number in each}


async def test_the_end_of_the_source_ends_the_turn() -> None:
    room = Room(QUIET + WORD)
    await room.listen()
    assert chunk_numbers(room.heard[0].utterance).stop == 48


@pytest.mark.shows("V4")
async def test_it_does_not_hear_itself_and_who_spoke_before_it_is_heard() -> None:
    speaks_until = 1000.0 + 80 * CHUNK_SECONDS
    busy: list[float] = []

    def busy_until() -> float:
        busy.append(0.0)
        return speaks_until if len(busy) > 50 else 0.0

    room = Room(QUIET + WORD + "##" + "#" * 60 + QUIET, echo=HalfDuplex(busy_until, margin=0.0))
    await room.listen()
    before, after = (chunk_numbers(heard.utterance) for heard in room.heard)
    assert before.stop == 50
    assert after.start == 80
    assert room.listener.counters.gated == 30
    assert room.detector.resets >= 1


async def test_a_silent_transcript_is_counted_and_not_handed_on() -> None:
    room = Room((QUIET + WORD) * 3 + QUIET, recognizer=ScriptedRecognizer(["one", "", "three"]))
    await room.listen()
    assert room.words == ["one", "three"]
    assert room.listener.counters.suppressed == {"no words": 1}
    assert (room.listener.counters.utterances, room.listener.counters.transcripts) == (3, 2)


async def test_a_recognizer_that_fails_once_goes_on_with_the_next() -> None:
    room = Room((QUIET + WORD) * 2 + QUIET, recognizer=ScriptedRecognizer([FAILED, "two"]))
    await room.listen()
    assert room.words == ["two"]
    assert room.listener.counters.suppressed == {"failed": 1}


@pytest.mark.shows("V1")
async def test_listening_never_waits_for_the_recognizer_and_what_is_lost_is_the_oldest_and_counted() -> None:
    turns = WAITING_UTTERANCES + 4
    room = Room((QUIET + WORD) * turns + QUIET)
    room.recognizer.may_answer.clear()
    all_taken = asyncio.Event()
    room.at_each_chunk(lambda: all_taken.set() if room.listener.counters.chunks == len(room.pattern) else None)
    async with asyncio.TaskGroup() as group:
        group.create_task(room.listener.listen())
        group.create_task(room.listener.recognize())
        await all_taken.wait()
        assert room.heard == []
        room.recognizer.may_answer.set()
    lost = room.listener.counters.suppressed["recognizer too slow"]
    assert len(room.heard) == turns - lost
    assert room.heard[-1].utterance.started_at == pytest.approx(room.source.at(len(room.pattern) - 48))


async def test_of_a_recording_that_waits_nothing_is_lost() -> None:
    turns = WAITING_UTTERANCES * 3
    room = Room((QUIET + WORD) * turns + QUIET)
    room.source.is_live = False
    await room.listen()
    assert len(room.heard) == turns
    assert room.listener.counters.suppressed == {}


async def test_a_microphone_that_goes_away_is_an_error_and_what_was_said_is_heard() -> None:
    room = Room(QUIET + WORD)
    room.source.error = DeviceUnavailable("the microphone went away")
    with pytest.raises(DeviceUnavailable):
        await room.listener.listen()
    room.source.error = None
    await room.listen()
    assert len(room.heard) == 2


async def test_a_recognizer_that_cannot_be_loaded_is_an_error() -> None:
    class NoModel(ScriptedRecognizer):
        def warm(self) -> None:
            raise ModelNotFound("no model")

    room = Room(QUIET, recognizer=NoModel())
    with pytest.raises(ExceptionGroup) as raised:
        await room.listen()
    assert raised.group_contains(ModelNotFound)


async def test_without_a_recognizer_for_this_machine_it_listens_on_and_counts() -> None:
    class NotHere(ScriptedRecognizer):
        def warm(self) -> None:
            self.is_warm = True
            raise RecognitionFailed("not installed here")

    room = Room(QUIET + WORD + QUIET, recognizer=NotHere(script=[FAILED]))
    assert not room.listener.ready.is_set()
    await room.listen()
    assert room.listener.ready.is_set()
    assert room.words == []
    assert room.listener.counters.suppressed == {"failed": 1}


@pytest.mark.shows("V12")
async def test_level_and_background_are_measured() -> None:
    room = Room(QUIET + WORD + QUIET)
    await room.listen()
    utterance = room.heard[0].utterance
    # The chunks carry their numbers as levels: 41 to 48 in the turn, less before it.
    assert utterance.noise_dbfs < utterance.level_dbfs == pytest.approx(-57.3, abs=0.3)
    assert utterance.probability == pytest.approx(0.9)


def recording(pattern: str, *script: str) -> Room:
    """Return a room whose source waits for its reader, so that the words so far are always there in time."""
    room = Room(pattern, recognizer=ScriptedRecognizer(script))
    room.source.is_live = False
    return room


def committed_after(heard: RecognizedTurn) -> float:
    """Seconds of silence that ended a turn."""
    return heard.utterance.committed_at - heard.utterance.ended_at


@dataclass
class Watch:
    """A `ChunkWatcher` that keeps what it sees."""

    seen: list[tuple[float, float, bool]] = field(default_factory=list)

    def __call__(self, chunk: AudioChunk, probability: float, covered: bool) -> None:
        self.seen.append((chunk.started_at, probability, covered))


@pytest.mark.shows("V9")
async def test_watchers_see_every_chunk_also_while_it_speaks() -> None:
    room = Room(QUIET + WORD + QUIET, echo=HalfDuplex(lambda: 1000.0 + 45 * CHUNK_SECONDS, margin=0.0))
    watch = Watch()
    room.listener.watch(watch)
    await room.listen()
    assert len(watch.seen) == len(room.pattern)
    assert [covered for *_, covered in watch.seen] == [True] * 45 + [False] * (len(room.pattern) - 45)
    assert [probability for _, probability, _ in watch.seen[38:44]] == [0.05] * 2 + [0.9] * 4


class Halves(NoEcho):
    """Takes half of every sample away."""

    def clean(self, chunk: AudioChunk) -> AudioChunk:
        return AudioChunk((chunk.samples // 2).astype(np.int16), chunk.started_at)


@pytest.mark.shows("V4")
async def test_what_is_heard_is_what_the_echo_guard_leaves() -> None:
    room = Room("." * 80 + "####" * 20 + QUIET * 2, echo=Halves())
    room.detector.pattern = "." * 40 + "####" * 20 + QUIET * 2
    await room.listen()
    assert int(room.heard[0].utterance.samples.max()) <= (len(room.pattern) + 1) // 2


@pytest.mark.shows("V12")
async def test_what_is_not_admitted_reaches_nobody_and_the_observers_hear_why() -> None:
    room = Room((QUIET + WORD) * 4 + QUIET, recognizer=ScriptedRecognizer(["one", "two", "", "four"]))
    room.intake.held_back |= {"one": "echo", "two": REFLEX}
    await room.listen()
    assert room.words == ["four"]
    assert room.turns.ended == [("one", "echo"), ("two", REFLEX), ("", "no words"), ("four", "")]
    counters = room.listener.counters
    assert counters.suppressed == {"echo": 1, "no words": 1}
    assert (counters.utterances, counters.transcripts, counters.reflexes) == (4, 2, 1)


async def test_a_cough_ends_a_turn_without_words() -> None:
    room = Room(QUIET + "###" + QUIET)
    await room.listen()
    assert room.turns.ended == [(None, "too short")]
