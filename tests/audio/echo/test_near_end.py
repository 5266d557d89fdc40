"""Near-end detection: somebody is noticed within a quarter of a second, and nakari's own voice never is."""

from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from audio.echo.linear_echo import BLOCK, LinearEcho
from audio.echo.near_end import (
    BANDS_HZ,
    EVIDENCE_DB,
    FIRST_DISTORTION_DB,
    KEPT_BLOCKS,
    LEAK_RANGE_DB,
    LEARNING_SECONDS,
    NOISE_RANGE_DB,
    Expectation,
    NearEnd,
)
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples, rms_dbfs
from audio.turns.barge_in import CALM_SECONDS
from tests.audio.echo_room import EchoPath
from tests.audio.speechlike import murmur

OWN_VOICE = murmur(12.0, seed=1)
_STEPS = (np.full((3, 1), 10**0.027, np.float32), np.full((3, 1), 10**-0.003, np.float32))
"""Of the 90 % quantile, up to 0.3 dB a block."""

ONSET = 8.0
"""Seconds at which somebody else begins."""

ROOMS = (
    EchoPath(),
    EchoPath(gain_db=0.0, clipping=1.0, reverberation=0.2),
    EchoPath(reverberation=0.6),
    EchoPath(gain_db=-20.0, delay=0.05),
)


def in_the_room(
    path: EchoPath, other: Samples | None = None, at: float = ONSET, db: float = 0.0, played: Samples = OWN_VOICE
) -> Samples:
    """Return nakari's voice and another's as recorded; the other is so much louder at the microphone."""
    recorded = path.recorded(played)[: len(played)]
    if other is not None:
        echo = rms_dbfs((recorded * 32767).astype(np.int16))
        sound = other / 32768.0 * 10 ** ((echo + db - rms_dbfs(other)) / 20)
        recorded[round(at * SAMPLE_RATE) :][: len(sound)] += sound[: len(recorded) - round(at * SAMPLE_RATE)]
    return (np.clip(recorded, -1, 1) * 32767).astype(np.int16)


def told(near: Samples, far: Samples = OWN_VOICE, lengths: tuple[int, ...] = (CHUNK_SAMPLES,)) -> list[float]:
    """Return at the end of which chunks, in seconds, somebody stood out."""
    ears, found, start = NearEnd(), list[float](), 0
    for length in cycle(lengths):
        if start + length > len(near):
            return found
        ears.follow(near[start : start + length], far[start : start + length])
        start += length
        if ears.stands_out:
            found.append(start / SAMPLE_RATE)
    raise AssertionError("there is an end")


@pytest.mark.shows("V17", "V4")
@pytest.mark.parametrize("path", ROOMS)
def test_its_own_voice_never_stands_out(path: EchoPath) -> None:
    assert told(in_the_room(path)) == []


@pytest.mark.shows("V17")
@pytest.mark.parametrize("path", ROOMS)
@pytest.mark.parametrize("db", [0.0, -6.0, -12.0])
def test_somebody_does_within_a_quarter_of_a_second_however_quiet(path: EchoPath, db: float) -> None:
    first, *_ = told(in_the_room(path, murmur(2.0, seed=2), db=db))
    assert ONSET < first < ONSET + 0.25


@pytest.mark.shows("V17")
def test_what_the_filter_does_not_explain_is_the_other_whole_and_little_of_its_own_voice() -> None:
    other = murmur(2.0, seed=2)
    alone = (ROOMS[0].recorded(np.zeros_like(OWN_VOICE))[: len(OWN_VOICE)] * 32767).astype(np.int16)
    near, ears = in_the_room(ROOMS[0], other), NearEnd()
    echo = in_the_room(ROOMS[0]).astype(np.float64)
    voice = near - echo + alone
    end = round((ONSET + 2.0) * SAMPLE_RATE) // BLOCK * BLOCK
    for start in range(0, end, BLOCK):
        ears.follow(near[start : start + BLOCK], OWN_VOICE[start : start + BLOCK])
    left = ears.unexplained(2.0).astype(np.float64)
    assert len(left) == 2 * SAMPLE_RATE
    wanted = voice[end - len(left) : end]
    assert np.corrcoef(left, wanted)[0, 1] > np.corrcoef(near[end - len(left) : end], wanted)[0, 1] + 0.2
    assert np.mean((left - wanted) ** 2) < 0.1 * np.mean(echo[end - len(left) : end] ** 2)


def test_no_more_than_its_last_seconds_is_kept_and_silence_passes_as_it_is() -> None:
    ears, near = NearEnd(), murmur(4.0, seed=2)
    assert len(ears.unexplained(1.0)) == 0
    ears.follow(near, np.zeros_like(near))
    kept = ears.unexplained(60.0)
    assert len(kept) == KEPT_BLOCKS * BLOCK
    assert np.array_equal(kept, near[len(near) // BLOCK * BLOCK - len(kept) : len(near) // BLOCK * BLOCK])


def test_nothing_is_told_before_its_echo_is_known() -> None:
    assert not any(at < LEARNING_SECONDS for at in told(in_the_room(ROOMS[0], murmur(2.0, seed=2), at=0.0)))


def test_a_click_is_nobody() -> None:
    click = np.zeros(80, np.int16)
    click[::2] = 12000
    assert told(in_the_room(ROOMS[0], click)) == []


def test_a_hum_in_one_band_is_nobody() -> None:
    hum = (8000 * np.sin(2 * np.pi * 850 * np.arange(2 * SAMPLE_RATE) / SAMPLE_RATE)).astype(np.int16)
    fade = np.minimum(1.0, np.arange(len(hum)) / SAMPLE_RATE)
    assert told(in_the_room(ROOMS[0], (hum * fade).astype(np.int16), db=-6)) == []


def test_what_stays_becomes_the_background() -> None:
    fan = np.random.default_rng(4).normal(0, 3000, 8 * SAMPLE_RATE).astype(np.int16)
    found = told(in_the_room(ROOMS[0], fan, at=4.0, db=-3))
    assert found, "it is noticed when it begins"
    assert max(found) < 4.0 + CALM_SECONDS, "before it could startle again"


def test_while_nothing_is_played_nobody_stands_out() -> None:
    near = in_the_room(ROOMS[0], murmur(2.0, seed=2))
    assert told(near, np.zeros_like(OWN_VOICE)) == []


def test_after_a_silence_it_is_known_as_before() -> None:
    played = np.concatenate([OWN_VOICE, np.zeros(3 * SAMPLE_RATE, np.int16), OWN_VOICE])
    recorded = (np.clip(ROOMS[0].recorded(played)[: len(played)], -1, 1) * 32767).astype(np.int16)
    assert told(recorded, played) == []


@pytest.mark.shows("V17")
def test_a_box_that_was_moved_learns_its_new_place() -> None:
    moved = EchoPath(delay=0.06, gain_db=-4.0)
    there = in_the_room(moved, murmur(2.0, seed=2), at=12.0 + ONSET, db=-6, played=np.tile(OWN_VOICE, 2))
    near = np.concatenate([in_the_room(ROOMS[0]), there])
    found = [at for at in told(near, np.tile(OWN_VOICE, 3)) if at > 12.0 + 6.0]
    assert 24.0 + ONSET < found[0] < 24.0 + ONSET + 0.25, "in its new place its own voice does not stand out either"


def test_the_lengths_in_which_sound_comes_change_nothing() -> None:
    near = in_the_room(ROOMS[0], murmur(2.0, seed=2), db=-6)
    by_frames = told(near, lengths=(480, 480, 480, 480, 640))
    assert by_frames[0] == pytest.approx(told(near)[0], abs=2 * CHUNK_SECONDS)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 2000), max_size=8))
def test_any_lengths_will_do(lengths: list[int]) -> None:
    ears = NearEnd()
    for length in lengths:
        ears.follow(OWN_VOICE[:length], OWN_VOICE[:length])
    assert not ears.stands_out
    assert EVIDENCE_DB > 0


SECONDS = 10.0
OWN_FLOATS = (murmur(SECONDS, seed=1) / 32768.0).astype(np.float32)
ROOM = EchoPath(reverberation=0.2, noise_dbfs=-75.0)


def recorded(path: EchoPath = ROOM) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return path.recorded((OWN_FLOATS * 32768).astype(np.int16))[: len(OWN_FLOATS)].astype(np.float32)


def lowered(
    echo: LinearEcho, near: np.ndarray[tuple[int], np.dtype[np.float32]], played: float = 1.0
) -> "list[tuple[float, float]]":
    """Return, for each second, the power of what was recorded over that of the rest, and of the rest, in dB."""
    powers = []
    for start in range(0, len(near) - BLOCK + 1, BLOCK):
        far = played * OWN_FLOATS[start : start + BLOCK]
        found, rest, _ = echo.explain(near[start : start + BLOCK], far)
        assert np.allclose(found + rest, near[start : start + BLOCK])
        powers.append((np.mean(near[start : start + BLOCK] ** 2), np.mean(rest**2)))
    each = SAMPLE_RATE // BLOCK
    sums = np.array(powers[: len(powers) // each * each]).reshape(-1, each, 2).sum(axis=1)
    return [(float(10 * np.log10(near / rest)), float(10 * np.log10(rest / each))) for near, rest in sums]


@pytest.mark.shows("V4")
def test_within_three_seconds_of_its_voice_its_echo_is_20_db_lower() -> None:
    assert min(gain for gain, _ in lowered(LinearEcho(), recorded())[3:]) > 20


@pytest.mark.shows("V17")
def test_who_speaks_meanwhile_is_left_as_loud_and_unlearns_nothing() -> None:
    near, other = recorded(), 0.1 * murmur(2.0, seed=2) / 32768.0
    start = 5 * SAMPLE_RATE // BLOCK * BLOCK
    near[start : start + len(other)] += other
    seconds = lowered(LinearEcho(), near)
    loud = 10 * np.log10(np.mean(other**2))
    assert [level for _, level in seconds[5:7]] == pytest.approx([loud, loud], abs=3.0)
    assert seconds[8][0] > 17


def test_where_nothing_is_played_nothing_is_explained() -> None:
    near = recorded()
    assert all(gain == pytest.approx(0.0, abs=1e-6) for gain, _ in lowered(LinearEcho(), near, played=0.0))


@pytest.mark.shows("V17")
def test_what_another_one_has_learned_is_told_from_after_half_a_second() -> None:
    before = NearEnd()
    near = in_the_room(ROOMS[0])
    before.follow(near, OWN_VOICE)
    assert before.learned is not None
    other = in_the_room(ROOMS[0], murmur(2.0, seed=2), at=1.5)
    cold, known = NearEnd(), NearEnd(*before.learned)
    first: dict[NearEnd, float] = {}
    for start in range(0, 3 * SAMPLE_RATE, CHUNK_SAMPLES):
        for ears in (cold, known):
            ears.follow(other[start:][:CHUNK_SAMPLES], OWN_VOICE[start:][:CHUNK_SAMPLES])
            if ears.stands_out:
                first.setdefault(ears, (start + CHUNK_SAMPLES) / SAMPLE_RATE)
    assert 1.5 < first[known] < 1.75
    assert first.get(cold, 9.0) > LEARNING_SECONDS


@pytest.mark.shows("V4")
def test_what_was_learned_in_another_room_is_forgotten_and_nothing_is_told_of_it() -> None:
    before = NearEnd()
    before.follow(in_the_room(EchoPath(delay=0.07, gain_db=-3.0)), OWN_VOICE)
    assert before.learned is not None
    ears, near = NearEnd(*before.learned), in_the_room(ROOMS[0])
    for start in range(0, len(near), CHUNK_SAMPLES):
        ears.follow(near[start:][:CHUNK_SAMPLES], OWN_VOICE[start:][:CHUNK_SAMPLES])
        assert not ears.stands_out


def test_what_is_expected_is_told_in_decibels_and_taken_up_again_as_it_was() -> None:
    bounds = ((-30, 0), (-80, -40), (-50, 10))
    told = np.stack([np.linspace(*bound, len(BANDS_HZ) - 1) for bound in bounds])
    assert Expectation(told).learned == pytest.approx(told, abs=1e-4)
    of_an_older_version = Expectation(told[:2]).learned
    assert of_an_older_version[:2] == pytest.approx(told[:2], abs=1e-4)
    assert of_an_older_version[2] == pytest.approx(np.full(len(BANDS_HZ) - 1, FIRST_DISTORTION_DB), abs=1e-4)


def test_by_how_much_a_sound_exceeds_what_is_expected_is_the_mean_over_the_bands() -> None:
    bands = len(BANDS_HZ) - 1
    expectation = Expectation(np.stack((np.full(bands, -20.0), np.full(bands, -120.0))))
    echo = np.full(bands, 1e-6, np.float32)
    rest = np.where(np.arange(bands) < bands // 2, 1e-8 * 10**0.6, 1e-8 * 10**-0.6).astype(np.float32)
    exceeded_db = expectation.exceeds(np.stack((echo, rest)))
    assert exceeded_db == pytest.approx((6.0 - 1.5) / 2, abs=0.05), (
        "half of the bands by 6 dB, of which 1.5 do not count"
    )


def test_what_is_expected_stays_within_its_ranges_however_long_it_is_silent_or_loud() -> None:
    for power in (0.0, 1.0):
        expectation = Expectation()
        powers = np.stack((np.full(len(BANDS_HZ) - 1, 1e-6), np.full(len(BANDS_HZ) - 1, power))).astype(np.float32)
        for _ in range(2000):
            expectation.exceeds(powers)
            expectation.learn_noise()
        leak, noise, _ = expectation.learned
        assert np.all((leak >= LEAK_RANGE_DB[0] - 1e-4) & (leak <= LEAK_RANGE_DB[1] + 1e-4))
        assert noise == pytest.approx(np.full(len(noise), NOISE_RANGE_DB[power > 0]), abs=1e-4)


def formant(echo_db: float, harmonics_db: float) -> NDArray[np.float32]:
    """Return a voice with one loud formant, and what is left in the bands above it where it has nothing itself."""
    bands = np.arange(len(BANDS_HZ) - 1)
    echo = np.where(bands < 4, 10 ** (echo_db / 10), 1e-7)
    rest = np.where((bands >= 4) & (bands < 12), 10 ** (harmonics_db / 10), 1e-8)
    return np.stack((echo, rest)).astype(np.float32)


@pytest.mark.shows("V4")
def test_harmonics_of_an_overdriven_loudspeaker_are_expected_and_as_much_beside_a_quiet_voice_is_not() -> None:
    expectation, random = Expectation(), np.random.default_rng(0)
    exceeded_db = []
    for block in range(4000):
        below_db = random.choice((0.0, 6.0, 12.0))
        harmonics_db = -90.0 if block < 1000 else -40.0 - 3 * below_db
        exceeded_db.append(expectation.exceeds(formant(-25.0 - below_db, harmonics_db)))
        expectation.learn(_STEPS)
    assert max(exceeded_db[1000:1010]) > 2.0, "nobody knew that it is overdriven"
    assert max(exceeded_db[-1000:]) < 0.01
    beside_a_quiet_voice = [expectation.exceeds(formant(-45.0, -40.0)) for _ in range(20)]
    assert beside_a_quiet_voice[-1] > 2.0
