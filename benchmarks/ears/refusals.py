"""Speech that nobody gets although somebody said it: by reason, by how much noise is beside it, by how long it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from audio.speech import RecognizedTurn
from audio.turns.listener import TOO_SHORT
from benchmarks.ears.bench import Bench
from benchmarks.ears.material.corpus import Clip
from benchmarks.ears.material.mixing import LEVELS_DBFS, ROOMS, Condition, drawn, mixed
from benchmarks.ears.words import is_about

ABOUT: Final = "speech that is refused"

SNRS_DB: Final = (None, 10.0, 5.0, 3.0, 0.0)

IN_A_ROOM: Final = 0.5
"""Share of the runs that are in a room with an answer; the rest is dry."""

LONG_SECONDS: Final = 1.2
"""A refusal of so much speech is nobody's mumbling."""

REFUSED: Final = "no speech by the evidence"
"""What the evidence guard's reasons begin with."""

NOT_NOTICED: Final = "not noticed"
"""No turn came of it at all."""


@dataclass
class Refused:
    """The turns of speech at one ratio."""

    turns: int = 0
    by_reason: Counter[str] = field(default_factory=Counter)
    long: int = 0
    """Of the refused, those with `LONG_SECONDS` of speech and more."""
    right: int = 0
    """Of the refused, those whose words are about what was said: a misheard word is rightly kept from everybody."""
    clips_lost: int = 0
    """Clips of which a turn was refused, or that made none."""
    clips: int = 0
    steady: Counter[bool] = field(default_factory=Counter)
    """Turns beside a steady noise, by whether they were refused."""

    def take(self, clip: Clip, turns: Sequence[tuple[RecognizedTurn, str]], *, is_steady: bool) -> None:
        """Count the turns of one clip."""
        self.turns += len(turns)
        for heard, why in turns:
            is_refused = why.startswith(REFUSED)
            self.long += is_refused and heard.utterance.speech_seconds >= LONG_SECONDS
            self.right += is_refused and is_about(heard.transcript.text, clip)
            if is_steady:
                self.steady[is_refused] += 1

    @property
    def rate(self) -> float:
        """Share of the turns that a guard refused; what was not noticed and what had no words is told beside it."""
        return self.refused / max(1, self.turns)

    @property
    def refused(self) -> int:
        """The turns refused by the evidence."""
        return sum(count for why, count in self.by_reason.items() if why.startswith(REFUSED))

    def __str__(self) -> str:
        reasons = "; ".join(f"{why.removeprefix(f'{REFUSED}: ')} {n}" for why, n in self.ranked)
        return (
            f"{self.rate:6.1%} refused ({self.refused} of {self.turns} turns, {self.right} of them with the right "
            f"words, {self.long} with {LONG_SECONDS} s of speech or more; beside steady noise {self.steady[True]} of "
            f"{self.steady.total()}); {self.clips_lost} of {self.clips} clips lost something ({reasons})"
        )

    @property
    def ranked(self) -> list[tuple[str, int]]:
        """The reasons, the most frequent first."""
        return self.by_reason.most_common()


def results(bench: Bench) -> list[str]:
    """Run the sample at every ratio; one line for each."""
    clips = bench.sampled(bench.speech)
    found = {snr: refused_at(bench, clips, snr) for snr in SNRS_DB}
    return [f"{_named(snr):>6}: {refused}" for snr, refused in found.items()]


def refused_at(bench: Bench, clips: list[Clip], snr_db: float | None) -> Refused:
    """Run clips at one ratio (None: clean), each at a level and in a room of its own, the same for each seed."""
    refused = Refused()
    for number, clip in enumerate(clips):
        # The same level, room and noise at every ratio: what differs is the ratio alone.
        seed = bench.seed * 100_003 + number
        random = np.random.default_rng(seed)
        room = str(random.choice([name for name in ROOMS if name != "dry"])) if random.random() < IN_A_ROOM else "dry"
        condition = Condition(snr_db, room, drawn(LEVELS_DBFS, random))
        is_steady = number % 2 == 0
        sound = mixed(clip.samples(), bench.noise_for(random, is_steady=is_steady), condition, seed)
        heard = bench.ears.hear(sound, clip.text)
        turns = heard.of(sound)
        reasons = [why for _, why in turns if why] or ([] if turns else [TOO_SHORT if heard.too_short else NOT_NOTICED])
        refused.by_reason.update(reasons)
        refused.take(clip, turns, is_steady=is_steady)
        refused.clips += 1
        refused.clips_lost += bool(reasons)
    return refused


def _named(snr_db: float | None) -> str:
    return "clean" if snr_db is None else f"{snr_db:.0f} dB"
