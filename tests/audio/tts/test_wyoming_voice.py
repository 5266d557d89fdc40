"""The voice of a Wyoming server, against one that speaks the protocol, with its faults."""

import numpy as np
import pytest
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.info import Attribution, Info, TtsProgram, TtsVoice
from wyoming.tts import SynthesizeStopped

from audio.egress import SendsTo
from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.interfaces import closing
from audio.tts.wyoming import WyomingSynthesizer
from audio.wyoming import server_at
from tests.audio.mouth_fakes import listen
from tests.audio.speech_server import RATE, sound
from tests.audio.wyoming_server import Answer, Peer, WyomingStandIn, wyoming_server

TEXT = "The kettle is on."
DATA = sound().tobytes()
SOMEBODY = Attribution("somebody", "http://example.org")


def info(*languages: str, streams: bool = False, installed: bool = True) -> Info:
    """What a server says that it can do: a voice for each language."""
    told = {"attribution": SOMEBODY, "description": None, "version": None}
    voices = [TtsVoice(name=f"voice-{code}", installed=True, languages=[code], **told) for code in languages]  # type: ignore[arg-type]
    program = TtsProgram(name="p", installed=installed, voices=voices, supports_synthesize_streaming=streams, **told)  # type: ignore[arg-type]
    return Info(tts=[program])


def chunks(data: bytes = DATA, size: int = 2048, rate: float = RATE, channels: int = 1) -> list[AudioChunk]:
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    return [AudioChunk(rate=rate, width=2, channels=channels, audio=piece) for piece in pieces]  # type: ignore[arg-type]


def answering(told: Info, *events: Eventable) -> Answer:
    """Describe, and answer the end of a request with these events; then hang up."""

    async def answer(peer: Peer) -> None:
        while (event := await peer.read()) is not None:
            if event.type == "describe":
                await peer.write(told)
            elif event.type in ("synthesize", "synthesize-stop"):
                await peer.write(*events)
                return

    return answer


START = AudioStart(rate=RATE, width=2, channels=1)
WHOLE: tuple[Eventable, ...] = (START, *chunks(), AudioStop())


def voice(server: WyomingStandIn, **voices: str) -> WyomingSynthesizer:
    return WyomingSynthesizer(server_at(server.url, 1), voices)


@pytest.mark.shows("F27")
async def test_a_sentence_is_asked_for_in_one_event_and_comes_whole() -> None:
    async with wyoming_server(answering(info("en_US"), *WHOLE)) as server:
        spoken = voice(server)
        first, second = await listen(spoken.speak(TEXT, "en")), await listen(spoken.speak(TEXT, "en"))
    assert (first.failure, second.failure) == ("", "")
    assert np.array_equal(first.samples, sound())
    assert server.types() == ["describe", "synthesize", "synthesize"], "what it can do is asked for once"
    assert server.got[1].data == {"text": TEXT, "voice": {"language": "en"}}


@pytest.mark.shows("F27")
async def test_a_server_that_streams_is_given_a_stream_and_its_parts_are_one_sentence() -> None:
    half = len(DATA) // 2
    parts: list[Eventable] = [
        START,
        *chunks(DATA[:half]),
        AudioStop(),
        START,
        *chunks(DATA[half:]),
        AudioStop(),
        SynthesizeStopped(),
    ]
    async with wyoming_server(answering(info("en", streams=True), *parts)) as server:
        outcome = await listen(voice(server).speak(TEXT, "en"))
    assert outcome.failure == ""
    assert np.array_equal(outcome.samples, sound())
    assert server.types() == ["describe", "synthesize-start", "synthesize-chunk", "synthesize-stop"]
    assert server.got[2].data == {"text": TEXT}


async def test_the_first_sound_is_heard_while_the_rest_is_made() -> None:
    async def answer(peer: Peer) -> None:
        await peer.read()
        await peer.write(info("en"))
        await peer.read()
        await peer.write(START, *chunks(DATA[:9600]))
        await server.go_on.wait()
        await peer.write(*chunks(DATA[9600:]), AudioStop())

    async with wyoming_server(answer) as server, closing(voice(server).speak(TEXT, "en")) as pieces:
        first = await anext(pieces)
        assert 0 < len(first.samples) <= 4800
        server.go_on.set()
        rest = [piece async for piece in pieces]
    assert np.array_equal(np.concatenate([first.samples, *(piece.samples for piece in rest)]), sound())


@pytest.mark.parametrize("size", [1, 3, 4801])
async def test_samples_that_are_cut_between_two_chunks_are_whole(size: int) -> None:
    data = DATA[:9602]
    events: list[Eventable] = [START, *chunks(data, size), AudioStop()]
    async with wyoming_server(answering(info("en"), *events)) as server:
        outcome = await listen(voice(server).speak(TEXT, "en"))
    assert (outcome.failure, outcome.samples.tobytes()) == ("", data)


@pytest.mark.parametrize(
    ("voices", "language", "asked"),
    [
        ({}, "en", {"language": "en"}),
        ({}, "", None),
        ({"en": "joe"}, "en", {"name": "joe"}),
        ({"zh": "chaowen"}, "zh", {"name": "chaowen"}),
        ({"en": "joe"}, "", None),
    ],
)
async def test_which_voice_is_asked_for(voices: dict[str, str], language: str, asked: dict[str, str] | None) -> None:
    async with wyoming_server(answering(info("en_GB", "zh-CN"), *WHOLE)) as server:
        assert (await listen(voice(server, **voices).speak(TEXT, language))).failure == ""
    assert server.got[-1].data.get("voice") == asked


@pytest.mark.parametrize(("voices", "known"), [({}, ("en",)), ({"en": "joe"}, ("en", "zh"))])
async def test_a_language_without_a_voice_is_left_to_the_next_engine(
    voices: dict[str, str], known: tuple[str, ...]
) -> None:
    async with wyoming_server(answering(info(*known), *WHOLE)) as server:
        with pytest.raises(SynthesisFailed, match="has no voice for 'zh'"):
            [piece async for piece in voice(server, **voices).speak("水开了。", "zh")]
    assert server.types() == ["describe"]


async def page(peer: Peer) -> None:
    await peer.raw(b"HTTP/1.1 400 Bad Request\r\n\r\n<html></html>")


FAULTS: dict[str, tuple[Answer, str]] = {
    "another protocol": (page, "no event of Wyoming"),
    "no speech": (answering(Info()), "has no voice that is installed"),
    "nothing installed": (answering(info("en", installed=False)), "has no voice that is installed"),
    "an error": (answering(info("en"), Error("out of memory")), "answered: out of memory"),
    "no sound": (answering(info("en"), START, AudioStop()), "without any sound"),
    "cut before any sound": (answering(info("en"), START), "closed the connection"),
    "cut in the middle": (answering(info("en"), START, *chunks(DATA[:9600])), "closed the connection"),
    "stopped, but its stream not": (answering(info("en", streams=True), *WHOLE), "closed the connection"),
    "half a sample": (answering(info("en"), START, *chunks(DATA[:-1]), AudioStop()), "in the middle of a sample"),
    "stereo": (answering(info("en"), START, *chunks(channels=2), AudioStop()), r"2 channel\(s\) of 2 bytes"),
    "another rate": (answering(info("en"), START, *chunks(), *chunks(rate=8000), AudioStop()), "at 8000 Hz"),
    "a rate of zero": (answering(info("en"), START, *chunks(rate=0), AudioStop()), "it has 0 samples a second"),
    "an endless rate": (answering(info("en"), START, *chunks(rate=10**15), AudioStop()), "4000 to 384000 are wanted"),
    "half a rate": (answering(info("en"), START, *chunks(rate=16000.5), AudioStop()), "it has 16000.5 samples"),
}


@pytest.mark.shows("F27")
@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_is_an_error_that_names_it(fault: str) -> None:
    answer, sentence = FAULTS[fault]
    async with wyoming_server(answer) as server:
        spoken = voice(server)
        with pytest.raises(SynthesisFailed, match=sentence) as raised:
            [piece async for piece in spoken.speak(TEXT, "en")]
    assert str(raised.value).startswith(spoken.name)


async def test_after_a_failure_it_is_asked_what_it_can_do() -> None:
    async with wyoming_server(answering(info("en"), START)) as server:
        spoken = voice(server)
        assert (await listen(spoken.speak(TEXT, "en"))).failure != ""
        server.answer = answering(info("en", streams=True), *WHOLE[:-1], AudioStop(), SynthesizeStopped())
        assert (await listen(spoken.speak(TEXT, "en"))).failure == ""
    assert server.types().count("describe") == 2


async def test_a_chunk_that_lacks_its_rate_is_told() -> None:
    class Bare(AudioStop):
        def event(self) -> Event:
            return Event("audio-chunk", payload=DATA)

    async with wyoming_server(answering(info("en"), START, Bare(), AudioStop())) as server:
        with pytest.raises(SynthesisFailed, match="lacks what belongs to it"):
            [piece async for piece in voice(server).speak(TEXT, "en")]


async def test_nobody_there() -> None:
    async with wyoming_server(page) as server:
        spoken = voice(server)
    with pytest.raises(VoiceUnavailable, match="cannot be reached"):
        [piece async for piece in spoken.speak(TEXT, "en")]


def test_each_server_and_voice_has_its_own_phrases() -> None:
    voices = [
        WyomingSynthesizer(server_at("tcp://a", 1), {}),
        WyomingSynthesizer(server_at("tcp://b", 1), {}),
        WyomingSynthesizer(server_at("tcp://a", 1), {"en": "joe"}),
    ]
    assert len({each.identity for each in voices}) == 3
    assert voices[1].sends_to == (SendsTo("what nakari says", "b:1"),)
