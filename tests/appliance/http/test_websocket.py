"""The WebSocket of a real mind through a real uvicorn, and what strangers send to it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed

from agent.event import HOUSEHOLD
from agent.model.messages import Message
from appliance.api.outcome import Outcome
from appliance.http.websocket import AT_A_TIME, MOST_FRAMES_AT_ONCE
from appliance.live.audio import Send
from appliance.live.messages import MESSAGES, SpeechStarted
from memory.json_value import Json
from tests.agent.mind import NOON, PATIENCE, a_mind
from tests.appliance.http.streaming import Talk, served
from tests.appliance.http.test_streams import OTHER
from tests.appliance.live.looking import a_live, joined, payloads
from tests.fakes import ScriptedModel


@dataclass
class RecordingAudio:
    """The one session, and what opens it (`OpensSound`): keeps what it is given, and answers a beginning with sound."""

    given: list[object] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    send: Send | None = None

    def __call__(self, owner_key: str, send: Send) -> "RecordingAudio":
        self.send = send
        return self

    def marks(self) -> Mapping[str, Json]:
        return {"sounds_at": "there"}

    async def begin(self, session_id: str, how: str) -> None:
        self.given.append((session_id, how))
        assert self.send is not None
        await self.send(
            MESSAGES["speech_started"].model_validate({"at": NOON, "payload": SpeechStarted(sample_rate=24_000)})
        )
        await self.send(b"\x01\x00" * 3)

    def feed(self, pcm: bytes) -> None:
        self.given.append(pcm)

    def end(self) -> None:
        self.given.append("end")
        self.over.set()

    def stop(self) -> None:
        self.given.append("stop")

    def close(self) -> None:
        self.given.append("close")


async def refusal(talk: Talk) -> str:
    """Return the sentence of the next error."""
    return str((await talk.until("error"))[-1]["payload"]["sentence"])


@pytest.mark.shows("A7", "F20", "F22", "F25")
async def test_a_line_becomes_an_event_and_its_answer_streams(tmp_path: Path) -> None:
    model = ScriptedModel(Message("assistant", "It is noon."))
    async with (
        a_mind(tmp_path, [model]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.talking() as talk,
    ):
        await talk.until("snapshot")
        await talk.send("user_message", id="1", payload={"content": "What time is it?", "session": "phone"})
        event_id = (await talk.until("answer", id="1"))[-1]["payload"]["event_id"]
        await mind.handle_next()
        told = await talk.until("run_finished")
    (started,) = payloads(told, "run_started")
    assert (started["event_id"], started["session"], started["content"]) == (event_id, "phone", "What time is it?")
    assert joined(told) == "It is noon."


@pytest.mark.shows("F25")
async def test_requests_of_the_register_are_answered_by_their_ids(tmp_path: Path) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.talking() as talk,
    ):
        box.handler.hold = asyncio.Event()
        await talk.send("request", id="slow", payload={"do": "ask", "text": "What time is it?"})
        assert (await talk.until("answer", id="slow"))[-1]["is_last"] is False
        await talk.send("request", id="quick", payload={"do": "status"})
        answer = (await talk.until("answer", id="quick"))[-1]
        assert (answer["payload"], answer["is_last"]) == ({"state": "listening", "pending": 2}, True)
        box.handler.hold.set()
        await talk.until("answer", id="slow", is_last=True)
        await talk.send("request", id="3", payload={"do": "dance"})
        refused = (await talk.until("error", id="3"))[-1]
        assert "dance" in refused["payload"]["sentence"]
        await talk.send("request", id="4", payload={"do": "ask", "text": ""})
        assert "text" in (await talk.until("error", id="4"))[-1]["payload"]["sentence"]
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.talking(OTHER) as talk,
    ):
        await talk.send("request", id="5", payload={"do": "say", "text": "hello"})
        assert "household" in (await talk.until("error", id="5"))[-1]["payload"]["sentence"]
        box.handler.outcome = Outcome("waiting", "e1", "no model")
        await talk.send("request", id="6", payload={"do": "ask", "text": "Are you there?"})
        await talk.until("answer", id="6", is_last=True)
        assert box.handler.owners == [OTHER]


async def test_so_many_requests_of_a_client_are_worked_on_at_a_time(tmp_path: Path) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.talking() as talk,
        box.talking() as other,
    ):
        box.handler.hold = asyncio.Event()
        for number in range(AT_A_TIME + 3):
            await talk.send("request", id=f"{number}", payload={"do": "ask", "text": "What time is it?"})
        await talk.until("answer", id=f"{AT_A_TIME - 1}")
        await talk.send("request", id="no", payload={"do": "dance"})
        await talk.until("error", id="no")
        assert len(box.handler.asked) == AT_A_TIME
        await other.send("request", id="1", payload={"do": "status"})
        await other.until("answer", id="1")
        box.handler.hold.set()
        await talk.until("answer", id=f"{AT_A_TIME + 2}", is_last=True)


async def test_who_leaves_has_what_they_asked_for_done_unless_it_only_tells(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live, served(tmp_path, live, mind) as box:
        box.handler.hold = asyncio.Event()
        async with box.talking() as talk:
            await talk.send("request", id="1", payload={"do": "ask", "text": "What time is it?"})
            await box.handler.begun.wait()
        async with asyncio.timeout(PATIENCE):
            await box.handler.closed.wait()


@pytest.mark.shows("F25")
async def test_sound_and_the_wish_for_silence_are_handed_on(tmp_path: Path) -> None:
    audio = RecordingAudio()
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind, audio) as box,
        box.talking() as talk,
    ):
        await talk.until("snapshot")
        await talk.send("audio_start", payload={"session": "phone", "mode": "open"})
        await talk.until("speech_started")
        assert await talk.connection.recv() == b"\x01\x00" * 3
        await talk.connection.send(b"\x02\x00")
        await talk.send("stop")
        await talk.send("audio_end")
        await audio.over.wait()
        await talk.connection.send(b"odd")
        assert "int16" in await refusal(talk)
        await talk.send("user_message", payload={"content": "aloud", "speak": True})
        await talk.until("heard")
        (filed,) = await mind.mailbox.listed("pending")
    assert filed.event.metadata == {"sounds_at": "there"}
    assert audio.given == [("phone", "open"), b"\x02\x00", "stop", "end", "close"]
    assert box.mailing.stopped == [HOUSEHOLD]


HALF_A_FRAME = b"\x81\xfe\x01"
"""The header of a masked text of some 300 bytes, cut off (RFC 6455, 5.2)."""

GARBAGE = [
    "",
    "no json",
    "[]",
    "null",
    '"text"',
    "{}",
    '{"type": "dance"}',
    '{"type": 7}',
    '{"type": "user_message"}',
    '{"type": "user_message", "payload": {"content": ""}}',
    '{"type": "user_message", "payload": {"content": 7}}',
    '{"type": "user_message", "payload": {"content": "\\ud800"}}',
    '{"type": "user_message", "payload": {"content": "x", "client_timestamp_utc": "soon"}}',
    '{"type": "user_message", "payload": {"content": "x", "client_timestamp_utc": "9999-12-31T23:59:59Z"}}',
    '{"type": "user_message", "payload": {"content": "x", "client_timestamp_utc": 1e300}}',
    '{"type": "user_message", "payload": {"content": "x", "client_timezone_offset": 1e9}}',
    '{"type": "request", "id": "1"}',
    '{"type": "request", "payload": {"do": "status"}}',
    '{"type": "audio_start", "payload": {"mode": "shout"}}',
    '{"type": "audio_end"}',
    "[" * 100_000,
    '{"type": "user_message", "payload": {"content": "' + "x" * 100_001 + '"}}',
    "x" * 500_001,
]


@pytest.mark.shows("F23", "F25")
async def test_garbage_is_told_one_error_each_and_the_connection_goes_on(tmp_path: Path) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.talking() as talk,
    ):
        await talk.until("snapshot")
        for text in GARBAGE:
            await talk.connection.send(text)
            assert len(sentence := await refusal(talk)) < 500, text[:100]
            assert "Traceback" not in sentence
        await talk.connection.send(b"\x00\x00")
        assert "sound" in await refusal(talk)
        await talk.send("request", id="1", payload={"do": "status"})
        await talk.until("answer", id="1")
        assert await mind.mailbox.listed("pending") == []


def mangled(chance: Random, text: str) -> str | bytes:
    """Return a frame that was good once."""
    for _ in range(chance.randint(1, 4)):
        at, junk = (
            chance.randrange(len(text) + 1),
            chance.choice(['"', "{", "}", ",", "\x00", "9" * 400, "\U0001f600", "null"]),
        )
        text = text[:at] + chance.choice([junk, ""]) + text[at + chance.randrange(8) :]
    return text if chance.random() < 0.8 else text.encode()


@pytest.mark.shows("F25")
@pytest.mark.parametrize("seed", range(3))
async def test_mangled_frames_are_refused_in_a_sentence_and_break_nothing(tmp_path: Path, seed: int) -> None:
    good = [
        '{"type": "user_message", "id": "1", "payload": {"content": "hello", "client_timezone_offset": -480}}',
        '{"type": "request", "id": "2", "payload": {"do": "enqueue", "type": "note", "metadata": {"a": [1, {}]}}}',
        '{"type": "audio_start", "payload": {"session": "phone", "mode": "open"}}',
        '{"type": "stop"}',
    ]
    chance = Random(seed)
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind, RecordingAudio()) as box,
        box.talking() as talk,
    ):
        with capture_logs() as logged:
            for _ in range(MOST_FRAMES_AT_ONCE - 50):
                await talk.connection.send(mangled(chance, chance.choice(good)))
            await talk.send("request", id="last", payload={"do": "status"})
            told = await talk.until("answer", id="last")
    refused = payloads(told, "error")
    assert len(refused) > 100
    assert all(each["sentence"] and "\n" not in each["sentence"] for each in refused)
    assert "something went wrong" not in str(refused)
    assert [each for each in logged if each["log_level"] in {"error", "critical"}] == []


async def closed_with(talk: Talk) -> int:
    """Return the code with which it is closed."""
    with suppress(ConnectionClosed):
        async with asyncio.timeout(PATIENCE):
            while True:
                await talk.connection.recv()
    assert talk.connection.close_code is not None
    return talk.connection.close_code


@pytest.mark.shows("F25")
async def test_what_is_too_much_closes_the_connection_with_a_code_and_harms_no_other(tmp_path: Path) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.talking() as other,
    ):
        async with box.talking() as talk:
            await talk.connection.send("x" * 2_000_000)
            assert await closed_with(talk) == 1009
        async with box.talking() as talk:
            try:
                for _ in range(3 * MOST_FRAMES_AT_ONCE):
                    await talk.connection.send("{}")
            except ConnectionClosed:
                pass
            assert await closed_with(talk) == 1008
        async with box.talking() as talk:
            talk.connection.transport.write(HALF_A_FRAME)
            talk.connection.transport.abort()
        await other.send("request", id="1", payload={"do": "status"})
        await other.until("answer", id="1")
