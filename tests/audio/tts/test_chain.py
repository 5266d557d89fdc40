import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
import pytest

from audio.pcm import Samples
from audio.playback.earcons import sign
from audio.speech import SpeechAudio
from audio.tts.chain import PAUSE_SECONDS, VoiceChain
from audio.tts.edge import EdgeSynthesizer
from audio.tts.programs import EspeakSynthesizer
from audio.tts.tts_cache import KeepingVoice, TtsCache
from tests.audio.edge_server import Fault, edge_server, spoken
from tests.audio.mouth_fakes import Clock, ScriptedVoice, listen

TEXT = "One two three, four five."


class RecordedEspeak(EspeakSynthesizer):
    """The real espeak-ng, and what it was asked to say."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        self.asked.append(sentence)
        return super().speak(sentence, language)


def levels(samples: Samples) -> list[int]:
    """The constants that are heard, in order, each once."""
    return [int(level) for index, level in enumerate(samples) if index == 0 or level != samples[index - 1]]


@pytest.mark.shows("V19")
async def test_the_first_voice_speaks_while_it_can() -> None:
    first, second = ScriptedVoice("first"), ScriptedVoice("second")

    outcome = await listen(VoiceChain([first, second]).speak(TEXT, "en"))

    assert (outcome.failure, outcome.words) == ("", ["One", "two", "three", "four", "five"])
    assert first.asked == [(TEXT, "en")]
    assert second.asked == []


@pytest.mark.shows("V19")
@pytest.mark.parametrize("words_before", [0, 1])
async def test_a_voice_that_fails_early_is_not_heard_and_the_next_says_all(words_before: int) -> None:
    first = ScriptedVoice("first", failures={0: words_before})
    second = ScriptedVoice("second", level=5000)

    outcome = await listen(VoiceChain([first, second]).speak(TEXT, "en"))

    assert outcome.failure == ""
    assert levels(outcome.samples) == [5000, 5001, 5002, 5003, 5004]
    assert second.asked == [(TEXT, "en")]


@pytest.mark.shows("V19")
async def test_after_a_failure_in_mid_sentence_the_next_voice_goes_on_with_the_next_word() -> None:
    first = ScriptedVoice("first", failures={0: 3})
    second = ScriptedVoice("second", level=5000)

    outcome = await listen(VoiceChain([first, second]).speak(TEXT, "en"))

    assert outcome.failure == ""
    assert second.asked == [("four five.", "en")]
    assert levels(outcome.samples) == [1000, 1001, 1002, 5000, 5001]
    assert outcome.words == ["One", "two", "three", "four", "five"]
    ends = [word.end for piece in outcome.pieces for word in piece.words]
    assert ends == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


@pytest.mark.shows("V19")
async def test_without_word_timings_the_sentence_is_begun_anew_after_a_pause() -> None:
    first = ScriptedVoice("first", failures={0: 3}, times_words=False)
    second = ScriptedVoice("second", level=5000)

    outcome = await listen(VoiceChain([first, second]).speak(TEXT, "en"))

    assert outcome.failure == ""
    assert second.asked == [(TEXT, "en")]
    assert levels(outcome.samples) == [1000, 1001, 1002, 0, 5000, 5001, 5002, 5003, 5004]
    ends = [word.end for piece in outcome.pieces for word in piece.words]
    assert ends == pytest.approx([end + 0.6 + PAUSE_SECONDS for end in (0.2, 0.4, 0.6, 0.8, 1.0)])


async def test_a_voice_that_fails_after_its_last_word_has_said_the_sentence() -> None:
    first, second = ScriptedVoice("first", failures={0: 5}), ScriptedVoice("second")

    outcome = await listen(VoiceChain([first, second]).speak(TEXT, "en"))

    assert (outcome.failure, outcome.words) == ("", ["One", "two", "three", "four", "five"])
    assert second.asked == []


async def test_all_of_a_sentence_has_one_sample_rate() -> None:
    first = ScriptedVoice("first", failures={0: 3}, sample_rate=24_000)
    second = ScriptedVoice("second", sample_rate=22_050)

    outcome = await listen(VoiceChain([first, second]).speak(TEXT, "en"))

    assert {piece.sample_rate for piece in outcome.pieces} == {24_000}
    assert outcome.seconds == pytest.approx(1.0, abs=0.001)


@pytest.mark.shows("V19")
async def test_a_voice_that_misses_the_deadline_is_given_up_for_the_next() -> None:
    first = ScriptedVoice("first", hold=asyncio.Event())
    second = ScriptedVoice("second", level=5000)
    loop = asyncio.get_running_loop()
    asked = loop.time()

    outcome = await listen(VoiceChain([first, second], first_audio_deadline=0.1).speak(TEXT, "en"))

    assert loop.time() - asked < 0.7
    assert first.given_up == 1
    assert levels(outcome.samples)[0] == 5000


@pytest.mark.shows("V19")
async def test_when_every_voice_has_failed_the_sign_of_it_is_heard_and_each_reason_told() -> None:
    voices = [ScriptedVoice("first", failures={-1: 0}), ScriptedVoice("second", failures={-1: 0})]

    outcome = await listen(VoiceChain(voices).speak(TEXT, "en"))

    assert outcome.failure == "no voice could speak: first failed as its script says; second failed as its script says"
    assert outcome.words == []
    assert np.array_equal(outcome.samples, sign("error").samples)


@pytest.mark.shows("V19")
async def test_a_voice_that_is_late_where_no_other_speaks_is_given_time(tmp_path: Path) -> None:
    slow = tmp_path / "espeak-on-a-busy-machine"
    slow.write_text('#!/bin/sh\nsleep 1\nexec espeak-ng "$@"\n')
    slow.chmod(0o755)
    unable = ScriptedVoice("unable", failures={-1: 0})
    chain = VoiceChain([unable, EspeakSynthesizer(program=str(slow))], unable, first_audio_deadline=0.2)

    outcome = await listen(chain.speak(TEXT, "en"))

    assert outcome.failure == ""
    assert outcome.seconds == pytest.approx(spoken(TEXT).seconds, rel=0.3)


async def test_a_voice_that_never_sounds_is_asked_twice_and_no_more() -> None:
    voice = ScriptedVoice("only", hold=asyncio.Event())

    outcome = await listen(
        VoiceChain([voice], first_audio_deadline=0.1, stall_deadline=0.1, patience=0.2).speak(TEXT, "en")
    )

    assert len(voice.asked) == voice.given_up == 2
    assert outcome.failure == "no voice could speak: only: no sound within 0.1 s; only: no sound within 0.2 s"
    assert np.array_equal(outcome.samples, sign("error").samples)


async def test_without_any_voice_the_sign_of_an_error_is_heard_all_the_same() -> None:
    outcome = await listen(VoiceChain([]).speak(TEXT, "en"))

    assert outcome.failure == "no voice could speak: there is none"
    assert np.array_equal(outcome.samples, sign("error").samples)


@pytest.mark.shows("V19")
async def test_a_voice_that_failed_is_left_alone_for_longer_each_time_and_comes_back() -> None:
    clock = Clock()
    first, second = ScriptedVoice("first", failures={0: 0, 1: 0}), ScriptedVoice("second")
    chain = VoiceChain([first, second], clock=clock)
    requests: list[int] = []

    for pause in (0.0, 9.9, 0.2, 19.9, 0.2, 0.0):
        clock.now += pause
        await listen(chain.speak(TEXT, "en"))
        requests.append(len(first.asked))

    assert requests == [1, 1, 2, 2, 3, 4]
    assert len(second.asked) == 4


async def test_the_voice_that_would_speak_is_the_one_that_gets_ready(tmp_path: Path) -> None:
    first, second = ScriptedVoice("first", failures={0: 0}), ScriptedVoice("second")
    chain = VoiceChain([KeepingVoice(first, TtsCache(tmp_path)), second])

    chain.expect()
    await listen(chain.speak(TEXT, "en"))
    chain.expect()

    assert (first.expected, second.expected) == (1, 1)


async def test_when_all_are_being_left_alone_they_are_tried_all_the_same() -> None:
    voice = ScriptedVoice("only", failures={0: 0})
    chain = VoiceChain([voice], clock=Clock())

    assert (await listen(chain.speak(TEXT, "en"))).failure != ""
    assert (await listen(chain.speak(TEXT, "en"))).failure == ""


async def test_giving_up_a_sentence_gives_up_the_voice_at_work() -> None:
    voice = ScriptedVoice()
    pieces = VoiceChain([voice]).speak(TEXT, "en")

    await anext(pieces)
    await pieces.aclose()

    assert voice.given_up == 1


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.GOOD])
async def test_whatever_the_service_does_a_whole_sentence_is_heard_in_time(fault: Fault) -> None:
    text = "The tea is ready now, and it is still very hot."
    spoken(text)  # made once, and not inside a deadline
    local = RecordedEspeak()
    loop = asyncio.get_running_loop()

    async with edge_server(fault, fault) as server:
        edge = EdgeSynthesizer(url=server.url, first_audio_timeout=0.4, stall_timeout=0.3)
        pieces = VoiceChain([edge, local], first_audio_deadline=0.5).speak(text, "en")
        asked = loop.time()
        first = await anext(pieces)
        waited = loop.time() - asked
        outcome = await listen(pieces)

    outcome.pieces.insert(0, first)
    assert waited < 50, "edge-tts itself would wait for a minute"
    assert outcome.failure == ""
    heard_of_it = local.asked[-1:]  # where the machine is busy, it was late first
    assert outcome.words + re.findall(r"\w+", " ".join(heard_of_it)) == re.findall(r"\w+", text)
    assert outcome.seconds == pytest.approx(spoken(text).seconds, rel=0.3)


@pytest.mark.shows("V19")
async def test_a_voice_that_does_not_know_one_language_still_speaks_the_other() -> None:
    first, second = ScriptedVoice("first", failures={0: 0}), ScriptedVoice("second")
    chain = VoiceChain([first, second], clock=Clock())

    for language in ("zh", "en", "zh"):
        assert (await listen(chain.speak(TEXT, language))).failure == ""

    assert [language for _, language in first.asked] == ["zh", "en"]
    assert [language for _, language in second.asked] == ["zh", "zh"]
