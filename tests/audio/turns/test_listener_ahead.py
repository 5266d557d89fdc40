"""Words recognized ahead of the end of a turn, and what they do to it."""

import pytest

from audio.pcm import CHUNK_SECONDS
from audio.turns.completeness import LONGEST_SILENCE, SHORTEST_SILENCE, SURE_SILENCE
from tests.audio.ears_fakes import chunk_numbers
from tests.audio.turns.test_listener import QUIET, WORD, Room, committed_after, recording


@pytest.mark.shows("V7")
async def test_words_are_recognized_at_the_first_silence_and_not_again_when_the_turn_ends_there() -> None:
    room = recording(QUIET + WORD + QUIET, "my sister lives in paris")
    await room.listen()
    assert len(room.recognizer.heard) == 1
    assert [heard.transcript.text for heard in room.turns.so_far] == room.words == ["my sister lives in paris"]
    assert committed_after(room.heard[0]) == pytest.approx(0.7, abs=CHUNK_SECONDS)
    (ahead,) = room.recognizer.heard
    assert len(ahead.samples) == len(room.heard[0].utterance.samples)
    assert ahead.committed_at - ahead.ended_at == pytest.approx(0.2, abs=CHUNK_SECONDS)


@pytest.mark.shows("V7")
@pytest.mark.parametrize(
    ("words", "silence"), [("what time is it", SHORTEST_SILENCE), ("turn on the kitchen light", SURE_SILENCE)]
)
async def test_finished_words_end_the_turn_sooner(words: str, silence: float) -> None:
    room = recording(QUIET + WORD + QUIET, words)
    await room.listen()
    assert committed_after(room.heard[0]) == pytest.approx(silence, abs=CHUNK_SECONDS)


@pytest.mark.shows("V7")
async def test_who_hesitates_after_unfinished_words_is_not_cut_off_and_the_whole_is_recognized_again() -> None:
    room = recording(QUIET + WORD + "." * 30 + WORD + QUIET, "remind me to", "remind me to buy milk")
    await room.listen()
    assert room.words == ["remind me to buy milk"]
    assert [heard.transcript.text for heard in room.turns.so_far] == ["remind me to", "remind me to buy milk"]
    assert chunk_numbers(room.heard[0].utterance).stop >= 40 + 8 + 30 + 8
    assert len(room.turns.started) == 1


@pytest.mark.shows("V7")
async def test_while_the_words_are_not_known_yet_the_turn_waits_for_them() -> None:
    room = Room(QUIET + WORD + "." * 50)
    room.recognizer.may_answer.clear()
    committed_at: list[int] = []

    def see() -> None:
        if room.listener.counters.utterances and not committed_at:
            committed_at.append(room.listener.counters.chunks)
            room.recognizer.may_answer.set()

    room.at_each_chunk(see)
    await room.listen()
    assert committed_after(room.heard[0]) == pytest.approx(LONGEST_SILENCE, abs=CHUNK_SECONDS)


@pytest.mark.shows("V7")
async def test_after_a_statement_the_same_pause_ends_the_turn() -> None:
    room = recording(QUIET + WORD + "." * 30 + WORD + QUIET, "it rained all day", "my sister lives in paris")
    await room.listen()
    assert room.words == ["it rained all day", "my sister lives in paris"]


@pytest.mark.shows("V7", "V8")
async def test_a_peek_tells_the_words_while_somebody_still_speaks() -> None:
    room = recording(QUIET + WORD * 4 + QUIET, "stop", "stop talking please")

    def peek() -> None:
        if room.listener.counters.chunks in {20, 60}:
            room.listener.peek()

    room.at_each_chunk(peek)
    await room.listen()
    assert [heard.transcript.text for heard in room.turns.so_far] == ["stop", "stop talking please"]
    assert room.words == ["stop talking please"]
    peeked, whole = room.recognizer.heard
    assert chunk_numbers(peeked).stop == 59
    assert chunk_numbers(whole).stop > 72
