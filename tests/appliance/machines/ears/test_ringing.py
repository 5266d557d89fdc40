"""Timers of the ears' room ring there without the mind, once, over restarts; what becomes of them is told to it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.event import TIMER, Event
from appliance.machines.wire import Timers
from appliance.timers.ringer import RingerHere
from tests.appliance.machines.ears_box import EarsBox, live
from tests.engine_fake import FakeServer
from tests.room.virtual_time import passed


def timer(due: datetime, id_: str = "t1") -> Event:
    return Event(
        TIMER,
        "Timer for the eggs is over.",
        id=id_,
        source="timer",
        priority=20,
        not_before=due,
        metadata={"label": "eggs"},
    )


def ringing(ears: EarsBox) -> bool:
    return ears.box.output.ringer is not None and ears.box.output.ringer.is_ringing


@pytest.mark.shows("H10")
def test_a_timer_of_the_mind_rings_here_in_time_though_the_mind_is_away(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        due = ears.now() + timedelta(minutes=5)
        await ears.mind.order(Timers(1, (timer(due),)))
        ears.mind_goes()
        await passed(299)
        assert not ringing(ears)
        await passed(2)
        assert ringing(ears)
        ringer = ears.box.output.ringer
        assert ringer is not None
        assert await RingerHere(ringer, ears.box.output.rooms.own).take("stop")
        await passed(60)
        ears.mind_comes()
        await ears.until(lambda: len(ears.mind.rings) == 2)
        await ears.over()
        assert [(each.timer, each.state, each.words) for each in ears.mind.rings] == [
            ("t1", "rang", ""),
            ("t1", "stopped", "stop"),
        ]

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_a_timer_rings_after_a_restart_of_the_ears_and_not_again_after_another(tmp_path: Path) -> None:
    server, begin = FakeServer(), datetime.now(UTC)

    async def told(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        await ears.mind.order(Timers(1, (timer(begin + timedelta(minutes=5)),)))

    async def rings(ears: EarsBox) -> bool:
        await passed(100)  # half a minute to its moment, and all of its ring
        return ears.player.played > 0

    live(tmp_path, told, server, begin)
    assert live(tmp_path, rings, FakeServer(), begin + timedelta(minutes=4, seconds=30))
    assert not live(tmp_path, rings, FakeServer(), begin + timedelta(minutes=7))


@pytest.mark.shows("H10")
def test_a_timer_that_is_cancelled_at_the_mind_does_not_ring_one_that_is_just_due_does(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        far, near = timer(ears.now() + timedelta(minutes=5)), timer(ears.now() + timedelta(seconds=8), "t2")
        await ears.mind.order(Timers(1, (far, near)))
        await ears.mind.order(Timers(1, ()))
        await passed(9)
        assert ringing(ears)
        await passed(90)
        played = ears.player.played
        await passed(300)
        assert ears.player.played == played
        assert {(each.timer, each.state) for each in ears.mind.rings} == {("t2", "rang"), ("t2", "ended")}

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_a_timer_set_while_the_mind_was_away_is_known_to_it_afterwards_and_rings_once(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        await passed(6)
        await ears.says("set a timer for ten minutes")
        await passed(30)
        ears.mind_comes()
        await ears.until(lambda: [turn.type for turn in ears.mind.turns] == ["asr_transcript", TIMER])
        set_here = ears.mind.turns[1]
        await ears.mind.order(Timers(1, (replace(set_here, parent_id=""),)))
        await passed(580)
        assert ringing(ears)
        assert [each.timer for each in ears.mind.rings] == [set_here.id]
        assert len(ears.mind.turns) == 2, "what the mind told itself is not told to it"

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_a_timer_of_the_mind_can_be_asked_for_and_cancelled_while_it_is_away(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        await ears.mind.order(Timers(1, (timer(ears.now() + timedelta(minutes=10)),)))
        ears.mind_goes()
        await ears.away()
        await passed(6)
        await ears.says("cancel the timer")
        await passed(20)
        ears.mind_comes()
        await ears.until(lambda: ears.mind.rings)
        await passed(700)
        assert [(each.timer, each.state) for each in ears.mind.rings] == [("t1", "cancelled")]

    live(tmp_path, story)
