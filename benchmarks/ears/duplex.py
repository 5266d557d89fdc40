"""Full duplex: how often nakari pauses for its own voice, and when it does for people, by room and raw echo level."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from msgspec import Struct

from audio.echo.canceller import WebRtcCanceller
from audio.pcm import SAMPLE_RATE, Samples
from audio.turns.vad import load_detector
from benchmarks.ears.bench import Bench
from tests.audio.spoken import trimmed
from tests.room.acoustics import Sound, at_level, from_samples
from tests.room.echo_loop import TAIL_SECONDS, EchoLoop, RoomKind, level_of
from tests.room.own_words import SENTENCES
from tests.room.rooms import DUPLEX_CHOOSING, DUPLEX_REPORTING
from tests.room.stories import quantile
from tests.room.voices import spoken

ABOUT: Final = "full duplex by room"

OWN_SECONDS: Final = 180.0
"""Of nakari's voice alone in each room: half an hour in all."""

LEVELS: Final = (0.0, -6.0, -12.0)
"""dB of whoever speaks, against nakari's echo at the microphone."""

TRIALS: Final = 8
"""People in each room and at each level; `--sample` says another number."""

LONGEST: Final = 3 * SAMPLE_RATE
"""Samples of what somebody says."""


class Evening(Struct, frozen=True):
    """A room, nakari's voice in it, and its words: none of them is another split's."""

    name: str
    kind: RoomKind
    voice: str
    texts: tuple[str, ...]
    seed: int

    def open(self) -> EchoLoop:
        """Return the room after the chime."""
        loop = EchoLoop(self.kind, WebRtcCanceller(), load_detector, self.seed)
        loop.run(1.0)
        loop.calibrate()
        loop.run(0.5)
        return loop

    def replies(self) -> Iterator[Samples]:
        """Yield what nakari says: four sentences at a time, for ever."""
        random = np.random.default_rng(self.seed)
        while True:
            chosen = [spoken(self.texts[number], self.voice) for number in random.permutation(len(self.texts))[:4]]
            yield np.concatenate([part for each in chosen for part in (each, np.zeros(SAMPLE_RATE // 8, np.int16))])


def results(bench: Bench) -> list[str]:
    """Return a line a room for nakari's voice alone, then the curve of barge-in by raw echo level."""
    is_report = bench.split == "report"
    rooms: Mapping[str, RoomKind] = DUPLEX_REPORTING if is_report else DUPLEX_CHOOSING
    voices = ("awb", "en-us", "kal") if is_report else ("slt", "rms", "en-gb")
    texts = SENTENCES[1::2] if is_report else SENTENCES[::2]
    evenings = [
        Evening(name, kind, voices[number % len(voices)], texts, bench.seed + number)
        for number, (name, kind) in enumerate(rooms.items())
    ]
    return [*_own_voice(evenings), *(line for each in evenings for line in _barge_in(each, bench))]


def _own_voice(evenings: list[Evening]) -> Iterator[str]:
    pauses, minutes = 0, 0.0
    for evening in evenings:
        loop = evening.open()
        for reply in evening.replies():
            loop.reply(reply)
            loop.run(1.5)
            if loop.told.sounding >= OWN_SECONDS:
                break
        pauses, minutes = pauses + len(loop.told.pauses), minutes + loop.told.sounding / 60
        told = loop.guard.duplex.describe().rpartition(";")[0]
        causes = "".join(f", {at:.1f} s: {why}" for at, why in zip(loop.told.pauses, loop.told.causes, strict=True))
        yield f"its own voice, {evening.name} ({evening.voice}): {len(loop.told.pauses)} self-pauses{causes}; {told}"
    yield f"its own voice: {pauses} self-pauses in {minutes:.1f} minutes, {pauses / minutes:.2f} a minute"


def _barge_in(evening: Evening, bench: Bench) -> Iterator[str]:
    clips = [clip for clip in bench.speech if clip.language == "en" and len(clip.samples()) < 2 * LONGEST]
    drawn = np.random.default_rng(evening.seed).permutation(len(clips))[: bench.sample or TRIALS]
    people = [from_samples(trimmed(clips[number].samples())[:LONGEST]) for number in drawn]
    for level in LEVELS:
        delays, strays, loop = _spoken_over(evening, people, level)
        found = [delay for delay in delays if delay is not None]
        times = f"p50 {quantile(found, 0.5):.2f} s, p90 {quantile(found, 0.9):.2f} s" if found else "never"
        leak = loop.guard.duplex.leak
        raw = "?" if leak is None else f"{leak.raw_db:+.0f}"
        modes = ", ".join(f"{mode} {seconds:.0f} s" for mode, seconds in loop.told.modes.items())
        yield (
            f"barge-in, raw echo {raw} dB ({evening.name}), {level:+.0f} dB: {len(found)} of {len(delays)}, {times}; "
            f"{strays} stray pauses in {loop.told.sounding / 60:.1f} min; {modes}"
        )


def _spoken_over(evening: Evening, people: list[Sound], level: float) -> tuple[list[float | None], int, EchoLoop]:
    """Return when it was silent for each, seconds after the first sample, and how often for nobody."""
    loop, replies = evening.open(), evening.replies()
    random = np.random.default_rng(evening.seed)
    loop.reply(next(replies))
    loop.run(1.5)
    dbfs = level_of(loop.echo_power) + level
    spans: list[tuple[float, float]] = []
    for sound in people:
        start = loop.now + random.uniform(2.0, 4.0)
        spans.append((start, start + len(sound) / SAMPLE_RATE))
        loop.put(at_level(sound, dbfs), start)
        loop.reply(next(replies))
        loop.run(max(1.5, spans[-1][1] + 1.0 - loop.now))
    pauses = loop.told.pauses
    mine = [[at - start for at in pauses if start < at < end + TAIL_SECONDS] for start, end in spans]
    strays = [at for at in pauses if not any(start < at < end + TAIL_SECONDS + 1.0 for start, end in spans)]
    return [found[0] if found else None for found in mine], len(strays), loop
