"""The whole program by Wyoming: heard, spoken to, asked, told of, and stopped in the middle of it."""

import asyncio
import json
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import Eventable, async_write_event
from wyoming.tts import Synthesize

from audio.pcm import SAMPLE_RATE
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.resampler import StreamResampler
from tests.appliance.wyoming.rig import told
from tests.audio.spoken import HOUSEHOLD_WHISPER, silence, utterance
from tests.room.voices import spoken
from tests.service.process import SECONDS, Household, Running

pytestmark = pytest.mark.shows("X13", "G14")

QUESTION, ANSWER = "What time is it?", "Good morning."


def household(folder: Path) -> Household:
    return Household(folder, {"wyoming": {"listen": "127.0.0.1:0"}})


def port_of(running: Running) -> int:
    return int(str(running.until("wyoming_listens")["address"]).rpartition(":")[2])


async def asked(port: int, *events: Eventable, until: str) -> tuple[dict[str, object], bytes, int]:
    """Return the data of the last event, the sound before it, and its rate."""
    async with asyncio.timeout(SECONDS), AsyncTcpClient("127.0.0.1", port) as client:
        for event in events:
            await client.write_event(event.event())
        got = await told(client, until)
        sound = [each for each in got if each.type == "audio-chunk"]
        assert got[-1].type == until
        return got[-1].data, b"".join(each.payload or b"" for each in sound), sound[0].data["rate"] if sound else 0


async def all_three(port: int) -> None:
    """Ask for each: at once, for they are three programs."""
    form = (SAMPLE_RATE, 2, 1)
    sound = np.concatenate([silence(0.5), spoken(QUESTION, "en-us"), silence(0.5)]).tobytes()
    recording = [Transcribe(language="en"), AudioStart(*form), AudioChunk(*form, sound), AudioStop()]
    async with asyncio.TaskGroup() as group:
        heard = group.create_task(asked(port, *recording, until="transcript"))
        said = group.create_task(asked(port, Synthesize(ANSWER), until="audio-stop"))
        answered = group.create_task(
            asked(
                port,
                Transcript("what is two plus two", {"conversation_id": "c", "area": "kitchen"}),
                until="handled-stop",
            )
        )
    assert heard.result()[0]["text"] == QUESTION
    _, content, rate = said.result()
    samples = StreamResampler(rate, SAMPLE_RATE).feed(np.frombuffer(content, "<i2"))
    assert FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en").transcribe(utterance(samples)).text == ANSWER
    assert answered.done()


def test_it_hears_speaks_and_answers_and_says_who_comes(tmp_path: Path) -> None:
    home = household(tmp_path)
    with home.running("run") as running:
        port = port_of(running)
        asyncio.run(all_three(port))
        [(envelope,)] = home.rows("SELECT envelope FROM mailbox")
        event = json.loads(str(envelope))
        assert (event["session_id"], event["owner_key"]) == ("wyoming c", "household")
        assert event["metadata"]["room"] == "kitchen"
        status = json.loads(home.run("status", "--json").stdout)["wyoming"]
        assert (status["address"], status["announced"], status["problem"]) == (f"127.0.0.1:{port}", "", "")
        assert status["last"] != ""
        doctor = home.run("doctor", "--json").stdout.splitlines()
        [line] = [found for found in map(json.loads, doctor) if found["name"] == "wyoming"]
        assert line["state"] == "ok"
        assert f"at 127.0.0.1:{port}; only programs of the household on this machine come in" in line["what"]


def test_a_stop_in_the_middle_of_everything_is_one_in_time(tmp_path: Path) -> None:
    home = household(tmp_path)

    async def leave_open(port: int, running: Running) -> None:
        form = (SAMPLE_RATE, 2, 1)
        open_ones = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for event in (AudioStart(*form), AudioChunk(*form, bytes(2048))):
            await async_write_event(event.event(), open_ones[0][1])
        running.process.send_signal(signal.SIGTERM)
        for reader, writer in open_ones:
            with suppress(ConnectionError):  # closed with something of it unread
                assert await reader.read() == b""
            writer.transport.abort()

    with home.running("run") as running:
        asyncio.run(leave_open(port_of(running), running))
        running.until("service_stopped")
        assert running.finish() == 0
        assert not [line for line in running.log if line.get("event") == "stop_cut_short"]
