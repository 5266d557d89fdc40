"""What becomes of "stop" said over its voice: the whole box in a simulated room, its recognizer included."""

import tempfile
from pathlib import Path
from typing import Final

from audio.reflexes.words import asked
from benchmarks.ears.bench import Bench
from benchmarks.ears.false_reflexes import PATIENCE, TALE
from benchmarks.ears.material.corpus import Clip
from benchmarks.ears.reflexes import OVER_OWN_VOICE_DB, voiced
from tests.room.acoustics import from_samples
from tests.room.house import House, Surroundings, live
from tests.room.stories import interrupt, warm_up

ABOUT: Final = "people whose stop ends a reply, and others whose words are taken for it"

LONGEST_SECONDS: Final = 4.0
"""Of what others say."""

AFTER_SECONDS: Final = 2.0
"""Of the reply: then it is said."""

LEAST_UNSAID: Final = 1.5
"""Seconds of a reply that are not said where it was ended: of some seven that are left."""


def results(bench: Bench) -> list[str]:
    """Return how many of those who say "stop" end a reply, by level, and how many others do by words taken for it."""
    people = [clip for clip in bench.speech if clip.language == "en" and len(clip.samples()) < LONGEST_SECONDS * 16_000]
    stops = bench.sampled([clip for clip in people if asked(clip.text) == "stop"])
    others = bench.sampled([clip for clip in people if asked(clip.text) is None])
    lines = []
    for level in OVER_OWN_VOICE_DB:
        ended = sum(is_ended for is_ended, _ in _said(bench, stops, level))
        lines.append(f"a reply ended by stop, {level:.0f} dB against its voice: {ended} of {len(stops)}")
    taken = sum(is_stop for _, is_stop in _said(bench, others, 0.0))
    return [*lines, f"others taken for stop, 0 dB: {taken} of {len(others)}"]


def _said(bench: Bench, clips: list[Clip], level: float) -> list[tuple[bool, bool]]:
    """Have each clip said over a reply; return whether that was ended, and whether a "stop" was acted on."""
    ears: dict[str, object] = {"model": str(bench.ears.model) if bench.ears.model else "auto"}
    around = Surroundings({"ears": ears}, (TALE,), aside="All right.", patience=PATIENCE)

    async def story(house: House) -> list[tuple[bool, bool]]:
        dbfs = await warm_up(house) + level
        await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
        reflexes, found = house.box.input.reflexes, []
        for clip in clips:
            before = reflexes.counts.get("stop", 0)
            became = await interrupt(house, from_samples(voiced(clip.samples())), dbfs, AFTER_SECONDS)
            found.append((became.unheard > LEAST_UNSAID, reflexes.counts.get("stop", 0) > before))
            house.box.input.acting.verbs.mute.switch(is_on=False)
            house.forget()
        return found

    with tempfile.TemporaryDirectory(prefix="nakari-stops-") as folder:
        return live(Path(folder), story, around)
