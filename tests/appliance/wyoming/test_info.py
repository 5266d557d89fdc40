"""What a program is told that the box can do, in which languages."""

import pytest

from appliance.wyoming.info import Abilities, language_of
from audio.recognizer.models.catalog import LANGUAGES, languages_of

pytestmark = pytest.mark.shows("X13")


@pytest.mark.parametrize(
    ("recognizer", "language", "heard"),
    [
        ("faster-whisper:base", "en", ["en"]),
        ("faster-whisper:base", "de", ["de"]),
        ("faster-whisper:base", "auto", LANGUAGES.split()),
        ("faster-whisper:base.en", "auto", ["en"]),
        ("pocketsphinx", "de", ["en"]),
    ],
)
def test_speech_to_text_tells_what_its_recognizer_understands(recognizer: str, language: str, heard: list[str]) -> None:
    assert list(languages_of(recognizer, language)) == heard
    info = Abilities(lambda: recognizer, language).info()
    [model] = info.asr[0].models
    assert (model.name, model.languages) == (recognizer, heard)


def test_the_voice_and_the_agent_tell_the_languages_of_the_house() -> None:
    info = Abilities(lambda: "faster-whisper:base", "de").info()
    assert [voice.languages for voice in info.tts[0].voices] == [["en"], ["zh"], ["de"]]
    assert [language_of(voice.name) for voice in info.tts[0].voices] == ["en", "zh", "de"]
    assert info.handle[0].models[0].languages == ["de", "en", "zh"]
    assert language_of("anna-de") == ""


def test_a_better_recognizer_is_told_of_once_it_is_there() -> None:
    names = iter(["pocketsphinx", "faster-whisper:small"])
    abilities = Abilities(lambda: next(names), "auto")
    assert [len(abilities.info().asr[0].models[0].languages) for _ in range(2)] == [1, len(LANGUAGES.split())]
