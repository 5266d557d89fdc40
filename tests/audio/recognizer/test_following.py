"""Chunks to a stream in a thread of its own: order, what is told, and what happens to a stream that fails."""

import threading

import pytest

from audio.errors import RecognitionFailed
from audio.recognizer.following import Following
from audio.speech import PartialWords
from tests.audio.ears_fakes import ScriptedStreams, marked


def following(*scripts: dict[int, str | Exception]) -> tuple[Following, ScriptedStreams, list[str]]:
    streams, told = ScriptedStreams(scripts), list[str]()

    def tell(words: PartialWords) -> None:
        assert threading.current_thread() is threading.main_thread()
        told.append(words.text)

    return Following(streams, tell), streams, told


async def test_chunks_come_in_order_however_late_the_thread_is() -> None:
    turn, streams, told = following({3: "one", 6: "one two"})
    streams.may_take.clear()
    turn.begin(marked(number) for number in range(2))
    for number in range(2, 6):
        turn.take(marked(number))
    assert turn.words is None
    streams.may_take.set()
    await turn.settled.wait()
    assert streams.turns[0].taken == list(range(6))
    assert told[-1] == "one two"
    assert turn.words == PartialWords("one two", "en")


async def test_the_same_words_are_told_once() -> None:
    turn, _, told = following({2: "one"})
    turn.begin([marked(0)])
    for number in range(1, 5):
        turn.take(marked(number))
        await turn.settled.wait()
    assert told == ["", "one"]


async def test_after_the_end_of_a_turn_nothing_of_it_is_told_and_its_words_are_gone() -> None:
    turn, streams, told = following({1: "one"}, {})
    streams.may_take.clear()
    turn.begin([marked(0)])
    turn.end()
    turn.take(marked(1))
    streams.may_take.set()
    await turn.settled.wait()
    assert (told, turn.words) == ([], None)
    turn.begin([marked(2)])
    await turn.settled.wait()
    assert (told, streams.turns[1].taken) == ([""], [2])


@pytest.mark.parametrize("error", [RecognitionFailed("it stumbled")])
async def test_a_stream_that_fails_is_left_until_the_next_turn(error: Exception) -> None:
    turn, streams, told = following({2: error}, {1: "one"})
    turn.begin([marked(0)])
    await turn.settled.wait()
    for number in range(1, 4):
        turn.take(marked(number))
        await turn.settled.wait()
    assert streams.turns[0].taken == [0, 1], "it is not asked again"
    turn.begin([marked(0)])
    await turn.settled.wait()
    assert told == ["", "one"]


async def test_without_a_recognizer_nothing_is_done() -> None:
    turn = Following(None, lambda words: None)
    turn.begin([marked(0)])
    turn.take(marked(1))
    await turn.settled.wait()
    turn.end()
    assert turn.words is None
