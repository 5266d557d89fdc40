"""A Wyoming server that recognizes: what it is sent, what is made of its answers, and its faults."""

from collections.abc import Awaitable, Callable

import numpy as np
import pytest
from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.info import AsrModel, AsrProgram, Attribution, Info

from audio.errors import RecognitionFailed
from audio.recognizer.wyoming import MOST_LETTERS, WyomingRecognizer
from audio.speech import Utterance
from audio.wyoming import server_at
from tests.audio.wyoming_server import Peer, WyomingStandIn, wyoming_server

SOMEBODY = Attribution("somebody", "http://example.org")
MODEL = AsrModel("base", SOMEBODY, installed=True, description=None, version=None, languages=["en"])
ASR = AsrProgram("whisper", SOMEBODY, installed=True, description=None, version=None, models=[MODEL])


def spoken(samples: int = 2500) -> Utterance:
    return Utterance(np.arange(samples, dtype=np.int16), 0.3, 1.3, 2.0, 1.0)


def answering(*events: Eventable) -> Callable[[Peer], Awaitable[None]]:
    """Return what hears a sentence to its end, and then answers."""

    async def answer(peer: Peer) -> None:
        while (event := await peer.read()) is not None and not AudioStop.is_type(event.type):
            pass
        await peer.write(*events)

    return answer


def recognizer(server: WyomingStandIn, **told: object) -> WyomingRecognizer:
    return WyomingRecognizer(server_at(server.url, 1), **told)  # type: ignore[arg-type]


@pytest.mark.shows("V28")
async def test_a_sentence_goes_to_the_server_and_its_words_come_back() -> None:
    async with wyoming_server(answering(Transcript(" Turn on the light. ", language="en"))) as server:
        heard = await recognizer(server, model="base", language="en").recognize(spoken())
    assert (heard.text, heard.language, heard.recognizer) == ("Turn on the light.", "en", "wyoming:base")
    assert heard.evidence == {}
    asked, start, *chunks, stop = server.got
    assert Transcribe.from_event(asked) == Transcribe("base", "en")
    assert AudioStart.from_event(start) == AudioStart(16_000, 2, 1)
    assert AudioStop.is_type(stop.type)
    assert {(chunk.rate, chunk.width, chunk.channels) for chunk in map(AudioChunk.from_event, chunks)} == {
        (16_000, 2, 1)
    }
    sound = b"".join(AudioChunk.from_event(each).audio for each in chunks)
    assert np.array_equal(np.frombuffer(sound, "<i2"), spoken().samples)


async def test_each_sentence_has_a_connection_and_nothing_is_asked_for_that_is_not_set() -> None:
    async with wyoming_server(answering(Transcript("Yes."))) as server:
        asks = recognizer(server)
        assert [(await asks.recognize(spoken())).language for _ in range(2)] == ["", ""]
    assert server.connections == 2
    assert server.got[0].data == {}
    assert asks.name == f"wyoming:127.0.0.1:{server.port}"


@pytest.mark.shows("V13")
async def test_names_go_along_in_the_language_last_heard() -> None:
    asked_for: list[str] = []

    def names(language: str) -> list[str]:
        asked_for.append(language)
        return [f"name {number}" for number in range(100)]

    async with wyoming_server(answering(Transcript("Ja.", language="de"))) as server:
        asks = recognizer(server, hotwords=names)
        for _ in range(2):
            await asks.recognize(spoken())
    told = Transcribe.from_event(server.got[0]).transcript_names
    assert told is not None
    assert (told[:2], len(told), asked_for) == (["name 0", "name 1"], 64, ["", "de"])


PIECES = (TranscriptStart(language="en"), TranscriptChunk("Turn on"), TranscriptChunk(" the light."))


@pytest.mark.parametrize("end", [(Transcript("Turn on the light."), TranscriptStop()), (TranscriptStop(),)])
async def test_a_transcript_in_pieces(end: tuple[Eventable, ...]) -> None:
    async with wyoming_server(answering(*PIECES, *end)) as server:
        heard = await recognizer(server).recognize(spoken())
    assert (heard.text, heard.language) == ("Turn on the light.", "en")


class Wrong:
    """An event that is none."""

    def __init__(self, kind: str, data: dict[str, object]) -> None:
        self._event = Event(kind, data)

    def event(self) -> Event:
        return self._event


LONG = TranscriptChunk("so " * 1000)
FAULTS: dict[str, tuple[tuple[object, ...], str]] = {
    "closes without a word": ((), "closed the connection; start that server, or correct .* url"),
    "closes in the middle": (PIECES, "closed the connection"),
    "an error": ((Error("out of memory"),), "answered: out of memory"),
    "no text": ((Wrong("transcript", {}),), "lacks what belongs to it"),
    "a text that is none": ((Wrong("transcript", {"text": 7}),), "a transcript that is none"),
    "a language that is none": ((Wrong("transcript", {"text": "a", "language": [1]}),), "a transcript that is none"),
    "far too much text": ((Transcript("so " * MOST_LETTERS),), "a transcript that is none"),
    "pieces without end": ((LONG,) * 20, "a transcript that does not end"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_is_one_sentence_with_the_fix(fault: str) -> None:
    events, sentence = FAULTS[fault]
    async with wyoming_server(answering(*events)) as server:  # type: ignore[arg-type]
        with pytest.raises(RecognitionFailed, match=sentence) as raised:
            await recognizer(server).recognize(spoken())
    assert str(raised.value).startswith(f"the recognizer at 127.0.0.1:{server.port} ")


async def test_a_server_that_hangs_up_while_it_is_told() -> None:
    async def rude(peer: Peer) -> None:
        await peer.read()

    async with wyoming_server(rude) as server:
        with pytest.raises(RecognitionFailed, match="closed the connection"):
            await recognizer(server).recognize(spoken(2_000_000))


async def test_what_it_can_do_is_asked_once() -> None:
    async with wyoming_server(told_of(ASR)) as server:
        asks = recognizer(server, model="base")
        await asks.connect()
        await asks.connect()
    assert server.types() == ["describe"]


def told_of(*programs: AsrProgram) -> Callable[[Peer], Awaitable[None]]:
    async def describe(peer: Peer) -> None:
        await peer.read()
        await peer.write(Info(asr=list(programs)))

    return describe


async def test_a_server_that_recognizes_nothing_or_has_not_that_model() -> None:
    async with wyoming_server(told_of()) as server:
        with pytest.raises(RecognitionFailed, match=r"recognizes no speech; correct .* url"):
            await recognizer(server).connect()
    async with wyoming_server(told_of(ASR)) as server:
        with pytest.raises(RecognitionFailed, match=r"no model tiny; it has base; correct .* model"):
            await recognizer(server, model="tiny").connect()


def test_what_is_sent_is_told() -> None:
    server = server_at("tcp://speech.home:10300", 1)
    assert [(each.what, each.to) for each in WyomingRecognizer(server).sends_to] == [
        ("the sound of what is said", "speech.home:10300")
    ]
    assert len(WyomingRecognizer(server, hotwords=lambda _: []).sends_to) == 2
