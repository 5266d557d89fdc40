"""The client of Wyoming servers, against a server with faults."""

import json

import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Attribution, Info, TtsProgram

from audio.errors import ServerFailed, ServerUnreachable
from audio.wyoming import MOST_BYTES, MOST_HEADER_BYTES, WyomingServer, server_at
from tests.audio.wyoming_server import Peer, WyomingStandIn, wyoming_server

INFO = Info(
    tts=[
        TtsProgram(
            name="piper",
            attribution=Attribution("somebody", "http://example.org"),
            installed=True,
            description=None,
            version=None,
            voices=[],
            supports_synthesize_streaming=True,
        )
    ]
)


def client(server: WyomingStandIn, timeout: float = 5.0) -> WyomingServer:
    return WyomingServer("127.0.0.1", server.port, timeout=timeout)


async def test_a_server_tells_what_it_can_do() -> None:
    async def describe(peer: Peer) -> None:
        await peer.read()
        await peer.write(Transcript("not asked for"), INFO)

    async with wyoming_server(describe) as server:
        info = await client(server).info()
    assert server.types() == ["describe"]
    assert [(program.name, program.supports_synthesize_streaming) for program in info.tts] == [("piper", True)]


async def test_events_go_both_ways() -> None:
    async def echo(peer: Peer) -> None:
        while (event := await peer.read()) is not None:
            await peer.write(Transcript(event.data["language"]))

    async with wyoming_server(echo) as server, client(server).connect() as connection:
        for word in ("en", "zh"):
            await connection.write(Transcribe(language=word))
            assert connection.parsed(Transcript, await connection.read()).text == word


FAULTS = {
    "closes at once": (b"", "closed the connection"),
    "closes in the middle": (b'{"type": "info", "data_length": 100}\n{', "closed the connection in the middle"),
    "a page of the web": (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no event of Wyoming"),
    "JSON that is no object": (b"[1, 2]\n", "no event of Wyoming"),
    "JSON without a type": (b"{}\n", "no event of Wyoming"),
    "not UTF-8": (b"\xff\xfe\n", "no event of Wyoming"),
    "data that is no object": (b'{"type": "info", "data_length": 2}\n77', "no event of Wyoming"),
    "data of the wrong kind": (b'{"type": "info", "data": {"tts": [{"name": 3}]}}\n', "lacks what belongs to it"),
    "a length that is no number": (b'{"type": "info", "data_length": "9"}\n', "no event of Wyoming"),
    "a payload without end": (
        json.dumps({"type": "info", "payload_length": MOST_BYTES + 1}).encode() + b"\n",
        "no event of Wyoming",
    ),
    "a line without end": (b'{"type": "' + b"x" * (2 * MOST_HEADER_BYTES + 100), "no event of Wyoming"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_is_not_wyoming_is_one_sentence(fault: str) -> None:
    sent, sentence = FAULTS[fault]

    async def answer(peer: Peer) -> None:
        await peer.read()
        await peer.raw(sent)

    async with wyoming_server(answer) as server:
        with pytest.raises(ServerFailed, match=sentence) as raised:
            await client(server).info()
    assert f"127.0.0.1:{server.port}" in str(raised.value)


async def test_an_error_event_is_told_in_the_servers_words() -> None:
    async def answer(peer: Peer) -> None:
        await peer.read()
        await peer.write(Error("model not found", "no-model"))

    async with wyoming_server(answer) as server:
        with pytest.raises(ServerFailed, match="answered: model not found"):
            await client(server).info()


async def test_a_server_that_sends_nothing_is_not_waited_for() -> None:
    async def silent(peer: Peer) -> None:
        await server.go_on.wait()

    async with wyoming_server(silent) as server:
        with pytest.raises(ServerFailed, match=r"sent nothing within 0\.0 s"):
            await client(server, timeout=0.01).info()


async def test_other_events_for_ever_are_not_listened_to_for_ever() -> None:
    async def chatter(peer: Peer) -> None:
        while True:
            await peer.write(Transcript("again"))

    async with wyoming_server(chatter) as server:
        with pytest.raises(ServerFailed, match="sent nothing within"):
            await client(server, timeout=0.05).info()


async def test_a_server_that_reads_nothing_is_not_waited_for() -> None:
    async def deaf(peer: Peer) -> None:
        await server.go_on.wait()

    async with wyoming_server(deaf) as server, client(server, timeout=0.01).connect() as connection:
        with pytest.raises(ServerFailed, match="read nothing within"):
            await connection.write(*[_Large()] * 100)


class _Large(Transcript):
    def __init__(self) -> None:
        super().__init__("")

    def event(self) -> Event:
        return Event("audio-chunk", payload=bytes(1_000_000))


async def test_nobody_there() -> None:
    async with wyoming_server(lambda _: never()) as server:
        nobody = client(server)
    with pytest.raises(ServerUnreachable, match="cannot be reached"):
        await nobody.info()


async def never() -> None:
    """Nobody connects."""


def test_addresses() -> None:
    assert server_at("tcp://speech.home:10200", 1) == WyomingServer("speech.home", 10200)
    assert server_at("tcp://speech.home", 10300).port == 10300
    assert server_at("tcp://[::1]:10200", 1).address == "[::1]:10200"
    for wrong in ("speech.home:10200", "http://speech.home", "tcp://"):
        with pytest.raises(ValueError, match="no address of a Wyoming server"):
            server_at(wrong, 1)
