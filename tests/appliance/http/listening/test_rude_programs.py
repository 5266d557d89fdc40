"""What programs get that are slow, large, many or out of order; written to the socket byte by byte."""

import asyncio
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import websockets

from appliance.config.network.http import HttpSettings
from appliance.http.listening.connections import Patience
from appliance.http.server import MOST_HEADER_BYTES
from tests.appliance.http.served import Served, serving

pytestmark = pytest.mark.shows("F25")

HEAD = b"Host: 127.0.0.1\r\n"
JSON = HEAD + b"Content-Type: application/json\r\n"


class Raw:
    """A program that writes what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, *pieces: bytes) -> bytes:
        """Write some bytes and return all that comes until the other end closes."""
        self.writer.write(b"".join(pieces))
        return await self.rest()

    async def rest(self) -> bytes:
        """Return all that comes until the other end closes, or cuts it off."""
        heard = bytearray()
        try:
            while piece := await self.reader.read(65536):
                heard += piece
        except ConnectionError:
            pass
        self.writer.close()
        return bytes(heard)


async def coming(box: Served) -> Raw:
    return Raw(*await asyncio.open_connection("127.0.0.1", box.port))


def talking(box: Served) -> websockets.connect:
    return websockets.connect(f"ws://127.0.0.1:{box.port}/ws")


async def is_served(box: Served) -> bool:
    async with box.client() as program:
        return (await program.get("/whoami")).status_code == 200


async def test_who_never_ends_a_head_or_a_body_is_cut_off(tmp_path: Path) -> None:
    async with serving(tmp_path, patience=Patience(head=0.2, whole=0.4)) as box:
        silent, head, body, later = [await coming(box) for _ in range(4)]
        head.writer.write(b"GET /whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        body.writer.write(b"POST /echo HTTP/1.1\r\n" + JSON + b"Content-Length: 10\r\n\r\n12345")
        later.writer.write(b"GET /whoami HTTP/1.1\r\n" + HEAD + b"\r\n")
        assert (await later.reader.readuntil(b"}")).startswith(b"HTTP/1.1 200")
        later.writer.write(b"GET /who")
        assert [await each.rest() for each in (silent, head, body, later)] == [b""] * 4
        assert await is_served(box)


async def test_a_body_in_json_is_waited_for_less_long_than_one_of_sound(tmp_path: Path) -> None:
    async with serving(tmp_path, patience=Patience(body=0.2)) as box:
        slow, sound = [await coming(box) for _ in range(2)]
        said = JSON + b"Content-Length: 10\r\n\r\n12345"
        sound.writer.write(b"POST /echo HTTP/1.1\r\n" + said)
        told = await slow.send(b"POST /words HTTP/1.1\r\n" + said)
        assert told.startswith(b"HTTP/1.1 408")
        assert b"the rest of the body did not come in time" in told
        sound.writer.write(b"67890")
        assert (await sound.reader.readuntil(b"10")).startswith(b"HTTP/1.1 200")
        sound.writer.close()


async def test_a_websocket_is_no_request_that_never_ends(tmp_path: Path) -> None:
    async with serving(tmp_path, patience=Patience(head=0.2, whole=0.2)) as box, talking(box) as talk:
        assert await talk.recv() == "household"
        assert await (await coming(box)).rest() == b"", "who came later is cut off"
        box.pieces.put_nowait("still here")
        assert await talk.recv() == "still here"
        box.pieces.put_nowait("")


async def test_a_drip_of_bytes_wins_no_time(tmp_path: Path) -> None:
    async with serving(tmp_path, patience=Patience(head=0.3)) as box:
        slow = await coming(box)
        slow.writer.write(b"GET /whoami HTTP/1.1\r\n")
        async with asyncio.TaskGroup() as group:
            ended = group.create_task(slow.rest())
            while not ended.done():
                slow.writer.write(b"X: y\r\n")
                await asyncio.wait([ended], timeout=0.02)
        assert ended.result() == b""


@pytest.mark.parametrize(
    "head",
    [
        b"X: " + b"y" * 2 * MOST_HEADER_BYTES,
        b"X: y\r\n" * 50_000,
        b"GET /" + b"y" * 2 * MOST_HEADER_BYTES,
    ],
)
async def test_a_head_of_any_size_is_read_to_its_limit(tmp_path: Path, head: bytes) -> None:
    async with serving(tmp_path) as box:
        heard = await (await coming(box)).send(b"GET / HTTP/1.1\r\n", HEAD, head, b"\r\n\r\n")
        assert heard == b"" or heard.startswith(b"HTTP/1.1 400")
        assert await is_served(box)


async def test_a_body_over_its_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async with serving(tmp_path) as box:
        program = await coming(box)
        program.writer.write(b"POST /echo HTTP/1.1\r\n" + JSON + b"Content-Length: 100001\r\n\r\n")
        told = await program.reader.readuntil(b"}")
        program.writer.close()
        assert told.startswith(b"HTTP/1.1 413")
        assert b"a body of more than 0.1 MB is refused" in told
        assert b"connection: close" in told.lower()
        chunk = b"2710\r\n" + b"x" * 10_000 + b"\r\n"
        head = b"POST /echo HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
        told = await (await coming(box)).send(head, chunk * 11, b"0\r\n\r\n")
        assert told.startswith(b"HTTP/1.1 413")
        async with box.client(Content_Type="audio/wav") as sender:
            assert (await sender.post("/echo", content=b"x" * 100_000)).text == "100000"
            assert (await sender.post("/login", content=b"x" * 1_500_000)).status_code == 413, (
                "also to who still writes"
            )


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length : 5\r\n",
        b"Host: evil.example\r\n",
    ],
)
async def test_a_request_that_two_may_read_differently_is_refused_and_nothing_after_it_is_read(
    tmp_path: Path, head: bytes
) -> None:
    smuggled = b"0\r\n\r\nGET /whoami HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    async with serving(tmp_path) as box:
        heard = await (await coming(box)).send(b"POST /echo HTTP/1.1\r\n", JSON, head, b"\r\n", smuggled)
        assert heard.startswith((b"HTTP/1.1 400", b"HTTP/1.1 501"))
        assert heard.count(b"HTTP/1.1") == 1
        assert await is_served(box)


async def test_a_path_that_leads_out_leads_nowhere(tmp_path: Path) -> None:
    async with serving(tmp_path) as box:
        for path in (
            b"/assets/../../nakari.db",
            b"/assets/%2e%2e/%2e%2e/etc/passwd",
            b"//etc/passwd",
            b"/assets/..%2f..%2fx",
        ):
            heard = await (await coming(box)).send(b"GET ", path, b" HTTP/1.1\r\n", HEAD, b"Connection: close\r\n\r\n")
            assert heard.startswith(b"HTTP/1.1 404"), path
        heard = await (await coming(box)).send(
            b"GET http://evil.example/ HTTP/1.1\r\n", HEAD, b"Connection: close\r\n\r\n"
        )
        assert heard.startswith(b"HTTP/1.1 404")


@pytest.mark.parametrize(
    "bytes_", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", b"\x00" * 1000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
)
async def test_what_is_no_http_gets_an_end(tmp_path: Path, bytes_: bytes) -> None:
    async with serving(tmp_path, patience=Patience(head=0.3)) as box:
        heard = await (await coming(box)).send(bytes_)
        assert heard == b"" or heard.startswith(b"HTTP/1.1 400")


async def test_one_address_has_half_of_the_room_and_leaves_it_free_when_it_goes(tmp_path: Path) -> None:
    async with serving(tmp_path, HttpSettings(connections=20)) as box:
        inside = [await coming(box) for _ in range(10)]
        for each in inside:
            each.writer.write(b"GET /whoami HTTP/1.1\r\n" + HEAD + b"\r\n")
            await each.reader.readuntil(b"}")
        assert await (await coming(box)).send(b"GET /whoami HTTP/1.1\r\n", HEAD, b"\r\n") == b""
        for each in inside:
            each.writer.close()
            await each.writer.wait_closed()
        assert await is_served(box)


async def test_of_hundreds_who_come_at_once_those_inside_are_answered(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    async with serving(tmp_path, HttpSettings(connections=40)) as box, AsyncExitStack() as crowd:
        listening = await crowd.enter_async_context(box.client())
        stream = await crowd.enter_async_context(listening.stream("GET", "/stream"))
        pieces = stream.aiter_text()
        many = [crowd.enter_context(socket.socket()) for _ in range(300)]
        for one in many:
            one.setblocking(False)
            await loop.sock_connect(one, ("127.0.0.1", box.port))
        for one in many[19:]:  # beside the stream, half of the room is theirs
            assert await loop.sock_recv(one, 1) == b""
        box.pieces.put_nowait("still here")
        assert await anext(pieces) == "still here"
        box.pieces.put_nowait("")
