"""The evidence gate's weighing: one heavy doubt, several light ones, and what is not known."""

from dataclasses import replace

import pytest

from audio.speech import Confidence, RecognizedTurn, Transcript, Utterance
from audio.turns.evidence import UPSTREAM, Evidence, evidence_guard, evidence_of, judge, letters_of
from tests.audio.spoken import silence

GOOD = Evidence(
    speech_seconds=1.2,
    span_seconds=1.25,
    snr_db=25.0,
    letters=18,
    avg_logprob=-0.3,
    no_speech_prob=0.02,
    compression_ratio=0.9,
    echo_suspicion=0.1,
)


def reason(**figures: float | None) -> str:
    """Return the gate's reason about good evidence with these figures instead."""
    from dataclasses import replace

    return judge(replace(GOOD, **figures)).reason  # type: ignore[arg-type]


def test_good_evidence_passes() -> None:
    assert judge(GOOD).doubts == ()
    assert judge(GOOD).reason == ""


def test_what_nobody_measured_speaks_neither_for_nor_against() -> None:
    assert judge(Evidence()).doubts == ()


def test_whispers_thresholds_are_upstreams_defaults() -> None:
    assert (UPSTREAM.avg_logprob, UPSTREAM.no_speech_prob, UPSTREAM.compression_ratio) == (-1.0, 0.6, 2.4)


@pytest.mark.shows("V11")
@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ({"compression_ratio": 2.5}, "words that repeat"),
        ({"letters": 60}, "more words than can be said in the time"),
        ({"echo_suspicion": 0.9}, "its own voice"),
        ({"snr_db": 2.0}, "hardly above the background"),
    ],
)
def test_one_heavy_doubt_decides_alone(figures: dict[str, float], why: str) -> None:
    assert reason(**figures) == f"no speech by the evidence: {why}"


@pytest.mark.shows("V11", "V12")
@pytest.mark.parametrize("name", ["avg_logprob", "no_speech_prob"])
def test_one_light_doubt_does_not(name: str) -> None:
    bad = {"avg_logprob": -1.4, "no_speech_prob": 0.9}[name]
    assert reason(**{name: bad}) == ""


@pytest.mark.shows("V11")
def test_light_doubts_decide_together_the_heaviest_first() -> None:
    both = "no speech by the evidence: unlikely words, no speech to the recognizer"
    assert reason(avg_logprob=-1.4, no_speech_prob=0.9) == both
    assert (
        reason(avg_logprob=-1.4, snr_db=7.0) == "no speech by the evidence: hardly above the background, unlikely words"
    )
    assert reason(snr_db=7.0) == ""
    assert reason(echo_suspicion=0.6, avg_logprob=-1.4) != "" == reason(echo_suspicion=0.6)


@pytest.mark.shows("V11")
def test_a_short_sound_has_to_be_of_one_piece() -> None:
    assert reason(speech_seconds=0.4, span_seconds=0.64, letters=5).endswith(": in pieces, short")
    assert reason(speech_seconds=0.4, span_seconds=0.4, letters=5) == ""
    assert reason(speech_seconds=1.4, span_seconds=2.5) == ""


@pytest.mark.shows("V11")
def test_a_word_that_is_too_short_for_its_sound_is_a_doubt() -> None:
    assert reason(speech_seconds=0.6, span_seconds=0.6, letters=2) == ""
    assert "too few words for the time" in reason(speech_seconds=0.6, span_seconds=0.68, letters=2)


def test_letters_count_alike_in_all_scripts() -> None:
    assert letters_of("lights on") == 9
    assert letters_of("打开客厅的灯") == 18
    assert letters_of("今天 20 度") == 13


def heard(text: str, recognizer: str, confidence: Confidence = "normal", **figures: float) -> RecognizedTurn:
    utterance = Utterance(silence(1.5), 10.5, 11.1, 11.8, 0.45, -30.0, -55.0, echo_suspicion=0.2)
    return RecognizedTurn(utterance, Transcript(text, "en", recognizer, confidence, figures), 12.0)


def test_evidence_is_collected_from_utterance_and_transcript() -> None:
    found = evidence_of(heard("no", "pocketsphinx", "low", avg_logprob=-0.5))
    assert (found.speech_seconds, found.snr_db, found.letters, found.is_guess) == (0.45, 25.0, 2, True)
    assert found.span_seconds == pytest.approx(0.6)
    assert (found.avg_logprob, found.echo_suspicion, found.no_speech_prob) == (-0.5, 0.2, None)


@pytest.mark.shows("V11", "V12")
def test_the_guard_says_why_without_figures() -> None:
    assert evidence_guard(heard("no", "pocketsphinx", "low")) == (
        "no speech by the evidence: a guess at a syllable, in pieces, short"
    )


def test_what_was_measured_of_a_recognizer_takes_the_place_of_the_general_bound() -> None:
    fast = Evidence(speech_seconds=1.0, span_seconds=1.0, letters=30)
    assert judge(fast).reason == ""
    assert judge(replace(fast, most_letters=24.5)).reason != ""
