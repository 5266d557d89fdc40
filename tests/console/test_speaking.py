"""Spoken to and answered by the page: Chromium's microphone, the real ears and mouth, and what sounded, recognized."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from audio.pcm import Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from tests.agent.openai_script import call, reply
from tests.audio.spoken import HOUSEHOLD_WHISPER, plain, utterance
from tests.console.conftest import FLAGS
from tests.console.house import House
from tests.service.process import speak

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.shows("F24")]

QUESTION: Final = "What is the weather tomorrow?"
SECONDS: Final = 3.0
"""Of the question, and some silence."""

ANSWER: Final = "Remember that my keys are in the drawer."
"""A sentence that the small recognizer knows."""

PRESSED: Final = {"button": 0, "pointerId": 1, "isPrimary": True}

RECORD: Final = """
  window.sounded = []
  const {start} = AudioBufferSourceNode.prototype
  AudioBufferSourceNode.prototype.start = function (...given) {
    window.sounded.push({rate: this.buffer.sampleRate, samples: [...this.buffer.getChannelData(0)]})
    return start.apply(this, given)
  }
"""
"""Keeps what the page sounds."""


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The microphone hears the question, once."""
    file = speak(QUESTION, tmp_path_factory.mktemp("spoken") / "question.wav")
    return (*FLAGS, f"--use-file-for-fake-audio-capture={file}%noloop")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with House.built(tmp_path_factory.mktemp("house"), {}) as built, built.running():
        yield built


def test_what_is_said_to_the_page_is_heard_and_answered_aloud(context: BrowserContext, house: House) -> None:
    page = context.new_page()
    page.add_init_script(RECORD)
    with page.expect_websocket() as connecting:
        page.goto(house.address)
    expect(page.get_by_test_id("state")).to_be_visible()  # the connection is open: pressed before, it records nothing
    house.answer(reply(ANSWER, also=[call("complete_event", {"summary": "told"})]))
    button = page.get_by_role("button", name="Hold to talk")
    with connecting.value.expect_event("framesent", lasting(SECONDS)):
        button.dispatch_event("pointerdown", PRESSED)
    with connecting.value.expect_event("framereceived", lambda frame: '"speech_ended"' in str(frame)):
        button.dispatch_event("pointerup", PRESSED)
    expect(page.get_by_test_id("question")).to_have_text(QUESTION)
    expect(page.get_by_test_id("answer")).to_have_text(ANSWER)
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", threads=2)
    assert plain(recognizer.transcribe(utterance(sounded(page))).text) == plain(ANSWER)


def lasting(seconds: float) -> Callable[[str | bytes], bool]:
    """Return what is true of the frame with which the page has sent so many seconds of sound."""
    left = seconds * 32_000

    def is_last(frame: str | bytes) -> bool:
        nonlocal left
        left -= len(frame) if isinstance(frame, bytes) else 0
        return left <= 0

    return is_last


def sounded(page: Page) -> Samples:
    """Return what the page has sounded, at 16 kHz."""
    pieces = page.evaluate("window.sounded")
    rate = pieces[0]["rate"]
    whole = np.concatenate([np.array(piece["samples"]) for piece in pieces])
    count = round(len(whole) * 16_000 / rate)
    at_16k = np.interp(np.arange(count) * rate / 16_000, np.arange(len(whole)), whole)
    samples: Samples = (at_16k * 32_767).astype(np.int16)
    return samples
