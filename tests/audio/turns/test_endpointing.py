"""Human clips with pauses put in where nobody has finished: who is cut off, and how long everybody waits.

A sample of what benchmarks/audio/endpointing.py measures whole, side by side with other programs.
"""

import asyncio

import pytest

from audio.pcm import CHUNK_SECONDS
from audio.turns.completeness import LONGEST_SILENCE, SHORTEST_SILENCE
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener
from audio.turns.vad import load_detector
from benchmarks.audio.endpointing import Judged, all_ends_of_ours, by_kind, corpus, ends_of_ours, judge
from tests.audio.ears_fakes import Intake
from tests.audio.pauses import (
    LEAD,
    PAUSES,
    Aligner,
    Knowing,
    PieceSource,
    as_spoken,
    hesitating,
    one_after_the_other,
)
from tests.audio.spoken import debian_clips, go_forward
from tests.figures import figure


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner()


@pytest.mark.shows("V7")
async def test_who_speaks_like_a_human_is_not_cut_off(aligner: Aligner) -> None:
    clips = [*debian_clips("cards"), go_forward()]
    pieces = [as_spoken(clip, aligner.words(clip)) for clip in clips]
    for clip in [*clips[:3], debian_clips("librivox")[1]]:
        pieces += hesitating(clip, aligner.words(clip), most=1)[::2]
    verdict = judge(pieces, await all_ends_of_ours(pieces))
    figure("endpointing, Debian's clips as spoken and hesitating, a sample", str(verdict))
    assert verdict.of >= 20
    assert verdict.rate <= 0.05
    assert len(verdict.delays) == verdict.of
    assert max(verdict.delays) <= LONGEST_SILENCE + 2 * CHUNK_SECONDS


@pytest.mark.shows("V7")
async def test_a_longer_pause_after_unfinished_words_ends_the_turn_all_the_same(aligner: Aligner) -> None:
    clip = debian_clips("librivox")[1]
    words = aligner.words(clip)
    (longest,) = (piece for piece in hesitating(clip, words, most=1) if piece.pauses[0][1] - piece.pauses[0][0] > 1.05)
    intake = Intake()
    knowing = Knowing(longest)
    listener = Listener(PieceSource(longest), load_detector(), Endpointer(), knowing, intake)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())
    assert [turn.transcript.text for turn in intake.heard] == [" ".join(word.text for word in words)]
    assert len(knowing.asked) == 2


@pytest.mark.shows("V7")
async def test_after_a_whole_order_it_answers_sooner(aligner: Aligner) -> None:
    piece = as_spoken(go_forward(), aligner.words(go_forward()))
    (end,) = await ends_of_ours(piece, load_detector())
    assert end - piece.speech_ends == pytest.approx(SHORTEST_SILENCE, abs=2 * CHUNK_SECONDS)


def test_pieces_are_what_they_say(aligner: Aligner) -> None:
    first, second = debian_clips("cards")[:2]
    words = aligner.words(second)
    assert [word.text for word in words] == second.words.split()
    pieces = hesitating(second, words)
    assert [round(end - begin, 2) for piece in pieces for begin, end in piece.pauses] == list(PAUSES)
    assert pieces[0].said_until(pieces[0].pauses[0][0]) == "four queen of"
    pair = one_after_the_other(as_spoken(first, aligner.words(first)), as_spoken(second, words), 0.5)
    assert [word.text for word in pair.words] == [*first.words.split(), *second.words.split()]
    assert pair.words[0].start >= LEAD
    assert pair.speech_ends == pytest.approx(pair.words[-1].end, abs=0.4)


def test_a_cut_is_an_end_before_the_end_of_speech() -> None:
    piece = as_spoken(debian_clips("cards")[0])
    ends = piece.speech_ends
    assert judge([piece], [[ends + 0.5]]) == Judged([pytest.approx(0.5)], 0, 1)  # type: ignore[list-item]
    assert judge([piece], [[ends - 0.3, ends + 0.5]]).cut == 1
    assert judge([piece], [[]]).delays == []
    assert str(judge([piece], [[ends + 0.5]])) == "0.0% cut (0 of 1), delay p50 0.50 s, p95 0.50 s"
    quick = corpus(quick=True)
    assert [verdict.of for verdict in by_kind(quick, [[] for _ in quick.all])] == [2, 2, 1]
