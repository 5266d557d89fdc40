"""Turns that the disk refuses: told at once, kept in order, and filed when it takes them again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from agent.event import ASR_TRANSCRIPT, Event
from agent.run.system_replies import phrase
from appliance.input.pending_turns import MOST_WAITING, PendingTurns
from audio.playback.speech_output import SpokenSentence
from memory.errors import StateUnusable
from tests.appliance.full_disk import FullDisk

FOR_EVER = 10**9

pytestmark = pytest.mark.shows("A24", "C15")


def turn(words: str) -> Event:
    return Event(ASR_TRANSCRIPT, words, source="mic")


@dataclass
class Room:
    """Turns on their way to a disk, what is said of them, and a pause that a test ends."""

    disk: FullDisk
    said: list[SpokenSentence] = field(default_factory=list)
    _paused: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    def __post_init__(self) -> None:
        self.turns = PendingTurns(self.disk, self._say, "en", self._pause)

    async def _say(self, sentence: SpokenSentence) -> None:
        self.said.append(sentence)

    async def _pause(self, seconds: float) -> None:
        await self._paused.acquire()

    def try_again(self) -> None:
        self._paused.release()

    @property
    def words(self) -> list[str]:
        return [sentence.text for sentence in self.said]

    @property
    def filed(self) -> list[str]:
        return [event.content for event in self.disk.filed]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            run = group.create_task(self.turns.run())
            yield
            run.cancel()


async def test_a_disk_with_room_is_no_matter_for_words() -> None:
    room = Room(FullDisk())
    await room.turns.file(turn("what time is it"))
    assert (room.filed, room.words, room.turns.none.is_set()) == (["what time is it"], [], True)


async def test_a_full_disk_is_told_at_once_and_the_turn_is_filed_once_when_there_is_room() -> None:
    room = Room(FullDisk(3))
    await room.turns.file(turn("what time is it"))
    assert room.words == [phrase("disk_full", "what time is it")]
    assert not room.turns.none.is_set()
    async with room.running():
        for _ in range(3):
            assert room.filed == []
            room.try_again()
        await room.turns.none.wait()
    assert (room.filed, len(room.words)) == (["what time is it"], 1)


async def test_a_second_turn_is_told_shortly_and_keeps_its_place_behind_the_first() -> None:
    room = Room(FullDisk(1))
    for words in ("what time is it", "现在几点"):
        await room.turns.file(turn(words))  # the second would find room: it must not overtake
    assert room.words == [phrase("disk_full", ""), phrase("disk_still", "现在几点")]
    assert [sentence.language for sentence in room.said] == ["en", "zh"]
    async with room.running():
        room.try_again()
        await room.turns.none.wait()
    assert room.filed == ["what time is it", "现在几点"]


async def test_a_disk_that_fails_is_not_said_to_be_full() -> None:
    room = Room(FullDisk(1, StateUnusable))
    await room.turns.file(turn("what time is it"))
    assert room.words == [phrase("disk_unusable", "")]


async def test_what_is_too_much_to_keep_in_mind_is_asked_for_again() -> None:
    room = Room(FullDisk(FOR_EVER))
    for number in range(MOST_WAITING + 1):
        await room.turns.file(turn(f"{number}"))
    assert len(room.turns) == MOST_WAITING
    assert room.words[-2:] == [phrase("disk_still", ""), phrase("disk_too_long", "")]
    room.disk.refusals = 0
    async with room.running():
        room.try_again()
        await room.turns.none.wait()
    assert room.filed == [f"{number}" for number in range(MOST_WAITING)]


async def test_a_new_outage_is_told_of_anew() -> None:
    room = Room(FullDisk(1))
    async with room.running():
        for words in ("one", "two"):
            await room.turns.file(turn(words))
            room.try_again()
            await room.turns.none.wait()
            room.disk.refusals = 1
    assert room.words == [phrase("disk_full", "")] * 2


async def test_turns_that_a_stop_takes_along_are_in_the_log() -> None:
    room = Room(FullDisk(FOR_EVER))
    await room.turns.file(turn("what time is it"))
    with capture_logs() as logs:
        async with room.running():
            room.try_again()
            await asyncio.sleep(0)
    assert [line["turns"] for line in logs if line["event"] == "turns_lost"] == [1]
