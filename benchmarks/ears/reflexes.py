"""Reflex words spotted in people's voices, and what is spotted in people who say something else."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np

from audio.errors import RecognitionFailed
from audio.interfaces import WordVerifier
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, AudioChunk, Samples
from audio.reflexes.cutting import ALONE, OVER_ECHO, Stretch, StretchCutter
from audio.reflexes.keyword_search import KeywordSearch
from audio.reflexes.spotter import Candidates, Look
from audio.reflexes.words import Reflex, asked
from audio.turns.vad import load_detector
from benchmarks.ears.bench import Bench
from benchmarks.ears.material.corpus import Clip
from benchmarks.ears.material.mixing import Condition, active, mixed
from tests.audio.spoken import said
from tests.audio.talked_over import REPLY, TalkedOver

ABOUT: Final = "reflex words spotted and missed, and false ones in a hundred barge-ins of a clip each"

CONDITIONS: Final = {
    "quiet room": Condition(),
    "20 dB softer": Condition(level_dbfs=-47.0),
    "furnished": Condition(room="furnished"),
    "kitchen": Condition(room="kitchen"),
    "noise at 10 dB": Condition(snr_db=10.0),
    "noise at 5 dB": Condition(snr_db=5.0),
}

OVER_OWN_VOICE_DB: Final = (0.0, -6.0)
"""Of the word against the echo of nakari's voice at the microphone."""

BARGE_INS: Final = 200
"""Clips of people who say something else over its voice, at least where there are so many."""

NOTICED_AFTER_SECONDS: Final = 0.3
"""From the end of a word, within which somebody may be noticed for it."""

AN_EVENING: Final = 8
"""Words over one run of its voice."""


def results(bench: Bench) -> list[str]:
    """Return what was spotted in each condition, by word; then what was spotted where no such word was said."""
    bench.ears.recognizer.warm()
    recognizer = bench.ears.recognizer
    search = KeywordSearch(verifier=recognizer if isinstance(recognizer, WordVerifier) else None)
    search.warm()
    words = bench.sampled([clip for clip in bench.speech if asked(clip.text)])
    others = bench.sampled([clip for clip in bench.speech if not asked(clip.text)])
    lines = [f"{len(words)} clips of reflex words, on which nobody was trained whatever the split"]
    for name, condition in CONDITIONS.items() if words else ():
        heard = [(clip, _in_room(bench, search, clip, condition)) for clip in words]
        lines.append(f"{name}: {_right(heard)}")
    for level in OVER_OWN_VOICE_DB if words else ():
        for pauses in (True, False):
            heard = list(_over_own_voice(search, words, level, pauses=pauses))
            what = "which falls silent for it" if pauses else "which goes on"
            lines.append(f"over its own voice at {level:.0f} dB, {what}: {_right(heard)}")
    lines.append(f"false in a quiet room, nothing sounding: {_false(_quiet(bench, search, others))}")
    over = _quiet(bench, search, others, is_sounding=True)
    lines.append(f"false with the bar that counts while it speaks: {_false(over)}")
    interrupting = others[:: max(1, len(others) // BARGE_INS)]
    lines.append(f"false over its own voice at 0 dB: {_false(list(_over_own_voice(search, interrupting, 0.0)))}")
    return [*lines, f"false in noises, with that bar: {_false(_quiet(bench, search, bench.noises, is_sounding=True))}"]


Heard = Sequence[tuple[Clip, set[Reflex]]]


def _right(heard: Heard) -> str:
    told: Counter[str] = Counter()
    wrong = sum(bool(reflexes - {asked(clip.text)}) for clip, reflexes in heard)
    for clip, reflexes in heard:
        told[clip.text] += asked(clip.text) in reflexes
    counted = Counter(clip.text for clip, _ in heard)
    return ", ".join(f"{words} {told[words]} of {total}" for words, total in counted.items()) + f"; as another {wrong}"


def _false(heard: Heard) -> str:
    found = Counter((reflex, clip.text or clip.source.split(";")[0]) for clip, reflexes in heard for reflex in reflexes)
    clips = sum(bool(reflexes) for _, reflexes in heard)
    named = ", ".join(f"{reflex} in {text!r} x{count}" for (reflex, text), count in found.most_common(12))
    return f"{clips} of {len(heard)} clips ({200 * clips / max(1, len(heard)):.1f} in 200) {named}"


def _quiet(bench: Bench, search: KeywordSearch, clips: Sequence[Clip], *, is_sounding: bool = False) -> Heard:
    quiet = CONDITIONS["quiet room"]
    return [(clip, _in_room(bench, search, clip, quiet, is_sounding=is_sounding)) for clip in clips]


def _in_room(
    bench: Bench, search: KeywordSearch, clip: Clip, condition: Condition, *, is_sounding: bool = False
) -> set[Reflex]:
    seed = int.from_bytes(clip.file.name.encode()[-6:]) % 100_000
    noise = bench.noise_for(np.random.default_rng(seed), is_steady=True) if condition.snr_db is not None else None
    sound = mixed(clip.samples(), noise, condition, seed).samples
    numbered = enumerate(np.split(sound[: len(sound) // CHUNK_SAMPLES * CHUNK_SAMPLES], len(sound) // CHUNK_SAMPLES))
    chunks = [(AudioChunk(each, number * CHUNK_SECONDS), False) for number, each in numbered]
    stretches = _cut(chunks, is_sounding=is_sounding)
    looks = (partial(search.find, each, over_own_voice=is_sounding) for each in stretches)
    return {found for look in looks if (found := _spotted(look))}


def _spotted(look: Look) -> Reflex | None:
    try:
        found = look()
    except RecognitionFailed:
        return None
    return found.reflex if found else None


def _cut(chunks: Iterable[tuple[AudioChunk, bool]], *, is_sounding: bool) -> Iterator[Stretch]:
    """Yield the stretches of chunks, each with whether its own voice covers it."""
    bars = OVER_ECHO if is_sounding else ALONE
    detector, cutter = load_detector(), StretchCutter()
    for chunk, covered in chunks:
        if found := cutter.process(chunk, detector.probability(chunk.samples), covered=covered, bars=bars):
            yield found


def _over_own_voice(
    search: KeywordSearch, clips: Sequence[Clip], level: float, *, pauses: bool = True
) -> Iterator[tuple[Clip, set[Reflex]]]:
    """Yield what is spotted in clips said over its voice; every eight share one run of the real canceller."""
    for first in range(0, len(clips), AN_EVENING):
        said_now = clips[first : first + AN_EVENING]
        evening = TalkedOver([voiced(clip.samples()) for clip in said_now], _reply(), level=level, pauses=pauses)
        candidates = Candidates(search, evening.guard)
        looks = [
            found
            for chunk, probability, covered in evening.heard()
            for found in candidates.process(chunk, probability, covered=covered, sounds=True)
        ]
        for clip, (begins, ends) in zip(said_now, evening.spans, strict=True):
            within = [each.look for each in looks if begins - 0.5 < each.at < ends + NOTICED_AFTER_SECONDS]
            yield clip, {found for look in within if (found := _spotted(look))}


def voiced(clip: Samples) -> Samples:
    """Return a clip from where its voice begins to where it ends."""
    begins, ends = active(clip)
    return clip[round(begins * SAMPLE_RATE) : round(ends * SAMPLE_RATE)]


@cache
def _reply() -> Samples:
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        return said(REPLY, "slt", Path(folder))
