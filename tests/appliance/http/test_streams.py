"""Server-sent events of a real mind through a real uvicorn."""

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import httpx
import pytest
from starlette.types import Message

from agent.event import HOUSEHOLD
from agent.model.messages import Message as Said
from appliance.http.streams import HEARTBEAT_SECONDS, EventStream
from appliance.live.readers import MOST_READERS, SEND_SECONDS
from tests.agent.mind import PATIENCE, a_mind, typed
from tests.appliance.http.streaming import served
from tests.appliance.live.looking import a_live, joined, names, payloads
from tests.appliance.live.test_live import by_visitor, weather
from tests.architecture.protocol import SCHEMA
from tests.architecture.source import ROOT
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import run_virtually

OTHER = "a" * 64
"""A key of somebody who is not the household."""


@pytest.mark.shows("E21", "F20", "F25")
async def test_a_run_streams_and_a_stream_that_broke_is_gone_on_with(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("weather", '{"place": "Leeds"}')),
        Said("assistant", "It rains in Leeds."),
        Said("assistant", "Yes."),
    )
    async with (
        a_mind(tmp_path, [model], [weather()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
    ):
        async with box.listening() as stream:
            assert stream.response.headers["content-type"].startswith("text/event-stream")
            assert (await stream.next())[1]["event"] == "snapshot"
            await mind.handle(typed("How is the weather?"))
            told = await stream.until("tool_call_finished")
            place = str(told[-1]["seq"])
            assert joined(await stream.until("run_finished")) == "It rains in Leeds."
        await mind.handle(typed("Really?"))
        async with box.listening(headers={"Last-Event-ID": place}) as stream:
            missed = await stream.until("snapshot")
    assert names(missed) == ["run_finished", "turn", "run_started", "run_finished", "turn", "snapshot"]
    assert [each["content"] for each in payloads(missed, "run_started")] == ["Really?"]
    assert missed[-1]["payload"]["run"] is None


@pytest.mark.shows("E21")
async def test_curl_reads_it_as_it_comes(tmp_path: Path) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel(Said("assistant", "It is noon."))]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
    ):
        curl = await asyncio.create_subprocess_exec(
            *("curl", "--silent", "--no-buffer", "--unix-socket", str(box.path), "http://nakari/stream?levels=false"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert curl.stdout is not None
        async with asyncio.timeout(PATIENCE):
            assert await curl.stdout.readline() == b"event: snapshot\n"
            await mind.handle(typed("What time is it?"))
            seen = b""
            while b"event: run_finished" not in seen:
                seen += await curl.stdout.readline()
        curl.terminate()
        await curl.wait()
    assert b'"chunk":"' in seen


@pytest.mark.shows("E21")
async def test_a_stolen_place_of_a_stream_shows_nothing_of_its_owner(tmp_path: Path) -> None:
    model = ScriptedModel(Said("assistant", "A secret."), Said("assistant", "Another."))
    async with a_mind(tmp_path, [model]) as mind, a_live(mind) as live, served(tmp_path, live, mind) as box:
        async with box.listening() as stream:
            await mind.handle(typed("my secret"))
            place = (await stream.until("run_started"))[-1]["seq"]
        async with box.listening(OTHER, {"Last-Event-ID": str(place - 1)}) as thief:
            await mind.handle(by_visitor("also a secret"))
            await mind.handle(typed("done"))
            seen = [message for _, message in [await thief.next() for _ in range(3)]]
    assert {each["event"] for each in seen} <= {"snapshot", "state"}
    assert "secret" not in str(seen)


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"Last-Event-ID": "no number"}, ""),
        ({"Last-Event-ID": "9" * 30}, ""),
        ({"Last-Event-ID": str(2**63 - 1)}, ""),
        ({"Last-Event-ID": "²"}, ""),
        ({}, "?after=99999999"),
    ],
)
async def test_a_place_that_is_none_begins_with_how_it_is(tmp_path: Path, headers: dict[str, str], query: str) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.listening(HOUSEHOLD, {name: value.encode() for name, value in headers.items()}, query) as stream,  # type: ignore[misc]
    ):
        assert (await stream.next())[1]["event"] == "snapshot"


@pytest.mark.parametrize("query", ["?after=-1", f"?after={2**63}", "?after=x", "?levels=perhaps"])
async def test_a_query_that_is_none_is_refused_in_a_sentence(tmp_path: Path, query: str) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        box.listening(query=query) as stream,
    ):
        assert stream.response.status_code == 422
        assert b'"error"' in await stream.response.aread()


@pytest.mark.shows("E21")
async def test_five_hundred_who_do_not_read_hold_up_nobody(tmp_path: Path) -> None:
    words = "word " * 4000
    model = ScriptedModel(Said("assistant", words), Said("assistant", "On it."), piece=200)
    async with (
        a_mind(tmp_path, [model]) as mind,
        a_live(mind) as live,
        served(tmp_path, live, mind) as box,
        AsyncExitStack() as slow,
    ):
        refused = 0
        async with box.listening() as reader:
            await reader.until("snapshot")
            for _ in range(500):
                there, going = await asyncio.open_unix_connection(str(box.path), limit=1024)
                slow.callback(going.close)
                going.write(b"GET /stream HTTP/1.1\r\nHost: nakari\r\n\r\n")
                refused += b"503" in await there.readline()
            assert refused == 501 - MOST_READERS
            await mind.handle(typed("Tell me."))
            assert joined(await reader.until("run_finished")) == words, "who reads loses nothing"
    assert live.readers.describe()["readers"] == 0


def test_who_takes_nothing_for_half_a_minute_is_left_and_counted(tmp_path: Path) -> None:
    async def stuck() -> float:
        async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live:

            async def send(message: Message) -> None:
                if message["type"] == "http.response.body":
                    await asyncio.Event().wait()

            began = asyncio.get_running_loop().time()
            await EventStream(live, HOUSEHOLD, None, levels=False).stream_response(send)
            assert live.readers.describe() == {"readers": 0, "lost": 0, "dropped": 1}
            return asyncio.get_running_loop().time() - began

    assert SEND_SECONDS <= run_virtually(stuck()) < SEND_SECONDS + 1


def test_a_stream_without_news_has_a_heart_beat(tmp_path: Path) -> None:
    async def quiet() -> list[bytes]:
        async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live:
            sent: list[bytes] = []

            async def send(message: Message) -> None:
                sent.append(message.get("body", b""))

            stream = EventStream(live, HOUSEHOLD, None, levels=False)
            with suppress(TimeoutError):
                async with asyncio.timeout(2.5 * HEARTBEAT_SECONDS):
                    await stream.stream_response(send)
            return sent

    _, snapshot, *beats = run_virtually(quiet())
    assert snapshot.startswith(b"event: snapshot\n")
    assert beats == [b": ping\n\n"] * 2


@pytest.mark.shows("F25")
def test_nothing_of_it_is_loaded_before_somebody_looks() -> None:
    late = {"fastapi", "uvicorn", "websockets", "appliance.live.messages", "appliance.live.from_client"}
    program = f"import sys, appliance.wiring.box; print({late} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


async def test_the_schema_of_the_messages_is_served(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live, served(tmp_path, live, mind) as box:
        transport = httpx.AsyncHTTPTransport(uds=str(box.path), verify=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://nakari") as client:
            answer = await client.get("/stream/schema")
    assert answer.headers["content-type"] == "application/schema+json"
    assert answer.text == SCHEMA.read_text(encoding="utf-8")


async def test_a_reader_that_leaves_is_forgotten(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live, served(tmp_path, live, mind) as box:
        async with box.listening() as stream:
            await stream.next()
            assert live.readers.describe()["readers"] == 1
        async with asyncio.timeout(PATIENCE):
            while live.readers.describe()["readers"]:  # noqa: ASYNC110  nobody tells when a server notices
                await asyncio.sleep(0)
    assert not live.readers.watched.is_set()
