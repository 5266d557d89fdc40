"""Reflexes that nobody ordered: clips that hold no reflex word, said over its own voice in the simulated room."""

import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np

from appliance.reflexes.record import ASKED_BACK
from audio.reflexes.words import asked
from benchmarks.ears.bench import Bench
from benchmarks.ears.material.corpus import Clip
from tests.room.acoustics import from_samples
from tests.room.house import House, Surroundings, live
from tests.room.stories import interrupt, warm_up

ABOUT: Final = "what is done for words over its own voice that order nothing; the box as it is without Whisper"

LEVELS: Final = (-18.0, -24.0, -30.0)
"""dBFS of the speech at the microphone; its own voice is there at about -26."""

LONGEST_SECONDS: Final = 6.0

USUAL_SAMPLE: Final = 60
"""Clips where nobody says how many."""

CORE_SECONDS: Final = 240.0
"""Of a core, after which no more clips are begun: the whole box runs, and on a crowded machine it would never end."""

PATIENCE: Final = 300.0
"""Real seconds for one recognition: on a machine that others crowd it takes a minute."""

TALE: Final = " ".join(
    f"This is sentence number {number} of a long tale about plums and pears." for number in range(1, 4)
)


def results(bench: Bench) -> list[str]:
    """Return how many clips made it do something, what that was, and how often it asked back."""
    clips = [each for each in bench.speech if each.language == "en" and not asked(each.text)]
    drawn = (clips[place] for place in np.random.default_rng(bench.seed).permutation(len(clips)))
    short = (each for each in drawn if len(each.samples()) < LONGEST_SECONDS * 16_000)
    chosen = list(islice(short, bench.sample or USUAL_SAMPLE))
    around = Surroundings({"ears": {"model": "auto"}}, (TALE,), aside="All right.", patience=PATIENCE)
    with tempfile.TemporaryDirectory(prefix="nakari-reflexes-") as folder:
        told = live(Path(folder), lambda house: _over_its_voice(house, chosen, bench.seed), around)
    clips_said, acted, asked_back = told
    done = ", ".join(f"{reflex} {count}" for reflex, count in acted.most_common()) or "nothing"
    within = "" if clips_said == len(chosen) else f" of {len(chosen)}, as far as {CORE_SECONDS:.0f} s of a core went"
    return [f"{sum(acted.values())} in {clips_said} clips{within}: {done}; asked back {asked_back}"]


async def _over_its_voice(house: House, clips: list[Clip], seed: int) -> tuple[int, Counter[str], int]:
    """Return how many clips were said, what was done by reflex, and how often an order was asked back."""
    await warm_up(house)
    await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
    random, reflexes, acted = np.random.default_rng(seed), house.box.input.reflexes, Counter[str]()
    began, said = process_time(), 0
    for clip in clips:
        before = Counter(reflexes.counts)
        await interrupt(house, from_samples(clip.samples()), float(random.choice(LEVELS)), 2.0)
        acted += Counter(reflexes.counts) - before
        house.box.input.acting.verbs.mute.switch(is_on=False)
        house.box.output.speech.volume.percent = 100
        house.forget()
        said += 1
        if process_time() - began > CORE_SECONDS:
            break
    return said, acted, reflexes.doubted.get(ASKED_BACK, 0)
