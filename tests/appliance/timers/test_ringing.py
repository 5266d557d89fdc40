"""Due timers ring: at their moment, once over restarts, between its sentences, until stopped, with the mind busy."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD, TIMER, Event
from appliance.timers.due import DIED_WITHIN
from appliance.timers.ringer import ALARM_RINGS_FOR, LATER_PAUSE, LONGEST_HOLD, LOOK_AGAIN, PAUSE, RINGS_FOR
from audio.errors import DeviceUnavailable
from audio.loops import until_set
from audio.playback.speech_output import SpokenSentence
from memory.errors import StateUnusable, Superseded, Unconfirmed
from memory.json_value import Json
from tests.agent.clock import MORNING
from tests.appliance.ringing_room import RingingRoom, ringing_room
from tests.memory.state.door import Door, until_reached


async def due(room: RingingRoom, *labels: str) -> None:
    """Let timers of these names be due."""
    for label in labels or ("pasta",):
        await room.set(5, label)
    await room.settle()
    room.clock.advance(5)


async def ringing(room: RingingRoom, *labels: str) -> None:
    """Let timers of these names ring for the first time."""
    await due(room, *labels)
    await room.rings(1)


@pytest.mark.shows("V23")
async def test_a_timer_rings_at_its_moment_and_tells_its_name(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        timer = await room.set(5)
        await room.settle()
        room.clock.advance(4.9)
        await room.settle()
        assert room.player.levels == []
        room.clock.advance(0.1)
        await room.rings(1)
        assert room.said == ["Timer: pasta."]
        assert len(room.player.levels) == 3, "the bell, then two words"
        assert await room.rang() == [(timer.id, 0.0)]
        hand = await room.state.mailbox.take()
        assert hand.event.id == timer.id, "the mind gets it all the same"


@pytest.mark.shows("V23")
async def test_it_rings_on_with_pauses_and_for_a_minute_at_most(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await ringing(room)
        await room.settle()
        assert len(room.said) == 1, "a pause to listen in"
        rings = 1
        while not room.ringer._silent.is_set():
            room.clock.advance(PAUSE)
            await room.settle()
            await room.settle()
            rings = len(room.said)
        assert rings == -(-RINGS_FOR // PAUSE), "as many as fit into a minute"
        assert len(await room.rang()) == 1
        room.clock.advance(600)
        await room.settle()
        assert len(room.said) == rings
        await room.ringer.silence()


@pytest.mark.shows("V23")
async def test_an_alarm_rings_for_ten_minutes_less_often_after_the_first(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.set(5, "work", kind="Alarm")
        await room.settle()
        room.clock.advance(5)
        await room.rings(1)
        began, at = room.clock(), [0.0]
        while not room.ringer._silent.is_set():
            rings = len(room.said)
            room.clock.advance(0.5)
            await room.settle()
            if len(room.said) > rings:
                at.append((room.clock() - began).total_seconds())
        gaps = {now - before for before, now in pairwise(at)}
        assert gaps == {PAUSE, LATER_PAUSE}
        assert sum(moment < RINGS_FOR for moment in at) == -(-RINGS_FOR // PAUSE)
        assert ALARM_RINGS_FOR - LATER_PAUSE <= at[-1] < ALARM_RINGS_FOR


async def test_a_timer_that_joins_an_alarm_in_its_long_pause_rings_at_once(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.set(5, "work", kind="Alarm")
        await room.set(85, "eggs")
        await room.settle()
        room.clock.advance(5)
        await room.rings(1)
        while "Timer: eggs." not in " ".join(room.said):
            room.clock.advance(0.5)
            await room.settle()
        assert 80 <= (room.clock() - MORNING).total_seconds() - 5 <= 80 + PAUSE
        assert await room.here.take("Stop.")


@pytest.mark.shows("V23")
async def test_a_timer_that_the_mind_took_first_rings_all_the_same(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        timer = await room.set(5)
        await room.settle()
        async with asyncio.TaskGroup() as group:
            hand = group.create_task(room.state.mailbox.take())
            await room.state.mailbox.until_idle()
            room.clock.advance(5)
        await room.state.mailbox.complete(hand.result().event.id, "done", {})
        await room.rings(1)
        assert await room.rang() == [(timer.id, 0.0)]


async def test_a_timer_that_was_in_hand_before_it_was_seen_rings(tmp_path: Path) -> None:
    """It is set for so short a time that the mind has it at once."""
    async with ringing_room(tmp_path) as room:
        async with asyncio.TaskGroup() as group:
            hand = group.create_task(room.state.mailbox.take())
            await room.state.mailbox.until_idle()
            timer = await room.set(0)
        assert hand.result().event.id == timer.id
        await room.rings(1)


async def test_a_cancelled_timer_does_not_ring(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        timer, other = await room.set(5), await room.set(6, "tea")
        await room.settle()
        await room.state.mailbox.withdraw(timer.id, "cancelled by a tool")
        room.clock.advance(6)
        await room.rings(1)
        assert room.said == ["Timer: tea."]
        assert await room.rang() == [(other.id, 0.0)]


@pytest.mark.shows("V23", "A9")
async def test_one_due_while_the_machine_was_off_rings_once_and_late(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        timer = await room.set(60)
        await room.settle()
    for hours in (1, 2):
        async with ringing_room(tmp_path, MORNING + timedelta(hours=hours)) as room:
            if hours == 1:
                await room.rings(1)
                assert "It was due" in room.said[0]
            await room.ringer.due.nothing_due.wait()
            await room.settle()
            assert len(room.said) == 2 - hours
            assert await room.rang() == [(timer.id, 3540.0)]


@pytest.mark.shows("V23", "A9")
async def test_one_that_was_in_hand_at_a_crash_rings_after_it(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        timer = await room.set(60)
        await room.settle()
        room.ringer.due._given.add(timer.id)  # the crash comes before the ring
        room.clock.advance(60)
        await room.state.mailbox.take()
    async with ringing_room(tmp_path, MORNING + timedelta(seconds=90)) as room:
        await room.rings(1)
        assert await room.rang() == [(timer.id, 30.0)]


@pytest.mark.shows("V23", "A9")
@pytest.mark.parametrize(("after", "rings"), [(9.0, 1), (DIED_WITHIN + 6.0, 0)])
async def test_one_that_the_mind_was_through_with_at_a_crash_rings_soon_after_it(
    tmp_path: Path, after: float, rings: int
) -> None:
    async with ringing_room(tmp_path) as room:
        timer = await room.set(5)
        await room.settle()
        room.ringer.due._given.add(timer.id)  # the crash comes before the ring, and behind the mind's last step
        room.clock.advance(5)
        await room.state.mailbox.complete((await room.state.mailbox.take()).event.id, "it rang", {})
    for later in (0.0, 60.0):
        async with ringing_room(tmp_path, MORNING + timedelta(seconds=after + later)) as room:
            await room.rings(rings if later == 0 else 0)
            await room.here.take("Stop.")
            await room.settle()
            assert await room.rang() == [(timer.id, after - 5.0)] * rings, "once, and not when it was long ago"


@pytest.mark.shows("V23", "A9")
async def test_one_whose_ring_a_crash_broke_off_rings_again_until_it_is_stopped(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await ringing(room)
        await room.state.mailbox.complete((await room.state.mailbox.take()).event.id, "it rang", {})
    for seconds, rings in ((10, 1), (200, 1), (300, 0)):
        async with ringing_room(tmp_path, MORNING + timedelta(seconds=seconds)) as room:
            await room.rings(rings)
            await room.settle()
            assert len(room.said) == rings
            if seconds == 200:
                await room.here.take("Stop.")


@pytest.mark.shows("V23", "A9")
@pytest.mark.parametrize("how", ["it rang for its minute", "long ago"])
async def test_one_that_rang_to_its_end_before_a_restart_or_long_ago_does_not_begin_again(
    tmp_path: Path, how: str
) -> None:
    async with ringing_room(tmp_path) as room:
        await ringing(room)
        if how == "it rang for its minute":
            await room.settle()
            room.clock.advance(RINGS_FOR)
            await room.ringer.silence()
    start = MORNING + timedelta(seconds=80 if how == "it rang for its minute" else DIED_WITHIN + 10)
    async with ringing_room(tmp_path, start) as room:
        await room.ringer.due.nothing_due.wait()
        await room.settle()
        assert room.said == []
        assert len(await room.rang()) == 1


@pytest.mark.shows("V23")
async def test_stop_silences_at_once_and_goes_no_further(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await ringing(room, "pasta", "tea")
        assert await room.here.take("Stop.")
        room.clock.advance(PAUSE)
        await room.ringer.silence()
        assert room.said == ["Timer: pasta. Timer: tea."]
        assert await room.stops() == ["Stop.", "Stop."]
        assert not await room.here.take("Stop."), "nothing rings any more: it is for the mind"


@pytest.mark.shows("V23")
async def test_stop_in_the_middle_of_a_ring(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        room.player.at_once = False
        await room.set(5)
        await room.settle()
        room.clock.advance(5)
        await room.player.draining.wait()
        assert await room.here.take("别响了")
        await room.ringer.silence()
        assert "stop" in room.player.happened
        room.player.at_once = True
        await ringing(room, "tea")
        assert room.said[-1] == "Timer: tea.", "the ringer lives"


async def test_other_words_go_on_to_the_mind_while_it_rings(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        assert not await room.here.take("Stop.")
        await ringing(room)
        assert not await room.here.take("What time is it?")
        room.clock.advance(PAUSE)
        await room.rings(2)


@pytest.mark.shows("V23")
async def test_it_never_rings_over_its_own_sentence(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        room.player.at_once = False
        await room.mouth.say(SpokenSentence("reply", 0, "One two three.", "en"))
        await room.player.draining.wait()
        await room.set(5)
        await room.settle()
        room.clock.advance(5)
        await room.settle()
        assert len(await room.rang()) == 1
        assert room.player.levels == [1000, 1001, 1002]
        assert await room.here.take("stop"), "also before it is heard"
        await room.ringer.silence()
        room.player.at_once = True
        room.player.go_on.set()
        await room.mouth.quiet()
        assert "stop" not in room.player.happened, "its sentence is not cut for it"


async def test_a_second_timer_joins_the_first_after_the_pause(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.set(6, "tea")
        await ringing(room)
        room.clock.advance(1)
        await room.noticed(2)
        assert room.said == ["Timer: pasta."], "it leaves the pause alone"
        room.clock.advance(PAUSE - 1)
        await room.rings(2)
        assert room.said[-1] == "Timer: pasta. Timer: tea."


@pytest.mark.shows("V23")
async def test_it_does_not_ring_into_somebody_s_words_but_a_television_does_not_silence_it(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await ringing(room)
        room.somebody.speaks = True
        room.clock.advance(PAUSE)
        for _ in range(3):
            await room.settle()
            room.clock.advance(LOOK_AGAIN)
        await room.settle()
        assert len(room.said) == 1
        room.somebody.speaks = False
        room.clock.advance(LOOK_AGAIN)
        await room.rings(2)
        room.somebody.speaks, held = True, 0.0
        room.clock.advance(PAUSE)
        while len(room.said) == 2:
            await room.settle()
            room.clock.advance(LOOK_AGAIN)
            held += LOOK_AGAIN
        assert abs(held - LONGEST_HOLD) <= 1.0


@pytest.mark.shows("G13", "V24")
async def test_the_first_ring_waits_for_a_full_stop_and_not_for_ever(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        room.somebody.speaks = True
        await due(room)
        for _ in range(3):
            await room.settle()
            room.clock.advance(LOOK_AGAIN)
        await room.settle()
        assert room.said == []
        room.somebody.speaks = False
        room.clock.advance(LOOK_AGAIN)
        await room.rings(1)
    async with ringing_room(tmp_path / "tv") as room:
        room.somebody.speaks, held = True, 0.0
        await due(room)
        while not room.said:
            await room.settle()
            room.clock.advance(LOOK_AGAIN)
            held += LOOK_AGAIN
        assert abs(held - LONGEST_HOLD) <= 1.0


@pytest.mark.shows("V23", "V30")
async def test_without_a_voice_the_bell_rings(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        room.voice.failures[-1] = 0
        await ringing(room)
        assert len(room.player.levels) == 1


async def test_a_loudspeaker_that_comes_back_is_heard(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        room.player.fails = DeviceUnavailable
        await room.set(5)
        await room.settle()
        room.clock.advance(5)
        while "stop" not in room.player.happened:
            await room.settle()
        room.player.fails = None
        await room.settle()
        room.clock.advance(PAUSE)
        await room.rings(1)
        assert len(await room.rang()) == 1


async def test_a_full_disk_silences_no_timer_and_rings_it_once(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:

        async def refuse(_: object) -> None:
            raise StateUnusable("the disk is full")

        await room.set(5)
        await room.settle()
        room.state.bus._journal = refuse
        room.clock.advance(5)
        await room.rings(1)
        assert await room.here.take("Stop.")
        await room.set(100, "tea")
        await room.ringer.silence()
        await room.settle()
        assert room.said == ["Timer: pasta."]


@pytest.mark.shows("H10")
@pytest.mark.parametrize(("refusal", "rings"), [(Superseded("another leads"), 0), (Unconfirmed("it is away"), 1)])
async def test_a_timer_is_left_to_the_machine_that_leads(tmp_path: Path, refusal: Exception, rings: int) -> None:
    async with ringing_room(tmp_path) as room:

        async def refuse(_: object) -> None:
            raise refusal

        await room.set(5)
        await room.settle()
        room.state.bus._journal = refuse
        room.clock.advance(5)
        await (room.rings(1) if rings else room.settle())
        assert len(room.said) == rings


async def test_what_rang_and_is_done_with_is_remembered_by_the_journal_alone(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        timer = await room.set(5)
        await room.settle()
        room.clock.advance(5)
        await room.rings(1)
        assert room.ringer.due._given == {timer.id}
        await room.state.mailbox.withdraw(timer.id, "done with")
        await room.here.take("Stop.")
        await room.set(100, "tea")
        await room.ringer.silence()
        await room.settle()
        assert room.ringer.due._given == set()
        assert room.said == ["Timer: pasta."]


async def test_a_clock_that_is_set_forward_rings_what_was_skipped(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.set(3600)
        await room.settle()
        room.clock.advance(-1800)
        await room.settle()
        assert room.said == []
        room.clock.advance(7200)
        await room.rings(1)
        assert "It was due" in room.said[0]


async def test_a_pause_is_over_when_something_changes_or_its_time_is_up() -> None:
    changed = asyncio.Event()
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        await until_set(changed, 0.01)
        waiting = group.create_task(until_set(changed, 3600.0))
        await asyncio.sleep(0)
        assert not waiting.done()
        changed.set()


@pytest.mark.shows("F12")
async def test_another_owner_s_timer_does_not_ring_in_the_household_s_room(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        for owner in ("a" * 64, HOUSEHOLD):
            metadata: dict[str, Json] = {"label": f"of {owner}"}
            theirs = Event(TIMER, owner_key=owner, not_before=room.clock.after(5), metadata=metadata)
            await room.state.mailbox.enqueue(theirs)
        room.clock.advance(5)
        hand = await room.state.mailbox.take()
        assert hand.event.owner_key == "a" * 64, "in hand when the ringer looks"
        await room.state.mailbox.enqueue(Event("something"))
        await room.rings(1)
        await room.settle()
        assert room.said == ["Timer: of household."]


async def drained(room: RingingRoom, count: int) -> None:
    """Wait, without asking the database, until a ring was heard to its end so often."""
    while room.player.happened.count("drain") < count:  # noqa: ASYNC110  the player keeps a list
        await asyncio.sleep(0)


@pytest.mark.shows("V23", "C15")
async def test_a_timer_rings_while_the_disk_is_gone(tmp_path: Path) -> None:
    async with ringing_room(tmp_path) as room:
        await room.set(5)
        await room.set(9, "eggs")
        await room.settle()
        database = room.state.journal.database
        await database.close()  # every read and write is refused from now on, as by a disk that was pulled out
        room.clock.advance(5)
        await drained(room, 1)
        await room.here.take("stop")
        room.clock.advance(4)
        await drained(room, 2)
        assert room.said == ["Timer: pasta.", "Timer: eggs."]


@pytest.mark.shows("V23", "C15")
async def test_a_timer_rings_while_the_disk_hangs_and_is_journaled_once_it_answers(tmp_path: Path) -> None:
    async with ringing_room(tmp_path, patience=0.2) as room:
        timer = await room.set(5)
        await room.settle()
        door = Door()
        async with asyncio.TaskGroup() as group:
            group.create_task(room.state.journal.database.write(door))
            await until_reached(door)
            try:
                room.clock.advance(5)
                await drained(room, 1)
                assert room.said == ["Timer: pasta."]
            finally:
                await door.open()
        await room.here.take("stop")
        await room.settle()
        room.clock.advance(10)
        await room.noticed(1)
        assert await room.rang() == [(timer.id, 0.0)]
