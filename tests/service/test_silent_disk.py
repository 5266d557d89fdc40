"""A disk that does not answer holds up whoever asks for what is on it, and never the loop that hears and speaks."""

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from agent.event import HOUSEHOLD
from appliance.api.client import GivenFile, Question, answer_to, follow, tell
from appliance.api.parts import Look, Told
from memory.identity import new_key
from memory.json_value import Json
from tests.agent.files import png
from tests.appliance.wiring.test_box import Room, a_box, answers, passing, taken_up
from tests.service.living import KEEP, living
from tests.service.process import Household
from tests.service.test_visitors import asked

pytestmark = pytest.mark.shows("C14")

DISK: Final = frozenset(
    {"open", "os.chmod", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir", "os.truncate"}
)
"""Python's own events of what asks the disk (sys.addaudithook); looks at single files have none."""


class _Watch:
    """Notes who asks for something in a folder by the thread that it watches; a hook cannot be taken away again."""

    def __init__(self) -> None:
        self.folder = ""
        self.thread = 0
        self.asked: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, given: tuple[object, ...]) -> None:
        if self.folder and event in DISK and threading.get_ident() == self.thread:
            place = given[0]
            if isinstance(place, str | Path) and str(place).startswith(self.folder):
                self.asked.append(f"{event} {place} by {_asker()}")


def _asker() -> str:
    """Return where in nakari something is asked."""
    frame = sys._getframe(2)
    while (here := frame.f_back) is not None and "/tests/" not in frame.f_code.co_filename:
        name = frame.f_code.co_filename
        if any(f"/{room}/" in name for room in ("agent", "appliance", "audio", "memory")):
            return f"{name}:{frame.f_lineno}"
        frame = here
    return "a test"


WATCH: Final = _Watch()


@contextmanager
def never_on_this_thread(folder: Path) -> Iterator[None]:
    """Fail where the block asks the disk for something in a folder on this thread, which runs the loop."""
    WATCH.asked, WATCH.thread, WATCH.folder = [], threading.get_ident(), str(folder)
    try:
        yield
    finally:
        WATCH.folder = ""
    assert [each for each in WATCH.asked if not each.endswith("a test")] == []


async def test_whatever_is_asked_of_a_box_its_loop_never_asks_the_disk(tmp_path: Path) -> None:
    home = Household(tmp_path, {"memory": {"enabled": True, "embeddings": "off"}})
    (ben, his), began = new_key(), datetime.now(UTC) - timedelta(hours=1)
    async with living(home) as box:
        await box.ready()
        door = box.config.socket
        with never_on_this_thread(home.state):
            for key, fact in ((b"", "the tea is green"), (ben, "I am Ben")):
                assert "error" not in await asked(box, f"{KEEP}{fact}", key)
            picture = GivenFile("picture.png", png())
            assert [piece async for piece in answer_to(door, Question("What is it?", "test", files=(picture,)))]
            assert "graph" in await tell(door, {"do": "status"})
            taken = await follow(door, {"do": "memory.snapshot"}, _silently)
            assert isinstance(taken, dict)
            requests: list[dict[str, Json]] = [
                {"do": "memory.list"},
                {"do": "memory.replay"},
                {"do": "memory.past", "until": began.isoformat(), "cypher": "RETURN 1"},
                {"do": "memory.changes", "since": began.isoformat()},
                {"do": "memory.diff", "before": taken["file"], "after": "now"},
                {"do": "memory.restore", "snapshot": taken["file"]},
                {"do": "backup", "file": str(tmp_path / "a.backup")},
                {"do": "forget", "last": 1},
                {"do": "forget.owner", "owner": his},
            ]
            for request in requests:
                await follow(door, request, _silently)


async def test_it_hears_and_answers_while_more_waits_for_a_disk_than_python_has_threads_for(tmp_path: Path) -> None:
    share, room = threading.Event(), Room(model=answers("Yes."))
    async with a_box(tmp_path, room) as box, asyncio.TaskGroup() as group:
        try:
            for _ in range(min(32, (os.cpu_count() or 1) + 4)):
                group.create_task(asyncio.to_thread(share.wait))
            await passing()
            await room.says("are you there")
            await taken_up(box, 1)
        finally:
            share.set()
    assert [text for text, _ in room.voice.asked] == ["Yes."]


async def test_the_status_asks_a_disk_that_is_silent_once_and_tells_the_rest() -> None:
    answers, looks = threading.Event(), 0

    def look() -> dict[str, str]:
        nonlocal looks
        looks += 1
        answers.wait(120)
        return {"leaves": "nothing"}

    told = Told({"egress": Look(look), "clock": lambda: {"zone": HOUSEHOLD}}, 0.0)
    async with asyncio.TaskGroup() as group:
        three = [group.create_task(told.described(())) for _ in range(3)]
    assert [each.result() for each in three] == [{"egress": {}, "clock": {"zone": HOUSEHOLD}}] * 3
    assert looks == 1, "one thread waits for the disk, however often it is asked"
    answers.set()
    while (await told.described(()))["egress"] != {"leaves": "nothing"}:
        pass


def _silently(done: int, of: int) -> None:
    """Hear how far it is."""
