"""The default voice against a local server that speaks the real protocol, through the real edge-tts."""

import asyncio
import re
from collections.abc import AsyncIterator

import numpy as np
import pytest

from audio.errors import VoiceUnavailable
from audio.interfaces import closing
from audio.loops import running
from audio.speech import SpeechAudio
from audio.tts.edge import FALLBACK_VOICE, VOICES, EdgeSynthesizer
from tests.audio.edge_server import EdgeServer, Fault, edge_server, spoken
from tests.audio.mouth_fakes import listen, words_of

TEXT = "The kettle is on, and the tea will be ready in about five minutes."
FIRST_AUDIO = 0.4
STALL = 0.3
PATIENCE = 20.0
MARGIN = 0.6
"""Seconds that a loaded machine may need beyond a deadline."""


@pytest.fixture
async def server() -> AsyncIterator[EdgeServer]:
    spoken(TEXT)  # made once, and not inside a deadline
    async with edge_server() as serving:
        yield serving


def voice(server: EdgeServer) -> EdgeSynthesizer:
    return EdgeSynthesizer(url=server.url, first_audio_timeout=FIRST_AUDIO, stall_timeout=STALL)


async def passing() -> None:
    """Let everything else have its turn."""
    await asyncio.sleep(0)


async def heard(synthesizer: EdgeSynthesizer, text: str = TEXT, language: str = "en") -> list[SpeechAudio]:
    return [piece async for piece in synthesizer.speak(text, language)]


@pytest.mark.shows("V18")
async def test_a_sentence_comes_whole_with_the_timing_of_each_word(server: EdgeServer) -> None:
    outcome = await listen(voice(server).speak(TEXT, "en"))
    pieces = outcome.pieces

    assert outcome.failure == ""
    assert {piece.sample_rate for piece in pieces} == {24_000}
    assert outcome.seconds == pytest.approx(spoken(TEXT).seconds, abs=0.3)
    assert outcome.words == re.findall(r"\w+", TEXT)
    assert max(np.abs(piece.samples).max() for piece in pieces) > 3000


@pytest.mark.shows("V18")
async def test_pieces_end_with_whole_words_and_the_silence_at_the_end_is_short(server: EdgeServer) -> None:
    pieces = await heard(voice(server))

    end = 0.0
    for piece in pieces[:-1]:
        end += len(piece.samples) / piece.sample_rate
        assert piece.words[-1].end == pytest.approx(end, abs=0.001)
    assert len(pieces) > 5
    assert len(pieces[-1].samples) / 24_000 < 0.5


@pytest.mark.shows("V18")
async def test_the_first_words_sound_before_the_service_has_sent_the_last(server: EdgeServer) -> None:
    server.script = [Fault.STALL]

    async with closing(voice(server).speak(TEXT, "en")) as pieces:
        first = await anext(pieces)
        server.go_on.set()
        rest = [piece async for piece in pieces]

    assert words_of([first])[0] == "The"
    assert words_of([first, *rest]) == re.findall(r"\w+", TEXT)


async def test_text_is_never_taken_for_markup_and_languages_have_their_voices(server: EdgeServer) -> None:
    synthesizer = EdgeSynthesizer({"de": "de-DE-KatjaNeural"}, url=server.url)
    text = 'Is 3 < 5 & "7" > 2? </voice>'

    await heard(synthesizer, text)
    await heard(synthesizer, "你好", "zh")
    await heard(synthesizer, "Hallo", "de")
    await heard(synthesizer, "Bonjour", "fr")

    asked = [(request.text, request.voice.rpartition(", ")[2]) for request in server.requests]
    assert [text for text, _ in asked] == [text, "你好", "Hallo", "Bonjour"]
    for (_, name), wanted in zip(asked, [VOICES["en"], VOICES["zh"], "de-DE-KatjaNeural", FALLBACK_VOICE], strict=True):
        assert wanted.rpartition("-")[2] in name


@pytest.mark.shows("V18")
async def test_one_403_is_overcome_by_the_servers_clock(server: EdgeServer) -> None:
    server.script = [Fault.REFUSE_403]

    assert words_of(await heard(voice(server))) == re.findall(r"\w+", TEXT)
    assert server.connections == 2


@pytest.mark.shows("V18")
@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ([Fault.REFUSE_403, Fault.REFUSE_403], "HTTP 403"),
        ([Fault.REFUSE_429], "HTTP 429"),
        ([Fault.REFUSE_500], "HTTP 500"),
        ([Fault.PAGE], "HTTP 200"),
        ([Fault.NO_AUDIO], "No audio was received"),
        ([Fault.DROP_AT_ONCE], "No audio was received"),
        ([Fault.WRONG_TYPE], "unexpected Content-Type"),
        ([Fault.NOT_MP3], "not MP3"),
        ([Fault.NONSENSE], "Unknown path"),
        ([Fault.SLOW], "no sound in time"),
    ],
)
async def test_each_fault_before_the_first_sound_is_an_error_that_names_it_in_time(
    server: EdgeServer, script: list[Fault], failure: str
) -> None:
    server.script = list(script)
    loop = asyncio.get_running_loop()
    asked = loop.time()

    outcome = await listen(voice(server).speak(TEXT, "en"))

    assert outcome.pieces == []
    assert re.search(failure, outcome.failure)
    assert loop.time() - asked < FIRST_AUDIO + MARGIN


@pytest.mark.shows("V18")
@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (Fault.DROP, "connection was lost"),
        (Fault.STALL, "no further sound in time"),
        (Fault.SHORT, r"the last [\d.]+ s of the sentence are missing"),
    ],
)
async def test_a_sentence_that_breaks_off_is_an_error_after_its_last_whole_word(
    server: EdgeServer, fault: Fault, failure: str
) -> None:
    server.script = [fault]
    loop = asyncio.get_running_loop()
    asked = loop.time()

    outcome = await listen(voice(server).speak(TEXT, "en"))

    assert loop.time() - asked < FIRST_AUDIO + STALL + MARGIN
    assert re.search(failure, outcome.failure)
    said = outcome.words
    assert 0 < len(said) < len(TEXT.split())
    assert said == re.findall(r"\w+", TEXT)[: len(said)]
    assert outcome.pieces[-1].words[-1].end == pytest.approx(outcome.seconds, abs=0.001)


async def test_an_address_where_nobody_listens_is_an_unavailable_voice() -> None:
    async with edge_server() as server:
        url = server.url

    with pytest.raises(VoiceUnavailable, match=r"cannot be reached: 127\.0\.0\.1: "):
        await heard(EdgeSynthesizer(url=url))


async def test_a_voice_that_is_no_voice_is_named(server: EdgeServer) -> None:
    with pytest.raises(VoiceUnavailable, match=r"no voice 'robot'.*list-voices"):
        await heard(EdgeSynthesizer({"en": "robot"}, url=server.url))


@pytest.mark.shows("V18")
async def test_giving_up_a_sentence_ends_its_connection_and_the_next_one_works(server: EdgeServer) -> None:
    server.script = [Fault.STALL]
    synthesizer = voice(server)

    async with closing(synthesizer.speak(TEXT, "en")) as pieces:
        await anext(pieces)
    server.go_on.set()
    whole = await heard(synthesizer)

    assert words_of(whole) == re.findall(r"\w+", TEXT)


async def test_cancelling_a_stalled_sentence_ends_it_at_once(server: EdgeServer) -> None:
    server.script = [Fault.SLOW]
    loop = asyncio.get_running_loop()
    asked = loop.time()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await heard(voice(server))

    assert loop.time() - asked < 0.1 + MARGIN


async def ahead(server: EdgeServer) -> set[int]:
    """Return where the connection comes from that is open and was not asked by, once there is one."""
    async with asyncio.timeout(PATIENCE):
        while not (idle := set(server.open_ports()) - set(server.ports)):
            await passing()
    return idle


async def test_the_next_sentences_connection_is_open_before_its_words_are_there(server: EdgeServer) -> None:
    synthesizer = voice(server)

    async with running(synthesizer.loops()):
        await passing()  # the loop begins
        await heard(synthesizer)
        behind_it = await ahead(server)
        assert server.connections == 1, "a connection that was opened ahead asks nothing"
        await heard(synthesizer, "It boils.")
        assert server.ports[1] in behind_it
        await ahead(server)
        server.hang_up()  # the service keeps none for long
        for _ in range(50):
            await passing()
        synthesizer.expect()
        expected = await ahead(server)
        await heard(synthesizer, "It whistles.")
        assert server.ports[2] in expected

    async with asyncio.timeout(PATIENCE):
        while server.open_ports():
            await passing()


async def test_a_connection_that_was_closed_meanwhile_costs_no_word(server: EdgeServer) -> None:
    synthesizer = voice(server)

    async with running(synthesizer.loops()):
        await passing()
        await heard(synthesizer)
        await ahead(server)
        server.hang_up()
        again = await heard(synthesizer)

    assert words_of(again) == re.findall(r"\w+", TEXT)


async def test_one_403_is_overcome_by_a_connection_that_was_kept_too(server: EdgeServer) -> None:
    synthesizer = voice(server)

    async with running(synthesizer.loops()):
        await passing()
        await heard(synthesizer)
        server.script = [Fault.REFUSE_403]
        again = await heard(synthesizer)

    assert words_of(again) == re.findall(r"\w+", TEXT)
    assert server.connections == 3


async def test_a_service_that_is_gone_when_a_sentence_is_expected_ends_nothing() -> None:
    async with edge_server() as server:
        synthesizer = voice(server)
    loops = synthesizer.loops()

    async with running(loops):  # which an error would end
        for _ in range(2):
            await passing()
            synthesizer.expect()
            with pytest.raises(VoiceUnavailable):
                await heard(synthesizer)
