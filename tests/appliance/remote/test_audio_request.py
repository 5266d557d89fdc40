"""POST /audio at the real door of a whole box: real server, recognizer and voice; only the model has a script."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest
from msgspec.structs import replace

from agent.model.interface import CachedPrefix, ChatModel
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.model.catalog import ModelCatalog
from appliance.output.text import WRITTEN
from appliance.remote.recording import utterances_in
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import REAL
from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.turns.vad import load_detector
from memory.state.journal import Stored
from tests.appliance.remote.page import words_in
from tests.appliance.remote.sounds import encoded, ten_hours_of_silence, wav
from tests.audio.mouth_fakes import note
from tests.audio.spoken import HOUSEHOLD_WHISPER, SHARED_CLIPS, silence
from tests.room.house import TalkativeModel
from tests.room.voices import spoken
from tests.service.process import Household

QUESTION = "Turn on the kitchen light."
LONG = " ".join(["Good morning. Turn off the kitchen light. Cancel the timer."] * 8)
CLIPS = [
    SHARED_CLIPS / "clips" / name
    for name in ("cognitive-services-speech-sdk__whatstheweatherlike.wav", "nodejs-docs-samples__brooklyn.flac")
]
"""Of two people."""


@dataclass
class Door:
    """A running box, and a program at its door."""

    box: Box
    client: httpx.AsyncClient

    async def sends(self, content: bytes, **query: str) -> httpx.Response:
        return await self.client.post("/audio", content=content, params=query)

    async def journaled(self, topic: str) -> list[Stored]:
        return await self.box.household.replies.sayings.journal.entries(topic=topic)

    async def over(self) -> dict[str, int]:
        """Return when nothing is left to do: how many events came to which end."""
        await self.box.household.mailbox.until_idle()
        return {state: count for state, count in (await self.box.household.mailbox.counts()).items() if count}


@asynccontextmanager
async def door(folder: Path, *answers: str) -> AsyncIterator[Door]:
    model = TalkativeModel(answers or ("Good morning.",), "")
    config = load(Household(folder).write(), {"HOME": str(folder)})

    async def models(catalog: ModelCatalog, room: CachedPrefix) -> list[ChatModel]:
        return [model]

    environment = replace(REAL, models=models, source=lambda ears, options: None)
    async with open_box(config, RunOptions(deaf=True), environment) as box, asyncio.TaskGroup() as group:
        over = asyncio.Event()

        async def until_over() -> None:
            await over.wait()

        group.create_task(serve(box, until_over), name="the box")
        transport = httpx.AsyncHTTPTransport(uds=str(config.socket), verify=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://nakari", timeout=30) as client:
            try:
                yield Door(box, client)
            finally:
                over.set()


def lines(response: httpx.Response) -> list[dict[str, str]]:
    assert response.status_code == 200, response.text
    return [json.loads(line) for line in response.text.splitlines()]


def question() -> Samples:
    return np.concatenate([silence(0.3), spoken(QUESTION, "en-us"), silence(0.3)])


@pytest.mark.shows("F25", "V12")
async def test_an_utterance_as_a_file_becomes_an_event_and_is_answered_in_lines(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        for kind in ("wav", "ogg", "webm"):
            heard, *chunks, ended = lines(await at.sends(encoded(question(), kind), session=kind))
            assert (heard["event"], heard["text"]) == ("heard", QUESTION)
            assert "".join(each["chunk"] for each in chunks).strip() == "Good morning."
            assert ended == {"event": "run_finished", "status": "completed"}
            filed = await at.box.household.mailbox.find(heard["event_id"])
            assert filed is not None
            event = filed.event
            assert (event.type, event.source, event.session_id) == ("asr_transcript", "remote", kind)
            assert isinstance(event.metadata["evidence"], dict)


@pytest.mark.shows("F25", "F27")
async def test_the_answer_is_sound_where_sound_is_asked_for(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        response = await at.sends(encoded(question(), "ogg"), speak="wav")
        assert response.headers["content-type"] == "audio/wav"
        assert response.headers["x-heard"] == "Turn%20on%20the%20kitchen%20light."
        (tmp_path / "answer.wav").write_bytes(response.content)
        bare = await at.sends(encoded(question(), "ogg"), speak="pcm")
        assert bare.headers["content-type"] == f"audio/pcm;rate={response.headers['x-sample-rate']};channels=1"
        assert len(bare.content) == len(response.content) - 44
    answer = await asyncio.to_thread(read_recording, tmp_path / "answer.wav")
    assert words_in(answer, FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")) == "Good morning."


@pytest.mark.skipif(not CLIPS[0].is_file(), reason="the clips of human speakers are where the project is developed")
@pytest.mark.shows("F25")
@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.stem)
async def test_a_human_voice_is_the_same_words_in_every_kind_of_file(clip: Path, tmp_path: Path) -> None:
    """The small recognizer knows 179 sentences and finds one of them in anything; which one, the sound decides."""
    samples = read_recording(clip)
    [utterance] = utterances_in(samples, load_detector(), 0.0)
    words = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en").transcribe(utterance).text
    async with door(tmp_path) as at:
        for kind in ("wav", "ogg", "webm"):
            assert lines(await at.sends(encoded(samples, kind)))[0]["text"] == words


async def test_what_nobody_said_is_held_back_with_the_reason(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        for speak in ("text", "wav"):
            [held] = lines(await at.sends(wav(silence(1.0)), speak=speak))
            assert held == {"event": "heard", "text": "", "event_id": None, "held_back": "no words"}
        assert await at.over() == {}


@pytest.mark.shows("F25")
async def test_two_at_once_have_their_own_answers(tmp_path: Path) -> None:
    async with door(tmp_path, "Good morning.", "Cancel the timer.") as at:
        asked = [at.sends(encoded(question(), "wav"), session=name) for name in ("one", "other")]
        answers = [lines(each) for each in await asyncio.gather(*asked)]
        said = {"".join(each.get("chunk", "") for each in answer).strip() for answer in answers}
        assert said == {"Good morning.", "Cancel the timer."}
        assert len({answer[0]["event_id"] for answer in answers}) == 2


@pytest.mark.shows("F25")
async def test_hostile_sound_costs_a_sentence_and_the_door_stays_open(tmp_path: Path) -> None:
    hostile = [b"", b"no sound", ten_hours_of_silence(), wav(np.zeros(96_000, np.int16), channels=96), b"OggS" * 1000]
    async with door(tmp_path) as at:
        for content in hostile:
            response = await at.sends(content)
            assert response.status_code == 422, response.text
            assert response.json()["error"]
        packed = await at.client.post("/audio", content=b"x", headers={"content-encoding": "gzip"})
        assert packed.json()["error"] == "send the sound as it is, without a content encoding"
        assert lines(await at.sends(encoded(question(), "wav")))[0]["text"] == QUESTION


@pytest.mark.shows("F25")
async def test_the_openapi_document_tells_what_it_takes(tmp_path: Path) -> None:
    async with door(tmp_path) as at:
        document = (await at.client.get("/openapi.json")).json()
    audio = document["paths"]["/audio"]["post"]
    assert {"audio/wav", "audio/ogg", "audio/webm"} <= set(audio["requestBody"]["content"])
    assert {each["name"] for each in audio["parameters"]} >= {"session", "speak"}


async def test_who_leaves_while_sending_has_said_nothing(tmp_path: Path) -> None:
    content = encoded(question(), "wav")

    async def half() -> AsyncIterator[bytes]:
        yield content[: len(content) // 2]
        raise ConnectionError("the cable is out")

    async with door(tmp_path) as at:
        with pytest.raises(ConnectionError):
            await at.client.post("/audio", content=half(), headers={"content-length": str(len(content))})
        assert lines(await at.sends(content))[0]["text"] == QUESTION
        assert await at.over() == {"completed": 1}


@pytest.mark.shows("V22")
async def test_who_leaves_in_the_middle_of_the_answer_has_it_in_writing(tmp_path: Path) -> None:
    async with door(tmp_path, LONG) as at:
        asked = at.client.stream("POST", "/audio", content=encoded(question(), "wav"), params={"speak": "wav"})
        async with asked as response:
            await anext(response.aiter_raw())
        assert await at.over() == {"completed": 1}
        [written] = await at.journaled(WRITTEN)
        assert written.body["words"] == LONG


def test_a_tone_is_no_utterance() -> None:
    """The voice detector alone keeps it back: a recognizer of few sentences would find one in it."""
    assert utterances_in(note(440.0, 2.0, SAMPLE_RATE), load_detector(), 0.0) == []
