"""Recognizers that are chosen before the rest of a service: they load once something can be heard, and only once."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from appliance.config.load import Config, load
from appliance.input.devices.source import once_recording
from appliance.input.hearing.choose import Hearing, HearingAhead, hearing_settings
from audio.capture.input import InputFormat
from audio.capture.live import LiveMicrophone
from audio.capture.recording import RecordingSource, read_recording
from audio.devices.portaudio import SoundThread
from audio.errors import ModelNotFound
from tests.audio.capture.test_microphone import ScriptedCard
from tests.audio.capture.test_microphone_begun import Refusing
from tests.audio.ears_fakes import ScriptedRecognizer
from tests.service.process import Household, speak


def configured(folder: Path, **ears: object) -> Config:
    return load(Household(folder, {"ears": ears}).write(), {"HOME": str(folder)})


def test_names_are_expected_from_when_somebody_can_tell_them(tmp_path: Path) -> None:
    settings = hearing_settings(configured(tmp_path))
    ahead = HearingAhead(settings)
    hearing = ahead.hearing(settings, lambda language: ["Zoe"] if language == "en" else [])
    assert hearing.whisper is not None
    assert [*hearing.whisper.names("en")] == ["Zoe"]
    assert [*hearing.whisper.names("de")] == []


@pytest.mark.shows("H9")
def test_what_loads_ahead_is_what_the_box_listens_with(tmp_path: Path) -> None:
    settings = hearing_settings(configured(tmp_path))
    ahead = HearingAhead(settings)
    ahead.load()
    hearing = ahead.hearing(settings, lambda language: [])
    hearing.load().warm()
    assert hearing.whisper is not None
    assert hearing.load() is hearing.load()
    said = read_recording(speak("stop", tmp_path / "stop.wav"))
    assert hearing.whisper.recognizer.log_probability("stop", said) is not None  # None until it is loaded


def test_a_folder_without_a_model_is_told_at_once(tmp_path: Path) -> None:
    config = configured(tmp_path, model=str(tmp_path / "nothing"))
    with pytest.raises(ModelNotFound):
        HearingAhead(hearing_settings(config))


def test_whoever_asks_in_any_thread_gets_the_one_that_loads() -> None:
    hearing, got = Hearing(ScriptedRecognizer([])), list[object]()
    asking = [threading.Thread(target=lambda: got.append(hearing.load())) for _ in range(8)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert len({id(each) for each in got}) == 1


def test_a_recording_can_be_heard_at_once(tmp_path: Path) -> None:
    called = list[str]()
    once_recording(RecordingSource(speak("hello", tmp_path / "hello.wav")), lambda: called.append("now"))
    assert called == ["now"]


@pytest.mark.shows("H9")
def test_for_a_microphone_nothing_loads_before_it_records() -> None:
    card, records = ScriptedCard(InputFormat("a card", 16000, 1)), threading.Event()
    microphone = LiveMicrophone(card, "any", thread=SoundThread())
    once_recording(microphone, records.set)
    assert not records.is_set()  # nobody began it
    microphone.begin()
    once_recording(microphone, records.set)
    assert records.wait(10)
    assert card.log == ["open", "begin"]
    microphone.end()


def test_for_a_microphone_that_cannot_be_opened_nothing_loads() -> None:
    called, thread = list[str](), SoundThread()
    microphone = LiveMicrophone(Refusing(InputFormat("a card", 16000, 1)), "any", thread=thread)
    microphone.begin()
    once_recording(microphone, lambda: called.append("loads"))
    thread.call(lambda: None, 10.0)
    assert called == []


@pytest.mark.shows("H9")
def test_nothing_of_a_mind_is_imported_before_the_recognizer_begins_to_load() -> None:
    look = "import sys, appliance.input.hearing.choose; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=120, check=True)
    assert not {"agent", "pydantic", "hassil", "pocketsphinx"} & set(done.stdout.split())
