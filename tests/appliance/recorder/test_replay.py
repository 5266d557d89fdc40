"""A recorded turn run again: with the same settings the same decisions, to the last figure; with others, others."""

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from agent.intents.language.grammar import command_grammar
from appliance.config.sections import EarsSettings
from appliance.recorder.recording import Recording
from appliance.recorder.replay import NO_TURN, compared
from audio.capture.recording import read_recording
from audio.interfaces import Recognizer
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.speech import Transcript, Utterance
from tests.appliance.recorder.sessions import again, recorded, room_of
from tests.audio.ears_fakes import ScriptedRecognizer
from tests.audio.spoken import HOUSEHOLD_WHISPER, SHARED_CLIPS, go_forward, said, silence, trimmed
from tests.sample import sample

pytestmark = pytest.mark.shows("V26")

needs_shared = pytest.mark.skipif(not SHARED_CLIPS.is_dir(), reason=f"no further clips: {SHARED_CLIPS} is not there")


@pytest.fixture(scope="module")
def whisper() -> Recognizer:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", 1)
    recognizer.warm()
    return recognizer


@pytest.fixture(scope="module")
def commands() -> Recognizer:
    return PocketsphinxRecognizer(command_grammar("en"))


@pytest.fixture(scope="module")
def turns(whisper: Recognizer, tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    """Two sentences in a room, the later one first."""
    folder = tmp_path_factory.mktemp("recorded")
    sounds = [said(text, "en-us", folder) for text in ("what time is it", "turn on the kitchen light")]
    found, _ = recorded(room_of(*sounds), folder / "recordings", whisper)
    return found


@pytest.mark.parametrize("filing", [0.0, 4.0], ids=["soon", "on a busy disk"])
def test_a_recording_bears_the_name_of_its_event_however_late_that_is_filed(filing: float, tmp_path: Path) -> None:
    sound = room_of(said("what time is it", "en-us", tmp_path))
    (recording,), gate = recorded(sound, tmp_path / "recordings", Undecided(), filing=filing)
    assert [recording.id] == [event.id for event in gate.events]


class Undecided(ScriptedRecognizer):
    """Always hears words, in a language of tones, that do not tell whether somebody has finished."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        return Transcript("红色的狐狸", "zh", "undecided")


def assert_same(recording: Recording, recognizer: Recognizer, ears: EarsSettings | None = None) -> None:
    replayed = again(recording, recognizer, ears)
    assert [row for row in compared(recording, replayed) if not row.is_same] == []
    assert replayed.probabilities == tuple(recording.probability[recording.first :])


def test_the_same_settings_give_the_recorded_decisions(turns: list[Recording], whisper: Recognizer) -> None:
    assert [turn.decided["text"] for turn in turns] == ["Turn on the kitchen light.", "What time is it?"]
    for turn in turns:
        assert turn.state
        assert turn.hypotheses
        assert_same(turn, whisper)


def test_what_is_replayed_is_what_was_read_back_from_the_file(turns: list[Recording], whisper: Recognizer) -> None:
    back = Recording.from_bytes(turns[0].to_bytes())
    assert back.about() == turns[0].about()
    assert np.array_equal(back.microphone, turns[0].microphone)
    assert_same(back, whisper)


def test_another_recognizer_is_told_apart(turns: list[Recording], commands: Recognizer) -> None:
    changed = {row.name: row for row in compared(turns[1], again(turns[1], commands))}
    assert changed["recognizer"].recorded != changed["recognizer"].replayed == "pocketsphinx"
    assert changed["reason"].recorded == ""


def test_another_silence_ends_the_turn_at_another_moment(tmp_path: Path) -> None:
    sound = room_of(said("the quick brown fox", "en-us", tmp_path))
    [recording], _ = recorded(sound, tmp_path / "recordings", Undecided())
    assert_same(recording, Undecided())
    longer = again(recording, Undecided(), EarsSettings(commit_silence=1.2))
    rows = {row.name: row for row in compared(recording, longer)}
    silences = rows["closing_silence"]
    assert isinstance(silences.replayed, float)
    assert isinstance(silences.recorded, float)
    assert silences.replayed - silences.recorded == pytest.approx(0.5, abs=0.04)
    assert rows["text"].is_same


def test_words_that_came_late_or_too_late_come_so_again(whisper: Recognizer, tmp_path: Path, every_step: bool) -> None:
    pieces = [trimmed(said(text, "en-us", tmp_path)) for text in ("what time is it", "turn on the kitchen light")]
    broken = np.concatenate([pieces[0], silence(0.45), pieces[1], silence(0.3), pieces[0]])
    sound = room_of(broken, pieces[1])
    for takes in sample([0.05, 0.9, 1.4, 2.2], 2, whole=every_step):
        found, _ = recorded(sound, tmp_path / f"recordings{takes}", whisper, takes=takes)
        assert len(found) > 1
        for recording in found:
            assert_same(recording, whisper)


def test_sound_that_is_no_turn_any_more_is_told_as_none(turns: list[Recording], whisper: Recognizer) -> None:
    quiet = Recording.from_bytes(turns[0].to_bytes())
    silent = replace(quiet, cleaned=0 * quiet.cleaned)
    assert again(silent, whisper).decided["reason"] == NO_TURN


@needs_shared
@pytest.mark.parametrize("name", ["nodejs-docs-samples__mountain_view.wav", "RealtimeSTT__LJ001-0004.wav"])
def test_human_speech_is_decided_again_as_it_was(name: str, tmp_path: Path, commands: Recognizer) -> None:
    clip = read_recording(SHARED_CLIPS / "clips" / name)
    found, gate = recorded(room_of(clip), tmp_path / "recordings", commands)
    assert len(found) == len([heard for heard, _ in gate.ended if heard is not None]) > 0
    for recording in found:
        assert_same(recording, commands)


def test_debians_human_clip_is_decided_again_as_it_was(tmp_path: Path, commands: Recognizer) -> None:
    found, _ = recorded(room_of(go_forward().samples), tmp_path / "recordings", commands)
    assert found
    for recording in found:
        assert_same(recording, commands)
