"""nakari as speech-to-text, voice and conversation agent of a real Home Assistant, by its own Wyoming integration."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import av
import numpy as np
import pytest

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from tests.agent.openai_server import OpenAiServer, call, reply
from tests.audio.spoken import HOUSEHOLD_WHISPER, silence, utterance
from tests.home.home_assistant import Running
from tests.home.onboarding import Socket, posted
from tests.memory.graph_looks import free_port
from tests.room.voices import spoken
from tests.service.process import Household

pytestmark = pytest.mark.shows("X13")

FLOWS = "/api/config/config_entries/flow"
QUESTION, ANSWER = "What time is it?", "Good morning."
ENGINES = {
    "conversation_engine": "conversation.nakari",
    "stt_engine": "stt.nakari",
    "tts_engine": "tts.nakari",
    "wake_word_entity": None,
    "wake_word_id": None,
    "tts_voice": "nakari-en",
    **dict.fromkeys(("language", "conversation_language", "stt_language", "tts_language"), "en"),
}
PACE = SAMPLE_RATE // 10
"""Samples of one message of a microphone."""


@dataclass
class AtWyoming:
    """A Home Assistant that has the box for its ears, its voice and its agent."""

    http: aiohttp.ClientSession
    box: Box
    server: OpenAiServer

    async def said(self, text: str, conversation: str = "") -> tuple[str, str]:
        """Ask as Assist does; return what is said aloud and the id of the conversation."""
        asked = {"text": text, "language": "en", "agent_id": "conversation.nakari"}
        asked |= {"conversation_id": conversation} if conversation else {}
        answer = await posted(self.http, "/api/conversation/process", json=asked)
        return answer["response"]["speech"]["plain"]["speech"], answer["conversation_id"]

    async def heard(self, token: str, sound: Samples) -> dict[str, Any]:
        """Run a pipeline from sound to sound; return the data of each of its events by name."""
        async with self.http.ws_connect("/api/websocket", max_msg_size=0) as connection:
            socket = Socket(connection)
            await socket.log_in(token)
            pipeline = await socket.ask("assist_pipeline/pipeline/create", name="nakari", **ENGINES)
            run = {"start_stage": "stt", "end_stage": "tts", "pipeline": pipeline["id"]}
            await socket.ask("assist_pipeline/run", **run, input={"sample_rate": SAMPLE_RATE, "no_vad": True})
            told: dict[str, Any] = {}
            while "run-end" not in told:
                event = (await connection.receive_json())["event"]
                told[event["type"]] = event["data"]
                if event["type"] == "run-start":
                    await self._speak(connection, event["data"]["runner_data"]["stt_binary_handler_id"], sound)
            return told

    async def _speak(self, connection: aiohttp.ClientWebSocketResponse, handler: int, sound: Samples) -> None:
        for at in range(0, len(sound), PACE):
            await connection.send_bytes(bytes([handler]) + sound[at : at + PACE].tobytes())
        await connection.send_bytes(bytes([handler]))


@pytest.fixture
async def http(home_assistant: Running) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(
        home_assistant.url, headers={"Authorization": f"Bearer {home_assistant.token}"}
    ) as opened:
        yield opened


async def at_wyoming(
    http: aiohttp.ClientSession, folder: Path, answers: list[str], story: Callable[[AtWyoming], Awaitable[None]]
) -> list[Any]:
    """Let a story happen at a box that answers so; return what its model was sent."""
    async with OpenAiServer() as server:
        done = call("complete_event", {"summary": "answered"})
        server.enqueue(*(reply(each, also=[done]) for each in answers))
        port = free_port()
        settings: dict[str, dict[str, object]] = {
            "model": {"provider": "openai", "base_url": server.url, "name": "m"},
            "wyoming": {"listen": f"127.0.0.1:{port}"},
        }

        async def tell(box: Box) -> None:
            form = await posted(http, FLOWS, json={"handler": "wyoming"})
            made = await posted(http, f"{FLOWS}/{form['flow_id']}", json={"host": "127.0.0.1", "port": port})
            assert (made["type"], made["title"]) == ("create_entry", "nakari")
            try:
                await story(AtWyoming(http, box, server))
            finally:
                await http.delete(f"/api/config/config_entries/entry/{made['result']['entry_id']}")

        config = load(Household(folder, settings).write(), {"HOME": str(folder)})
        async with asyncio.timeout(120), open_box(config, RunOptions(deaf=True)) as box:
            await serve(box, lambda: tell(box))
        return [request.messages for request in server.requests]


def decoded(content: bytes) -> Samples:
    """Return a sound file as it is played: int16, 16 kHz mono."""
    with av.open(io.BytesIO(content), mode="r") as file:
        resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
        frames = [piece for frame in file.decode(audio=0) for piece in resampler.resample(frame)]
    return np.concatenate([frame.to_ndarray()[0] for frame in frames])


async def test_a_sentence_asked_there_is_answered_here_and_a_conversation_goes_on(
    http: aiohttp.ClientSession, tmp_path: Path
) -> None:
    async def ask(home: AtWyoming) -> None:
        first, conversation = await home.said("what time is it")
        second, same = await home.said("and an hour later", conversation)
        assert (first, second, same) == ("It is three.", "Four.", conversation)
        filed = await home.box.household.mailbox.listed("completed", 5)
        assert {each.event.session_id for each in filed} == {f"wyoming {conversation}"}

    messages = await at_wyoming(http, tmp_path, ["It is three.", "Four."], ask)
    told = json.dumps(messages[-1])
    assert [told.count(words) for words in ("what time is it", "an hour later")] == [1, 1]


async def test_what_is_said_into_its_microphone_comes_back_as_sound(
    http: aiohttp.ClientSession, home_assistant: Running, tmp_path: Path
) -> None:
    async def speak(home: AtWyoming) -> None:
        sound = np.concatenate([silence(0.5), spoken(QUESTION, "en-us"), silence(1.5)])
        told = await home.heard(home_assistant.token, sound)
        assert told["stt-end"]["stt_output"]["text"] == QUESTION
        assert told["intent-end"]["intent_output"]["response"]["speech"]["plain"]["speech"] == ANSWER
        async with home.http.get(told["tts-end"]["tts_output"]["url"]) as answer:
            sounded = decoded(await answer.read())
        recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")
        assert recognizer.transcribe(utterance(sounded)).text == ANSWER

    await at_wyoming(http, tmp_path, [ANSWER], speak)


async def test_nothing_said_is_told_as_nothing(
    http: aiohttp.ClientSession, home_assistant: Running, tmp_path: Path
) -> None:
    async def keep_silent(home: AtWyoming) -> None:
        told = await home.heard(home_assistant.token, silence(2.0))
        assert told["error"]["code"] == "stt-no-text-recognized"

    assert await at_wyoming(http, tmp_path, [], keep_silent) == []
