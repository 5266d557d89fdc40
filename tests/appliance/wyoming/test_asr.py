"""Speech-to-text by Wyoming: the words of a recording in any form, in turn with the room."""

import asyncio

import numpy as np
import pytest
from wyoming.asr import Transcribe
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Eventable

from appliance.wyoming.asr import Recording, mono
from appliance.wyoming.wire import Malformed
from audio.errors import RecognitionFailed
from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import StreamResampler
from tests.appliance.wyoming.rig import Rig, speech, told
from tests.audio.ears_fakes import ScriptedRecognizer
from tests.audio.mouth_fakes import is_tone, note

pytestmark = pytest.mark.shows("X13")


def recording(samples: Samples, piece: int = 1024) -> list[Eventable]:
    """Return the events of a request, as Home Assistant sends them."""
    form = (SAMPLE_RATE, 2, 1)
    pieces = (samples[at : at + piece].tobytes() for at in range(0, len(samples), piece))
    return [Transcribe(language="en"), AudioStart(*form), *(AudioChunk(*form, each) for each in pieces), AudioStop()]


async def test_the_words_of_a_recording_are_told_once_it_is_whole() -> None:
    async with Rig(ScriptedRecognizer(["turn on the light"], is_warm=True)).open() as rig:
        [event] = await rig.asks(*recording(speech()), until="transcript")
        assert event.data == {"text": "turn on the light", "language": "en"}
    [heard] = rig.recognizer.heard
    assert 0.9 < heard.speech_seconds < 1.3
    assert is_tone(heard.samples, SAMPLE_RATE, 440)


async def test_silence_and_words_without_evidence_are_empty() -> None:
    recognizer = ScriptedRecognizer(["thank you for watching " * 20], is_warm=True)
    async with Rig(recognizer).open() as rig:
        assert [each.data for each in await rig.asks(*recording(speech() * 0), until="transcript")] == [{"text": ""}]
        assert recognizer.heard == [], "nobody spoke"
        [event] = await rig.asks(*recording(speech(0.3)), until="transcript")
        assert event.data == {"text": ""}
        assert len(recognizer.heard) == 1


async def test_one_connection_may_ask_again_and_again() -> None:
    async with Rig(ScriptedRecognizer(["one two", "three four"], is_warm=True)).open() as rig, rig.client() as client:
        for words in ("one two", "three four"):
            for event in recording(speech()):
                await client.write_event(event.event())
            assert (await told(client, "transcript"))[-1].data["text"] == words


@pytest.mark.parametrize(("width", "channels", "rate"), [(1, 1, 8_000), (2, 2, 44_100), (3, 1, 48_000), (4, 2, 48_000)])
def test_sound_of_any_form_becomes_what_the_recognizer_takes(width: int, channels: int, rate: int) -> None:
    wave = note(440.0, 1.0, rate).astype(np.int64) << 16
    wide = np.repeat(wave >> (32 - 8 * width), channels).astype("<i4").tobytes()
    packed = np.frombuffer(wide, np.uint8).reshape(-1, 4)[:, :width].tobytes()
    taking, step = Recording(), 1001  # in the middle of samples
    for at in range(0, len(packed), step):
        taking.feed(AudioChunk(rate, width, channels, packed[at : at + step]))
    samples = taking.end()
    assert abs(len(samples) - SAMPLE_RATE) <= 2
    assert is_tone(samples, SAMPLE_RATE, 440)
    assert 7000 < np.abs(samples).max() < 9000


def test_the_form_may_change_on_the_way() -> None:
    taking = Recording()
    for rate in (16_000, 48_000, 22_050):
        taking.feed(AudioChunk(rate, 2, 1, note(440.0, 1.0, rate).tobytes()))
    assert abs(len(taking.end()) - 3 * SAMPLE_RATE) < 100


def test_channels_are_mixed_and_not_dropped() -> None:
    left_only = np.array([[1000, 0], [2000, 0]], np.int16)
    assert mono(left_only.tobytes(), 2, 2).tolist() == [500, 1000]


@pytest.mark.parametrize("form", [(0, 2, 1), (16_000, 5, 1), (16_000, 2, 0), (16_000, 2, 99), (10**9, 2, 1)])
def test_what_no_microphone_gives_is_refused(form: tuple[int, int, int]) -> None:
    with pytest.raises(Malformed, match="sound of"):
        Recording().feed(AudioChunk(*form, b"\0\0"))


def test_two_minutes_are_taken_at_one_go() -> None:
    taking, minute = Recording(), bytes(60 * 2 * SAMPLE_RATE)
    for _ in range(2):
        taking.feed(AudioChunk(SAMPLE_RATE, 2, 1, minute))
    with pytest.raises(Malformed, match="more than 120 s"):
        taking.feed(AudioChunk(SAMPLE_RATE, 2, 1, b"\0\0"))


async def test_a_recognizer_that_fails_is_told_and_the_connection_ends() -> None:
    async with Rig(ScriptedRecognizer([RecognitionFailed("the model is gone")], is_warm=True)).open() as rig:
        [event] = await rig.asks(*recording(speech()), until="never")
        assert (event.type, event.data["text"]) == ("error", "the model is gone")
        assert await rig.still_answers()


async def test_the_room_comes_first_and_programs_come_in_their_order() -> None:
    async with Rig(ScriptedRecognizer(["first", "second"], is_warm=True)).open() as rig:
        async with asyncio.TaskGroup() as group, rig.turns.room():
            first = group.create_task(rig.asks(*recording(speech()), until="transcript"))
            await rig.turns.came.acquire()
            second = group.create_task(rig.asks(*recording(speech()), until="transcript"))
            await rig.turns.came.acquire()
            assert rig.recognizer.heard == []
        assert [each.result()[-1].data["text"] for each in (first, second)] == ["first", "second"]


async def test_a_program_that_leaves_before_its_turn_is_not_recognized() -> None:
    async with Rig().open() as rig:
        async with rig.turns.room():
            async with rig.client() as client:
                for event in recording(speech()):
                    await client.write_event(event.event())
                await rig.turns.came.acquire()
            await rig.until_alone()
        assert rig.recognizer.heard == []
        assert await rig.still_answers()


async def test_a_recognition_that_has_begun_keeps_its_turn_to_the_end() -> None:
    async with Rig().open() as rig, asyncio.TaskGroup() as group:
        rig.recognizer.may_answer.clear()
        async with rig.client() as client:
            for event in recording(speech()):
                await client.write_event(event.event())
            await asyncio.to_thread(rig.recognizer.has_begun.wait, 10)
            await rig.turns.came.acquire()
        other = group.create_task(rig.asks(*recording(speech()), until="transcript"))
        await rig.turns.came.acquire()
        assert rig.server.describe()["connections"] == 2, "the first is still in the recognizer's thread"
        rig.recognizer.may_answer.set()
        assert (await other)[-1].data["text"] == "utterance 1"
        assert len(rig.recognizer.heard) == 2


async def test_a_program_that_goes_away_in_the_middle_of_its_sound_harms_nobody() -> None:
    async with Rig().open() as rig:
        async with rig.client() as client:
            for event in recording(speech())[:5]:
                await client.write_event(event.event())
        await rig.until_alone()
        assert rig.recognizer.heard == []
        assert await rig.still_answers()


async def test_a_large_piece_of_sound_is_taken_whole() -> None:
    rate = 48_000
    sound = StreamResampler(SAMPLE_RATE, rate).feed(speech(3.0)).tobytes()
    async with Rig(ScriptedRecognizer(["a long one"], is_warm=True)).open() as rig:
        form = (rate, 2, 1)
        [event] = await rig.asks(AudioStart(*form), AudioChunk(*form, sound), AudioStop(), until="transcript")
        assert event.data["text"] == "a long one"
