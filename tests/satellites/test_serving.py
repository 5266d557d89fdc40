"""The server of replies: who gets a sound, once, and what becomes of one that is not taken."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import numpy as np
import pytest

from appliance.satellites.interfaces import PlayedFormat
from appliance.satellites.talk.body import LEAST_AHEAD, LONGEST_SILENCE, USUAL, Body, wanted
from appliance.satellites.talk.serving import STALLED_SECONDS, ReplyServer
from audio.pcm import SAMPLE_RATE
from audio.speech import SpeechAudio
from tests.room.virtual_time import passed, run_virtually

pytestmark = pytest.mark.shows("V28")

HERE = "127.0.0.1"


@contextmanager
def served() -> Iterator[ReplyServer]:
    server = ReplyServer()
    try:
        yield server
    finally:
        server.close()


def body() -> Body:
    return Body(USUAL, asyncio.get_running_loop().time, asyncio.Event())


def tone(seconds: float) -> SpeechAudio:
    return SpeechAudio(np.full(round(seconds * SAMPLE_RATE), 1000, np.int16), SAMPLE_RATE)


async def got(url: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=None) as client:
        return await client.get(url)


def test_a_short_sound_that_is_ready_comes_whole_with_its_length() -> None:
    async def story() -> httpx.Response:
        with served() as server:
            sound = body()
            sound.put(tone(0.5))
            sound.finish()
            return await got(await server.offer(sound, HERE, HERE))

    answer = run_virtually(story())
    assert int(answer.headers["content-length"]) == len(answer.content) == 44 + 24_000 * 4
    assert answer.content[40:44] == (24_000 * 4).to_bytes(4, "little")


def test_what_the_voice_leaves_open_is_silence_in_the_pace_of_time() -> None:
    async def story() -> tuple[bytes, float]:
        with served() as server:
            sound = body()
            sound.put(tone(0.5))
            url = await server.offer(sound, HERE, HERE)

            async def say_on() -> None:
                await passed(3.0)
                sound.put(tone(0.5))
                sound.finish()

            began = asyncio.get_running_loop().time()
            async with asyncio.TaskGroup() as group:
                group.create_task(say_on())
                answer = group.create_task(got(url))
            return answer.result().content, asyncio.get_running_loop().time() - began

    content, seconds = run_virtually(story())
    assert (len(content) - 44) / 4 / 48_000 == pytest.approx(3.5 + LEAST_AHEAD, abs=0.2)
    assert seconds == pytest.approx(3.0, abs=0.1)


def test_a_voice_that_never_goes_on_ends_the_sound() -> None:
    async def story() -> bytes:
        with served() as server:
            sound = body()
            sound.put(tone(0.5))
            return (await got(await server.offer(sound, HERE, HERE))).content

    assert (len(run_virtually(story())) - 44) / 4 / 48_000 < 0.5 + LONGEST_SILENCE + 1.0


@pytest.mark.parametrize("who", ["192.0.2.7", "127.0.0.2"])
def test_nobody_but_the_device_gets_it(who: str) -> None:
    async def story() -> int:
        with served() as server:
            sound = body()
            sound.finish()
            return (await got(await server.offer(sound, HERE, who))).status_code

    assert run_virtually(story()) == 404


def test_an_address_is_good_for_once_and_cannot_be_guessed() -> None:
    async def story() -> list[int]:
        with served() as server:
            sound = body()
            sound.finish()
            url = await server.offer(sound, HERE, HERE)
            guessed = url.rsplit("/", 1)[0] + "/reply.wav"
            return [(await got(each)).status_code for each in (guessed, url, url)]

    assert run_virtually(story()) == [404, 200, 404]


def test_a_device_that_takes_no_more_ends_the_sound() -> None:
    async def story() -> float | None:
        with served() as server:
            sound = body()
            sound.put(tone(120.0))
            port = int((await server.offer(sound, HERE, HERE)).split(":")[2].split("/")[0])
            reader, writer = await asyncio.open_connection(HERE, port, limit=1024)
            writer.write(f"GET /{sound.name} HTTP/1.1\r\nHost: nakari\r\n\r\n".encode())
            await reader.readexactly(100)
            while sound.broken_at is None:
                await passed(1.0)
            writer.transport.abort()
            return sound.broken_at

    began = 1000.0
    assert run_virtually(story()) == pytest.approx(began + STALLED_SECONDS, abs=2.0)


def test_a_request_that_is_none_is_closed_and_harms_nobody() -> None:
    async def story() -> tuple[bytes, int]:
        with served() as server:
            sound = body()
            sound.finish()
            url = await server.offer(sound, HERE, HERE)
            reader, writer = await asyncio.open_connection(HERE, int(url.split(":")[2].split("/")[0]))
            writer.write(b"\x16\x03\x01" + b"x" * 20_000)
            left = await reader.read()
            writer.close()
            return left, (await got(url)).status_code

    left, status = run_virtually(story())
    assert b"200" not in left
    assert status == 200


def test_a_device_is_sent_what_it_asks_for_announcements() -> None:
    music, said = PlayedFormat("mp3", 44_100, 2), PlayedFormat("flac", 48_000, 1, is_for_announcements=True)
    assert wanted((music, said)) == PlayedFormat("flac", 48_000, 1)
    assert wanted((PlayedFormat("opus", 48_000, 2, is_for_announcements=True),)) == USUAL
    assert wanted(()) == USUAL
