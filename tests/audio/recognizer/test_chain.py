"""A chain of recognizers: who is asked, for how long, who is left out, and that no word is lost."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pytest
from structlog.testing import capture_logs
from wyoming.asr import TranscriptChunk

from audio.egress import SendsTo
from audio.errors import ModelDamaged, RecognitionFailed, RecognizerAbsent
from audio.recognizer.chain import Engine, RecognizerChain, seconds_for
from audio.recognizer.openai_api import OpenAiRecognizer
from audio.recognizer.wyoming import WyomingRecognizer
from audio.speech import Transcript, Utterance
from audio.wyoming import server_at
from tests.audio.ears_fakes import ScriptedRecognizer
from tests.audio.transcription_server import HTML, Answer, as_json, refusal, transcribing, verbose
from tests.audio.wyoming_server import Peer, wyoming_server

WORDS = "turn on the light"


def spoken(seconds: float = 1.5, probability: float = 0.97) -> Utterance:
    samples = np.zeros(round(16_000 * seconds), np.int16)
    return Utterance(samples, 0.3, 0.3 + seconds, 1.0 + seconds, seconds, probability=probability)


def local(*script: str | Exception, name: str = "whisper") -> ScriptedRecognizer:
    return ScriptedRecognizer(script, name, is_warm=True)


@dataclass
class Remote:
    """A `RemoteRecognizer` by script; None is no answer at all."""

    script: list[str | Exception | None]
    name: str = "remote"
    sends_to: tuple[SendsTo, ...] = (SendsTo("the sound of what is said", "speech.home"),)
    asked: int = 0
    connects: int = 0
    is_closed: bool = False
    broken_off: int = 0

    async def connect(self) -> None:
        self.connects += 1

    async def recognize(self, utterance: Utterance) -> Transcript:
        said = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        if said is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.broken_off += 1
                raise
        if isinstance(said, Exception):
            raise said
        return Transcript(str(said), "en", self.name, evidence={"avg_logprob": -0.2})

    async def aclose(self) -> None:
        self.is_closed = True


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Last:
    """What makes the last resort, and how often it was made."""

    made: list[ScriptedRecognizer] = field(default_factory=list)

    def __call__(self) -> ScriptedRecognizer:
        self.made.append(local("stop", name="last resort"))
        return self.made[-1]


@contextmanager
def chain_of(
    *engines: Engine, patience: float = 3.0, clock: Callable[[], float] | None = None, last: Last | None = None
) -> Iterator[RecognizerChain]:
    chain = RecognizerChain(engines, last or Last(), patience=patience, clock=clock or Clock())
    try:
        yield chain
    finally:
        chain.close()


FAILED = RecognitionFailed("no")


@pytest.mark.shows("F28")
def test_the_first_hears_and_nobody_else_is_asked() -> None:
    whisper, remote, last = local(WORDS), Remote(["elsewhere"]), Last()
    with chain_of(whisper, remote, last=last) as chain:
        assert chain.name == "whisper"
        assert chain.transcribe(spoken()).text == WORDS
    assert (remote.asked, last.made) == (0, [])


def test_half_a_character_of_a_server_is_a_question_mark() -> None:
    with chain_of(Remote(["what time is it \ud800"])) as chain:
        assert chain.transcribe(spoken()).text == "what time is it ?"


@pytest.mark.shows("F28", "V14")
@pytest.mark.parametrize("order", ["local first", "remote first"])
def test_where_the_first_fails_the_next_hears_the_same_utterance(order: str) -> None:
    first: Engine = local(FAILED) if order == "local first" else Remote([FAILED])
    second: Engine = Remote([WORDS]) if order == "local first" else local(WORDS)
    with chain_of(first, second) as chain, capture_logs() as logged:
        heard = chain.transcribe(spoken())
        assert (heard.text, heard.recognizer, chain.name) == (WORDS, second.name, second.name)
        assert chain.describe() == {first.name: "rests 10 s: no", second.name: "ready"}
    assert [(each["event"], each["recognizer"], each["rests_seconds"]) for each in logged] == [
        ("recognizer_failed", first.name, 10)
    ]


def test_one_that_failed_is_left_out_for_longer_each_time_and_comes_back() -> None:
    clock, remote, whisper = Clock(), Remote([FAILED, FAILED, WORDS]), local()
    with chain_of(remote, whisper, clock=clock) as chain:
        for now, asked in ((0.0, 1), (9.9, 1), (10.1, 2), (29.9, 2), (30.2, 3), (30.3, 4)):
            clock.now = now
            chain.transcribe(spoken())
            assert remote.asked == asked, now
        assert chain.describe()["remote"] == "ready"
    assert len(whisper.heard) == 4


def test_alone_and_resting_it_is_asked_all_the_same_before_the_last_resort() -> None:
    last, remote = Last(), Remote([FAILED, WORDS])
    with chain_of(remote, last=last) as chain:
        assert chain.transcribe(spoken()).recognizer == "last resort"
        assert chain.transcribe(spoken()).text == WORDS
    assert len(last.made) == 1


@pytest.mark.shows("V14")
def test_a_late_one_is_broken_off_and_not_waited_for_again_while_it_rests() -> None:
    clock, late, remote = Clock(), spoken(0.1), Remote([None])
    with chain_of(remote, patience=0.01, clock=clock) as chain:
        assert chain.transcribe(late).recognizer == "last resort"
        assert remote.broken_off == 1
        assert "did not answer within 0.1 s" in chain.describe()["remote"]
        chain.transcribe(late)
        assert remote.asked == 1
        clock.now = 11.0
        chain.transcribe(late)
        assert (remote.asked, remote.broken_off) == (2, 2)


def test_the_time_that_one_has_grows_with_the_utterance() -> None:
    assert seconds_for(spoken(2.0), 3.0) == 4.0
    assert seconds_for(spoken(20.0), 3.0) == 13.0


def test_a_late_local_one_does_not_keep_the_next_waiting() -> None:
    whisper = local(WORDS)
    whisper.may_answer.clear()
    with chain_of(whisper, Remote([WORDS]), patience=0.05) as chain:
        assert chain.transcribe(spoken(0.1)).recognizer == "remote"
        whisper.may_answer.set()


def test_whom_nobody_follows_has_all_the_time_on_this_machine() -> None:
    whisper = local(WORDS)
    whisper.may_answer.clear()
    threading.Timer(0.2, whisper.may_answer.set).start()
    with chain_of(Remote([FAILED]), whisper, patience=0.01) as chain:
        assert chain.transcribe(spoken(0.1)).text == WORDS


def test_one_that_is_not_here_yet_is_passed_over_and_does_not_rest() -> None:
    whisper = local(RecognizerAbsent("no Whisper model is here yet"), WORDS)
    with chain_of(whisper, Remote(["elsewhere"])) as chain:
        assert chain.transcribe(spoken()).text == "elsewhere"
        assert chain.describe()["whisper"] == "no Whisper model is here yet"
        assert chain.transcribe(spoken()).text == WORDS
        assert chain.describe()["whisper"] == "ready"


@pytest.mark.parametrize(
    ("first", "second", "taken"),
    [
        ("", WORDS, WORDS),
        ("", "", ""),
        ("so " * 200, WORDS, WORDS),  # repeated, and more than anybody says
        ("a", WORDS, WORDS),  # a part
        ("a", "", "a"),
        ("so " * 200, "a", "so " * 200),
    ],
)
def test_what_hardly_was_said_is_not_taken_of_clear_speech_before_the_next_was_asked(
    first: str, second: str, taken: str
) -> None:
    last = Last()
    with chain_of(local(first), Remote([second]), last=last) as chain:
        assert chain.transcribe(spoken()).text == taken
        assert chain.describe() == {"whisper": "ready", "remote": "ready"}
    assert last.made == []


@pytest.mark.parametrize("next_fails", [True, False])
def test_silence_about_what_is_no_clear_speech_is_believed(next_fails: bool) -> None:
    remote = Remote([FAILED if next_fails else WORDS])
    with chain_of(local("", ""), remote) as chain:
        assert chain.transcribe(spoken(0.4, 0.7)).text == ""
        assert remote.asked == 0
        assert chain.transcribe(spoken()).text == ("" if next_fails else WORDS)


def test_repetition_is_found_in_words_that_come_without_figures() -> None:
    answer = as_json({"text": "Thank you. " * 30})
    with transcribing(answer) as server, chain_of(OpenAiRecognizer(server.url, "whisper-1")) as chain:
        evidence = chain.transcribe(spoken()).evidence
    assert set(evidence) == {"compression_ratio"}
    assert evidence["compression_ratio"] > 2.4


FAULTS = {
    "slow first byte": Answer(verbose(WORDS).body, waits=True),
    "cut in the middle": Answer(verbose(WORDS).body, cut_at=20),
    "wrong content type": Answer(b"\x00\x01", type_="audio/wav"),
    "4xx": refusal(401, "Incorrect API key"),
    "5xx": Answer(b"Traceback", 500, "text/plain"),
    "endless": Answer(b"x" * 65_536, is_endless=True),
    "elsewhere": Answer(b"", 302, HTML, {"Location": "http://localhost:1/"}),
    "a login page": Answer(b"<html>Sign in</html>", type_=HTML),
    "empty text": as_json({"text": ""}),
    "nonsense": as_json({"text": "\u202e" * 5000}),
    "hallucinated": verbose("Thanks for watching!", avg_logprob=-1.6, no_speech_prob=0.95),
}


@pytest.mark.shows("V14", "F28")
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_a_server_loses_a_word(fault: str) -> None:
    with (
        transcribing(FAULTS[fault]) as server,
        chain_of(OpenAiRecognizer(server.url, "whisper-1"), local(WORDS), patience=0.1) as chain,
    ):
        assert chain.transcribe(spoken()).text == WORDS


@pytest.mark.shows("V14", "F28")
def test_a_server_that_is_killed_during_a_request_loses_no_word() -> None:
    with transcribing(Answer(verbose(WORDS).body, waits=True)) as server:

        def kill() -> None:
            server.has_begun.wait(30)
            server.die()

        killer = threading.Thread(target=kill)
        killer.start()
        with chain_of(OpenAiRecognizer(server.url, "whisper-1"), local(WORDS, WORDS), patience=60.0) as chain:
            heard = chain.transcribe(spoken())
        killer.join()
    assert (heard.text, heard.recognizer) == (WORDS, "whisper")


@pytest.mark.shows("V28", "F28")
@pytest.mark.parametrize("fault", ["slow first byte", "endless", "gone"])
async def test_no_fault_of_a_wyoming_server_loses_a_word(fault: str) -> None:
    async def answer(peer: Peer) -> None:
        if fault == "slow first byte":
            await server.go_on.wait()
        while fault == "endless":
            await peer.write(TranscriptChunk(""))

    async with wyoming_server(answer) as server:
        chain = RecognizerChain([WyomingRecognizer(server_at(server.url, 1)), local(WORDS)], Last(), patience=0.1)
        heard = await asyncio.to_thread(chain.transcribe, spoken(0.5))
        await asyncio.to_thread(chain.close)
    assert (heard.text, heard.recognizer) == (WORDS, "whisper")


def test_a_dead_server_is_asked_again_once_it_is_back() -> None:
    clock = Clock()
    answers = [Answer(b"", 503), verbose("from the server")]
    with (
        transcribing(lambda _: answers.pop(0)) as server,
        chain_of(OpenAiRecognizer(server.url, "whisper-1"), local(WORDS), clock=clock) as chain,
    ):
        assert chain.transcribe(spoken()).text == WORDS
        clock.now = 20.0
        assert chain.transcribe(spoken()).text == "from the server"


def test_warming_loads_the_local_ones_and_connects_to_the_others_and_goes_on_without_the_broken() -> None:
    class Damaged(ScriptedRecognizer):
        def warm(self) -> None:
            raise ModelDamaged("the Whisper model is damaged; fetch it again")

    remote, whisper = Remote([WORDS]), ScriptedRecognizer((), "whisper")
    with chain_of(Damaged((), "damaged"), remote, whisper) as chain:
        chain.warm()
        assert (remote.connects, whisper.is_warm) == (1, True)
        assert chain.transcribe(spoken()).recognizer == "remote"
        assert chain.describe()["damaged"].startswith("rests 10 s: the Whisper model is damaged")


def test_the_connection_that_comes_next_is_opened_ahead() -> None:
    first, second = Remote([FAILED, WORDS]), Remote([WORDS], "second")
    with chain_of(first, second) as chain:
        chain.prewarm()
        assert (first.connects, second.connects) == (1, 0)
        chain.transcribe(spoken())
        chain.prewarm()
        assert (first.connects, second.connects) == (1, 1)
    with chain_of(local(), Remote([WORDS])) as chain:
        chain.prewarm()


def test_nothing_is_opened_ahead_where_nobody_is_worth_it() -> None:
    remote = Remote([None])
    with chain_of(remote, patience=0.01) as chain:
        chain.transcribe(spoken(0.1))
        chain.prewarm()
        assert remote.connects == 0


def test_a_failure_that_took_long_is_as_bad_as_a_late_answer() -> None:
    clock = Clock()

    class Unreachable(Remote):
        async def recognize(self, utterance: Utterance) -> Transcript:
            clock.now += 1.5
            return await super().recognize(utterance)

    remote = Unreachable([FAILED])
    with chain_of(remote, clock=clock) as chain:
        for _ in range(2):
            assert chain.transcribe(spoken()).recognizer == "last resort"
    assert remote.asked == 1


@pytest.mark.shows("F28")
def test_a_stop_does_not_wait_for_a_server() -> None:
    with transcribing(Answer(verbose(WORDS).body, waits=True)) as server:
        chain = RecognizerChain([OpenAiRecognizer(server.url, "whisper-1"), local(WORDS)], Last(), patience=1000.0)
        heard: list[str] = []
        hearing = threading.Thread(target=lambda: heard.append(chain.transcribe(spoken()).recognizer))
        hearing.start()
        assert server.has_begun.wait(30)
        chain.close()
        hearing.join(30)
        assert heard == ["whisper"]
        chain.close()


def test_nothing_is_opened_ahead_while_somebody_is_heard() -> None:
    whisper, remote = local(WORDS), Remote([FAILED])
    whisper.may_answer.clear()
    with chain_of(remote, whisper) as chain:
        hearing = threading.Thread(target=chain.transcribe, args=(spoken(),))
        hearing.start()
        assert whisper.has_begun.wait(30)
        chain.prewarm()
        assert remote.connects == 0
        whisper.may_answer.set()
        hearing.join()


def test_closed_it_lets_go_and_opens_anew() -> None:
    remote = Remote([WORDS])
    with chain_of(remote) as chain:
        chain.transcribe(spoken())
        chain.close()
        assert remote.is_closed
        assert chain.transcribe(spoken()).text == WORDS


def test_what_all_of_them_send_is_told_once() -> None:
    with chain_of(local(), Remote([]), Remote([], "other")) as chain:
        assert chain.sends_to == (SendsTo("the sound of what is said", "speech.home"),)
