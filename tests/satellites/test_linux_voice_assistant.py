"""A real linux-voice-assistant on a virtual sound card as nakari's ears and mouth in another room."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from agent.event import room_of
from agent.model.interface import CachedPrefix, ChatModel
from agent.replies import INTERRUPTED
from appliance.config.load import Config, load
from appliance.config.options import RunOptions
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.model.catalog import ModelCatalog
from appliance.satellites.esphome import EspHome
from appliance.satellites.paired import Paired, PairedList
from appliance.satellites.satellites import Limits, Satellites
from appliance.satellites.sightings import Sightings
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import REAL
from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE, Samples
from audio.playback.earcons import bell
from audio.playback.speech_output import SpeechObserver, SpokenSentence
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from tests.appliance.remote.page import words_in
from tests.appliance.remote.sounds import wav
from tests.audio.spoken import HOUSEHOLD_WHISPER, SHARED_CLIPS, silence, trimmed
from tests.room.house import TalkativeModel
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.room.virtual_time import passed
from tests.room.voices import spoken
from tests.satellites.linux_voice_assistant import Running, linux_voice_assistant, why_not
from tests.satellites.observer import Notes
from tests.service.process import Household

WAKE_CLIP = SHARED_CLIPS / "clips" / "openWakeWord__alexa_test.wav"

QUESTION, ANSWER = "Turn on the kitchen light.", "Good morning."
LONG = "Turn off the kitchen light. Cancel the timer. Play some music. Turn on the fan. Close the curtains."

CALLED_AGAIN_AFTER = 5.0
"""Seconds in which a wake word that was heard is told; after them it is said again."""

MOST_CALLS = 4
"""Of its wake word, of which a loaded machine may miss one."""

pytestmark = [
    pytest.mark.shows("V28", "X15"),
    pytest.mark.skipif(bool(reason := why_not()), reason=reason or ""),
    pytest.mark.skipif(not WAKE_CLIP.exists(), reason="the shared clips are not on this machine"),
]


@asynccontextmanager
async def unseen(sightings: Sightings) -> AsyncIterator[None]:
    """See no announcements: tests reach no network."""
    yield


def without_announcements(config: Config) -> Satellites:
    return Satellites(PairedList(config.state_folder), EspHome(str(config.zone)), unseen, Limits(8))


@asynccontextmanager
async def box_with(folder: Path, *satellites: Running) -> AsyncIterator[tuple[Box, Notes]]:
    """Run a box to which they are paired, and that answers; its own room has no microphone.

    The notes are of the first one.
    """
    config = load(Household(folder).write(), {"HOME": str(folder)})
    paired = [Paired(each.mac, each.name, each.name, "127.0.0.1", each.port) for each in satellites]
    PairedList(config.state_folder).write(tuple(paired))

    async def models(catalog: ModelCatalog, room: CachedPrefix) -> list[ChatModel]:
        return [TalkativeModel([ANSWER, LONG], "")]

    outside = replace(REAL, models=models, source=lambda ears, options: None, satellites=without_announcements)
    notes, over = Notes(takes=False), asyncio.Event()

    async def until_over() -> None:
        await over.wait()

    options = RunOptions(output=folder / "own.wav")
    async with open_box(config, options, outside) as box, asyncio.TaskGroup() as group:
        assert isinstance(box.satellites, Satellites)
        others = [Notes(takes=False) for _ in satellites[1:]]
        for link, told in zip(box.satellites.links, (notes, *others), strict=True):
            link.observe(told)
        group.create_task(serve(box, until_over))
        for told in (notes, *others):
            await told.until(("there", True))
        yield box, notes
        over.set()


async def ask(card: VirtualSound, notes: Notes, folder: Path) -> None:
    """Say the wake word, and, when it listens, the question."""
    before = len(wakes_in(notes))
    for _ in range(MOST_CALLS):
        await asyncio.to_thread(card.say, WAKE_CLIP)
        with suppress(TimeoutError):
            async with asyncio.timeout(CALLED_AGAIN_AFTER):
                await notes.until_so(lambda: len(wakes_in(notes)) > before)
                break
    question = folder / "question.wav"
    question.write_bytes(wav(np.concatenate([spoken(QUESTION, "en-us"), silence(0.3)])))
    await asyncio.to_thread(card.say, question)


def wakes_in(notes: Notes) -> list[object]:
    return [each for each in notes.told if isinstance(each, tuple) and each[0] == "wake"]


async def tail(card: VirtualSound, folder: Path) -> None:
    """Wait for what is still in the buffers: it counts as played before it is heard."""
    quiet = folder / "quiet.wav"
    quiet.write_bytes(wav(silence(1.5)))
    await asyncio.to_thread(card.say, quiet)


class Third(SpeechObserver):
    """Waits for the third sentence of a reply."""

    def __init__(self) -> None:
        self.started = asyncio.Event()

    async def sentence_started(self, sentence: SpokenSentence) -> None:
        if sentence.number == 3:
            self.started.set()


def recognized(file: Path) -> str:
    samples: Samples = trimmed(read_recording(file))
    return words_in(samples, FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en"))


async def test_a_question_is_answered_an_announcement_played_and_a_pulled_plug_survived(tmp_path: Path) -> None:
    with virtual_sound() as card, linux_voice_assistant(card) as satellite:
        async with box_with(tmp_path, satellite) as (box, notes):
            await ask(card, notes, tmp_path)
            with card.recording(answer := tmp_path / "answer.wav"):
                await notes.until("finished")
                await tail(card, tmp_path)
            assert recognized(answer) == ANSWER

            room = box.output.rooms.named("kitchen")
            assert room is not None
            with card.recording(ring := tmp_path / "ring.wav"):
                await room.speech.announce(bell(), SpokenSentence("", 0, "Good morning.", "en"))
                await tail(card, tmp_path)
            assert len(trimmed(read_recording(ring))) > 1.0 * SAMPLE_RATE

            room.speech.observe(third := Third())
            await ask(card, notes, tmp_path)
            with card.recording(cut := tmp_path / "cut.wav"):
                await third.started.wait()
                satellite.unplug()
            await notes.until(("there", False))
            await box.household.mailbox.until_idle()
            (interrupted,) = await box.household.replies.sayings.journal.entries(topic=INTERRUPTED)
            assert str(interrupted.body["heard"]).startswith("Turn off the kitchen light.")
            assert "Close" not in str(interrupted.body["heard"])
            assert len(trimmed(read_recording(cut))) > SAMPLE_RATE


async def test_two_that_hear_the_same_are_one_question_and_one_answer(tmp_path: Path) -> None:
    with (
        virtual_sound() as card,
        linux_voice_assistant(card) as kitchen,
        linux_voice_assistant(card, "study", "02:00:00:00:00:02") as study,
    ):
        async with box_with(tmp_path, kitchen, study) as (box, notes):
            journal = box.household.replies.sayings.journal
            await ask(card, notes, tmp_path)
            with card.recording(answer := tmp_path / "answer.wav"):
                while not (runs := await journal.entries(topic="runs.new")):
                    await passed(0.1)
                await box.household.mailbox.until_idle()
                await tail(card, tmp_path)
                await tail(card, tmp_path)
            (asked,) = [await box.household.mailbox.find(str(each.event_id)) for each in runs]
            assert asked is not None
            assert asked.event.source == "satellite"
            assert asked.event.content.endswith("the kitchen light."), "the tests' small Whisper may mishear on for off"
            echoes = [each.body for each in await journal.entries(topic=EARS_SUPPRESSED) if each.body.get("echo_of")]
            assert [each["echo_of"] for each in echoes] == [asked.event.id]
            assert {room_of(asked.event), str(echoes[0]["room"])} == {"kitchen", "study"}
            assert recognized(answer) == ANSWER
