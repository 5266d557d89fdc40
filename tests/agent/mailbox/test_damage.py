"""Bits of the file that the disk has changed: an event that cannot be read any more holds up no other."""

from pathlib import Path

import pytest

from agent.event import Event
from agent.mailbox import SCHEMA, Mailbox
from memory.state.database import Database
from tests.agent.clock import Clock
from tests.agent.mailboxes import work

FLIPS = [(b'"created_at":', b'"created_at"x'), (b'"2026-11-21T', b'"2026-1x-21T'), (b'"created_at":', b'"kreated_at":')]


async def opened(folder: Path) -> Database:
    database = Database(folder / "nakari.db")
    await database.open(SCHEMA)
    return database


def flip(folder: Path, marked: bytes, was: bytes, became: bytes) -> None:
    """Change the first `was` of each envelope that holds `marked`, in the file itself."""
    file = folder / "nakari.db"
    held = file.read_bytes()
    at = held.index(was, held.rindex(b'{"type"', 0, held.index(marked)))
    file.write_bytes(held[:at] + became + held[at + len(was) :])


@pytest.mark.shows("A24", "B24")
@pytest.mark.parametrize(("was", "became"), FLIPS)
@pytest.mark.parametrize("in_hand", [False, True])
async def test_an_event_that_cannot_be_read_goes_to_the_dead_letter_and_the_next_one_has_its_turn(
    tmp_path: Path, was: bytes, became: bytes, in_hand: bool
) -> None:
    clock = Clock()
    damaged = Event("asr_transcript", "the damaged one", priority=10, created_at=clock())
    database = await opened(tmp_path)
    for event in (damaged, other := work("the other", created_at=clock())):
        await Mailbox(database, clock, clock.wait).enqueue(event)
    if in_hand:
        await Mailbox(database, clock, clock.wait).take()
    await database.close()
    flip(tmp_path, b"the damaged one", was, became)
    database = await opened(tmp_path)
    mailbox = Mailbox(database, clock, clock.wait)
    assert await mailbox.waiting("asr_transcript", None) == [], (
        "who looks before, as the ringer does, is not stopped by it"
    )
    if in_hand:
        assert await mailbox.recover() == []
    assert (await mailbox.take()).event == other
    [dead] = await mailbox.listed("dead")
    assert (dead.event.id, dead.event.type, dead.event.content) == (damaged.id, "asr_transcript", "")
    assert dead.reason == "its text was changed by the disk: what it said is lost"
    assert await mailbox.enqueue(work("a child", source="self", parent_id=other.id)), "what counts its own works again"
    await database.close()


@pytest.mark.shows("A24", "B24")
async def test_an_event_under_the_id_of_another_is_given_up_and_not_handled_for_ever(tmp_path: Path) -> None:
    clock = Clock()
    damaged = Event("asr_transcript", "the damaged one", id="a" * 32, created_at=clock())
    database = await opened(tmp_path)
    await Mailbox(database, clock, clock.wait).enqueue(damaged)
    await database.close()
    flip(tmp_path, b"the damaged one", b"a" * 32, b"a" * 31 + b"c")
    database = await opened(tmp_path)
    mailbox = Mailbox(database, clock, clock.wait)
    assert await mailbox.recover() == []
    [dead] = await mailbox.listed("dead")
    assert dead.event.id == damaged.id
    await database.close()
