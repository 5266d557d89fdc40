"""The real canceller in rooms made of arrays, with real voices and the real voice detector."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.echo.canceller import CANCELLER_SAMPLES, DELAY_SECONDS, FRAME_SAMPLES, WebRtcCanceller, has_canceller
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard
from audio.echo.reference import PlayedReference
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples, rms_dbfs
from audio.playback.live import PlaybackTap
from audio.turns.vad import load_detector
from tests.audio.echo_room import EchoPath, Room, at_level, cleaned, joined
from tests.audio.spoken import debian_clips, said, silence, trimmed
from tests.sample import sample

pytestmark = pytest.mark.skipif(not has_canceller(), reason="not installed: livekit (nakari's extra `echo`)")

REPLY = (
    "The weather tomorrow will be mostly sunny, with a light wind from the west. In the evening there may be some "
    "rain, so take an umbrella with you. I have put milk, eggs and bread on the shopping list."
)
WARM = round(1.5 / CHUNK_SECONDS)
"""Chunks in which the canceller may settle."""


@cache
def own_voice(voice: str = "slt") -> Samples:
    """About 11 s of nakari's voice at -20 dBFS."""
    with TemporaryDirectory() as folder:
        return at_level(said(REPLY, voice, Path(folder)), -20.0)


def guarded() -> tuple[CancellingGuard, PlayedReference]:
    reference = PlayedReference()
    return CancellingGuard(reference, HalfDuplex(lambda: 0.0), WebRtcCanceller()), reference


def speech(samples: Samples) -> NDArray[np.bool_]:
    """Return for each chunk whether the real detector takes it for speech, as it is asked while nakari speaks."""
    detector = load_detector(is_plain=lambda: False)
    starts = range(0, len(samples) - CHUNK_SAMPLES + 1, CHUNK_SAMPLES)
    return np.array([detector.probability(samples[start : start + CHUNK_SAMPLES]) > 0.5 for start in starts])


@pytest.mark.shows("V4")
@pytest.mark.parametrize("length", [0, 80, 159, 161, 800])
def test_another_length_than_some_times_ten_milliseconds_never_reaches_the_library(length: int) -> None:
    canceller = WebRtcCanceller()
    frame, wrong = np.zeros(FRAME_SAMPLES, np.int16), np.zeros(length, np.int16)
    for near, far in ((wrong, frame), (frame, wrong)):
        with pytest.raises(ValueError, match="takes frames of 160 samples"):
            canceller.cancel(near, far)
    with pytest.raises(ValueError, match="takes frames of 160 samples"):
        canceller.cancel(wrong, wrong)
    assert len(canceller.cancel(frame, frame)) == FRAME_SAMPLES


def test_the_librarys_own_delay_is_what_is_counted_with() -> None:
    canceller = WebRtcCanceller()
    noise = np.random.default_rng(0).normal(0, 1000, 100 * FRAME_SAMPLES).astype(np.int16)
    nothing = np.zeros(FRAME_SAMPLES, np.int16)
    frames = noise.reshape(-1, FRAME_SAMPLES)
    out = np.concatenate([canceller.cancel(frame, nothing) for frame in frames]).astype(float)
    heard, alike = noise[4000:12000].astype(float), out
    lag = max(range(400), key=lambda lag: float(heard @ alike[4000 + lag : 12000 + lag]))
    assert lag == CANCELLER_SAMPLES


def test_frames_that_are_given_together_are_cancelled_as_one_after_the_other() -> None:
    together, one_by_one = WebRtcCanceller(), WebRtcCanceller()
    far = np.random.default_rng(1).normal(0, 2000, 300 * FRAME_SAMPLES).astype(np.int16)
    near = far // 2 + np.random.default_rng(2).normal(0, 300, len(far)).astype(np.int16)
    start = 0
    for count in (1, 2, 3, 4) * 30:
        end = start + count * FRAME_SAMPLES
        frames = (sound[start:end].reshape(-1, FRAME_SAMPLES) for sound in (near, far))
        single = np.concatenate([one_by_one.cancel(*frame) for frame in zip(*frames, strict=True)])
        assert np.array_equal(together.cancel(near[start:end], far[start:end]), single)
        start = end
    assert rms_dbfs(single) < rms_dbfs(near) - 10, "what was never cancelled shows nothing"


def test_its_calls_to_the_library_do_what_the_modules_own_methods_do() -> None:
    direct, by_methods = WebRtcCanceller(), WebRtcCanceller(is_direct=False)
    played, recorded = (
        np.random.default_rng(seed).normal(0, 2000, 200 * FRAME_SAMPLES).astype(np.int16).reshape(-1, FRAME_SAMPLES)
        for seed in (1, 2)
    )
    for number, (far, near) in enumerate(zip(played, recorded + played // 2, strict=True)):
        if number == 100:
            for each in (direct, by_methods):
                each.begin_anew(0.02)
        assert np.array_equal(direct.cancel(near, far), by_methods.cancel(near, far))


PATHS = [
    (EchoPath(), 24_000, 0.01, "slt"),
    (EchoPath(), 48_000, 0.01, "en-us"),
    (EchoPath(drift_ppm=100), 48_000, 0.02, "slt"),
    (EchoPath(drift_ppm=-100), 24_000, 0.02, "en-us"),
    (EchoPath(delay=0.2), 24_000, 0.02, "slt"),
    (EchoPath(gain_db=0, clipping=2), 24_000, 0.02, "en-us"),
    (EchoPath(reverberation=0.8), 24_000, 0.02, "slt"),
]
"""Each with the rate of its player, the share of its echo that may be called speech, and the voice in the sample."""


@pytest.mark.shows("V4")
def test_its_own_echo_is_no_speech_after_a_second_and_a_half(every_step: bool) -> None:
    """On a sample of the paths, in two voices by turns; on each in both with `--every-step`."""
    for path, player_rate, most, voice in sample(PATHS, 4, whole=every_step):
        for each in ("slt", "en-us") if every_step else (voice,):
            guard, reference = guarded()
            room = Room(path, player_rate)
            raw = list(room.chunks(own_voice(each), silence(0), lambda samples, rate, at: None))
            assert speech(joined(raw)).mean() > 0.7, "a room in which nothing is heard shows nothing"
            out = joined(cleaned(guard, room.chunks(own_voice(each), silence(0), reference.take)))
            assert speech(out)[WARM:].mean() <= most, (path, player_rate, each)


@pytest.mark.shows("V4")
def test_somebody_who_speaks_while_it_does_is_still_heard() -> None:
    person = at_level(np.concatenate([trimmed(clip.samples) for clip in debian_clips("librivox")[:2]]), -20.0)
    person = np.concatenate([silence(3), person])[: len(own_voice())]
    guard, reference = guarded()
    out = joined(cleaned(guard, Room(EchoPath(gain_db=-10)).chunks(own_voice(), person, reference.take)))
    alone = speech(person)
    assert alone.sum() > 100
    assert speech(out)[: len(alone)][alone].mean() >= 0.7


def test_what_is_cleaned_is_in_its_place_in_time_whether_it_speaks_or_not() -> None:
    click = silence(6)
    click[3 * SAMPLE_RATE] = 20_000
    for played in (silence(6), at_level(np.concatenate([own_voice()[:SAMPLE_RATE], silence(5)]), -20.0)):
        guard, reference = guarded()
        room = Room(EchoPath(gain_db=-60, noise_dbfs=-110))
        chunks = cleaned(guard, room.chunks(played, click, reference.take))
        loudest = max(chunks, key=lambda chunk: int(np.abs(chunk.samples.astype(int)).max()))
        at = loudest.started_at + int(np.argmax(np.abs(loudest.samples.astype(int)))) / SAMPLE_RATE
        assert at == pytest.approx(room.began + 3, abs=0.001)
        assert all(len(chunk.samples) == CHUNK_SAMPLES for chunk in chunks)
        steps = np.diff([chunk.started_at for chunk in chunks])
        assert np.allclose(steps, CHUNK_SECONDS)
        assert chunks[0].started_at == pytest.approx(room.began - DELAY_SECONDS)


def test_without_a_reference_everything_is_passed_and_nothing_is_suspected() -> None:
    guard, _ = guarded()
    chunks = list(Room().chunks(own_voice(), silence(0), lambda samples, rate, at: None))
    out = joined(cleaned(guard, iter(chunks)))
    assert rms_dbfs(out) == pytest.approx(rms_dbfs(joined(chunks)), abs=0.5)
    assert guard.suspicion(1000.0, 1010.0) == 0.0


@pytest.mark.shows("V4")
def test_a_card_s_constant_offset_is_not_taken_for_residual_echo() -> None:
    duplexes = []
    for offset in (0, 3000):
        guard, reference = guarded()
        constant = np.full(SAMPLE_RATE * 15, offset, np.int16)
        cleaned(guard, Room().chunks(own_voice(), constant, reference.take))
        assert guard.duplex.leak
        duplexes.append((guard.duplex.mode, pytest.approx(guard.duplex.leak.raw_db, abs=1.0)))
    assert duplexes[0] == duplexes[1]


@pytest.mark.shows("V4")
def test_a_player_that_is_opened_anew_is_cancelled_again() -> None:
    """For 3 s the tap is silent and the loudspeaker with it; then a new stream begins."""
    pause = (4.0, 7.0)
    played = own_voice().copy()
    played[round(pause[0] * SAMPLE_RATE) : round(pause[1] * SAMPLE_RATE)] = 0
    guard, reference = guarded()
    room = Room(EchoPath(delay=0.03))

    def tap(samples: Samples, sample_rate: int, at: float) -> None:
        if not pause[0] <= at - room.began < pause[1]:
            reference.take(samples, sample_rate, at)

    out = joined(cleaned(guard, room.chunks(played, silence(0), tap)))
    assert speech(out)[WARM:].mean() <= 0.02


def _late(tap: PlaybackTap, seconds: float) -> PlaybackTap:
    return lambda samples, sample_rate, at: tap(samples, sample_rate, at + seconds)


@pytest.mark.shows("V4")
def test_a_player_that_tells_too_late_a_moment_is_measured_and_cancelled_all_the_same() -> None:
    """The echo is in the microphone 80 ms before the moment that the player tells for it: no canceller can do that."""
    room = Room(EchoPath(gain_db=0))
    shares = {}
    for paired in (False, True):
        guard, reference = guarded()
        if paired:
            guard.expect_echo_after(0.02 - 0.1)
        out = joined(cleaned(guard, room.chunks(own_voice(), silence(0), _late(reference.take, 0.1))))
        shares[paired] = speech(out)[WARM:].mean()
    assert shares[False] > 0.03 > 0.02 >= shares[True]
