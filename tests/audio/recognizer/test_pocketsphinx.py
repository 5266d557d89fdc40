"""The last resort on its real models: commands are believed, other speech is not made into one."""

from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from agent.intents.language.grammar import command_grammar
from appliance.input.not_understood import NOT_UNDERSTOOD, understood_guard
from audio.capture.recording import read_recording
from audio.recognizer.keyword_decoder import CommandSearch, jsgf, restrict
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer, agreement
from audio.speech import RecognizedTurn, Transcript
from tests.audio.spoken import SHARED_CLIPS, WordErrorRate, said, silence, trimmed, utterance, word_errors
from tests.sample import sample

GRAMMAR = {
    "command": [
        "what time is it [now]",
        "what is the (time | date)",
        "set a timer for <number> (minutes | hours)",
        "(cancel | stop) the timer",
        "how much time is left [on the timer]",
        "turn the volume (up | down)",
        "remember that my keys are in the <place>",
        "where are my keys",
        "[nakari] never mind",
        "good morning",
        "who are you",
    ],
    "number": ["two", "five", "ten", "fifteen", "twenty [five]"],
    "place": ["drawer", "kitchen", "fridge"],
}


def turn(transcript: Transcript) -> RecognizedTurn:
    return RecognizedTurn(utterance(silence(2.0)), transcript, 0.0)


COMMANDS = [
    "what time is it",
    "set a timer for twenty five minutes",
    "cancel the timer",
    "turn the volume down",
    "remember that my keys are in the fridge",
    "where are my keys",
    "never mind",
    "who are you",
]

OTHER_SPEECH = [
    "tell me a story about dragons",
    "i would like to know how far away the moon is",
    "add milk and eggs to the shopping list",
    "what do you think about politics",
    "open the window in the kitchen",
]


@pytest.fixture(scope="module")
def recognizer() -> PocketsphinxRecognizer:
    recognizer = PocketsphinxRecognizer(GRAMMAR)
    recognizer.warm()
    return recognizer


@pytest.mark.shows("V30")
def test_commands_are_understood(recognizer: PocketsphinxRecognizer, tmp_path: Path, every_step: bool) -> None:
    rate = WordErrorRate()
    for sentence, voice in sample([*zip(COMMANDS, cycle(["slt", "rms"]), strict=False)], 3, whole=every_step):
        transcript = recognizer.transcribe(utterance(said(sentence, voice, tmp_path)))
        rate.add(sentence, transcript.text)
        assert transcript.recognizer == "pocketsphinx"
        assert transcript.language == "en"
        if transcript.text == sentence:
            assert transcript.confidence == "normal"
    assert rate.rate < 0.1, rate


@pytest.mark.shows("V30", "V12")
def test_other_speech_becomes_no_command_but_words_of_low_confidence(
    recognizer: PocketsphinxRecognizer, tmp_path: Path, every_step: bool
) -> None:
    rate = WordErrorRate()
    for sentence in sample(OTHER_SPEECH, 2, whole=every_step):
        transcript = recognizer.transcribe(utterance(said(sentence, "slt", tmp_path)))
        assert transcript.confidence == "low", transcript
        assert understood_guard("en")(turn(transcript)) == ""
        rate.add(sentence, transcript.text)
    assert rate.rate < 0.3, rate


OTHER_LANGUAGES = {
    "de": "wie spät ist es, und wird es morgen regnen",
    "es": "qué hora es, y va a llover mañana por la tarde",
    "fr-fr": "quelle heure est-il et est-ce qu'il va pleuvoir demain",
    "ru": "который час и будет ли завтра дождь",
}


@pytest.mark.shows("V12")
def test_another_language_is_not_understood(
    recognizer: PocketsphinxRecognizer, tmp_path: Path, every_step: bool
) -> None:
    for voice in sample([*OTHER_LANGUAGES], 1, whole=every_step):
        transcript = recognizer.transcribe(utterance(said(OTHER_LANGUAGES[voice], voice, tmp_path)))
        assert transcript.confidence == "low", transcript
        assert understood_guard("en")(turn(transcript)) == NOT_UNDERSTOOD, transcript


HUMAN_CLIPS = {
    **{f"wyoming-faster-whisper__living_room_light_{each}.wav": False for each in ("de", "es", "ja", "yue", "zh")},
    "speech-recognition__chinese.flac": False,
    "rhino__test_within_context_de.wav": False,
    "speech-recognition__english.wav": True,
    "nodejs-docs-samples__brooklyn.flac": True,
    "pocketsphinx__cards001.wav": True,
    "RealtimeSTT__LJ001-0004.wav": True,
    "whisper__jfk.flac": True,
}
"""Of the shared folder, and whether they are English."""


needs_shared = pytest.mark.skipif(not SHARED_CLIPS.is_dir(), reason=f"no human clips: {SHARED_CLIPS} is not there")


@needs_shared
@pytest.mark.shows("V12")
def test_human_speech_is_understood_where_it_is_english(recognizer: PocketsphinxRecognizer, every_step: bool) -> None:
    for name in [*HUMAN_CLIPS][:: 1 if every_step else 2]:
        transcript = recognizer.transcribe(utterance(trimmed(read_recording(SHARED_CLIPS / "clips" / name))))
        assert (understood_guard("en")(turn(transcript)) == "") is HUMAN_CLIPS[name], (name, transcript)


NO_COMMANDS = {
    "next": "slt",
    "pause timer": "rms",
    "computer": "awb",
    "follow me": "slt",
    "play some music": "rms",
    "what a nice room": "awb",
}
"""What sounds a little like a command, and the voice that says it in the sample."""


@pytest.mark.shows("V12")
def test_what_sounds_a_little_like_a_command_is_none(tmp_path: Path, every_step: bool) -> None:
    recognizer = PocketsphinxRecognizer(command_grammar())
    for words, voice in sample([*NO_COMMANDS.items()], 2, whole=every_step):
        for each in ("slt", "rms", "awb") if every_step else (voice,):
            transcript = recognizer.transcribe(utterance(said(words, each, tmp_path)))
            assert transcript.confidence == "low", (each, transcript)


def test_agreement_is_of_sounds() -> None:
    assert agreement(["T", "ER", "N"], ["T", "ER", "N"]) == 1.0
    assert agreement(["Y", "EH", "S"], []) == 0.0
    assert agreement(["HH", "AH", "L", "OW"], ["HH", "AE", "L", "OW", "D"]) == pytest.approx(0.7)
    assert agreement(["N", "OW"], ["OW", "N"]) == pytest.approx(0.0)


def test_what_comes_before_does_not_change_what_is_heard(recognizer: PocketsphinxRecognizer, tmp_path: Path) -> None:
    question = utterance(said("what time is it", "slt", tmp_path))
    alone = recognizer.transcribe(question)
    recognizer.transcribe(utterance(said("set a timer for five minutes", "rms", tmp_path)))
    assert recognizer.transcribe(question) == alone


def test_a_search_that_broke_off_leaves_the_next_utterance_to_be_heard(tmp_path: Path) -> None:
    search, question = CommandSearch(GRAMMAR), said("what time is it", "slt", tmp_path).tobytes()
    with pytest.raises(IndexError):  # the binding's, in the midst of an utterance
        search.find(b"")
    assert search.find(question).text == "what time is it"


@pytest.mark.shows("V11")
def test_noise_and_silence_are_no_command(recognizer: PocketsphinxRecognizer) -> None:
    noise = np.random.default_rng(2).normal(0, 1, 16000)
    for samples in (silence(1.0), *((noise * level).astype(np.int16) for level in (30, 3000))):
        transcript = recognizer.transcribe(utterance(samples))
        assert transcript.confidence == "low", transcript


def test_an_empty_grammar_leaves_the_language_model(tmp_path: Path) -> None:
    recognizer = PocketsphinxRecognizer({"command": ["nakari"]})
    transcript = recognizer.transcribe(utterance(said("what time is it", "slt", tmp_path)))
    assert transcript.confidence == "low"
    assert set(transcript.evidence) == {"understood"}
    assert word_errors("what time is it", transcript.text) <= 2


def test_words_outside_the_dictionary_do_not_fail_the_grammar() -> None:
    search = CommandSearch({"command": ["nakari", "never mind"]})
    search.warm()
    assert search.commands == {"command": ["never mind"]}


KNOWN = frozenset({"a", "is", "it", "lights", "now", "on", "set", "stop", "the", "time", "timer", "turn", "what"})


def kept(alternatives: list[str], **rules: list[str]) -> dict[str, list[str]]:
    return restrict({"command": alternatives, **rules}, KNOWN.__contains__)


def test_known_words_stay_as_they_are() -> None:
    alternatives = ["what time is it [now]", "(set | stop) [a | the] timer", "stop"]
    assert kept(alternatives) == {"command": alternatives}


def test_an_unknown_word_takes_its_own_branch_with_it_and_no_more() -> None:
    assert kept(["turn [nakari] lights on"]) == {"command": ["turn lights on"]}
    assert kept(["(set | nakari | stop) the timer"]) == {"command": ["(set | stop) the timer"]}
    assert kept(["[a | nakari] timer", "nakari", "stop"]) == {"command": ["[a] timer", "stop"]}
    assert kept(["stop [the (nakari | unheard of) timer]"]) == {"command": ["stop"]}


def test_rules_that_nobody_can_say_disappear_with_what_needs_them() -> None:
    rules = {"name": ["nakari"], "thing": ["<name> timer", "[<name>] timer"], "lost": ["<name>"]}
    assert kept(["stop <thing>", "stop <lost>", "<nowhere>"], **rules) == {
        "command": ["stop <thing>"],
        "thing": ["timer"],
    }


def test_nothing_may_be_left() -> None:
    assert kept(["nakari"]) == {}
    assert restrict({}, KNOWN.__contains__) == {}


def test_upper_case_is_lowered_as_the_dictionary_is() -> None:
    assert kept(["What Time Is It"]) == {"command": ["what time is it"]}


@pytest.mark.parametrize("wrong", ["(set", "set)", "[a timer", "a [timer)"])
def test_brackets_that_do_not_match_are_an_error(wrong: str) -> None:
    with pytest.raises(ValueError, match="unbalanced brackets in the command"):
        kept([wrong])


def test_the_text_has_one_public_rule() -> None:
    text = jsgf({"command": ["stop", "<timer> | now"], "timer": ["set a timer"]})
    assert text.splitlines() == [
        "#JSGF V1.0;",
        "grammar commands;",
        "public <command> = (stop) | (<timer> | now);",
        "<timer> = (set a timer);",
    ]
