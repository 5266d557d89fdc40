"""GPT-SoVITS and OpenAI-compatible speech against a local server that speaks their protocols, with its faults."""

import asyncio
import json
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from audio.egress import SendsTo
from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.interfaces import Synthesizer, closing
from audio.loops import running
from audio.tts.decoding import SoundStream, mp3_frame_bytes
from audio.tts.http_speech import OpenAiSpeechSynthesizer, Reference, SovitsSynthesizer
from tests.audio.edge_server import mp3
from tests.audio.mouth_fakes import listen
from tests.audio.speech_server import (
    RATE,
    SECONDS,
    Answer,
    Cut,
    Exchange,
    sound,
    speak,
    speech_server,
    wav_header,
)

TEXT = "The kettle is on."
KEY = "sk-not-for-others"
Make: TypeAlias = Callable[[str], Synthesizer]


def sovits(url: str) -> SovitsSynthesizer:
    return SovitsSynthesizer(url, Reference("/voices/anna.wav", "en", "Good morning."), streaming_mode=3)


def openai(url: str) -> OpenAiSpeechSynthesizer:
    return OpenAiSpeechSynthesizer(f"{url}/v1", "tts-1", {"": "alloy", "zh": "xiaoxiao"}, key=KEY)


BOTH = pytest.mark.parametrize("make", [sovits, openai])
DATA = sound().tobytes()


@BOTH
@pytest.mark.shows("V20", "F27")
async def test_a_sentence_comes_whole_whatever_pieces_it_comes_in(make: Make) -> None:
    async with speech_server(speak) as server:
        outcome = await listen(make(server.url).speak(TEXT, "en"))
    assert outcome.failure == ""
    assert {piece.sample_rate for piece in outcome.pieces} == {RATE}
    assert np.array_equal(outcome.samples, sound())


@BOTH
@pytest.mark.shows("V20", "F27")
async def test_the_first_sound_is_heard_while_the_rest_is_made(make: Make) -> None:
    async def half(exchange: Exchange) -> None:
        await exchange.head(content_type="audio/wav")
        await exchange.chunk(wav_header(RATE) + DATA[:9600])
        await server.go_on.wait()
        await exchange.chunk(DATA[9600:])
        await exchange.end()

    async with speech_server(half) as server, closing(make(server.url).speak(TEXT, "en")) as pieces:
        first = await anext(pieces)
        assert 0 < len(first.samples) <= 4800
        server.go_on.set()
        rest = [piece async for piece in pieces]
    assert np.array_equal(np.concatenate([first.samples, *(piece.samples for piece in rest)]), sound())


@pytest.mark.shows("V20")
@pytest.mark.parametrize(
    ("language", "asked"),
    [("en", "en"), ("zh", "zh"), ("ja", "ja"), ("ko", "ko"), ("yue", "yue"), ("de", "auto"), ("", "auto")],
)
async def test_sovits_is_asked_in_its_own_words(language: str, asked: str) -> None:
    async with speech_server(speak) as server:
        await listen(sovits(server.url).speak(TEXT, language))
    assert (server.asked[0].path, server.asked[0].headers["content-type"]) == ("/tts", "application/json")
    assert "authorization" not in server.asked[0].headers
    assert server.asked[0].body == {
        "text": TEXT,
        "text_lang": asked,
        "ref_audio_path": "/voices/anna.wav",
        "prompt_lang": "en",
        "prompt_text": "Good morning.",
        "media_type": "wav",
        "streaming_mode": 3,
    }


@pytest.mark.shows("F27")
@pytest.mark.parametrize(("language", "voice"), [("en", "alloy"), ("zh", "xiaoxiao"), ("", "alloy")])
async def test_openai_is_asked_with_the_key_and_the_voice_of_the_language(language: str, voice: str) -> None:
    async with speech_server(speak) as server:
        await listen(openai(server.url).speak(TEXT, language))
    assert server.asked[0].path == "/v1/audio/speech"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.asked[0].body == {"model": "tts-1", "voice": voice, "input": TEXT, "response_format": "pcm"}


KINDS: dict[str, tuple[bytes, str, int]] = {
    "PCM": (DATA, "application/octet-stream", RATE),
    "PCM of a rate that is named": (sound(22_050).tobytes(), "audio/pcm; rate=22050", 22_050),
    "WAV that is called PCM": (wav_header(RATE, len(DATA)) + DATA, "audio/pcm", RATE),
    "WAV that is called a page": (wav_header(RATE, len(DATA)) + DATA, "text/html", RATE),
    "WAV with something behind its samples": (wav_header(RATE, len(DATA)) + DATA + b"LIST\x04\0\0\0abcd", "x/y", RATE),
    "WAV of 44.1 kHz": (wav_header(44_100, 132_300) + sound(44_100).tobytes(), "audio/wav", 44_100),
    "MP3": (mp3(sound(), RATE), "audio/mpeg", RATE),
    "MP3 that is called PCM": (mp3(sound(), RATE), "audio/pcm", RATE),
    "MP3 with a tag": (b"ID3\x04\0\0\0\0\0\x0a" + bytes(10) + mp3(sound(), RATE), "audio/mpeg", RATE),
}


@pytest.mark.shows("F27")
@pytest.mark.parametrize("size", [7, 100_000])
@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_is_taken_for_what_it_is(kind: str, size: int) -> None:
    data, name, rate = KINDS[kind]

    async def answer(exchange: Exchange) -> None:
        await exchange.stream(*(data[at : at + size] for at in range(0, len(data), size)), kind=name)

    async with speech_server(answer) as server:
        outcome = await listen(openai(server.url).speak(TEXT, "en"))
    assert outcome.failure == ""
    assert {piece.sample_rate for piece in outcome.pieces} == {rate}
    assert outcome.seconds == pytest.approx(SECONDS, abs=0.15)


def test_pcm_that_begins_like_mp3_is_pcm() -> None:
    data = b"\xff\xfb\x90\x00" + DATA
    assert mp3_frame_bytes(data) > 0
    stream = SoundStream(RATE)
    assert len(stream.feed(data[:100])) == 0, "it may still be either"
    assert len(stream.feed(data[100:])) + len(stream.finish()) == len(data) // 2


def said(status: int, body: bytes, kind: str) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.whole(body, kind, status)

    return answer


def cut_after(*pieces: bytes) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.head(content_type="audio/wav")
        for piece in pieces:
            await exchange.chunk(piece)
        raise Cut

    return answer


async def shorter_than_said(exchange: Exchange) -> None:
    await exchange.head(content_type="audio/wav", content_length=str(44 + len(DATA)))
    await exchange.raw(wav_header(RATE) + DATA[:9600])
    raise Cut


async def wrong_path(exchange: Exchange) -> None:
    await exchange.head(307, content_length="0", location="http://elsewhere.example/v1/audio/speech")


def streamed(*pieces: bytes) -> Answer:
    async def answer(exchange: Exchange) -> None:
        await exchange.stream(*pieces)

    return answer


SOVITS_SAYS = json.dumps({"message": "tts failed", "Exception": "text_lang: xx is not supported"}).encode()
FASTAPI_SAYS = json.dumps({"detail": [{"type": "missing", "msg": "Field required", "input": {"text": TEXT}}]}).encode()
OPENAI_SAYS = json.dumps({"error": {"message": f"Incorrect API key: {KEY}", "type": "invalid_request_error"}}).encode()
FAULTS: dict[str, tuple[Answer, str]] = {
    "400 with JSON": (said(400, SOVITS_SAYS, "application/json"), "HTTP 400: text_lang: xx is not supported"),
    "422 with a list": (said(422, FASTAPI_SAYS, "application/json"), "HTTP 422: Field required$"),
    "401 that tells the key": (said(401, OPENAI_SAYS, "application/json"), "HTTP 401: Incorrect API key: (…|sk-)"),
    "500 with a page": (said(500, b"<html><body>" + b"x" * 10_000, "text/html"), "HTTP 500$"),
    "502 with plain words": (said(502, b"upstream is\n away", "text/plain"), "HTTP 502: upstream is away$"),
    "429 with an endless line": (said(429, b"y" * 1_000_000, "text/plain"), "HTTP 429: y{200}…$"),
    "a page that is called sound": (said(200, b"<!DOCTYPE html><p>Log in</p>", "audio/wav"), "is a text, no sound"),
    "JSON that is called sound": (said(200, b'{"error": "busy"}    ', "audio/pcm"), "is a text, no sound"),
    "an image": (said(200, b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png"), "neither WAV nor MP3"),
    "Ogg": (said(200, b"OggS" + bytes(100), "audio/ogg"), "neither WAV nor MP3"),
    "nothing": (streamed(), "the answer is empty"),
    "a header only": (streamed(wav_header(RATE)), "holds no sound"),
    "a header that promises more": (streamed(wav_header(RATE, len(DATA)), DATA[:24_000]), "last 1.0 s .* missing"),
    "half a sample": (streamed(wav_header(RATE), DATA[:-1]), "ends in the middle of a sample"),
    "stereo": (streamed(wav_header(RATE).replace(b"\1\0\1\0", b"\1\0\2\0", 1), DATA), r"2 channel\(s\) of 16 bits"),
    "cut before any sound": (cut_after(), "connection broke off"),
    "cut in the middle": (cut_after(wav_header(RATE), DATA[:9600]), "connection broke off"),
    "a length that promises more": (shorter_than_said, "connection broke off"),
    "redirected elsewhere": (wrong_path, "redirects elsewhere"),
}


@BOTH
@pytest.mark.shows("V20", "F27")
@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_is_an_error_that_names_it(make: Make, fault: str) -> None:
    answer, sentence = FAULTS[fault]
    async with speech_server(answer) as server:
        voice = make(server.url)
        with pytest.raises(SynthesisFailed, match=sentence) as raised:
            [piece async for piece in voice.speak(TEXT, "en")]
    told = str(raised.value)
    assert told.startswith(voice.name)
    assert not (make is openai and KEY in told)
    assert TEXT not in told
    assert len(server.asked) == 1, "it goes nowhere else, and not again"


@BOTH
async def test_an_address_where_nobody_listens_is_an_unavailable_voice(make: Make) -> None:
    async with speech_server(speak) as server:
        url = server.url
    with pytest.raises(VoiceUnavailable, match="cannot be reached"):
        [piece async for piece in make(url).speak(TEXT, "en")]


@BOTH
async def test_the_connection_is_kept_while_it_is_kept_ready(make: Make) -> None:
    async with speech_server(speak) as server:
        voice = make(server.url)
        async with running(voice.loops()):
            await asyncio.sleep(0)
            for _ in range(3):
                assert (await listen(voice.speak(TEXT, "en"))).failure == ""
        kept = server.connections
        assert (await listen(voice.speak(TEXT, "en"))).failure == ""
    assert (kept, server.connections) == (1, 2)


@BOTH
@pytest.mark.parametrize("is_rude", [False, True])
async def test_a_connection_is_open_before_the_first_words_are_there(make: Make, is_rude: bool) -> None:
    asked = asyncio.Event()

    async def refuse(exchange: Exchange) -> None:
        asked.set()
        if is_rude:
            raise Cut
        await exchange.head(405, content_length="0")

    async with speech_server(refuse) as server:
        voice = make(server.url)
        async with running(voice.loops()):
            voice.expect()
            await asked.wait()
            for _ in range(50):  # the answer is on its way within this process
                await asyncio.sleep(0)
            server.answer = speak
            assert (await listen(voice.speak(TEXT, "en"))).failure == ""
            voice.expect()  # while the last one's is fresh
            assert (await listen(voice.speak(TEXT, "en"))).failure == ""
        words = [each.body for each in server.asked if each.body]
    assert len(words) == 2, "a connection that was opened ahead is told nothing"
    assert server.connections == 1 or is_rude


@BOTH
async def test_giving_up_a_sentence_ends_its_connection_and_the_next_one_is_whole(make: Make) -> None:
    async def endless(exchange: Exchange) -> None:
        await exchange.head(content_type="audio/wav")
        await exchange.chunk(wav_header(RATE))
        while True:
            await exchange.chunk(DATA[:960])

    async with speech_server(endless) as server:
        voice = make(server.url)
        async with running(voice.loops()):
            await asyncio.sleep(0)
            async with closing(voice.speak(TEXT, "en")) as pieces:
                await anext(pieces)
            server.answer = speak
            assert np.array_equal((await listen(voice.speak(TEXT, "en"))).samples, sound())


def test_each_server_and_voice_has_its_own_phrases_and_the_key_is_in_none() -> None:
    voices: list[Synthesizer] = [
        sovits("http://a"),
        sovits("http://b"),
        SovitsSynthesizer("http://a", Reference("/voices/ben.wav", "en")),
        openai("http://a"),
        openai("http://b"),
        OpenAiSpeechSynthesizer("http://a/v1", "tts-2", {"": "alloy"}),
        OpenAiSpeechSynthesizer("http://a/v1", "tts-2", {"": "onyx"}),
    ]
    identities = [voice.identity for voice in voices]
    assert len(set(identities)) == len(voices)
    assert sovits("http://a/").identity == identities[0]
    assert not any(KEY in each for each in identities)


def test_what_is_said_goes_to_the_server_that_is_named() -> None:
    assert sovits("http://10.0.0.5:9880").sends_to == (SendsTo("what nakari says", "10.0.0.5:9880"),)
    assert openai("https://api.openai.com").sends_to == (SendsTo("what nakari says", "api.openai.com"),)
