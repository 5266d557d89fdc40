"""The real sherpa-onnx with the tests' streaming model: words, words so far, turns beside each other, bad folders."""

import os
import shutil
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from audio.errors import ModelDamaged, ModelNotFound, RecognitionFailed, RecognizerAbsent
from audio.interfaces import Recognizer, StreamingRecognizer
from audio.pcm import CHUNK_SAMPLES, SAMPLE_RATE, Samples
from audio.recognizer.chain import RecognizerChain
from audio.recognizer.sherpa_onnx import FollowedTurn, SherpaRecognizer, is_installed
from audio.speech import PartialWords, Utterance
from tests.audio.ears_fakes import ScriptedRecognizer
from tests.audio.spoken import HOUSEHOLD_STREAMING, said, silence, utterance, word_errors

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason="sherpa-onnx, the extra streaming, is not installed"),
]

SENTENCES = {
    "en": [("what time is it", "en-us"), ("play some jazz", "en-us")],
    "zh": [("现在几点了", "cmn")],
}

TIME = "what time is it"


@pytest.fixture(scope="module")
def recognizer() -> SherpaRecognizer:
    made = SherpaRecognizer(HOUSEHOLD_STREAMING, "en")
    made.warm()
    return made


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    """The utterance of a sentence, as the endpointer would hand it on."""
    return utterance(said(TIME, "en-us", tmp_path_factory.mktemp("said"))).samples


def chunks(samples: Samples) -> list[Samples]:
    return [samples[at : at + CHUNK_SAMPLES] for at in range(0, len(samples), CHUNK_SAMPLES)]


def followed(turn: FollowedTurn, samples: Samples) -> list[PartialWords]:
    return [turn.take(chunk) for chunk in chunks(samples)]


@pytest.mark.shows("V12")
@pytest.mark.parametrize("language", SENTENCES)
def test_sentences_of_two_languages_are_heard_with_their_language(
    recognizer: SherpaRecognizer, tmp_path: Path, language: str
) -> None:
    for text, voice in SENTENCES[language]:
        heard = recognizer.transcribe(utterance(said(text, voice, tmp_path)))
        assert (heard.text, heard.language) == (text, language)
        assert (heard.recognizer, heard.confidence) == ("sherpa-onnx:streaming-household", "normal")


def test_it_is_a_recognizer_that_streams_and_sends_nothing(recognizer: SherpaRecognizer) -> None:
    streaming: StreamingRecognizer = recognizer
    plain: Recognizer = recognizer
    assert isinstance(recognizer, StreamingRecognizer)
    assert (streaming.name, plain.sends_to) == ("sherpa-onnx:streaming-household", ())


@pytest.mark.shows("V7")
def test_words_grow_while_they_are_spoken_and_the_first_come_long_before_the_end(
    recognizer: SherpaRecognizer, spoken: Samples
) -> None:
    told = followed(recognizer.follow(), spoken)
    texts = [words.text for words in told]
    assert all(after.startswith(before) for before, after in pairwise(texts)), "what was told is not taken back"
    first = next(number for number, text in enumerate(texts) if text.startswith("what time"))
    assert first < len(texts) * 0.75
    assert len(set(texts)) >= 4
    assert texts[0] == ""


@pytest.mark.shows("V7")
def test_the_transcript_of_a_followed_turn_decodes_only_what_is_new(
    recognizer: SherpaRecognizer, spoken: Samples
) -> None:
    turn = recognizer.follow()
    followed(turn, spoken)
    heard = recognizer.transcribe(utterance_of(spoken))
    assert heard.text == TIME
    assert recognizer.transcribe(utterance_of(spoken)) == heard
    beyond = turn.take(silence(0.3))
    assert beyond.text == TIME, "the silence until the commit changes nothing"
    assert recognizer.transcribe(utterance_of(spoken)) == heard


def utterance_of(samples: Samples) -> Utterance:
    seconds = len(samples) / SAMPLE_RATE
    return Utterance(samples, 0.4, seconds - 0.2, seconds, seconds - 0.6)


def test_what_was_not_followed_to_its_end_is_completed(recognizer: SherpaRecognizer, spoken: Samples) -> None:
    half = len(spoken) // 2 // CHUNK_SAMPLES * CHUNK_SAMPLES
    turn = recognizer.follow()
    followed(turn, spoken[:half])
    assert recognizer.transcribe(utterance_of(spoken)).text == TIME
    late = followed(turn, spoken[half:])
    assert late[-1].text == TIME, "what the transcript took already is not heard twice"


def test_who_goes_on_after_a_pause_is_heard_whole(recognizer: SherpaRecognizer, tmp_path: Path) -> None:
    first = np.concatenate([silence(0.4), said("what time is it", "en-us", tmp_path), silence(0.2)])
    whole = np.concatenate([first, silence(0.4), said("play some jazz", "en-us", tmp_path), silence(0.2)])
    turn = recognizer.follow()
    followed(turn, first)
    assert recognizer.transcribe(utterance_of(first)).text == "what time is it"
    followed(turn, whole[len(first) :])
    heard = recognizer.transcribe(utterance_of(whole)).text
    assert heard.startswith("what time is it play")
    assert heard.endswith("jazz")


def test_each_turn_begins_anew_and_two_at_once_do_not_mix(
    recognizer: SherpaRecognizer, spoken: Samples, tmp_path: Path
) -> None:
    other = utterance(said("play some jazz", "en-us", tmp_path)).samples
    ours, theirs = recognizer.follow(), recognizer.follow()
    for mine, its in zip(chunks(spoken), chunks(other), strict=False):
        ours.take(mine)
        theirs.take(its)
    assert recognizer.transcribe(utterance_of(spoken)).text == TIME
    assert recognizer.transcribe(utterance_of(other)).text == "play some jazz"
    assert recognizer.transcribe(utterance_of(other)).text == "play some jazz"
    assert recognizer.follow().take(silence(0.1)).text == ""


def test_a_turn_that_is_dropped_in_its_middle_leaves_nothing(recognizer: SherpaRecognizer, spoken: Samples) -> None:
    followed(recognizer.follow(), spoken[: len(spoken) // 2])
    heard = recognizer.transcribe(utterance_of(spoken))
    assert heard.text == TIME, "nobody has its stream any more, so all of it is decoded"


@pytest.mark.shows("V10")
def test_silence_and_hiss_give_nothing(recognizer: SherpaRecognizer) -> None:
    hiss = (np.random.default_rng(1).normal(size=3 * SAMPLE_RATE) * 20).astype(np.int16)
    for sound in (silence(3), hiss):
        assert recognizer.recognize(sound).text == ""
        assert {words.text for words in followed(recognizer.follow(), sound)} == {""}
    assert recognizer.recognize(silence(0)).text == ""


def test_several_threads_at_once_hear_what_one_hears(recognizer: SherpaRecognizer, spoken: Samples) -> None:
    start = threading.Barrier(4)

    def hear(number: int) -> str:
        start.wait(30)
        if number % 2:
            return recognizer.recognize(spoken).text
        turn = recognizer.follow()
        return [*followed(turn, spoken), turn.take(silence(0.4))][-1].text

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(hear, range(4))) == {TIME}


def test_the_same_turn_from_two_threads_loses_and_doubles_nothing(
    recognizer: SherpaRecognizer, spoken: Samples
) -> None:
    turn = recognizer.follow()
    with ThreadPoolExecutor(2) as threads:
        taking = threads.submit(followed, turn, spoken)
        hearing = threads.submit(recognizer.transcribe, utterance_of(spoken))
        assert hearing.result(60).text == TIME
        assert taking.result(60)[-1].text == TIME


def test_a_model_that_is_not_loaded_follows_nothing(tmp_path: Path) -> None:
    with pytest.raises(RecognizerAbsent, match="is not loaded"):
        SherpaRecognizer(HOUSEHOLD_STREAMING).follow()
    with pytest.raises(ModelNotFound, match="there is no folder"):
        SherpaRecognizer(tmp_path / "gone").warm()


def without(key: bytes) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        file = folder / "model.onnx"
        file.write_bytes(file.read_bytes().replace(key, key[:-1] + b"X"))

    return damage


def with_other_layers(folder: Path) -> None:
    file = folder / "model.onnx"
    file.write_bytes(file.read_bytes().replace(b"cache_last_time_dim1\x12\x011", b"cache_last_time_dim1\x12\x015"))


FATAL = {
    "metadata that the library needs and nobody else": without(b"subsampling_factor"),
    "states of another size": with_other_layers,
}
"""For each of these the library ends the process, or raises only once it decodes."""


@pytest.mark.parametrize("what", FATAL)
def test_a_model_that_would_end_the_process_is_only_an_error_and_mended_without_a_restart(
    tmp_path: Path, what: str
) -> None:
    folder = shutil.copytree(HOUSEHOLD_STREAMING, tmp_path / "model")
    FATAL[what](folder)
    recognizer = SherpaRecognizer(folder)
    with pytest.raises(ModelDamaged, match=r"is damaged .*; remove the folder and unpack the model again") as first:
        recognizer.warm()
    assert "\n" not in str(first.value)
    with pytest.raises(ModelDamaged) as second:
        recognizer.warm()
    assert second.value is first.value, "it is not tried again while nothing has changed"
    shutil.copy(HOUSEHOLD_STREAMING / "model.onnx", folder / "model.onnx")
    recognizer.warm()


def test_a_trial_that_was_killed_is_no_fault_of_the_model_and_made_again() -> None:
    """As the kernel does where memory is short."""
    recognizer = SherpaRecognizer(HOUSEHOLD_STREAMING)
    with ThreadPoolExecutor(1) as one:
        warming = one.submit(recognizer.warm)
        os.kill(pid_of_trial(), signal.SIGKILL)
        with pytest.raises(RecognitionFailed, match="was killed while it was tried"):
            warming.result()
    recognizer.warm()


def pid_of_trial() -> int:
    """Return the process id of the trial that this process is about to start."""
    while True:
        for children in Path("/proc/self/task").glob("*/children"):
            with suppress(OSError):  # a thread, or the child, that has just ended
                for pid in children.read_text().split():
                    if "audio.recognizer.sherpa_onnx" in Path(f"/proc/{pid}/cmdline").read_text():
                        return int(pid)


def test_the_chain_goes_on_without_it(tmp_path: Path, spoken: Samples) -> None:
    other = ScriptedRecognizer([TIME])
    chain = RecognizerChain([SherpaRecognizer(tmp_path / "gone"), other], lambda: other)
    with closing(chain):
        chain.warm()
        assert chain.transcribe(utterance_of(spoken)).text == TIME
        assert "there is no folder" in chain.describe()["sherpa-onnx:gone"]


def test_in_a_chain_a_followed_turn_is_found_too(recognizer: SherpaRecognizer, spoken: Samples) -> None:
    chain = RecognizerChain([recognizer, ScriptedRecognizer(["something else"], is_warm=True)], ScriptedRecognizer)
    with closing(chain):
        followed(recognizer.follow(), spoken)
        assert word_errors(TIME, chain.transcribe(utterance_of(spoken)).text) == 0
