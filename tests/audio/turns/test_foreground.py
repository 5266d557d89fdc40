"""Two voices told apart by their level: stories in levels, and human clips over a television."""

import numpy as np
import pytest

from audio.interfaces import VoiceDetector
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples, rms_dbfs
from audio.turns.endpointer import Committed, Endpointer
from audio.turns.foreground import BEFORE_SECONDS, Foreground
from audio.turns.vad import load_detector
from tests.audio.spoken import debian_clips, silence
from tests.figures import figure

QUIET, TV, NEAR = -60.0, -40.0, -25.0


def judged(*stretches: tuple[float, float], turn_from: float = 0.0) -> list[tuple[float, bool]]:
    """Return for each chunk of stretches (seconds, level) when it begins and whether it is background.

    What is louder than quiet is speech; the turn is open from `turn_from` seconds on.
    """
    foreground, at, answers = Foreground(), 0.0, []
    for seconds, level in stretches:
        for _ in range(round(seconds / CHUNK_SECONDS)):
            is_background = foreground.is_background(level, is_speech=level > QUIET, is_in_turn=at >= turn_from)
            answers.append((at, is_background))
            at += CHUNK_SECONDS
    return answers


def background_from(answers: list[tuple[float, bool]]) -> float | None:
    return next((at for at, is_background in answers if is_background), None)


@pytest.mark.shows("V7")
def test_a_television_that_talks_on_when_somebody_has_finished_is_background() -> None:
    answers = judged((4.0, TV), (2.0, NEAR), (3.0, TV))
    began = background_from(answers)
    assert began == pytest.approx(6.0, abs=0.3)
    assert all(is_background for at, is_background in answers if at > 6.3)


@pytest.mark.shows("V7")
def test_between_his_words_it_is_background_too_and_his_words_never_are() -> None:
    answers = judged((4.0, TV), (1.0, NEAR), (0.5, TV), (1.0, NEAR), (0.5, TV))
    assert not any(is_background for at, is_background in answers if at < 5.0 or 5.7 < at < 6.4)
    assert any(is_background for at, is_background in answers if 5.0 < at < 5.6)


def test_somebody_alone_is_never_taken_for_two() -> None:
    # He begins, drops his voice by 18 dB, raises it, pauses, mumbles.
    answers = judged((2.0, QUIET), (1.0, -25.0), (1.5, -43.0), (1.0, -25.0), (0.8, QUIET), (1.5, -40.0), turn_from=2.0)
    assert background_from(answers) is None


def test_a_background_as_loud_as_he_is_cannot_be_told_from_him() -> None:
    assert background_from(judged((4.0, TV), (2.0, TV + 5.0), (3.0, TV))) is None


def test_without_a_turn_nothing_is_background_and_the_next_is_judged_anew() -> None:
    foreground = Foreground()
    for level in [TV] * 130 + [NEAR] * 60:
        foreground.is_background(level, is_speech=True, is_in_turn=True)
    assert not foreground.is_background(QUIET, is_speech=False, is_in_turn=False)
    quiet_again = [foreground.is_background(QUIET, is_speech=False, is_in_turn=False) for _ in range(100)]
    soft = [foreground.is_background(TV, is_speech=True, is_in_turn=True) for _ in range(100)]
    assert not any(quiet_again + soft)


def spoken_level(samples: Samples) -> float:
    loud = samples[np.abs(samples) > np.abs(samples).max() / 30]
    return rms_dbfs(loud)


def over_television(clip: Samples, television: Samples, below_db: float) -> Samples:
    """Return a clip after 4 s of television and before 6 s of it, the television so much quieter."""
    whole = np.concatenate([silence(4.0), clip, silence(6.0)]).astype(np.float64)
    gain = 10 ** ((spoken_level(clip) - below_db - spoken_level(television)) / 20)
    mixed = whole + np.resize(television, len(whole)) * gain
    return np.clip(mixed, -32768, 32767).astype(np.int16)


def released_after(samples: Samples, detector: VoiceDetector, end: float, *, by_level: bool) -> float:
    """Return the seconds from the end of somebody's speech to the commit of his turn."""
    endpointer, foreground = Endpointer(), Foreground()
    detector.reset()
    for start in range(0, len(samples) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES):
        chunk, at = samples[start : start + CHUNK_SAMPLES], start / SAMPLE_RATE
        probability = detector.probability(chunk)
        is_background = foreground.is_background(
            rms_dbfs(chunk), is_speech=probability >= 0.35, is_in_turn=endpointer.is_in_turn
        )
        for signal in endpointer.process(0.0 if by_level and is_background else probability, at):
            if isinstance(signal, Committed) and signal.at > end:
                return signal.at - end
    return len(samples) / SAMPLE_RATE - end


def last_speech(clip: Samples, detector: VoiceDetector) -> float:
    detector.reset()
    starts = range(0, len(clip) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES)
    speech = [start for start in starts if detector.probability(clip[start : start + CHUNK_SAMPLES]) >= 0.5]
    return (speech[-1] + CHUNK_SAMPLES) / SAMPLE_RATE


@pytest.mark.shows("V7")
@pytest.mark.parametrize("below_db", [12.0, 16.0, 20.0])
def test_human_clips_over_a_television(below_db: float) -> None:
    detector = load_detector()
    television = np.concatenate([clip.samples for clip in debian_clips("librivox")])
    bare, ours = [], []
    for clip in debian_clips("cards"):
        end = 4.0 + last_speech(clip.samples, detector)
        mixed = over_television(clip.samples, television, below_db)
        bare.append(released_after(mixed, detector, end, by_level=False))
        ours.append(released_after(mixed, detector, end, by_level=True))
    figure(
        f"turn released over a television at -{below_db:.0f} dB, median of {len(ours)} clips",
        f"{np.median(ours):.2f} s (probability alone {np.median(bare):.2f} s)",
    )
    assert np.median(ours) < 1.5
    assert max(ours) <= max(bare)


def test_the_time_before_is_two_seconds() -> None:
    assert background_from(judged((BEFORE_SECONDS * 0.4, TV), (2.0, NEAR), (3.0, TV))) is None
