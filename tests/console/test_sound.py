"""Sound of the page: what the microphone sends is what was spoken, and a voice that is cut falls silent at once."""

import wave
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from memory.json_value import Json
from tests.console.conftest import FLAGS
from tests.console.door import ScriptedDoor

pytestmark = [pytest.mark.browser, pytest.mark.shows("F24")]

RATE: Final = 16_000
PITCH: Final = 500  # Hz
FRAME: Final = 512 * 2  # bytes

RECORD: Final = """
  window.sounds = []
  const {start, stop} = AudioBufferSourceNode.prototype
  AudioBufferSourceNode.prototype.start = function (...given) {
    window.sounds.push({seconds: this.buffer.duration, rate: this.buffer.sampleRate, at: given[0], isCut: false})
    this.place = window.sounds.length - 1
    return start.apply(this, given)
  }
  AudioBufferSourceNode.prototype.stop = function (...given) {
    window.sounds[this.place].isCut = true
    return stop.apply(this, given)
  }
"""
"""Notes what the page sounds, and what of it is cut."""


def tone(seconds: float) -> NDArray[np.int16]:
    time = np.arange(int(seconds * RATE)) / RATE
    return (np.sin(2 * np.pi * PITCH * time) * 16_000).astype(np.int16)


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The microphone hears a tone."""
    file = tmp_path_factory.mktemp("sound") / "tone.wav"
    write(file, tone(10.0))
    return (*FLAGS, f"--use-file-for-fake-audio-capture={file}")


def write(file: Path, samples: NDArray[np.int16]) -> None:
    with wave.open(str(file), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(samples.tobytes())


def pitch_of(samples: NDArray[np.int16]) -> float:
    """Return the strongest frequency, in Hz."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum)) * RATE / len(samples)


def hold_until_half_a_second_came(page: Page, door: ScriptedDoor) -> None:
    button = page.get_by_role("button", name="Hold to talk")
    button.dispatch_event("pointerdown", {"button": 0, "pointerId": 1, "isPrimary": True})
    assert door.next_message() == {"type": "audio_start", "payload": {"session": "console", "mode": "push_to_talk"}}
    door.wait_for_sound(RATE)
    button.dispatch_event("pointerup", {"button": 0, "pointerId": 1, "isPrimary": True})


def test_while_it_is_held_the_microphone_is_sent(page: Page, door: ScriptedDoor) -> None:
    hold_until_half_a_second_came(page, door)
    assert door.next_message() == {"type": "audio_end"}
    heard = np.frombuffer(bytes(door.sound), dtype=np.int16)
    assert pitch_of(heard[4096:]) == pytest.approx(PITCH, abs=10)
    assert np.abs(heard[4096:]).max() == pytest.approx(16_000, rel=0.1)
    came = len(door.sound)
    expect(page.get_by_role("button", name="Hold to talk")).to_have_attribute("aria-pressed", "false")
    assert len(door.sound) == came


def test_after_the_end_nothing_is_sent_however_long_the_browser_takes_to_close(page: Page, door: ScriptedDoor) -> None:
    page.evaluate(
        "AudioContext.prototype.close = () => new Promise(() => {}); MediaStreamTrack.prototype.stop = () => {}"
    )
    hold_until_half_a_second_came(page, door)
    assert door.next_message() == {"type": "audio_end"}
    came = len(door.sound)
    page.evaluate("new Promise((over) => setTimeout(over, 300))")  # nine frames
    assert len(door.sound) == came


def test_a_held_space_bar_talks_too(page: Page, door: ScriptedDoor) -> None:
    page.get_by_role("button", name="Hold to talk").focus()
    page.keyboard.down(" ")
    assert door.next_message()["type"] == "audio_start"
    door.wait_for_sound(FRAME)
    page.keyboard.up(" ")
    assert door.next_message() == {"type": "audio_end"}


def test_the_microphone_stays_open_until_it_is_closed(page: Page, door: ScriptedDoor) -> None:
    page.get_by_role("button", name="Keep the microphone open").click()
    assert door.next_message() == {"type": "audio_start", "payload": {"session": "console", "mode": "open"}}
    expect(page.get_by_role("button", name="Hold to talk")).to_be_disabled()
    door.wait_for_sound(FRAME)
    page.get_by_role("button", name="The microphone is open: close it").click()
    assert door.next_message() == {"type": "audio_end"}


def test_speech_sounds_in_the_page_and_is_cut_at_once(own_page: Page, door: ScriptedDoor) -> None:
    page = own_page
    page.add_init_script(RECORD)
    page.reload()
    page.get_by_role("button", name="Let answers sound here").click()
    page.get_by_role("textbox").fill("Sing")
    page.keyboard.press("Enter")
    payload = door.next_message()["payload"]
    assert isinstance(payload, dict)
    assert payload["speak"] is True
    door.say("speech_started", {"sample_rate": 22_050, "event_id": "e1"})
    for _ in range(3):
        door.say_sound(tone(1.0).tobytes())
    page.wait_for_function("() => window.sounds.length === 3")
    sounds = page.evaluate("window.sounds")
    lengths = [RATE / 22_050] * 3
    assert [each["seconds"] for each in sounds] == pytest.approx(lengths)
    assert sounds[1]["at"] - sounds[0]["at"] == pytest.approx(lengths[0], abs=1e-4)
    cut: dict[str, Json] = {"event_id": "e1", "heard": "La", "unsaid": "la la"}
    door.say("interrupted", cut)
    page.wait_for_function("() => window.sounds.at(-1).isCut")
    door.say_sound(tone(1.0).tobytes())
    door.say("speech_started", {"sample_rate": 16_000, "event_id": "e2"})
    door.say_sound(tone(0.1).tobytes())
    page.wait_for_function("() => window.sounds.length === 4 && !window.sounds[3].isCut")
    assert page.evaluate("window.sounds[3].rate") == 16_000
