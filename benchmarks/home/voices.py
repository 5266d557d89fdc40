"""Sentences said by a made voice, and what a Whisper hears, told the names of the house as nakari tells it."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from appliance.config.load import load
from appliance.input.hearing.choose import choose_recognizer, hearing_settings
from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE
from audio.speech import Utterance
from benchmarks.home.sentences import Sentence
from tests.service.process import Household, speak

VOICES: Final = {
    "espeak en": ("espeak-ng", "-v", "en-us", "-s", "150"),
    "espeak zh": ("espeak-ng", "-v", "cmn-latn-pinyin", "-s", "150"),
    "pico en": ("pico2wave", "-l", "en-US"),
}
"""As the tests speak. Of Chinese characters Debian's espeak-ng knows few and spells the others in English: it is given
their sounds. SVOX Pico (Debian's libttspico-utils) has no Chinese."""

PINYIN: Final = Path(__file__).with_name("pinyin.tsv")
"""Each Chinese sentence, a tab, its syllables with the numbers of their tones."""


class Hearing:
    """A recognizer as the box has it, in a folder of its own."""

    def __init__(self, model: Path, names: Sequence[str], language: str = "auto", voice: str = "espeak") -> None:
        """Load the recognizer.

        `names` are those of the house, which Whisper is told to expect in the language that they look like;
        `language` is as in `[ears] language`, `voice` one of `VOICES`.
        """
        self._voice = voice
        self._names = names
        lines = PINYIN.read_text(encoding="utf-8").splitlines()
        self._sounds = dict(line.split("\t", 1) for line in lines)
        self._folder = Path(tempfile.mkdtemp(prefix="nakari-voices-"))
        household = Household(self._folder, {"ears": {"model": str(model), "threads": 1, "language": language}})
        settings = hearing_settings(load(household.write(), {"HOME": str(self._folder)}))
        self._recognizer = choose_recognizer(settings, self._expected).recognizer
        self._recognizer.warm()

    def __call__(self, sentence: Sentence) -> str:
        """Return what is heard of it."""
        sound = speak(
            self._sounds.get(sentence.words, sentence.words),
            self._folder / "said.wav",
            voice=VOICES[f"{self._voice} {sentence.language}"],
        )
        samples = read_recording(sound)
        length = len(samples) / SAMPLE_RATE
        utterance = Utterance(samples, 0.6, length - 0.3, length, length - 0.9)
        return self._recognizer.transcribe(utterance).text

    def _expected(self, language: str) -> Sequence[str]:
        return [name for name in self._names if name.isascii() != (language == "zh")]
