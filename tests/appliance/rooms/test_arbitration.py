"""Whether two rooms heard the same: by words and time, misheard words among them; and who heard it better."""

import asyncio

import pytest

from appliance.rooms.arbitration import (
    ECHO,
    LONGEST_PATIENCE,
    PATIENCE,
    Arbiter,
    Hearing,
    RoomEars,
    Undisputed,
    is_same,
    likeness,
    merit_of,
)
from audio.speech import SpeechStarted
from tests.appliance.rooms.home import turn_of
from tests.room.virtual_time import run_virtually


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Turn on the kitchen light.", "turn on the chicken light"),
        ("Set a timer for ten minutes", "a timer for 10 minutes"),
        ("What's the weather like tomorrow?", "what is the weather like to borrow"),
        ("打开厨房的灯。", "打开出房的灯"),
        ("打開廚房的燈", "打开厨房的灯"),
        ("stop", "Stop!"),
    ],
)
def test_misheard_words_are_the_same_words(one: str, other: str) -> None:
    assert is_same(Hearing.of(turn_of(one, 1.0, 2.5)), Hearing.of(turn_of(other, 1.1, 2.6)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Turn on the kitchen light.", "What is the weather like tomorrow?"),
        ("set a timer for ten minutes", "play some music in the bathroom"),
        ("打开厨房的灯", "明天会下雨吗"),
        ("yes", "no"),
        ("", "hello"),
    ],
)
def test_other_words_at_the_same_time_are_others(one: str, other: str) -> None:
    assert not is_same(Hearing.of(turn_of(one, 1.0, 2.5)), Hearing.of(turn_of(other, 1.0, 2.5)))


def test_the_same_words_at_another_time_are_said_again() -> None:
    assert not is_same(Hearing.of(turn_of("louder", 1.0, 1.6)), Hearing.of(turn_of("louder", 2.4, 3.0)))


def test_likeness_is_of_both_sides() -> None:
    assert likeness("a b c", "a b c") == 1.0
    assert likeness("good morning", "") == 0.0


def test_better_is_what_stands_out_and_is_sure_not_what_is_loud() -> None:
    near = turn_of("hello there", 0.0, 1.0, snr=20.0, level=-40.0, logprob=-0.2)
    amplified = turn_of("hello there", 0.0, 1.0, snr=9.0, level=-12.0, logprob=-0.4)
    mumbled = turn_of("yellow bear", 0.0, 1.0, snr=20.0, level=-40.0, logprob=-1.1)
    assert merit_of(near) > merit_of(amplified)
    assert merit_of(near) > merit_of(mumbled)


def started(ears: RoomEars, at: float) -> None:
    ears.speech_started(SpeechStarted(at, lambda: None))


async def test_whoever_waits_goes_on_when_the_other_turn_is_nothing() -> None:
    arbiter = Arbiter(lambda: False)
    kitchen, study = arbiter.ears("kitchen"), arbiter.ears("study")
    started(kitchen, 1.0)
    started(study, 1.1)
    async with asyncio.TaskGroup() as group:
        settling = group.create_task(kitchen.settle(turn_of("hello", 1.0, 2.0)))
        await asyncio.sleep(0)
        assert not settling.done()
        study.turn_ended(None, "too short")
    assert settling.result() == ""


async def test_other_words_so_far_are_not_waited_for() -> None:
    arbiter = Arbiter(lambda: False)
    kitchen, study = arbiter.ears("kitchen"), arbiter.ears("study")
    started(study, 1.1)
    study.words_so_far(turn_of("what is the weather", 1.1, 2.0))
    started(kitchen, 1.0)
    async with asyncio.TaskGroup() as group:
        settling = group.create_task(kitchen.settle(turn_of("turn on the light", 1.0, 2.0)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert settling.done()


async def test_ears_that_go_away_before_they_have_it_leave_it_to_the_others() -> None:
    arbiter = Arbiter(lambda: False)
    kitchen, study, hall = (arbiter.ears(name) for name in ("kitchen", "study", "hall"))
    for ears in (kitchen, study, hall):
        started(ears, 1.0)
    async with asyncio.TaskGroup() as group:
        worse = group.create_task(kitchen.settle(turn_of("hello there", 1.0, 2.0, snr=5.0)))
        better = group.create_task(study.settle(turn_of("hello there", 1.0, 2.0, snr=25.0)))
        await asyncio.sleep(0)
        better.cancel()
        hall.turn_ended(None, "too short")
    assert worse.result() == "", "nothing that a person said is lost"


async def test_words_over_a_reply_that_another_room_may_hear_better_end_it_only_once_that_is_known() -> None:
    arbiter = Arbiter(lambda: False)
    kitchen, study = arbiter.ears("kitchen"), arbiter.ears("study")
    started(study, 1.0)
    so_far = turn_of("hello there", 1.0, 1.8, snr=5.0)
    assert study.dispute(so_far) == ""
    started(kitchen, 1.0)
    assert study.dispute(so_far) == ECHO
    assert await kitchen.settle(turn_of("good bye", 1.0, 2.0)) == ""
    assert study.dispute(so_far) == ""


async def test_what_is_forgotten_is_not_kept_for_comparison() -> None:
    arbiter = Arbiter(lambda: False)
    kitchen, study = arbiter.ears("kitchen"), arbiter.ears("study")
    secret = turn_of("the code is one two three", 1.0, 2.0)
    assert await kitchen.settle(secret) == ""
    assert kitchen.id_of(secret) == kitchen.id_of(secret)
    arbiter.forget()
    assert await study.settle(secret) == ""
    assert await Undisputed().settle(secret) == ""


@pytest.mark.parametrize(("seconds", "waits"), [(0.0, PATIENCE), (1.0, 1.0), (9.0, LONGEST_PATIENCE)])
def test_words_on_their_way_are_waited_for_longer_but_not_for_ever(seconds: float, waits: float) -> None:
    async def settled() -> float:
        clock = asyncio.get_running_loop().time
        began = clock()
        arbiter = Arbiter(lambda: clock() - began < seconds)
        kitchen, study = arbiter.ears("kitchen"), arbiter.ears("study")
        started(kitchen, 1.0)
        started(study, 1.1)
        assert await kitchen.settle(turn_of("hello", 1.0, 2.0)) == ""
        return clock() - began

    assert run_virtually(settled(), {}) == pytest.approx(waits, abs=0.11)
