"""Turns cut off by the listener itself: pauses put into clips, and every chunk through gate, detector and endpointer.

`benchmarks.ears.turns` weighs rules by what is known at the beginning of a silence; here speech has to be noticed again
after it, as at home, which takes a chunk to three.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from audio.pcm import SAMPLE_RATE, Samples
from audio.turns.completeness import completeness_of
from audio.turns.vad import load_detector
from benchmarks.audio.endpointing import ends_of_ours
from benchmarks.ears.bench import Bench
from benchmarks.ears.material.corpus import Clip
from benchmarks.ears.turns import INSIDE, PAUSES, ROOM_AMPLITUDES, Kind, aligned, kind_of, places_in
from tests.audio.pauses import Piece, Word, faded, last_speech

ABOUT: Final = "turns that the whole listener ends inside a pause, and its wait for the end; words known where told"

LEAD, TAIL = 0.8, 2.2
"""Seconds of the room before and after."""

SECONDS: Final = (1.6, 8.5)
"""Clips so long have an inside, and are no speech of their own."""

AT_ONCE: Final = 0.05
"""Seconds before the end of speech at which an end is none too early."""

LATE: Final = 0.3
"""Seconds after a pause in which its end may still be decided: the first chunks are not noticed as speech."""

USUAL_SAMPLE: Final = 40
"""Clips where nobody says how many: with two places and seven pauses each some 600 turns."""

PLACES: Final = 2
"""Of a clip."""


class Case(Struct, frozen=True):
    """A clip as it is, or with a pause inside."""

    kind: Kind
    piece: Piece


def cases(clip: Clip, seed: int) -> Iterator[Case]:
    """Yield a clip as it was spoken ("end"), and each of its places with each pause."""
    random = np.random.default_rng([seed, len(clip.file.name), *clip.file.name.encode()])
    samples = clip.samples()
    words, ends = aligned(clip, samples), last_speech(samples)
    room = float(np.exp(random.uniform(*np.log(ROOM_AMPLITUDES))))
    yield Case("end", _piece(clip, [samples], [words], 0.0, ends, room))
    found = places_in(samples, words, random)
    for place, before in [found[number] for number in sorted(random.permutation(len(found))[:PLACES])]:
        said = " ".join(word.text for word in words[:before])
        kind = kind_of(words[:before], completeness_of(said, clip.language or "en"))
        for pause in PAUSES:
            parts, told = [samples[:place], samples[place:]], [words[:before], words[before:]]
            yield Case(kind, _piece(clip, parts, told, pause, ends, room))


def _piece(
    clip: Clip, parts: Sequence[Samples], told: Sequence[Sequence[Word]], pause: float, ends: float, room: float
) -> Piece:
    """Return the parts in a room of this amplitude; `ends` is where speech ends in the clip (s)."""
    random = np.random.default_rng([round(1000 * pause), len(parts[0])])
    sound, words = [_room(LEAD, room, random)], [Word(each.text, each.start, each.end) for each in told[0]]
    pauses = []
    for number, part in enumerate(parts):
        if number:
            begins = LEAD + len(parts[0]) / SAMPLE_RATE
            pauses.append((begins, begins + pause))
            sound.append(_room(pause, room, random))
            words += [Word(each.text, each.start + pause, each.end + pause) for each in told[1]]
        sound.append(faded(part))
    shifted = tuple(Word(each.text, each.start + LEAD, each.end + LEAD) for each in words)
    samples = np.concatenate([*sound, _room(TAIL, room, random)])
    return Piece(clip.file.name, samples, shifted, tuple(pauses), LEAD + ends + pause)


def _room(seconds: float, amplitude: float, random: np.random.Generator) -> Samples:
    return random.normal(0.0, amplitude, round(seconds * SAMPLE_RATE)).astype(np.int16)


def is_cut(case: Case, ends: Sequence[float]) -> bool:
    """Whether a turn was ended in the pause, or, of a clip as it is, anywhere before speech had ended."""
    if case.piece.pauses:
        ((begins, stops),) = case.piece.pauses
        return any(begins < end <= stops + LATE for end in ends)
    return any(end < case.piece.speech_ends - AT_ONCE for end in ends)


def results(bench: Bench) -> list[str]:
    """Return how often a turn was cut, by the place, and how long its end took where nothing was cut."""
    fitting = [clip for clip in bench.speech if SECONDS[0] <= len(clip.samples()) / SAMPLE_RATE <= SECONDS[1]]
    places = np.random.default_rng(bench.seed).permutation(len(fitting))[: bench.sample or USUAL_SAMPLE]
    detector, cut, waits = load_detector(), defaultdict[Kind, list[bool]](list), list[float]()
    for clip in [fitting[place] for place in sorted(places)]:
        for case in cases(clip, bench.seed):
            ends = asyncio.run(ends_of_ours(case.piece, detector))
            cut[case.kind].append(is_cut(case, ends))
            if case.kind == "end":
                waits += [end - case.piece.speech_ends for end in ends[-1:] if not cut["end"][-1]]
    p50, p90 = np.percentile(waits, [50, 90]) if waits else (np.nan, np.nan)
    rates = ", ".join(f"{kind} {np.mean(cut[kind]):.0%} of {len(cut[kind])}" for kind in INSIDE if cut[kind])
    whole = f"whole clips {np.mean(cut['end']) if cut['end'] else np.nan:.1%} of {len(cut['end'])}"
    mean = float(np.mean(waits)) if waits else np.nan
    return [f"waits p50 {p50:.2f}, mean {mean:.2f}, p90 {p90:.2f} s; cut off: {whole}, {rates}"]
