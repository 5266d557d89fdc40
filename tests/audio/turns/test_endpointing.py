"""Human clips with pauses put in where nobody has finished: who is cut off, and how long everybody waits.

A sample of what benchmarks/audio/endpointing.py measures whole, side by side with other programs.
"""

import asyncio
from itertools import count

import numpy as np
import pytest
from msgspec.structs import replace

from audio.pcm import CHUNK_SECONDS, SAMPLE_RATE
from audio.speech import Transcript, Utterance
from audio.turns.completeness import LONGEST_SILENCE, SURE_SILENCE
from audio.turns.endpointer import COMMIT_SECONDS, Endpointer
from audio.turns.listener import Listener, Surroundings
from audio.turns.vad import load_detector
from benchmarks.audio.endpointing import Judged, all_ends_of_ours, by_kind, corpus, ends_of_ours, judge
from tests.audio.ears_fakes import Intake
from tests.audio.pauses import (
    LEAD,
    PAUSES,
    Aligner,
    Knowing,
    PieceSource,
    Word,
    as_spoken,
    broken_off,
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
async def test_who_stops_inside_a_phrase_is_seldom_cut_off(aligner: Aligner) -> None:
    pieces = [
        piece
        for clip in debian_clips("librivox")
        for piece in broken_off(clip, aligner.words(clip), most=1)
        if piece.pauses[0][1] - piece.pauses[0][0] > 0.6
    ]
    verdict = judge(pieces, await all_ends_of_ours(pieces))
    figure("endpointing, Debian's clips with pauses inside phrases, a sample", str(verdict))
    assert verdict.of >= 15
    assert verdict.rate <= 0.25


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
    assert end - piece.speech_ends == pytest.approx(SURE_SILENCE, abs=2 * CHUNK_SECONDS)


@pytest.mark.shows("V7")
async def test_while_the_recognizer_is_too_slow_the_voice_alone_ends_the_turn(aligner: Aligner) -> None:
    once = as_spoken(go_forward(), aligner.words(go_forward()))
    later = len(once.samples) / SAMPLE_RATE
    again = tuple(Word(word.text, word.start + later, word.end + later) for word in once.words)
    twice = replace(once, samples=np.concatenate([once.samples, once.samples]), words=(*once.words, *again))
    intake, clock = Intake(), count(0, 2)
    surroundings = Surroundings(clock=lambda: float(next(clock)))
    knowing = Knowing(twice)
    listener = Listener(PieceSource(twice), load_detector(), Endpointer(), knowing, intake, surroundings)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())
    _, second = (heard.utterance for heard in intake.heard)
    assert len(knowing.asked) == 2
    assert second.committed_at - second.ended_at == pytest.approx(SURE_SILENCE, abs=CHUNK_SECONDS)


class InChinese(Knowing):
    """Hears a statement in Chinese, whatever is said."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        return Transcript("我喜欢猫", "zh", self.name)


@pytest.mark.shows("V7")
async def test_where_the_pitch_belongs_to_the_words_the_voice_does_not_count(aligner: Aligner) -> None:
    piece = as_spoken(go_forward(), aligner.words(go_forward()))
    intake = Intake()
    listener = Listener(PieceSource(piece), load_detector(), Endpointer(), InChinese(piece), intake)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen())
        group.create_task(listener.recognize())
    (turn,) = (heard.utterance for heard in intake.heard)
    assert turn.committed_at - turn.ended_at == pytest.approx(COMMIT_SECONDS, abs=CHUNK_SECONDS)


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
    assert [verdict.of for verdict in by_kind(quick, [[] for _ in quick.all])] == [2, 2, 2, 1]
