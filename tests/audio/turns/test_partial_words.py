"""Words while somebody speaks: who is told of them, when they end a turn, and what they are kept from."""

import pytest

from audio.errors import RecognitionFailed, RecognizerAbsent
from audio.pcm import CHUNK_SECONDS
from audio.speech import PartialWords
from audio.turns.completeness import LONGEST_SILENCE, SHORTEST_SILENCE, SURE_SILENCE
from tests.audio.ears_fakes import ScriptedStreams
from tests.audio.turns.test_listener import PRE_ROLL_CHUNKS, QUIET, WORD, Room, committed_after, recording

SPEECH = PRE_ROLL_CHUNKS
"""The chunk of a turn with which its speech begins, but for the two that begin it."""


def following(pattern: str, *scripts: dict[int, str | Exception], words: str = "", is_live: bool = False) -> Room:
    room = recording(pattern, *([words] if words else []))
    room = Room(pattern, recognizer=room.recognizer, streaming=ScriptedStreams(scripts))
    room.source.is_live = is_live
    return room


def told_by(room: Room) -> list[str]:
    told: list[str] = []
    room.listener.read_along(lambda words: told.append(words.text))
    return told


@pytest.mark.shows("V7")
async def test_the_words_of_a_turn_are_told_as_they_grow_and_the_thread_is_another() -> None:
    script: dict[int, str | Exception] = {SPEECH + 2: "turn", SPEECH + 8: "turn on", SPEECH + 14: "turn on the light"}
    room = following(QUIET + WORD * 2 + QUIET, script)
    told = told_by(room)
    await room.listen()
    assert told == ["", "turn", "turn on", "turn on the light"]
    assert room.streaming is not None
    (turn,) = room.streaming.turns
    assert turn.threads == {"words-so-far_0"}


async def test_each_turn_is_followed_from_its_pre_roll_on_without_a_gap() -> None:
    room = following(QUIET + WORD + QUIET + WORD * 2 + QUIET)
    await room.listen()
    assert room.streaming is not None
    first, second = room.streaming.turns
    for turn, begins in ((first, 40), (second, 88)):
        assert turn.taken == list(range(turn.taken[0], turn.taken[-1] + 1))
        assert turn.taken[0] == begins - PRE_ROLL_CHUNKS + 1
    assert first.taken[-1] < second.taken[0]


@pytest.mark.shows("V7")
@pytest.mark.parametrize(
    ("words", "silence"),
    [("what time is it", SHORTEST_SILENCE), ("turn on the kitchen light", SURE_SILENCE), ("well", LONGEST_SILENCE)],
)
async def test_finished_words_end_the_turn_while_the_recognizer_is_still_at_work(words: str, silence: float) -> None:
    room = following(QUIET + WORD * 2 + "." * 50, {SPEECH + 9: words}, is_live=True)
    room.recognizer.may_answer.clear()
    room.source.pace = room.listener.following.settled.wait

    def see() -> None:
        if room.listener.counters.utterances:
            room.recognizer.may_answer.set()

    room.at_each_chunk(see)
    await room.listen()
    assert committed_after(room.heard[0]) == pytest.approx(silence, abs=CHUNK_SECONDS)


@pytest.mark.shows("V7")
async def test_what_the_recognizer_says_at_the_pause_has_the_last_word() -> None:
    room = following(QUIET + WORD * 2 + QUIET, {SPEECH + 9: "turn on the light"}, words="turn on the light in")
    await room.listen()
    assert committed_after(room.heard[0]) == pytest.approx(LONGEST_SILENCE, abs=CHUNK_SECONDS)


@pytest.mark.shows("V7")
async def test_words_of_the_turn_before_end_no_other() -> None:
    room = following(QUIET + WORD * 2 + QUIET + WORD + QUIET, {SPEECH + 9: "stop"}, {})
    room.recognizer.script = ["stop", "it rained all day"]
    told = told_by(room)
    await room.listen()
    assert committed_after(room.heard[1]) == pytest.approx(0.7, abs=CHUNK_SECONDS)
    assert told == ["", "stop", ""]


@pytest.mark.shows("V7")
@pytest.mark.parametrize("error", [RecognitionFailed("it stumbled"), RecognizerAbsent("not loaded")])
async def test_a_turn_that_cannot_be_followed_is_heard_as_ever(error: Exception) -> None:
    room = following(QUIET + WORD * 2 + QUIET, {SPEECH + 2: error}, words="turn on the light")
    assert room.streaming is not None
    if isinstance(error, RecognizerAbsent):
        room.streaming.refusal = error
    told = told_by(room)
    await room.listen()
    assert room.words == ["turn on the light"]
    assert told in ([], [""])


async def test_a_stream_that_is_slow_holds_nothing_up_and_is_told_nothing_of_a_turn_that_is_over() -> None:
    room = following(QUIET + WORD * 2 + QUIET, {SPEECH + 2: "turn on"}, is_live=True)
    assert room.streaming is not None
    room.streaming.may_take.clear()
    told = told_by(room)
    await room.listen()
    assert len(room.heard) == 1, "the turn ended without it"
    room.streaming.may_take.set()
    await room.listener.following.settled.wait()
    assert told == []


async def test_nothing_of_it_reaches_the_mind_before_the_turn_is_over() -> None:
    room = following(QUIET + WORD * 2 + QUIET, {SPEECH + 2: "turn on"}, words="turn on the light")
    heard_at: list[tuple[int, PartialWords]] = []
    room.listener.read_along(lambda words: heard_at.append((len(room.heard), words)))
    await room.listen()
    assert {count for count, _ in heard_at} == {0}
    assert [each.transcript.text for each in room.turns.so_far] == ["turn on the light"], "the recognizer's, at a pause"
    assert room.words == ["turn on the light"]


async def test_with_nobody_who_streams_nothing_is_followed() -> None:
    room = Room(QUIET + WORD * 2 + QUIET)
    told = told_by(room)
    await room.listen()
    assert (told, room.words) == ([], ["utterance 0"])
