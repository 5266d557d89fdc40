"""Unasked speech waits for the end of the quiet hours, durably and once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.event import Event
from agent.replies import Delivered, Reply
from agent.time.quiet import quiet_hours
from appliance.output.quiet import QuietReplySink
from tests.agent.mailboxes import SqliteRig
from tests.fakes import RecordingOutlet

AT_ONE = datetime(2026, 11, 21, 1, 0, tzinfo=UTC)
SEVEN = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


async def said_at_one(folder: Path, *kinds: str) -> tuple[list[str], list[Event], list[Delivered]]:
    """Say "hello" for an event of each kind, twice as after a crash; return what was heard, and what was filed."""
    rig = SqliteRig(folder / "nakari.db")
    await rig.start()
    voice, hours = RecordingOutlet(), quiet_hours("22:00-07:00", UTC)
    assert hours is not None
    outlet = QuietReplySink(voice, rig.mailbox, hours, lambda: AT_ONE)
    ended = []
    for kind in kinds:
        event = Event(kind, id=kind)
        for _ in range(2):
            delivery = outlet.open(Reply(event, "c1"))
            await delivery.feed("Hel")
            await delivery.feed("lo.")
            await delivery.close()
            ended.append(await delivery.ended())
    filed = [letter.event for letter in await rig.mailbox.listed("pending")]
    await rig.stop()
    return voice.said, filed, ended


@pytest.mark.shows("G13")
async def test_what_somebody_asked_for_is_said(tmp_path: Path) -> None:
    said, filed, _ = await said_at_one(tmp_path, "asr_transcript", "user_text", "timer", "calendar")
    assert said == ["Hello."] * 8
    assert filed == []


@pytest.mark.shows("G13")
async def test_what_nobody_asked_for_comes_back_at_the_end_of_the_quiet_once(tmp_path: Path) -> None:
    said, [later], ended = await said_at_one(tmp_path, "self_created")
    assert said == []
    assert later.not_before == SEVEN
    assert later.content.endswith("in one reply: Hello.")
    assert {(account.text, account.interrupted) for account in ended} == {("Hello.", False)}


@pytest.mark.shows("G13")
async def test_what_broke_off_is_not_kept(tmp_path: Path) -> None:
    rig = SqliteRig(tmp_path / "nakari.db")
    await rig.start()
    hours = quiet_hours("22:00-07:00", UTC)
    assert hours is not None
    delivery = QuietReplySink(RecordingOutlet(), rig.mailbox, hours, lambda: AT_ONE).open(
        Reply(Event("self_created"), "c")
    )
    await delivery.feed("Half a sen")
    await delivery.cut()
    await delivery.close()
    assert (await delivery.ended()).text == ""
    assert sum((await rig.mailbox.counts()).values()) == 0
    await rig.stop()
