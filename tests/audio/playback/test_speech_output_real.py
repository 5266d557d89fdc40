"""The whole mouth on real parts: real voices, real MP3 over a real socket, into a real recording."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from audio.interfaces import Player, Synthesizer
from audio.pcm import rms_dbfs
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from audio.playback.wav import SAMPLE_RATE, WavPlayer
from audio.tts.chain import VoiceChain
from audio.tts.edge import EdgeSynthesizer
from audio.tts.programs import EspeakSynthesizer
from tests.audio.edge_server import TICKS, Fault, edge_server, spoken
from tests.audio.mouth_fakes import Following, listen, read_wav
from tests.loops import together

TEXTS = ("The kettle is on, and the tea is nearly ready.", "Shall I pour it now?", "现在是下午三点。")


@asynccontextmanager
async def speaking(voice: Synthesizer, player: Player) -> AsyncIterator[tuple[SpeechOutput, list[tuple[str, bool]]]]:
    mouth, heard = SpeechOutput(voice, player), list[tuple[str, bool]]()
    mouth.observe(Following(ended=lambda part, whole: heard.append((part, whole))))
    await player.start()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(together(mouth.loops()))
        yield mouth, heard
        running.cancel()
    await player.aclose()


async def say(mouth: SpeechOutput, *texts: str) -> None:
    for number, text in enumerate(texts):
        await mouth.say(SpokenSentence("reply", number, text, "en" if text.isascii() else "zh"))


@pytest.mark.shows("V19", "V21", "V30")
async def test_without_network_every_sentence_is_in_the_recording(tmp_path: Path) -> None:
    alone = [await listen(EspeakSynthesizer().speak(text, "en" if text.isascii() else "zh")) for text in TEXTS]

    async with speaking(VoiceChain([EspeakSynthesizer()]), WavPlayer(tmp_path / "said.wav", realtime=False)) as (
        mouth,
        heard,
    ):
        await say(mouth, *TEXTS)
        await mouth.quiet()

    samples, rate = read_wav(tmp_path / "said.wav")
    assert heard == [(text, True) for text in TEXTS]
    assert len(samples) / rate == pytest.approx(sum(outcome.seconds for outcome in alone) + 3 * 0.2, abs=0.05)
    begins = 0
    for outcome in alone:
        ends = begins + round(outcome.seconds * SAMPLE_RATE)
        assert rms_dbfs(samples[begins:ends]) > -35
        begins = ends + round(0.2 * SAMPLE_RATE)


@pytest.mark.shows("V18", "V21")
async def test_over_the_network_the_next_sentence_is_asked_for_while_the_first_still_plays(tmp_path: Path) -> None:
    text = TEXTS[0]
    for sentence in TEXTS:
        spoken(sentence)
    player = WavPlayer(tmp_path / "said.wav", realtime=True)

    async with (
        edge_server() as server,
        speaking(VoiceChain([EdgeSynthesizer(url=server.url)]), player) as (
            mouth,
            heard,
        ),
    ):
        first_sound = asyncio.Event()
        mouth.observe(Following(first=lambda sentence, at: first_sound.set()))
        await say(mouth, *TEXTS)
        await first_sound.wait()
        async with asyncio.timeout(120):
            await server.asked(2)
        assert heard == []
        assert [request.text for request in server.requests[:2]] == [text, TEXTS[1]]
        mouth.hush()
        await mouth.quiet()


@pytest.mark.shows("V17", "V22")
async def test_the_words_told_as_heard_are_those_in_the_recording(tmp_path: Path) -> None:
    text, stopped_after = TEXTS[0], 1.2
    ends = [(offset + duration) / TICKS for _, offset, duration in spoken(text).words]
    player = WavPlayer(tmp_path / "said.wav", realtime=True)
    loop = asyncio.get_running_loop()
    first_sounds: list[float] = []

    async with (
        edge_server() as server,
        speaking(VoiceChain([EdgeSynthesizer(url=server.url)]), player) as (
            mouth,
            heard,
        ),
    ):
        opened = loop.time()

        def hush_soon(sentence: SpokenSentence, at: float) -> None:
            first_sounds.append(at)
            loop.call_at(at + stopped_after, mouth.hush)

        mouth.observe(Following(first=hush_soon))
        await say(mouth, text)
        await mouth.quiet()

    samples, _ = read_wav(tmp_path / "said.wav")
    sounded = len(samples) / SAMPLE_RATE - (first_sounds[0] - opened)
    part, whole = heard[0]
    assert not whole
    assert sounded == pytest.approx(stopped_after, abs=0.25)
    assert len(part.split()) == pytest.approx(sum(end <= sounded for end in ends), abs=1)
    assert 2 < len(part.split()) < len(ends)
    assert text.startswith(part)


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize("fault", [Fault.DROP, Fault.STALL, Fault.SLOW, Fault.REFUSE_429])
async def test_a_bad_day_of_the_service_costs_no_word(fault: Fault, tmp_path: Path) -> None:
    text = TEXTS[0]
    spoken(text)
    player = WavPlayer(tmp_path / "said.wav", realtime=False)

    async with edge_server(fault) as server:
        edge = EdgeSynthesizer(url=server.url, first_audio_timeout=0.3, stall_timeout=0.3)
        async with speaking(VoiceChain([edge, EspeakSynthesizer()]), player) as (mouth, heard):
            await say(mouth, text, "Shall I pour it now?")
            await mouth.quiet()

    samples, rate = read_wav(tmp_path / "said.wav")
    assert heard == [(text, True), ("Shall I pour it now?", True)]
    assert len(server.requests) <= 1, "a voice that failed is left alone for the next sentence"
    assert len(samples) / rate > spoken(text).seconds
    assert rms_dbfs(samples) > -35
