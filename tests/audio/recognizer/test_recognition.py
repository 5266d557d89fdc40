"""One recognition at a time: what goes first, what is dropped, what is not done twice."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from audio.recognizer.recognition import USELESS_AHEAD, WAITING_UTTERANCES, Recognition
from audio.speech import RecognizedTurn, Utterance
from tests.audio.ears_fakes import FAILED, ScriptedRecognizer


def turn(number: int, samples: int = 1600, ended_at: float = 0.5) -> Utterance:
    return Utterance(np.zeros(samples, np.int16), float(number), number + ended_at, number + 0.7, 0.4)


@dataclass
class Desk:
    """A recognition over a scripted recognizer, and what came out of it."""

    script: tuple[str | Exception, ...] = ()
    clock: Callable[[], float] = lambda: 0.0
    taken: list[tuple[float, str | None]] = field(default_factory=list)
    """When each whole turn began, and its words."""
    so_far: list[str] = field(default_factory=list)
    voices: list[tuple[float, bool]] = field(default_factory=list)
    """When each turn began whose voice was listened to, and whether its words were to follow."""

    def __post_init__(self) -> None:
        self.recognizer = ScriptedRecognizer(self.script, is_warm=True)
        self.recognition = Recognition(
            self.recognizer,
            lambda heard: self.so_far.append(heard.transcript.text),
            lambda utterance, voice, words_follow: self.voices.append((utterance.started_at, words_follow)),
            self.clock,
        )

    async def take(self, utterance: Utterance, heard: RecognizedTurn | None) -> None:
        self.taken.append((utterance.started_at, heard.transcript.text if heard else None))

    async def run(self) -> None:
        self.recognition.finish()
        await self.recognition.run(self.take)


async def test_a_whole_turn_goes_before_words_so_far() -> None:
    desk = Desk()
    desk.recognition.add(turn(1))
    desk.recognition.look_ahead(turn(2))
    await desk.run()
    assert [each.started_at for each in desk.recognizer.heard] == [1.0, 2.0]
    assert (desk.taken, desk.so_far) == ([(1.0, "utterance 0")], ["utterance 1"])


async def test_of_words_so_far_only_the_newest_wish_counts() -> None:
    desk = Desk()
    for samples in (1600, 3200, 4800):
        desk.recognition.look_ahead(turn(1, samples))
    await desk.run()
    assert [len(each.samples) for each in desk.recognizer.heard] == [4800]


@pytest.mark.shows("V7")
async def test_what_was_recognized_ahead_is_not_recognized_again() -> None:
    desk = Desk(("the words",))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.recognition.run(desk.take))
        desk.recognition.look_ahead(turn(1))
        await desk.recognition.settled.wait()
        desk.recognition.add(turn(1))
        await desk.recognition.settled.wait()
        running.cancel()
    assert desk.taken == [(1.0, "the words")]
    assert len(desk.recognizer.heard) == 1


@pytest.mark.shows("V29")
async def test_what_was_recognized_ahead_is_forgotten_when_somebody_asks_for_it() -> None:
    desk = Desk(("the words", "the words again"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.recognition.run(desk.take))
        desk.recognition.look_ahead(turn(1))
        await desk.recognition.settled.wait()
        desk.recognition.forget_known()
        desk.recognition.add(turn(1))
        await desk.recognition.settled.wait()
        running.cancel()
    assert desk.taken == [(1.0, "the words again")]


@pytest.mark.shows("V29")
async def test_no_sound_of_a_turn_is_kept_once_it_was_handed_on() -> None:
    desk = Desk()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.recognition.run(desk.take))
        utterance = turn(1)
        kept = weakref.ref(utterance.samples)
        desk.recognition.add(utterance)
        await desk.recognition.settled.wait()
        desk.recognizer.heard.clear()
        del utterance
        gc.collect()
        assert kept() is None
        running.cancel()


async def test_more_speech_and_another_turn_are_recognized_anew() -> None:
    desk = Desk(("short", "longer", "another"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.recognition.run(desk.take))
        desk.recognition.look_ahead(turn(1))
        await desk.recognition.settled.wait()
        desk.recognition.add(turn(1, 3200))
        desk.recognition.add(turn(2))
        await desk.recognition.settled.wait()
        running.cancel()
    assert desk.taken == [(1.0, "longer"), (2.0, "another")]


async def test_a_wish_that_was_forgotten_is_not_even_begun() -> None:
    desk = Desk()
    desk.recognition.look_ahead(turn(1))
    desk.recognition.forget()
    await desk.run()
    assert desk.recognizer.heard == []
    assert desk.voices == []


@pytest.mark.shows("V7")
async def test_words_of_before_speech_went_on_are_told_to_nobody() -> None:
    desk = Desk(("turn on", "turn on the light"))
    desk.recognizer.may_answer.clear()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.recognition.run(desk.take))
        desk.recognition.look_ahead(turn(1))
        assert await asyncio.to_thread(desk.recognizer.has_begun.wait, 10)
        desk.recognition.forget()
        desk.recognizer.may_answer.set()
        await desk.recognition.settled.wait()
        desk.recognition.add(turn(1, 3200))
        await desk.recognition.settled.wait()
        running.cancel()
    assert desk.so_far == []
    assert desk.taken == [(1.0, "turn on the light")]


@pytest.mark.shows("V1")
async def test_too_many_whole_turns_drop_the_oldest_and_say_so() -> None:
    desk = Desk()
    dropped = [desk.recognition.add(turn(number)) for number in range(WAITING_UTTERANCES + 2)]
    assert [each.started_at for each in dropped if each] == [0.0, 1.0]
    await desk.run()
    assert len(desk.taken) == WAITING_UTTERANCES
    assert desk.taken[0][0] == 2.0


async def test_a_failure_ahead_is_nothing_and_of_a_whole_turn_it_is_told() -> None:
    desk = Desk((FAILED, FAILED, "words"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.recognition.run(desk.take))
        desk.recognition.look_ahead(turn(1))
        await desk.recognition.settled.wait()
        assert (desk.so_far, desk.taken) == ([], [])
        desk.recognition.add(turn(1))
        desk.recognition.add(turn(2))
        await desk.recognition.settled.wait()
        running.cancel()
    assert desk.taken == [(1.0, None), (2.0, "words")]


async def test_a_recognizer_too_slow_for_it_does_not_look_ahead_but_for_a_peek() -> None:
    moments = iter([0.0, USELESS_AHEAD, 10.0, 10.1])
    desk = Desk(clock=lambda: next(moments))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(desk.recognition.run(desk.take))
        desk.recognition.add(turn(1))
        await desk.recognition.settled.wait()
        desk.recognition.look_ahead(turn(2))
        await desk.recognition.settled.wait()
        assert len(desk.recognizer.heard) == 1
        assert desk.voices == [(2.0, False)]
        desk.recognition.look_ahead(turn(2), at_any_cost=True)
        await desk.recognition.settled.wait()
        running.cancel()
    assert desk.so_far == ["utterance 1"]
    assert desk.voices[1:] == [(2.0, True)]
