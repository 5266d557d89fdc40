"""What the small recognizer makes of speech: other languages, English that it does not understand, commands."""

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final

import numpy as np

from appliance.input.not_understood import understood_guard
from audio.speech import RecognizedTurn
from benchmarks.ears.bench import Bench
from benchmarks.ears.listening import Ears
from benchmarks.ears.material.corpus import Clip
from benchmarks.ears.material.mixing import Condition, mixed

ABOUT: Final = "words without Whisper: pocketsphinx, whichever recognizer is named"

LEVEL_DBFS: Final = -26.0

SNRS_DB: Final = (None, 10.0)

HALF: Final = 0.5
"""Words of which so many are right are about what was said."""

SLOTS: Final = "slots"
"""In the source of a clip whose words nobody wrote down: behind it are some of them."""


@dataclass
class Words:
    """What became of the turns at one ratio that the evidence lets pass."""

    passed: int = 0
    """In another language, or English."""
    refused: int = 0
    """Of them, those that were not understood."""
    lost: list[str] = field(default_factory=list)
    """English that was refused although its words were right."""
    rightly: int = 0
    """Turns whose words were right."""
    commands: list[tuple[str, str]] = field(default_factory=list)
    """What was said, and the command believed, where they differ."""
    believed: int = 0

    def take(self, clip: Clip, heard: RecognizedTurn) -> None:
        """Count a turn."""
        transcript = heard.transcript
        is_refused = understood_guard("en")(heard) != ""
        is_right = clip.language == "en" and is_about(transcript.text, clip)
        self.passed += 1
        self.refused += is_refused
        self.rightly += is_right
        if is_refused and is_right:
            self.lost.append(transcript.text)
        if transcript.confidence == "normal":
            self.believed += 1
            if plain(transcript.text) != plain(clip.text):
                self.commands.append((clip.text or clip.source, transcript.text))

    def __str__(self) -> str:
        wrong = "; ".join(f"{said} -> {heard}" for said, heard in self.commands)
        return (
            f"{self.passed} turns past the evidence, {self.refused} not understood, {self.passed - self.refused} to "
            f"the mind; right words {self.rightly}, of them refused {len(self.lost)} ({'; '.join(self.lost)}); "
            f"commands believed {self.believed}, wrong {len(self.commands)} ({wrong})"
        )


def results(bench: Bench) -> list[str]:
    """Run the clips of the split clean and with noise; other languages and English apart."""
    ears = Ears("pocketsphinx")
    lines = []
    for snr_db in SNRS_DB:
        for name, clips in (
            ("other languages", [clip for clip in bench.speech if clip.language not in {"", "en"}]),
            ("English", [clip for clip in bench.speech if clip.language == "en"]),
        ):
            words = Words()
            sampled = bench.sampled(clips)
            for number, clip in enumerate(sampled):
                seed = bench.seed * 100_003 + number
                noise = bench.noise_for(np.random.default_rng(seed), is_steady=False) if snr_db is not None else None
                sound = mixed(clip.samples(), noise, Condition(snr_db, level_dbfs=LEVEL_DBFS), seed)
                for heard, why in ears.hear(sound).of(sound):
                    if not why:
                        words.take(clip, heard)
            ratio = "clean" if snr_db is None else f"{snr_db:.0f} dB"
            lines.append(f"{ratio}, {name}, {len(sampled)} clips: {words}")
    return lines


def is_about(heard: str, clip: Clip) -> bool:
    """Say whether half of the words are those of the clip, in their order; of slots, in any."""
    got = plain(heard)
    if clip.text:
        said = plain(clip.text)
        same = sum(block.size for block in SequenceMatcher(None, said, got, autojunk=False).get_matching_blocks())
        return same >= HALF * max(len(said), len(got))
    _, _, slots = clip.source.partition(SLOTS)
    wanted = set(plain(slots))
    return bool(wanted) and len(wanted & set(got)) >= HALF * len(wanted)


DIGITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def plain(text: str) -> list[str]:
    """Return the words without case and punctuation; a lone digit as a word."""
    spelled = re.sub(r"(?<!\d)\d(?!\d)", lambda digit: DIGITS[int(digit[0])], text.lower())
    return re.findall(r"[a-z']+", spelled)
