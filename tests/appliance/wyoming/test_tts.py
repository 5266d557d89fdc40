"""Text-to-speech by Wyoming: the sound of a sentence as soon as the sentence is whole."""

import asyncio

import numpy as np
import pytest
from wyoming.event import Event
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeVoice

from appliance.wyoming.tts import MOST_CHARACTERS
from audio.pcm import Samples
from audio.speech import SpeechAudio
from audio.tts.chain import VoiceChain
from tests.appliance.wyoming.rig import Rig, told
from tests.audio.mouth_fakes import ScriptedVoice

pytestmark = pytest.mark.shows("X13", "F27")


def sound_of(events: list[Event]) -> Samples:
    """Return what a program would play."""
    payloads = b"".join(each.payload or b"" for each in events if each.type == "audio-chunk")
    return np.frombuffer(payloads, "<i2")


async def test_a_text_is_said_sentence_by_sentence_as_it_would_be_in_the_room() -> None:
    async with Rig().open() as rig:
        events = await rig.asks(Synthesize("It is **21 °C**. 打开灯。 😀"), until="audio-stop")
        assert rig.voice.asked == [("It is twenty-one degrees Celsius.", "en"), ("打开灯。", "zh")]
        assert (events[0].type, events[0].data["rate"]) == ("audio-start", 24_000)
        assert {each.type for each in events[1:-1]} == {"audio-chunk"}
        assert (events[0].data["width"], events[0].data["channels"]) == (2, 1)
        seconds = len(sound_of(events)) / 24_000
        assert seconds == pytest.approx(6 * rig.voice.seconds_a_word, abs=0.01)


async def test_sound_goes_out_before_the_text_is_whole() -> None:
    async with Rig().open() as rig, rig.client() as client:
        await client.write_event(SynthesizeStart().event())
        await client.write_event(SynthesizeChunk("One two three. Four").event())
        events = [await client.read_event() for _ in range(2)]
        assert [each.type for each in events if each] == ["audio-start", "audio-chunk"]
        assert rig.voice.asked == [("One two three.", "en")]
        await client.write_event(SynthesizeChunk(" five six.").event())
        await client.write_event(Synthesize("One two three. Four five six.").event())
        await client.write_event(SynthesizeStop().event())
        rest = await told(client, "synthesize-stopped")
        assert [each.type for each in rest[-2:]] == ["audio-stop", "synthesize-stopped"]
        assert [words for words, _ in rig.voice.asked] == ["One two three.", "Four five six."], "each is said once"


@pytest.mark.parametrize("voice", [SynthesizeVoice(name="nakari-de"), SynthesizeVoice(language="de")])
async def test_a_voice_that_is_named_tells_the_language(voice: SynthesizeVoice) -> None:
    async with Rig().open() as rig:
        await rig.asks(Synthesize("Guten Tag.", voice=voice), until="audio-stop")
        await rig.asks(Synthesize("Guten Tag.", voice=SynthesizeVoice(name="anna")), until="audio-stop")
        assert rig.voice.asked == [("Guten Tag.", "de"), ("Guten Tag.", "en")]


@pytest.mark.parametrize("text", ["", "***", "😀"])
async def test_nothing_to_be_said_is_a_sound_all_the_same(text: str) -> None:
    async with Rig().open() as rig:
        events = await rig.asks(Synthesize(text), until="audio-stop")
        assert [each.type for each in events] == ["audio-start", "audio-chunk", "audio-stop"]
        assert not sound_of(events).any()


async def test_voices_of_other_rates_are_brought_to_the_first() -> None:
    class Changing(ScriptedVoice):
        def _word(self, number: int, word: str) -> SpeechAudio:
            self.sample_rate = 24_000 if len(self.asked) == 1 else 16_000
            return super()._word(number, word)

    async with Rig(voice=Changing()).open() as rig:
        events = await rig.asks(Synthesize("One two three. Four five six."), until="audio-stop")
        assert {each.data["rate"] for each in events[:-1]} == {24_000}
        assert len(sound_of(events)) / 24_000 == pytest.approx(1.2, abs=0.01)


async def test_a_voice_that_fails_is_told_and_the_connection_ends() -> None:
    async with Rig(voice=ScriptedVoice(failures={-1: 1})).open() as rig:
        events = await rig.asks(Synthesize("One two three."), until="audio-stop")
        assert events[-1].type == "error"
        assert "failed as its script says" in events[-1].data["text"]
        assert await rig.still_answers()


async def test_the_chain_of_the_box_goes_on_with_its_next_voice() -> None:
    class Chained(Rig):
        def chained(self) -> None:
            self.voice = VoiceChain([ScriptedVoice("away", failures={-1: 0}), ScriptedVoice("here")])  # type: ignore[assignment]

    rig = Chained()
    rig.chained()
    async with rig.open():
        events = await rig.asks(Synthesize("One two three."), until="audio-stop")
        assert events[-1].type == "audio-stop"
        assert len(sound_of(events)) / 24_000 == pytest.approx(0.6, abs=0.01)


async def test_a_program_that_leaves_ends_what_is_made_for_it() -> None:
    async with Rig(voice=ScriptedVoice(hold=asyncio.Event())).open() as rig:
        async with rig.client() as client:
            await client.write_event(Synthesize("One two three.").event())
            await rig.voice.held.wait()
        await rig.until_alone()
        assert rig.voice.given_up == 1


async def test_two_programs_are_said_to_at_once_while_the_room_speaks() -> None:
    async with Rig(voice=ScriptedVoice(hold=asyncio.Event())).open() as rig:
        assert rig.voice.hold is not None
        async with asyncio.TaskGroup() as group:
            texts = ("One two.", "Three four five.")
            asked = [group.create_task(rig.asks(Synthesize(text), until="audio-stop")) for text in texts]
            room = group.create_task(anext(rig.voice.speak("The room speaks.", "en")))
            while len(rig.voice.asked) < 3:  # noqa: ASYNC110  the voice keeps a list
                await asyncio.sleep(0)
            rig.voice.hold.set()
        assert room.result().sample_rate == 24_000
        assert [len(sound_of(each.result())) for each in asked] == [2 * 4800, 3 * 4800]


async def test_a_text_without_end_is_refused() -> None:
    async with Rig().open() as rig:
        assert b"audio" not in await rig.sends(
            b'{"type": "synthesize", "data": {"text": "' + b"a " * MOST_CHARACTERS + b'"}}\n'
        )
        assert await rig.still_answers()
