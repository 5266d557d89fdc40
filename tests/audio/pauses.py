"""Human speech with pauses of known length inside, and recognizers that know what is said in it."""

import csv
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec import Struct

from audio.capture.recording import read_recording
from audio.interfaces import always_awake
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples
from audio.speech import Transcript, Utterance
from audio.turns.completeness import Completeness, completeness_of
from audio.turns.vad import load_detector
from tests.audio.spoken import SHARED_CLIPS, Clip, debian_clips, go_forward

PAUSES: Final = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.1)
"""Seconds."""

LEAD, TAIL = 0.8, 2.5
"""Seconds of a quiet room before and after what is said."""

ROOM_AMPLITUDE: Final = 16.0
"""Standard deviation of the room's noise: -66 dBFS."""

FUNCTION_WORDS: Final = frozenset(
    re.findall(
        r"\w+", "a an the of to in is was and or had your my his which were for on be been rather unless an have might"
    )
)
"""After these nobody has finished: where people hesitate."""

ORATORY: Final = "whisper__jfk.flac"
"""Has pauses of a second of its own: no place to put one into."""

SHARED_WORDS: Final = (
    "wyoming-faster-whisper__turn_on_the_living_room_lamp.wav",
    "nodejs-docs-samples__brooklyn.flac",
    "cognitive-services-speech-sdk__whatstheweatherlike.wav",
    "RealtimeSTT__LJ001-0004.wav",
    ORATORY,
)


class Word(Struct, frozen=True):
    text: str
    start: float
    end: float
    """Seconds in the clip."""


class Piece(Struct, frozen=True):
    """Something said, with the pauses that were put into it; begins with `LEAD` seconds of room."""

    name: str
    samples: Samples
    words: tuple[Word, ...]
    pauses: tuple[tuple[float, float], ...] = ()
    """Begin and end of each, in seconds."""
    speech_ends: float = 0.0
    """Seconds: the end of the last chunk that the detector calls speech."""

    def said_until(self, at: float) -> str:
        """Return the words that had ended by then."""
        return " ".join(word.text for word in self.words if word.end <= at + 0.15)


class Aligner:
    """When each word of a clip is said: pocketsphinx, told the words."""

    def __init__(self) -> None:
        from pocketsphinx import Decoder, get_model_path

        model, dictionary = get_model_path("en-us/en-us"), get_model_path("en-us/cmudict-en-us.dict")
        self._decoder = Decoder(hmm=model, dict=dictionary, lm=None, loglevel="FATAL")

    def words(self, clip: Clip) -> tuple[Word, ...]:
        self._decoder.set_align_text(clip.words.lower())
        self._decoder.start_utt()
        self._decoder.process_raw(clip.samples.tobytes(), full_utt=True)
        self._decoder.end_utt()
        found = [
            (re.sub(r"\(\d\)", "", s.word), s.start_frame / 100, (s.end_frame + 1) / 100)
            for s in self._decoder.seg() or ()
        ]
        return tuple(Word(*each) for each in found if each[0][0] not in "<[+")


def human_clips() -> list[Clip]:
    """Return Debian's eleven clips, and where the project is developed five more."""
    clips = [*debian_clips("cards"), *debian_clips("librivox"), go_forward()]
    table = SHARED_CLIPS / "clips" / "transcripts.tsv"
    if table.exists():
        with table.open() as file:
            told = {row["file"]: row["transcript"] for row in csv.DictReader(file, delimiter="\t")}
        clips += [Clip(name, told[name], read_recording(table.parent / name)) for name in SHARED_WORDS]
    return clips


def orders() -> list[Clip]:
    """Return twenty spoken orders of five to ten seconds, with their own hesitations; none elsewhere."""
    return [Clip(file.stem, "", read_recording(file)) for file in sorted((SHARED_CLIPS / "orders").glob("*.flac"))]


def as_spoken(clip: Clip, words: Sequence[Word] = ()) -> Piece:
    """Return a clip as it is."""
    return _piece(clip.name, [clip.samples], [tuple(words)], 0.0, last_speech(clip.samples))


def hesitating(clip: Clip, words: Sequence[Word], most: int = 2) -> list[Piece]:
    """Return a clip once for each pause and place, the pause put in after one of its function words."""
    return _paused(clip, words, [n for n, word in enumerate(words[1:-1], 1) if word.text in FUNCTION_WORDS], most)


def broken_off(clip: Clip, words: Sequence[Word], most: int = 2) -> list[Piece]:
    """Return a clip once for each pause and place, the pause put in inside a phrase, where the words tell nothing."""
    said = [" ".join(word.text for word in words[: n + 1]) for n in range(len(words))]
    tells = [completeness_of(text, "en") is Completeness.UNFINISHED for text in said]
    places = [n for n, word in enumerate(words[1:-1], 1) if not tells[n] and word.text not in FUNCTION_WORDS]
    return _paused(clip, words, places, most)


def _paused(clip: Clip, words: Sequence[Word], places: list[int], most: int) -> list[Piece]:
    if clip.name == ORATORY:
        return []
    spread = sorted({places[0], places[len(places) // 2]} if places else set())[:most]
    pieces, ends = [], last_speech(clip.samples)
    for place in spread:
        cut = round(words[place].end * SAMPLE_RATE)
        parts, said = [clip.samples[:cut], clip.samples[cut:]], [words[: place + 1], words[place + 1 :]]
        shifted = tuple(Word(w.text, w.start - words[place].end, w.end - words[place].end) for w in said[1])
        pieces += [_piece(clip.name, parts, [tuple(said[0]), shifted], pause, ends) for pause in PAUSES]
    return pieces


def one_after_the_other(first: Piece, second: Piece, pause: float) -> Piece:
    """Return two whole sentences with a pause between them."""
    bare = [_bare(piece) for piece in (first, second)]
    words = [tuple(Word(w.text, w.start - LEAD, w.end - LEAD) for w in piece.words) for piece in (first, second)]
    ends = len(np.concatenate(bare)) / SAMPLE_RATE
    return _piece(f"{first.name} {second.name}", bare, words, pause, ends)


def _bare(piece: Piece) -> Samples:
    return piece.samples[round(LEAD * SAMPLE_RATE) : round(piece.speech_ends * SAMPLE_RATE)]


def _piece(name: str, parts: list[Samples], said: list[tuple[Word, ...]], pause: float, ends: float) -> Piece:
    """Return the parts with a pause between them; `ends` is where speech ends in the parts alone, in seconds."""
    sound, words, pauses, at = [_room(LEAD)], [], [], LEAD
    for number, (part, told) in enumerate(zip(parts, said, strict=True)):
        if number:
            sound.append(_room(pause))
            pauses.append((at, at + pause))
            at += pause
        words += [Word(word.text, word.start + at, word.end + at) for word in told]
        sound.append(faded(part))
        at += len(part) / SAMPLE_RATE
    samples = np.concatenate([*sound, _room(TAIL)])
    return Piece(name, samples, tuple(words), tuple(pauses), LEAD + ends + sum(end - begin for begin, end in pauses))


def last_speech(samples: Samples) -> float:
    """Return where the last chunk ends that the detector calls speech."""
    detector, last = load_detector(), 0
    for start in range(0, len(samples) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES):
        if detector.probability(samples[start : start + CHUNK_SAMPLES]) >= 0.5:
            last = start + CHUNK_SAMPLES
    return last / SAMPLE_RATE


def _room(seconds: float) -> Samples:
    noise = np.random.default_rng(0).normal(0.0, ROOM_AMPLITUDE, round(seconds * SAMPLE_RATE))
    return noise.astype(np.int16)


def faded(part: Samples) -> Samples:
    """Return a part without a click at its ends: 5 ms each."""
    length = min(80, len(part) // 2)
    ramp = np.linspace(0.0, 1.0, length)
    faded = part.astype(np.float64)
    faded[:length] *= ramp
    faded[len(part) - length :] *= ramp[::-1]
    return faded.astype(np.int16)


@dataclass
class PieceSource:
    """An `AudioSource` of one piece, read as fast as it goes; its clock begins with the piece."""

    piece: Piece
    is_live: bool = False
    name: str = "a piece"
    dropped_chunks: int = 0

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        samples = self.piece.samples
        for number in range(len(samples) // CHUNK_SAMPLES):
            start = number * CHUNK_SAMPLES
            yield AudioChunk(samples[start : start + CHUNK_SAMPLES], number * CHUNK_SECONDS)


@dataclass
class Knowing:
    """A `Recognizer` that knows the piece, and answers with what was said of it between two moments."""

    piece: Piece
    name: str = "told"
    sends_to = ()
    asked: list[Utterance] = field(default_factory=list)

    def warm(self) -> None:
        return None

    def transcribe(self, utterance: Utterance) -> Transcript:
        self.asked.append(utterance)
        words = [
            w.text
            for w in self.piece.words
            if utterance.started_at - 0.2 <= w.start and w.end <= utterance.ended_at + 0.15
        ]
        return Transcript(" ".join(words), "en" if words else "", self.name)
