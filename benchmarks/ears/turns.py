"""Turns cut off against the wait for their end: pauses put into clips at every kind of place, as curves."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import ceil, inf
from typing import Final, Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples
from audio.turns.completeness import Completeness, commit_silence, completeness_of
from audio.turns.endpointer import COMMIT_SECONDS, Endpointer, Resumed, SoftEnd, Started
from audio.turns.prosody import Prosody, prosody_of
from audio.turns.silero import load_silero
from audio.turns.turn import PRE_ROLL_SECONDS
from benchmarks.ears.bench import Bench
from benchmarks.ears.material.corpus import Clip
from benchmarks.ears.material.mixing import active
from tests.audio.pauses import Aligner, Word, faded
from tests.audio.spoken import Clip as Said

ABOUT: Final = "turns that end too early, against the wait for their end"

PAUSES: Final = (0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.2)
"""Seconds of a quiet room that are put into a clip; of a place each of them is counted."""

PLACES: Final = 3
"""In one clip, drawn."""

ROOM_AMPLITUDES: Final = (4.0, 30.0)
"""Standard deviation of the room's noise in steps of the converter; drawn between the two, evenly in decibels."""

OTHER_FUNCTION_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """i you he she it we they this that these those not who whom whose what where when why how as if but so by then
        there here can could will would shall should may must do does did has am are me him her them us every each
        while after before until because about over under up down out off again very too also just only more most""",
    )
)

Kind: TypeAlias = Literal["end", "own pause", "its word list", "function word", "content phrase", "words unknown"]
"""Of a silence: after all that is said, one that the speaker made, and those put in by the word before."""

Rule: TypeAlias = Callable[[Completeness, float], float]
"""The silence (s) that ends a turn, by its words and its voice."""


class Silence(Struct, frozen=True):
    """A first silence (0.2 s), and what is known at that moment."""

    kind: Kind
    clip: str
    completeness: Completeness
    prosody: Prosody | None
    hidden: float = 0.0
    """Seconds of a pause put in that the detector still calls speech."""
    seconds: float = inf
    """How long the speaker's own one lasted; for ever after the end."""

    @property
    def voice(self) -> float:
        """The evidence of its prosody, as the box takes it."""
        return 0.0 if self.prosody is None else self.prosody.log_odds

    def cut_by(self, rule: Rule) -> float:
        """Return how often the rule ends the turn although speech goes on, in [0, 1]."""
        wait = _in_chunks(rule(self.completeness, self.voice))
        if self.kind == "own pause":
            return float(self.seconds > wait)
        return float(np.mean([pause - self.hidden + CHUNK_SECONDS > wait for pause in PAUSES]))


def silences(clip: Clip, seed: int = 0, *, is_worn: bool = False) -> list[Silence]:
    """Return all of a clip: as it was spoken, and cut off at some places.

    Worn ones tell nothing by how abrupt they are: the clip is trimmed hard where it ends, and what was cut off fades.
    """
    random = np.random.default_rng([seed, len(clip.file.name), *clip.file.name.encode()])
    samples, detector = clip.samples(), _detector()
    words = aligned(clip, samples)
    room = float(np.exp(random.uniform(*np.log(ROOM_AMPLITUDES))))
    whole = _trimmed(samples, random) if is_worn else samples
    found = list(_heard(clip, _in_room(whole, room, random), words, detector))
    for place, before in places_in(samples, words, random):
        part = _faded(samples[:place], random) if is_worn else samples[:place]
        *_, last = [None, *_heard(clip, _in_room(part, room, random), words[:before], detector)]
        if last is not None and last.kind == "end":
            hidden = last.hidden - place / SAMPLE_RATE
            kind = kind_of(words[:before], last.completeness)
            found.append(Silence(kind, clip.file.name, last.completeness, last.prosody, hidden))
    return found


def _heard(clip: Clip, sound: Samples, words: Sequence[Word], detector: VoiceDetector) -> Iterator[Silence]:
    """Yield the first silences of a sound, each once it is known how long it was; the last one is the end."""
    detector.reset()
    endpointer = Endpointer(commit_seconds=inf, longest_seconds=inf)
    started, open_one, ended_at = 0.0, None, 0.0
    for number in range(len(sound) // CHUNK_SAMPLES):
        at = number * CHUNK_SECONDS
        chunk = sound[number * CHUNK_SAMPLES :][:CHUNK_SAMPLES]
        for signal in endpointer.process(detector.probability(chunk), at):
            match signal:
                case Started():
                    started = signal.at
                case SoftEnd():
                    ended_at, now = signal.ended_at, (number + 1) * CHUNK_SAMPLES
                    first = max(0, round((started - PRE_ROLL_SECONDS) * SAMPLE_RATE))
                    prosody = prosody_of(sound[first:now], started - first / SAMPLE_RATE)
                    said = " ".join(word.text for word in words if word.end + LEAD <= ended_at + 0.15)
                    completeness = completeness_of(said, clip.language or "en")
                    open_one = (completeness, prosody)
                case Resumed() if open_one is not None:
                    yield Silence("own pause", clip.file.name, *open_one, seconds=signal.at - ended_at)
                case _:
                    pass
    if open_one is not None:
        yield Silence("end", clip.file.name, *open_one, hidden=ended_at - LEAD)


LEAD, TAIL = 0.5, 1.0
"""Seconds of the room before and after."""


def _in_room(part: Samples, amplitude: float, random: np.random.Generator) -> Samples:
    lead, tail = (random.normal(0.0, amplitude, round(each * SAMPLE_RATE)) for each in (LEAD, TAIL))
    return np.concatenate([lead, faded(part), tail]).astype(np.int16)


def _trimmed(samples: Samples, random: np.random.Generator) -> Samples:
    """Return a clip without all that follows the last 10 ms within 8 to 18 dB of its loud parts."""
    power = np.convolve(samples.astype(np.float64) ** 2, np.ones(160) / 160, "same")
    loud = np.flatnonzero(power > np.percentile(power, 95) * 10 ** (-random.uniform(0.8, 1.8)))
    trimmed: Samples = samples[: int(loud[-1]) + 1]
    return trimmed


def _faded(samples: Samples, random: np.random.Generator) -> Samples:
    """Return a part whose last 60 to 140 ms fall by 24 dB, as of a voice that dies away."""
    length = min(len(samples), round(random.uniform(0.06, 0.14) * SAMPLE_RATE))
    gain = np.concatenate([np.ones(len(samples) - length), 10 ** np.linspace(0.0, -1.2, length)])
    dying: Samples = (samples * gain).astype(np.int16)
    return dying


def aligned(clip: Clip, samples: Samples) -> tuple[Word, ...]:
    """Return when each word is said; none where the words are unknown, not English, or not found in the sound."""
    told = re.sub(r"[^a-z' ]+", " ", clip.text.lower()).split()
    if clip.language != "en" or not told:
        return ()
    try:
        words = _aligner().words(Said(clip.file.name, " ".join(told), samples))
    except RuntimeError:  # pocketsphinx does not know one of them, or cannot find them
        return ()
    return words if [word.text for word in words] == told else ()


def places_in(samples: Samples, words: Sequence[Word], random: np.random.Generator) -> list[tuple[int, int]]:
    """Return where to cut a clip, in samples, and after how many words; between words, else where it is quietest."""
    if words:
        drawn = random.permutation(len(words) - 1)[:PLACES]
        return [(round(words[n].end * SAMPLE_RATE), int(n) + 1) for n in sorted(drawn)]
    return [(place, 0) for place in _dips(samples, random)]


def _dips(samples: Samples, random: np.random.Generator) -> list[int]:
    """Return some of the quietest places inside a clip (10 ms, 8 dB under its loud parts, 0.4 s apart)."""
    power = np.convolve(samples.astype(np.float64) ** 2, np.ones(480) / 480, "same")[::160]
    level = 10 * np.log10(power + 1)
    loud = float(np.percentile(level, 90))
    begins, ends = (round(each * 100) for each in active(samples))
    low = [
        at
        for at in range(begins + 40, ends - 35)
        if level[at] == level[max(0, at - 8) : at + 9].min() and level[at] < loud - 8
    ]
    chosen: list[int] = []
    for at in random.permutation(np.array(low, np.int64)):
        if all(abs(at - other) > 40 for other in chosen) and len(chosen) < PLACES:
            chosen.append(int(at))
    return [at * 160 for at in sorted(chosen)]


def kind_of(words: Sequence[Word], completeness: Completeness) -> Kind:
    """Return what kind of place comes after these words; none for unknown ones."""
    if not words:
        return "words unknown"
    if completeness is Completeness.UNFINISHED:
        return "its word list"
    return "function word" if words[-1].text in OTHER_FUNCTION_WORDS else "content phrase"


def _in_chunks(seconds: float) -> float:
    return ceil(seconds / CHUNK_SECONDS - 1e-6) * CHUNK_SECONDS


@cache
def _detector() -> VoiceDetector:
    return load_silero()


@cache
def _aligner() -> Aligner:
    return Aligner()


def flat(seconds: float) -> Rule:
    """Return a rule that always waits as long, as Home Assistant (0.7 s) and livekit (0.6 s) do."""
    return lambda completeness, voice: seconds


def by_words(completeness: Completeness, voice: float) -> float:
    """Judge by words alone."""
    return commit_silence(completeness, 0.0, COMMIT_SECONDS)


def shifted(by: float, *, by_voice_alone: bool = False) -> Rule:
    """Return the rule of the box with so much added to the voice's evidence."""

    def rule(completeness: Completeness, voice: float) -> float:
        return commit_silence(Completeness.NEUTRAL if by_voice_alone else completeness, voice + by, COMMIT_SECONDS)

    return rule


RULES: Final[dict[str, Rule]] = {
    **{f"after {seconds} s": flat(seconds) for seconds in (0.35, 0.5, 0.6, 0.7, 0.9, 1.2)},
    "words": by_words,
    **{f"voice {by:+.1f}": shifted(by, by_voice_alone=True) for by in (-0.4, -0.2, 0.0, 0.2, 0.4)},
    **{f"words and voice {by:+.1f}": shifted(by) for by in (-0.4, -0.2, 0.0, 0.2, 0.4)},
}
"""Each line of them is a curve."""

INSIDE: Final[tuple[Kind, ...]] = ("its word list", "function word", "content phrase", "words unknown")


def judged(found: Sequence[Silence], rule: Rule) -> str:
    """Return how long everybody waits and how often somebody is cut off."""
    clips = {each.clip for each in found if each.kind == "end"}
    cut = {each.clip for each in found if each.kind == "own pause" and each.cut_by(rule)}
    waits: NDArray[np.float64] = np.array(
        [_in_chunks(rule(each.completeness, each.voice)) for each in found if each.kind == "end"]
    )
    p50, p90 = np.percentile(waits, [50, 90]) if len(waits) else (np.nan, np.nan)
    places = {kind: [each.cut_by(rule) for each in found if each.kind == kind] for kind in INSIDE}
    rates = ", ".join(f"{kind} {np.mean(each):.0%} of {len(each)}" for kind, each in places.items() if each)
    whole = f"whole clips {len(cut & clips) / max(1, len(clips)):.1%} of {len(clips)}"
    mean = float(np.mean(waits)) if len(waits) else np.nan
    return f"waits p50 {p50:.2f}, mean {mean:.2f}, p90 {p90:.2f} s; cut off: {whole}, {rates}"


def results(bench: Bench) -> list[str]:
    """Judge every rule over all silences of the clips."""
    found = [each for clip in bench.sampled(bench.speech) for each in silences(clip, bench.seed)]
    width = max(map(len, RULES))
    return [f"{name:{width}}  {judged(found, rule)}" for name, rule in RULES.items()]
