"""Files of images: kept as long as an event refers to them, swept when none does, never shared by two owners."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.attachments.attachment import Image, in_metadata
from agent.event import USER_TEXT, Event
from agent.mailbox import SCHEMA, Mailbox
from memory.errors import StateUnusable
from memory.state.database import Database
from memory.state.images import FRESH_SECONDS, MOST_BYTES, Images, read

pytestmark = pytest.mark.shows("G9", "A24")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def kept(folder: Path, most: int = MOST_BYTES) -> AsyncIterator[tuple[Images, Mailbox, Clock]]:
    database, clock = Database(folder / "nakari.db"), Clock()
    await database.open(SCHEMA)
    yield Images(folder / "images", database, clock=clock, most=most), Mailbox(database), clock
    await database.close()


def about(digest: str, owner: str = "household", size: int = 3) -> Event:
    image = Image(digest, "image/png", 1, 1, size)
    return Event(USER_TEXT, "what is this?", owner_key=owner, metadata=in_metadata((image,)))


def files(images: Images) -> set[str]:
    return {file.name for file in images.folder.iterdir()}


async def test_a_file_stays_with_its_event_and_goes_with_it(tmp_path: Path) -> None:
    async with kept(tmp_path) as (images, mailbox, clock):
        digest = await images.keep("household", b"cat")
        event = about(digest)
        await mailbox.enqueue(event)
        clock.now += FRESH_SECONDS + 1
        assert await images.sweep() == 0
        assert read(images.folder, digest) == b"cat"
        await mailbox.erase(event.id)
        await images.forget()
        assert read(images.folder, digest) is None


async def test_one_that_nobody_asks_about_goes_after_a_while_and_at_once_after_a_restart(tmp_path: Path) -> None:
    async with kept(tmp_path) as (images, _, clock):
        digest = await images.keep("household", b"cat")
        assert await images.sweep() == 0
        clock.now += FRESH_SECONDS + 1
        assert await images.sweep() == 1
        assert not await images.hold([digest])
        await images.keep("household", b"cat")
    (tmp_path / "images" / "left.new").touch()
    async with kept(tmp_path) as (images, _, _clock):
        assert await images.sweep() == 2
        assert files(images) == set()


async def test_two_events_share_a_file_and_two_owners_do_not(tmp_path: Path) -> None:
    async with kept(tmp_path) as (images, mailbox, _):
        ours, theirs = await images.keep("household", b"cat"), await images.keep("ada", b"cat")
        assert ours != theirs
        one, other = about(ours), about(ours)
        for event in (one, other, about(theirs, "ada")):
            await mailbox.enqueue(event)
        await mailbox.erase(one.id)
        await images.forget()
        assert files(images) == {ours, theirs}
        await mailbox.remove_owner("ada")
        await images.forget()
        assert files(images) == {ours}


async def test_the_oldest_go_when_an_owner_has_too_many(tmp_path: Path) -> None:
    async with kept(tmp_path, most=6) as (images, _, clock):
        names = [await images.keep("household", content) for content in (b"one", b"two", b"six")]
        theirs = await images.keep("ada", b"own")
        for number, name in enumerate(names):
            await images.refer("household", f"event-{number}", {name: 3})
        await images.refer("ada", "theirs", {theirs: 3})
        clock.now += FRESH_SECONDS + 1
        assert await images.sweep() == 1
        assert files(images) == {*names[1:], theirs}


async def test_one_goes_with_the_context_it_is_too_old_for(tmp_path: Path) -> None:
    async with kept(tmp_path) as (images, mailbox, clock):
        old, new = await images.keep("household", b"old"), await images.keep("household", b"new")
        past = datetime.now(UTC) - timedelta(days=91)
        await Mailbox(images.database, lambda: past).enqueue(about(old))
        await mailbox.enqueue(about(new))
        clock.now += FRESH_SECONDS + 1
        assert await images.sweep(days=0) == 0
        assert await images.sweep(days=90) == 1
        assert files(images) == {new}


@pytest.mark.parametrize("name", ["../nakari.db", "..", "", "C" * 64, "c" * 63])
async def test_a_name_that_is_no_digest_is_no_file(tmp_path: Path, name: str) -> None:
    async with kept(tmp_path) as (images, _, _clock):
        await images.keep("household", b"cat")
        assert read(images.folder, name) is None
        assert not await images.hold([name])


async def test_what_cannot_be_removed_is_told(tmp_path: Path) -> None:
    async with kept(tmp_path) as (images, _, _clock):
        (images.folder / "a folder where a file should be").mkdir(parents=True)
        with pytest.raises(StateUnusable, match=r"cannot be removed .*: make that folder writable for this user"):
            await images.forget()
