"""Nonsense on the socket: one line in the log, that connection ends, and nobody else notices."""

import asyncio
import json

import pytest
from structlog.testing import capture_logs
from wyoming.asr import Transcript
from wyoming.audio import AudioChunk, AudioStart
from wyoming.event import Event
from wyoming.info import Describe
from wyoming.ping import Ping

from appliance.wyoming.server import CROWDED, FULL, MOST_REQUESTS
from appliance.wyoming.wire import MOST_DATA_BYTES, MOST_LINE_BYTES, MOST_PAYLOAD_BYTES, Patience
from tests.appliance.wyoming.rig import Rig, ScriptedHousehold, told

pytestmark = pytest.mark.shows("X13")


def event(kind: object, **more: object) -> bytes:
    return json.dumps({"type": kind, **more}).encode() + b"\n"


NONSENSE = {
    "a request of HTTP": b"GET / HTTP/1.1\r\nHost: nakari\r\n\r\n",
    "a first line that is no JSON": b"\x16\x03\x01\x02\x00\x01\n\xff\xfe",
    f"a line of more than {MOST_LINE_BYTES} bytes": b"a" * (2 * MOST_LINE_BYTES + 1),
    "no JSON, nested": b"[" * 30_000 + b"\n",
    "JSON that is no event": b'["describe"]\n',
    "no type": b'{"data": {}}\n',
    "no text as its type": event(7),
    "data that is none": event("describe", data=[1]),
    f"a data_length that is not 0 to {MOST_DATA_BYTES}": event("describe", data_length=MOST_DATA_BYTES + 1),
    f"a payload_length that is not 0 to {MOST_PAYLOAD_BYTES}": event("audio-chunk", payload_length=10**15),
    "a length below nothing": event("audio-chunk", payload_length=-1),
    "a length that is no number": event("audio-chunk", payload_length="many"),
    "a length that is a truth": event("audio-chunk", payload_length=True),
    "data that is no JSON": event("describe", data_length=3) + b"{x}",
    "a 'audio-start' that lacks what belongs to it": event("audio-start", data={"rate": 16_000}),
    "sound whose form is no numbers": event("audio-start", data={"rate": "x", "width": 2, "channels": 1}),
    "sound before its start": event("audio-chunk", data={"rate": 16_000, "width": 2, "channels": 1}),
    "a 'transcript' that lacks what belongs to it": event("transcript"),
    "words that is no text": event("transcript", data={"text": {"a": 1}}),
    "a 'synthesize' that lacks what belongs to it": event("synthesize", data={"text": "a", "voice": 7}),
    "a voice that is no text": event("synthesize", data={"text": "a", "voice": {"name": 7}}),
    "a piece of text that is no text": event("synthesize", data={"text": 7}),
    "a text in the middle of another": event("synthesize-start") * 2,
    f"more than {MOST_REQUESTS} requests at once": event("transcript", data={"text": "a"}) * 20,
}
WHY = {
    "no JSON, nested": "no JSON",
    **dict.fromkeys(("no type", "no text as its type", "data that is none"), "JSON that is no event"),
    **dict.fromkeys(("a length below nothing", "a length that is no number", "a length that is a truth"), "_length"),
}


@pytest.mark.parametrize("what", NONSENSE)
async def test_nonsense_ends_its_connection_with_one_line_in_the_log(what: str) -> None:
    rig = Rig(household=ScriptedHousehold(hold=asyncio.Event()))
    async with rig.open():
        with capture_logs() as logs:
            await rig.sends(NONSENSE[what])
            await rig.until_alone()
        [line] = logs
        assert (line["event"], line["log_level"]) == ("wyoming_connection_refused", "warning")
        assert WHY.get(what, what) in line["reason"]
        rig.household = ScriptedHousehold()
        [answer] = await rig.asks(Ping("there?"), until="pong")
        assert answer.data["text"] == "there?"


async def test_who_sends_the_same_again_and_again_is_told_of_once() -> None:
    async with Rig().open() as rig:
        with capture_logs() as logs:
            for _ in range(3):
                await rig.sends(NONSENSE["a request of HTTP"])
        assert len(logs) == 1


async def test_an_event_cut_in_the_middle_is_no_fault_of_anybody() -> None:
    async with Rig().open() as rig:
        with capture_logs() as logs:
            for content in (
                b"",
                b'{"type": "des',
                event("describe", data_length=10) + b"{",
                event("x", payload_length=9),
            ):
                reader, writer = await asyncio.open_connection("127.0.0.1", rig.port)
                writer.write(content)
                writer.write_eof()
                assert await reader.read() == b""
                writer.close()
        assert logs == []
        assert await rig.still_answers()


async def test_events_that_nobody_knows_are_passed_over() -> None:
    async with Rig().open() as rig, rig.client() as client:
        await client.write_event(Event("run-satellite", {"a": 1}, b"some bytes"))
        await client.write_event(Event("select-program", {"name": "nakari"}))
        await client.write_event(Ping("still").event())
        assert (await told(client, "pong"))[-1].data["text"] == "still"


async def test_who_says_nothing_is_let_go_and_who_stops_in_the_middle_sooner() -> None:
    async with Rig(patience=Patience(idle=0.05, event=30, reading=30)).open() as rig, rig.client() as client:
        with capture_logs() as logs:
            assert await client.read_event() is None
        assert logs == []
    async with Rig(patience=Patience(idle=30, event=0.05, reading=30)).open() as rig, rig.client() as client:
        with capture_logs() as logs:
            await client.write_event(AudioStart(16_000, 2, 1).event())
            await client.write_event(AudioChunk(16_000, 2, 1, bytes(100)).event())
            assert await client.read_event() is None
            await rig.until_alone()
        assert "nothing more, in the middle of something" in logs[0]["reason"]


async def test_an_event_that_trickles_in_is_not_waited_for() -> None:
    async with Rig(patience=Patience(idle=30, event=0.05, reading=30)).open() as rig:
        reader, writer = await asyncio.open_connection("127.0.0.1", rig.port)
        writer.write(event("audio-chunk", payload_length=1000) + b"a")
        assert await reader.read() == b""
        writer.close()
        assert await rig.still_answers()


async def test_a_first_line_that_is_not_ended_is_not_waited_for() -> None:
    async with Rig(patience=Patience(idle=30, head=0.05, event=30, reading=30)).open() as rig:
        assert await rig.sends(b'{"type":"descr') == b""
        assert await rig.still_answers()


async def comes(rig: Rig, host: str = "127.0.0.1") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Come from an address, and be answered once."""
    reader, writer = await asyncio.open_connection("127.0.0.1", rig.port, local_addr=(host, 0))
    writer.write(event("ping"))
    while b"pong" not in (line := await reader.readline()):
        assert line, "it was let in"
    await reader.readexactly(json.loads(line).get("data_length", 0))
    return reader, writer


async def test_where_all_are_busy_one_more_is_closed_at_once_and_there_is_room_again() -> None:
    rig = Rig(household=ScriptedHousehold(hold=asyncio.Event()), most=2)
    async with rig.open():
        with capture_logs() as logs:
            busy = [await comes(rig, host) for host in ("127.0.0.1", "127.0.0.2")]
            for _, writer in busy:
                rig.household.begun.clear()
                writer.write(event("transcript", data={"text": "a"}))
                await rig.household.begun.wait()
            assert await rig.sends(b"") == b""
            reader, late = await asyncio.open_connection("127.0.0.1", rig.port, local_addr=("127.0.0.3", 0))
            assert await reader.read() == b""
            assert rig.server.describe() == {"connections": 2, "last": "2026-11-22T12:00:00+00:00"}
        assert [line["reason"] for line in logs] == [CROWDED, FULL]
        assert rig.household.hold is not None
        rig.household.hold.set()
        for _, writer in (*busy, (reader, late)):
            writer.transport.abort()
        await rig.until_alone()
        assert await rig.still_answers()


@pytest.mark.parametrize("said", [b"", b'{"type":"descr', event("ping")])
async def test_who_is_idle_for_longest_gives_way_and_no_address_takes_all(said: bytes) -> None:
    async with Rig(most=4).open() as rig:
        silent = []
        for _ in range(5):
            silent.append(await comes(rig))
            silent[-1][1].write(said)
        for reader, _ in silent[:3]:
            await reader.read()  # to the end: it gave way
        assert rig.server.describe()["connections"] == 2
        others = [await comes(rig, f"127.0.0.{host}") for host in (2, 3, 4)]
        await silent[3][0].read()
        assert rig.server.describe()["connections"] == 4
        for _, writer in (*silent, *others):
            writer.transport.abort()


async def test_an_answer_that_nobody_reads_ends() -> None:
    rig = Rig(household=ScriptedHousehold(["a" * 10_000_000]), patience=Patience(reading=0.05))
    async with rig.open():
        _, writer = await asyncio.open_connection("127.0.0.1", rig.port)
        writer.write(event("transcript", data={"text": "why"}))
        await rig.household.closed.wait()
        await rig.until_alone()
        writer.transport.abort()


async def test_a_stop_ends_all_connections_at_once() -> None:
    rig = Rig(household=ScriptedHousehold(hold=asyncio.Event()))
    async with rig.open():
        client = rig.client()
        await client.connect()
        await client.write_event(Transcript("why").event())
        await rig.household.begun.wait()
    assert rig.household.closed.is_set()
    assert rig.server.describe()["connections"] == 0
    await client.disconnect()


async def test_no_satellite_is_told_of_and_all_three_parts_are_installed() -> None:
    async with Rig().open() as rig:
        [info] = await rig.asks(Describe(), until="info")
        assert "satellite" not in info.data
        assert [info.data[kind][0]["installed"] for kind in ("asr", "tts", "handle")] == [True] * 3
        assert [info.data[kind] for kind in ("intent", "wake", "mic", "snd")] == [[]] * 4
        assert info.data["tts"][0]["supports_synthesize_streaming"]
        assert not info.data["asr"][0]["supports_transcript_streaming"], "words are told when they are whole"
