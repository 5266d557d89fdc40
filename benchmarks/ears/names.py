"""Names that a Whisper model is told to expect: how many more are right, and what becomes of words without them."""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from appliance.input.names import bounded
from audio.capture.recording import read_recording
from audio.pcm import Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer, WhisperOptions
from audio.speech import RecognizedTurn, Utterance
from audio.turns.evidence import evidence_guard
from benchmarks.ears.bench import Bench
from benchmarks.ears.material.corpus import split_of
from benchmarks.ears.material.mixing import Condition, alone, mixed
from benchmarks.ears.words import SLOTS
from tests.audio.cutting import cut
from tests.audio.spoken import plain, word_errors

ABOUT: Final = "names that Whisper is told to expect, in English"

HUMAN: Final = ("Amelia", "Athena", "Chatterbox", "Jarvis", "Marvin", "Savant", "Snowboy", "Vermont")
"""Names that people say in public clips of wake words."""

SPOKEN: Final = (
    *("Anoushka", "Balthazar", "Calliope", "Dagmar", "Elowen", "Fenwick", "Ginevra", "Hedwig", "Isolde", "Joaquin"),
    *("Kazimir", "Lorcan", "Mirabel", "Nadezhda", "Ottoline", "Persephone", "Quillon", "Rumpole", "Saoirse", "Tavish"),
    *("Ulrika", "Valdemar", "Wolfram", "Xanthippe", "Yevgenia", "Zebedee"),
)
"""Unusual names, said by voices."""

OTHERS: Final = (
    *("Anna", "Björn", "Chloe", "Dmitri", "Esther", "Farid", "Greta", "Hamish", "Ines", "Jakob", "Kira", "Leopold"),
    *("Maya", "Niamh", "Oskar", "Priya", "Quentin", "Rosalind", "Sven", "Thea", "Umar", "Vera", "Wilma", "Ximena"),
    *("Yusuf", "Zora", "Bramble", "Pickle", "Biscuit", "Atelier", "Conservatory", "Scullery", "Loggia", "Pantry"),
    *("Larder", "Orangery", "Boudoir", "Nook", "Snug", "Foyer", "Cellar", "Veranda", "Gazebo", "Annex", "Attic"),
    *("Porch", "Mudroom", "Solarium", "Landing", "Studio"),
)
"""What else a household calls something by."""

SENTENCES: Final = (
    "Please call {} tomorrow morning.",
    "Where did {} put the keys?",
    "Tell {} that dinner is ready.",
    "{} is coming at eight o'clock.",
)

VOICES: Final = {
    "espeak-ng en-us": ("espeak-ng", "-v", "en-us", "-w", "{file}", "{text}"),
    "espeak-ng en-gb-scotland": ("espeak-ng", "-v", "en-gb-scotland", "-w", "{file}", "{text}"),
    "flite slt": ("flite", "-voice", "slt", "-o", "{file}", "-t", "{text}"),
    "flite rms": ("flite", "-voice", "rms", "-o", "{file}", "-t", "{text}"),
    "pico en-US": ("pico2wave", "-l", "en-US", "-w", "{file}", "{text}"),
    "pico en-GB": ("pico2wave", "-l", "en-GB", "-w", "{file}", "{text}"),
}
"""Commands of Debian's packages; pico2wave is in libttspico-utils."""

TOLD: Final = (0, 8, 50)
"""Names that the memory knows; of fifty fit what the box tells its recognizer."""

USUAL_SAMPLE: Final = 60
"""Of each kind of sound, where nobody says how many."""

LEVEL_DBFS: Final = -27.0


class Sound(Struct, frozen=True):
    """Something to hear, and what is known of it."""

    samples: Samples
    text: str = ""
    name: str = ""
    """Said in it; "" for none."""
    slots: str = ""
    """Words that are said in it, where nobody wrote down all of them."""


@dataclass
class Told:
    """What became of the sounds of a kind, with so many names told."""

    clips: int = 0
    right: int = 0
    """Clips whose name stands in the text."""
    wrong: int = 0
    """Words beside the name that differ from what was said."""
    words: int = 0
    invented: list[str] = field(default_factory=list)
    """Texts with a told name that nobody said."""
    passed: int = 0
    """Turns that the evidence lets pass."""
    texts: list[str] = field(default_factory=list)

    def take(self, sound: Sound, heard: str, told: Sequence[str]) -> None:
        """Count one clip."""
        got = plain(heard.replace("'s", ""))
        self.clips += 1
        self.texts.append(heard)
        self.right += sound.name.lower() in got
        if sound.text:
            said = [word for word in plain(sound.text) if word != sound.name.lower()]
            self.words += len(said)
            self.wrong += word_errors(" ".join(said), " ".join(w for w in got if w != sound.name.lower()))
        else:
            missed = set(plain(sound.slots)) - set(got)
            self.words, self.wrong = self.words + len(set(plain(sound.slots))), self.wrong + len(missed)
        if any(name.lower() in got for name in told if name != sound.name):
            self.invented.append(heard)


def results(bench: Bench) -> list[str]:
    """Return a line for each kind of sound and number of names; the voices' names by the split of their text."""
    if bench.ears.model is None:
        return ["needs --recognizer whisper --model FOLDER: no other one takes names"]
    told: list[str] = []
    recognizer = FasterWhisperRecognizer(
        bench.ears.model, "en", 1, WhisperOptions(short_window=True, hotwords=lambda _: told)
    )
    most = bench.sample or USUAL_SAMPLE
    lines = []
    for kind, sounds in (
        ("people, a name", _sampled(_people(bench), most, bench.seed)),
        ("voices, an unusual name", _sampled(_voices(bench), most, bench.seed)),
        ("people, sentences, no name", _sampled(_nameless(bench), most, bench.seed)),
        ("people, one word, no name", _sampled(_nameless(bench, is_word=True), most, bench.seed)),
        ("noise", _sampled(_noises(bench), most, bench.seed)),
    ):
        found = {count: Told() for count in TOLD}
        for number, sound in enumerate(sounds):
            utterances = _cut(bench, sound, number)
            for count, of_count in found.items():
                told[:] = names_told(sound.name, count, bench.seed * 1000 + number)
                heard = [_heard(recognizer, each) for each in utterances]
                of_count.passed += sum(not evidence_guard(each) and bool(each.transcript.text) for each in heard)
                of_count.take(sound, " ".join(each.transcript.text for each in heard), told)
        lines += [f"{kind}, {count} names: {_line(kind, each, found[0])}" for count, each in found.items()]
    return lines


def names_told(name: str, count: int, seed: int) -> list[str]:
    """Return what the box tells of so many names of a household, `name` among what fits; in an order of chance."""
    random = np.random.default_rng(seed)
    others = [each for each in (*SPOKEN, *OTHERS) if each != name]
    names = [others[place] for place in random.permutation(len(others))][: max(0, count - bool(name))]
    if not count or not name:
        return bounded(names)
    names.insert(int(random.integers(len(bounded(names)) or 1)), name)
    return bounded(names)


def _line(kind: str, told: Told, without: Told) -> str:
    differ = sum(one != other for one, other in zip(told.texts, without.texts, strict=True))
    if kind == "noise":
        return f"{told.passed} turns pass the evidence, {len(told.invented)} clips with a told name {told.invented[:6]}"
    right = f"{told.right} of {told.clips} names right; " if "no name" not in kind else ""
    return (
        f"{right}{told.wrong} of {told.words} other words wrong; {differ} of {told.clips} texts differ; told names "
        f"that nobody said: {len(told.invented)} {told.invented[:6]}"
    )


def _heard(recognizer: FasterWhisperRecognizer, utterance: Utterance) -> RecognizedTurn:
    return RecognizedTurn(utterance, recognizer.transcribe(utterance), 0.0)


def _cut(bench: Bench, sound: Sound, number: int) -> list[Utterance]:
    """Return the utterances that the real ears cut of it."""
    seed = bench.seed * 100_003 + number
    if not (sound.text or sound.slots):
        return cut(alone(sound.samples, LEVEL_DBFS, seed).samples, bench.ears.detector)
    return cut(mixed(sound.samples, None, Condition(None, level_dbfs=LEVEL_DBFS), seed).samples, bench.ears.detector)


def _people(bench: Bench) -> Iterator[Sound]:
    for clip in bench.speech:
        name = next((name for name in HUMAN if name.lower() in plain(clip.text)), "")
        if clip.language == "en" and name:
            yield Sound(clip.samples(), clip.text, name)


def _nameless(bench: Bench, *, is_word: bool = False) -> Iterator[Sound]:
    for clip in bench.speech:
        _, _, slots = clip.source.partition(SLOTS)
        has_name = any(name.lower() in plain(clip.text) for name in (*HUMAN, *SPOKEN, *OTHERS))
        if clip.language == "en" and (clip.text or slots) and not has_name and (len(clip.text.split()) == 1) == is_word:
            yield Sound(clip.samples(), clip.text, slots=slots)


def _noises(bench: Bench) -> Iterator[Sound]:
    yield from (Sound(noise.samples()) for noise in bench.noises)


def _voices(bench: Bench) -> Iterator[Sound]:
    with tempfile.TemporaryDirectory(prefix="nakari-names-") as folder:
        file = Path(folder) / "said.wav"
        for name in SPOKEN:
            if split_of(name) != bench.split:
                continue
            for number, command in enumerate(VOICES.values()):
                text = SENTENCES[(number + len(name)) % len(SENTENCES)].format(name)
                subprocess.run([each.format(file=file, text=text) for each in command], check=True, capture_output=True)
                yield Sound(read_recording(file), text, name)


def _sampled(sounds: Iterator[Sound], most: int, seed: int) -> list[Sound]:
    found = list(sounds)
    places = np.random.default_rng(seed).permutation(len(found))[:most]
    return [found[place] for place in sorted(places)]
