"""Reflexes that nobody ordered: clips that hold no reflex word, said over its own voice in the simulated room."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

import numpy as np

from appliance.reflexes.record import ASKED_BACK
from audio.reflexes.words import asked
from benchmarks.ears.bench import Bench
from benchmarks.ears.corpus import Clip
from tests.room.acoustics import from_samples
from tests.room.house import House, Surroundings, live
from tests.room.stories import interrupt, warm_up

ABOUT: Final = "what is done for words over its own voice that order nothing; the box as it is without Whisper"

LEVELS: Final = (-18.0, -24.0, -30.0)
"""dBFS of the speech at the microphone; its own voice is there at about -26."""

LONGEST_SECONDS: Final = 6.0

USUAL_SAMPLE: Final = 60
"""Clips where nobody says how many: each takes some 2 s of a core."""

TALE: Final = " ".join(
    f"This is sentence number {number} of a long tale about plums and pears." for number in range(1, 6)
)


def results(bench: Bench) -> list[str]:
    """Return how many clips made it do something, what that was, and how often it asked back."""
    clips = [each for each in bench.speech if each.language == "en" and not asked(each.text)]
    short = [each for each in bench.sampled(clips) if len(each.samples()) < LONGEST_SECONDS * 16_000]
    chosen = short[: bench.sample or USUAL_SAMPLE]
    around = Surroundings({"ears": {"model": "auto"}}, (TALE,), aside="All right.")
    with tempfile.TemporaryDirectory(prefix="nakari-reflexes-") as folder:
        acted, asked_back = live(Path(folder), lambda house: _over_its_voice(house, chosen, bench.seed), around)
    told = ", ".join(f"{reflex} {count}" for reflex, count in acted.most_common()) or "nothing"
    return [f"{sum(acted.values())} in {len(chosen)} clips: {told}; asked back {asked_back}"]


async def _over_its_voice(house: House, clips: list[Clip], seed: int) -> tuple[Counter[str], int]:
    """Return what was done by reflex, and how often an order was asked back."""
    await warm_up(house)
    await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
    random, reflexes, acted = np.random.default_rng(seed), house.box.input.reflexes, Counter[str]()
    for clip in clips:
        before = Counter(reflexes.counts)
        await interrupt(house, from_samples(clip.samples()), float(random.choice(LEVELS)), 2.0)
        acted += Counter(reflexes.counts) - before
        house.box.input.acting.verbs.mute.switch(is_on=False)
        house.box.output.speech.volume.percent = 100
        house.forget()
    return acted, reflexes.doubted.get(ASKED_BACK, 0)
