"""A page's sound over /ws at the real door of a whole box, with a real client: in frames, out frames, in real time."""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, unix_connect

from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from tests.appliance.remote.page import words_in
from tests.appliance.remote.test_audio_request import QUESTION, Door, door
from tests.audio.spoken import HOUSEHOLD_WHISPER, silence
from tests.room.voices import spoken

FRAME = 1024
"""Samples in one binary message: 64 ms."""


@dataclass
class Client:
    """A client of the WebSocket that keeps what it is told, and the sound it gets."""

    connection: ClientConnection
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    sound: list[bytes] = field(default_factory=list)

    async def asks(self, kind: str, **payload: object) -> None:
        await self.connection.send(json.dumps({"type": kind, "payload": payload}))

    async def speaks(self, samples: Samples) -> None:
        """Send sound as fast as it goes: its time is in its samples."""
        for at in range(0, len(samples), FRAME):
            await self.connection.send(samples[at : at + FRAME].astype("<i2").tobytes())

    async def until(self, event: str) -> dict[str, Any]:
        """Return the payload of the next message of this name."""
        async with asyncio.timeout(120):
            while True:
                frame = await self.connection.recv()
                if isinstance(frame, bytes):
                    self.sound.append(frame)
                    continue
                message = json.loads(frame)
                self.told.append((message["event"], message["payload"]))
                if message["event"] == event:
                    return dict(message["payload"])

    def words(self, sample_rate: int) -> str:
        """Return what the sound says, recognized again."""
        sound = np.frombuffer(b"".join(self.sound), "<i2")
        at = np.arange(0, len(sound), sample_rate / SAMPLE_RATE)
        resampled = np.interp(at, np.arange(len(sound)), sound).astype(np.int16)
        return words_in(resampled, FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en"))


async def connected(at: Door) -> Client:
    client = Client(await unix_connect(str(at.box.config.socket), "ws://nakari/ws"))
    await client.until("snapshot")
    return client


@pytest.mark.shows("F25", "V12")
@pytest.mark.parametrize("mode", ["push_to_talk", "open"])
async def test_a_page_asks_aloud_and_hears_the_answer(mode: str, tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        page = await connected(at)
        await page.asks("audio_start", mode=mode)
        await page.speaks(np.concatenate([silence(0.5), spoken(QUESTION, "en-us"), silence(1.5)]))
        if mode == "push_to_talk":
            await page.asks("audio_end")
        heard = await page.until("heard")
        assert (heard["text"], heard["session"]) == (QUESTION, "console")
        begun = await page.until("speech_started")
        assert begun["event_id"] == heard["event_id"]
        ended = await page.until("speech_ended")
        assert ended == {"event_id": heard["event_id"], "is_cut": False}
        assert page.words(begun["sample_rate"]) == "Good morning."
        await page.connection.close()


@pytest.mark.shows("F25")
async def test_what_is_written_is_answered_aloud_where_that_is_wanted(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        page = await connected(at)
        await page.asks("user_message", content="Good day.", speak=True)
        begun = await page.until("speech_started")
        await page.until("speech_ended")
        assert page.words(begun["sample_rate"]) == "Good morning."
        page.sound.clear()
        await page.asks("user_message", content="Good day again.")
        await page.until("run_finished")
        await page.asks("audio_end")
        assert page.sound == []
        await page.connection.close()


@pytest.mark.shows("F25")
async def test_stop_cuts_the_speech_on_the_page(tmp_path: Path) -> None:
    async with door(tmp_path, " ".join(["Good morning. Turn off the kitchen light."] * 6)) as at:
        page = await connected(at)
        await page.asks("user_message", content="Good day.", speak=True)
        await page.until("speech_started")
        await page.asks("stop")
        assert (await page.until("speech_ended"))["is_cut"]
        assert (await page.until("interrupted"))["unsaid"]
        await page.connection.close()
