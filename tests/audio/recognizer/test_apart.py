"""What listens in a process of its own says the same, comes back when it is killed, and ends with who asked it."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from audio.errors import RecognitionFailed
from audio.pcm import Samples
from audio.recognizer.apart import ROOT, Apart, ApartKeywords
from audio.recognizer.keyword_decoder import CommandSearch, Keyword, KeywordDecoder, SpeechSearch
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer, judged
from benchmarks.processes import children_of
from tests.audio.spoken import said, utterance

pytestmark = pytest.mark.shows("V9", "V16")

COMMANDS = {"command": ["what time is it", "stop"]}


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return said("what time is it", "slt", tmp_path_factory.mktemp("said"))


def test_a_command_is_recognized_as_it_would_be_here(question: Samples) -> None:
    recognizer = PocketsphinxRecognizer(COMMANDS)
    recognizer.warm()
    asked = utterance(question)
    heard = recognizer.transcribe(asked)
    assert heard.text == "what time is it"
    assert heard == judged(
        CommandSearch(COMMANDS).find(asked.samples.tobytes()), *SpeechSearch().find(asked.samples.tobytes())
    )


def test_phrases_are_found_as_they_would_be_here(question: Samples) -> None:
    found = ApartKeywords(["what time"]).find(question)
    assert [each.words for each in found] == ["what time"]
    assert found == KeywordDecoder(["what time"]).find(question.tobytes())


def test_the_lock_of_this_process_is_not_held_by_the_library(question: Samples) -> None:
    program = (
        "import sys; import numpy as np; from audio.speech import Utterance;"
        "from appliance.input.whisper.recognizers import last_resort;"
        "from audio.reflexes.keyword_search import KeywordSearch;"
        "KeywordSearch().warm();"
        "sound = np.frombuffer(sys.stdin.buffer.read(), np.int16);"
        "print(last_resort().transcribe(Utterance(sound, 0.0, 1.0, 1.0, 1.0)).text, 'pocketsphinx' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, input=question.tobytes(), capture_output=True, check=True
    )
    assert told.stdout.decode().strip() == "what time is it False"


def test_one_that_is_killed_fails_one_sound_and_hears_the_next(question: Samples) -> None:
    recognizer, before = PocketsphinxRecognizer(COMMANDS), children()
    recognizer.warm()
    for process in children() - before:
        os.kill(process, signal.SIGKILL)
    gone = r"the process that listens for commands is gone \(.*exit code -9\); another one is started"
    with pytest.raises(RecognitionFailed, match=gone):
        recognizer.transcribe(utterance(question))
    with suppress(RecognitionFailed):  # the other one, where only the first was found dead
        recognizer.transcribe(utterance(question))
    assert recognizer.transcribe(utterance(question)).text == "what time is it"


def test_what_fails_there_fails_here_in_the_same_words(question: Samples) -> None:
    recognizer = PocketsphinxRecognizer({"command": ["(stop"]})
    for _ in range(2):
        with pytest.raises(RecognitionFailed, match="could not be loaded: unbalanced brackets in the command"):
            recognizer.transcribe(utterance(question))


def test_an_answer_that_nobody_took_is_not_that_of_the_next_sound(question: Samples) -> None:
    apart = Apart("keywords", ["what time"])
    apart.ask(question)
    apart.ask(np.zeros_like(question))
    assert apart.answer(list[Keyword]) == []


def test_who_is_not_needed_any_more_ends() -> None:
    apart, before = ApartKeywords(["stop"]), children()
    apart.warm()
    assert len(children() - before) == 1
    del apart
    assert children() == before


def test_it_ends_with_the_process_that_asked_it_however_that_ends() -> None:
    program = (
        "import os, signal; from audio.recognizer.apart import ApartKeywords; apart = ApartKeywords(['stop']);"
        "apart.warm(); print(apart._apart._process.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    told = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False)
    left = Path("/proc", told.stdout.decode().strip())
    while left.exists() and "(zombie)" not in (left / "status").read_text():
        os.sched_yield()


def children() -> set[int]:
    """Return the processes that this one has."""
    return {*children_of(os.getpid())}
