"""The evidence gate's score: what is impossible, what decides together, and what is not known."""

from collections.abc import Mapping

import numpy as np
import pytest
from msgspec.structs import replace

from audio.speech import Confidence, RecognizedTurn, Transcript, Utterance
from audio.turns.evidence import Evidence, evidence_guard, evidence_of, judge, letters_of
from tests.audio.spoken import silence

GOOD = Evidence(
    probability=0.95,
    speech_seconds=1.2,
    span_seconds=1.25,
    letters=18,
    avg_logprob=-0.3,
    no_speech_prob=0.02,
    compression_ratio=0.9,
    echo_suspicion=0.1,
)


def reason(**figures: float | None) -> str:
    """Return the gate's reason about good evidence with these figures instead."""
    return judge(replace(GOOD, **figures)).reason


def score(figures: Mapping[str, float]) -> float:
    """Return the score of these figures alone."""
    return judge(replace(Evidence(), **figures)).score


def test_good_evidence_passes() -> None:
    assert judge(GOOD).reason == ""
    assert judge(GOOD).doubts == ()
    assert judge(GOOD).score > 0.95


def test_what_nobody_measured_speaks_neither_for_nor_against() -> None:
    assert judge(Evidence()).doubts == ()
    assert judge(Evidence()).reason == ""
    assert judge(replace(GOOD, probability=None)).score < judge(GOOD).score


@pytest.mark.shows("V11")
@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ({"compression_ratio": 2.5}, "words that repeat"),
        ({"letters": 60}, "more words than can be said in the time"),
        ({"echo_suspicion": 0.9}, "its own voice"),
    ],
)
def test_what_is_impossible_decides_alone(figures: dict[str, float], why: str) -> None:
    assert reason(**figures) == f"no speech by the evidence: {why}"
    assert judge(replace(GOOD, **figures)).score == 0.0


@pytest.mark.shows("V11", "V12")
@pytest.mark.parametrize("name", ["avg_logprob", "no_speech_prob"])
def test_one_of_whispers_figures_does_not(name: str) -> None:
    bad = {"avg_logprob": -1.4, "no_speech_prob": 0.9}[name]
    assert reason(**{name: bad}) == ""


@pytest.mark.shows("V11")
def test_doubts_decide_together_the_heaviest_first() -> None:
    both = "no speech by the evidence: unlikely words, no speech to the recognizer"
    assert reason(avg_logprob=-1.4, no_speech_prob=0.9) == both
    assert reason(echo_suspicion=0.6, avg_logprob=-1.4) != "" == reason(echo_suspicion=0.6)
    assert (
        reason(speech_seconds=0.5, span_seconds=0.55, letters=8, avg_logprob=-1.5)
        == ""
        != reason(speech_seconds=0.5, span_seconds=0.55, letters=8, avg_logprob=-1.5, probability=0.6)
    )


@pytest.mark.shows("V11")
def test_clear_speech_passes_whatever_is_beside_it() -> None:
    utterance = heard("what time is it", "told").utterance
    for noise_dbfs in (-55.0, -35.0, -30.5, -30.0):
        turn = heard("what time is it", "told")
        loud = replace(utterance, noise_dbfs=noise_dbfs, probability=0.85, speech_seconds=1.0, ended_at=11.5)
        assert evidence_guard(replace(turn, utterance=loud)) == "", f"{noise_dbfs} dBFS of noise beside -30 of speech"


@pytest.mark.shows("V11")
def test_a_short_sound_has_to_be_of_one_piece_and_like_a_voice() -> None:
    assert reason(speech_seconds=0.4, span_seconds=0.8, letters=5, probability=0.6).endswith(
        ": in pieces, hardly a voice"
    )
    assert reason(speech_seconds=0.4, span_seconds=0.4, letters=5, probability=0.8) == ""
    assert reason(speech_seconds=0.26, span_seconds=0.26, letters=3, probability=0.95) == ""
    assert reason(speech_seconds=0.26, span_seconds=0.26, letters=3, probability=0.85).endswith(": hardly a voice")
    assert reason(speech_seconds=1.4, span_seconds=2.5) == ""


def test_words_lie_between_the_pieces_of_a_voice_too() -> None:
    assert reason(speech_seconds=0.8, span_seconds=1.3, letters=26) == ""
    assert "more words than are said in the time" in reason(speech_seconds=0.8, span_seconds=0.85, letters=26)


@pytest.mark.shows("V11", "V12")
def test_a_sentence_is_not_said_in_a_cough() -> None:
    cough = {"speech_seconds": 0.5, "span_seconds": 0.6, "probability": 0.85}
    assert reason(letters=len("Turn it up."), **cough) == ""
    assert reason(letters=len("Tell me a joke."), **cough).startswith(
        "no speech by the evidence: more words than are said in the time"
    )


@pytest.mark.shows("V11", "V12")
def test_more_of_what_speaks_for_it_never_lowers_the_score() -> None:
    random = np.random.default_rng(0)
    better = {"probability": 0.1, "avg_logprob": 0.3, "no_speech_prob": -0.2}
    for _ in range(200):
        figures = {
            "probability": random.uniform(0.3, 0.95),
            "speech_seconds": random.uniform(0.1, 3.0),
            "avg_logprob": random.uniform(-2.0, 0.0),
            "no_speech_prob": random.uniform(0.2, 1.0),
        }
        for name, step in better.items():
            assert score(figures | {name: figures[name] + step}) >= score(figures)


def test_letters_count_alike_in_all_scripts() -> None:
    assert letters_of("lights on") == 9
    assert letters_of("打开客厅的灯") == 18
    assert letters_of("今天 20 度") == 13


def heard(text: str, recognizer: str, confidence: Confidence = "normal", **figures: float) -> RecognizedTurn:
    utterance = Utterance(silence(1.5), 10.5, 11.1, 11.8, 0.45, -30.0, -55.0, 0.2, 0.9)
    return RecognizedTurn(utterance, Transcript(text, "en", recognizer, confidence, figures), 12.0)


def test_evidence_is_collected_from_utterance_and_transcript() -> None:
    found = evidence_of(heard("no", "pocketsphinx", "low", avg_logprob=-0.5))
    assert (found.speech_seconds, found.probability, found.letters, found.is_guess) == (0.45, 0.9, 2, True)
    assert found.span_seconds == pytest.approx(0.6)
    assert (found.avg_logprob, found.echo_suspicion, found.no_speech_prob) == (-0.5, 0.2, None)


@pytest.mark.shows("V11", "V12")
def test_the_guard_says_why_without_figures() -> None:
    assert evidence_guard(heard("no", "pocketsphinx", "low")) == (
        "no speech by the evidence: a guess at a syllable, in pieces"
    )
