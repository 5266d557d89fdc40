"""Voices that are programs: the real espeak-ng and flite, and programs that misbehave."""

import asyncio
import gc
import os
import signal
import struct
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.loops import running
from audio.pcm import Samples, rms_dbfs
from audio.tts.decoding import WavStream
from audio.tts.programs import EspeakSynthesizer, FliteSynthesizer, VoiceProgram
from benchmarks.processes import children_of
from tests.audio.mouth_fakes import Outcome, listen

TEXT = "The kettle is on, and the tea will be ready in about five minutes."


async def said(text: str, language: str = "en") -> Outcome:
    return await listen(EspeakSynthesizer().speak(text, language))


@pytest.mark.shows("V19", "V30")
async def test_espeak_says_a_sentence_in_pieces() -> None:
    outcome = await said(TEXT)

    assert outcome.failure == ""
    assert {piece.sample_rate for piece in outcome.pieces} == {22_050}
    assert len(outcome.pieces) > 5
    assert 3.0 < outcome.seconds < 6.0
    assert rms_dbfs(outcome.samples) > -30


@pytest.mark.shows("V30")
async def test_espeak_speaks_chinese_and_other_languages() -> None:
    outcome = await said("你好，今天天气很好，我们去公园吧。", "zh")
    german = await said("Guten Morgen, wie geht es dir?", "de")
    unknown = await said("Good morning.", "")

    assert (outcome.failure, german.failure, unknown.failure) == ("", "", "")
    assert 2.0 < outcome.seconds < 7.0
    assert german.seconds > 1.0


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("-v de is what I say.", "minus v de is what I say."),
        ("--help me please", "help me please"),
        ('Wait <break time="9s"/> here.', "Wait less than break time equals nine s slash greater than here."),
        ("Say [[h@l'oU]] now.", "Say something odd now."),
        ("One\x01 two\x00 three.", "One two three."),
    ],
)
async def test_text_is_only_ever_read(text: str, plain: str) -> None:
    outcome = await said(text)

    assert outcome.failure == ""
    assert outcome.seconds == pytest.approx((await said(plain)).seconds, rel=0.6)


async def test_control_characters_are_not_commands() -> None:
    slowly = await said("\x0180SOne two three four five six.")

    assert slowly.seconds == pytest.approx((await said(" 80SOne two three four five six.")).seconds)


async def test_double_brackets_are_not_phonemes() -> None:
    phonemes = "[[" + "t" * 3 + "]]"

    assert (await said(f"Say {phonemes} now.")).seconds == pytest.approx((await said("Say [ [ttt] ] now.")).seconds)


async def test_a_language_that_is_none_is_refused_before_anything_runs() -> None:
    outcome = await said("Hello.", "en -w /tmp/file")

    assert "is no language" in outcome.failure


async def test_a_missing_program_is_an_unavailable_voice_with_its_mend() -> None:
    with pytest.raises(VoiceUnavailable, match="sudo apt install espeak-ng"):
        await anext(EspeakSynthesizer(program="/nowhere/espeak-ng").speak(TEXT, "en"))
    with pytest.raises(VoiceUnavailable, match="sudo apt install flite"):
        await anext(FliteSynthesizer(program="/nowhere/flite").speak(TEXT, "en"))


async def test_flite_says_an_english_sentence_and_nothing_else() -> None:
    outcome = await listen(FliteSynthesizer().speak(TEXT, "en"))
    option = await listen(FliteSynthesizer().speak("-voice kal", "en"))

    assert outcome.failure == ""
    assert {piece.sample_rate for piece in outcome.pieces + option.pieces} == {16_000}
    assert 2.5 < outcome.seconds < 6.0
    assert option.seconds > 0.4
    assert "English only" in (await listen(FliteSynthesizer().speak("Bonjour.", "fr"))).failure


async def test_giving_up_a_sentence_kills_its_program() -> None:
    pieces = VoiceProgram(["sh", "-c", "espeak-ng --stdin --stdout; exec sleep 600"], fix="").speak(TEXT)

    await anext(pieces)
    await pieces.aclose()  # waits for the program's end, which sleep alone would bring in ten minutes


def test_a_start_that_is_given_up_twice_leaves_no_program() -> None:
    """One that is not waited for when its loop ends is a warning of asyncio's, which fails a test."""

    async def give_up_twice(steps: int, until_second: int) -> None:
        async with asyncio.TaskGroup() as group:
            starting = group.create_task(VoiceProgram(["sleep", "3701"], fix="").start())
            for number in (steps, until_second):
                for _ in range(number):
                    await asyncio.sleep(0)
                starting.cancel()
        assert starting.cancelled()

    for steps, until_second in product(range(1, 8), range(4)):
        asyncio.run(give_up_twice(steps, until_second))
        assert children("sleep") == []
    gc.collect()


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("cat >/dev/null; echo 'out of breath' >&2; exit 3", "sh failed with 3: out of breath"),
        ("exit 4", "sh failed with 4: it says no more"),
        ("cat >/dev/null", "sh made no sound"),
        ("exec sleep 600", "sh made no sound within 0.3 s"),
        ("espeak-ng --stdin --stdout | head -c 20000; exec sleep 600", "sh made no sound within 0.3 s"),
        ("espeak-ng --stdin --stdout; exec >&-; exec sleep 600", "sh did not end after its last sound"),
        ("espeak-ng --stdin --stdout; kill -9 $$", "sh failed with -9"),
        ("cat /bin/true", "not WAV"),
    ],
)
async def test_a_program_that_misbehaves_is_an_error_that_says_how(script: str, failure: str) -> None:
    patience = 0.3 if "within" in failure else 3.0  # a busy machine takes its time until espeak-ng begins

    outcome = await listen(VoiceProgram(["sh", "-c", script], fix="", stall_timeout=patience).speak("Hello there."))

    assert failure in outcome.failure


def wav(samples: Samples, *, channels: int = 1, bits: int = 16, extra: bytes = b"") -> bytes:
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, 16_000, 32_000, 2, bits)
    body = b"WAVE" + extra + fmt + struct.pack("<4sI", b"data", 0x7FFF_F000) + samples.astype("<i2").tobytes()
    return b"RIFF" + struct.pack("<I", 0x7FFF_F024) + body


@pytest.mark.parametrize("size", [1, 3, 7, 64, 10_000])
def test_a_wav_stream_is_read_whatever_pieces_it_comes_in(size: int) -> None:
    samples = np.arange(-500, 500, dtype=np.int16)
    data = wav(samples, extra=struct.pack("<4sI", b"LIST", 3) + b"abc\0")
    stream = WavStream()

    read = np.concatenate([stream.feed(data[at : at + size]) for at in range(0, len(data), size)])

    assert stream.sample_rate == 16_000
    assert np.array_equal(read, samples)


@pytest.mark.parametrize(
    ("data", "failure"),
    [
        (wav(np.zeros(4, np.int16), channels=2), r"2 channel\(s\) of 16 bits"),
        (wav(np.zeros(4, np.int16), bits=8), r"1 channel\(s\) of 8 bits"),
        (b"ID3 is no WAV", "not WAV"),
        (b"RIFF" + bytes(5000), "not WAV"),
    ],
)
def test_a_stream_of_another_kind_is_refused(data: bytes, failure: str) -> None:
    with pytest.raises(SynthesisFailed, match=failure):
        WavStream().feed(data)


@pytest.mark.shows("V19")
async def test_the_next_sentence_is_spoken_by_a_program_that_waits_for_it() -> None:
    voice = EspeakSynthesizer()
    async with running(voice.loops()):
        first = await listen(voice.speak(TEXT, "en"))
        async with asyncio.timeout(120):
            await voice.is_ready.wait()
        second = await listen(voice.speak(TEXT, "en"))
        assert not voice.is_ready.is_set(), "it is used up"
        async with asyncio.timeout(120):
            await voice.is_ready.wait()
        german = await listen(voice.speak("Guten Morgen, wie geht es dir?", "de"))
    assert (first.failure, second.failure, german.failure) == ("", "", "")
    assert np.array_equal(second.samples, first.samples)
    assert german.seconds == pytest.approx((await said("Guten Morgen, wie geht es dir?", "de")).seconds)


def children(name: str) -> list[int]:
    """Return the ids of this process's own programs of that name.

    By the file they run: a child's `comm` still has the name of its parent for a moment after it was started.
    """
    return [each for each in children_of(os.getpid()) if Path(f"/proc/{each}/exe").resolve().name == name]


@pytest.mark.shows("V19")
async def test_a_program_that_died_while_it_waited_is_started_anew() -> None:
    voice = EspeakSynthesizer()
    async with running(voice.loops()):
        await listen(voice.speak(TEXT, "en"))
        async with asyncio.timeout(120):
            await voice.is_ready.wait()
        (waiting,) = children("espeak-ng")
        os.kill(waiting, signal.SIGKILL)
        outcome = await listen(voice.speak(TEXT, "en"))
    assert outcome.failure == ""
    assert outcome.seconds > 3.0
