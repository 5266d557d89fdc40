"""The flight recorder in the simulated room: sound and reasons of turns, the same decisions again, forgetting."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from agent.turns.waterfall import turns_of
from appliance.config.sections import EarsSettings
from appliance.recorder.recording import Recording
from appliance.recorder.replay import compared, replay
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.turns.vad import load_detector
from tests.audio.spoken import HOUSEHOLD_WHISPER
from tests.room.house import House, Surroundings, live
from tests.room.own_words import speech
from tests.room.rooms import ROOMS
from tests.room.stories import warm_up
from tests.room.virtual_time import passed
from tests.room.voices import says

pytestmark = [pytest.mark.room, pytest.mark.shows("V26")]

ON: dict[str, dict[str, object]] = {"recorder": {"turns": 5}}


def recordings_in(house: House) -> list[Recording]:
    return house.box.input.acting.insight.recordings.listed()


def decided_again(recording: Recording) -> list[object]:
    """What a replay with the same settings decides otherwise."""
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 1)
    replayed = asyncio.run(replay(recording, EarsSettings(), recognizer, load_detector))
    return [row for row in compared(recording, replayed) if not row.is_same]


def test_a_turn_over_its_own_voice_is_recorded_and_decided_again_as_it_was(tmp_path: Path) -> None:
    async def story(house: House) -> tuple[list[Recording], list[str]]:
        echo = await warm_up(house)
        await house.ask()
        await passed(3.0)
        house.put(says("What time is it?"), echo + 6.0, after=0.2)
        await house.wait(lambda: len(house.turns.taken_up) > 0)
        await house.silence()
        await passed(3.0)
        turns = await turns_of(house.box.insight.journal, "household")
        return recordings_in(house), [turn.event_id for turn in turns]

    around = Surroundings(
        settings=ON, answers=[speech(3, 1), speech(3, 2), speech(3, 3)], aside="All right.",
        loudspeaker=ROOMS["two clocks, 40 ppm apart"],
    )  # fmt: skip
    recordings, events = live(tmp_path, story, around)
    recording = recordings[0]
    assert recording.id in events
    assert recording.decided["reason"] == ""
    assert np.abs(recording.reference).max() > 100
    assert not np.array_equal(recording.microphone, recording.cleaned)
    did = [name for _, name in recording.barge_in]
    assert "ended" in did
    assert {"paused", "ducked"} & {*did}
    assert decided_again(recording) == []


def test_forgetting_leaves_no_byte_of_a_recorded_turn(tmp_path: Path) -> None:
    async def story(house: House) -> tuple[int, int, int]:
        house.put(says("What time is it?"), -26.0, after=1.0)
        await house.wait(lambda: len(house.card.played) > 0)
        await house.silence()
        await passed(3.0)
        kept = len(recordings_in(house))
        house.put(says("Cancel the timer."), -26.0, after=0.1)
        await house.wait(lambda: len(house.turns.ended) > 1)
        await house.box.input.forget(2)  # also what is over, and not written yet
        await passed(5.0)
        folder = house.box.config.state_folder / "recordings"
        return kept, len(recordings_in(house)), len(list(folder.iterdir()))

    kept, left, files = live(tmp_path, story, Surroundings(settings=ON, answers=["It is four."]))
    assert kept == 1
    assert (left, files) == (0, 0)


def test_off_nothing_is_kept_and_what_was_kept_goes(tmp_path: Path) -> None:
    async def story(house: House) -> int:
        house.put(says("What time is it?"), -26.0, after=1.0)
        await house.wait(lambda: len(house.card.played) > 0)
        await house.silence()
        await passed(3.0)
        assert house.box.input.recorder is None or recordings_in(house)
        return len(recordings_in(house))

    assert live(tmp_path, story, Surroundings(settings=ON, answers=["It is four."])) == 1
    assert live(tmp_path, story, Surroundings(answers=["It is four."])) == 0
