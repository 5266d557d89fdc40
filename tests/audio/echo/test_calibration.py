"""The short sound, measured on arrays; and the guard that plays it, pairs by it and chooses by it."""

import asyncio
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from audio.echo.calibration import CHIME_PEAK, Calibration, chime, measure
from audio.echo.canceller import Canceller, WebRtcCanceller, has_canceller
from audio.echo.control import KEEP_SECONDS, MISSING, EchoControl, calibrate, open_echo
from audio.echo.duplex import Duplex, HalfDuplex, Mode
from audio.echo.guard import NOT_HEARD, CancellingGuard, RoomProfile
from audio.echo.reference import PlayedReference
from audio.loops import running
from audio.pcm import SAMPLE_RATE, AudioChunk, Samples, rms_dbfs
from audio.playback.live import LivePlayer, Output
from audio.resampler import StreamResampler
from audio.speech import SpeechAudio
from tests.audio.echo_room import EchoPath, Room, at_level
from tests.audio.mouth_fakes import SilentPlayer
from tests.audio.speechlike import murmur
from tests.audio.spoken import silence
from tests.room.virtual_time import passed, run_virtually


def chime_in_silence() -> Samples:
    resampler = StreamResampler(chime().sample_rate, SAMPLE_RATE)
    sound = np.concatenate([resampler.feed(chime().samples), resampler.flush()])
    return np.concatenate([silence(0.3), sound, silence(2.2)])


def measured(path: EchoPath) -> Calibration:
    played = chime_in_silence()
    recorded = (np.clip(path.recorded(played), -1, 1) * 32767).astype(np.int16)[: len(played)]
    return measure(played, recorded, recorded)


def test_the_sound_is_short_soft_and_begins_and_ends_in_silence() -> None:
    samples = chime().samples.astype(float) / 32768
    assert len(samples) / chime().sample_rate == pytest.approx(0.5)
    assert np.abs(samples).max() == pytest.approx(CHIME_PEAK, abs=0.01)
    assert np.abs(samples[[0, 1, -2, -1]]).max() < 0.01


@pytest.mark.shows("V4")
@pytest.mark.parametrize("delay", [-0.05, 0.0, 0.013, 0.12, 0.31, 0.48, 0.74, 1.6])
def test_the_delay_is_found_to_the_millisecond(delay: float) -> None:
    assert measured(EchoPath(delay=delay)).delay == pytest.approx(delay, abs=0.001)


@pytest.mark.shows("V4")
@pytest.mark.parametrize("gain", [5.0, 0.0, -10.0, -30.0, -40.0])
@pytest.mark.parametrize("noise", [-70.0, -60.0])
def test_the_leak_is_found_to_two_decibels(gain: float, noise: float) -> None:
    found = measured(EchoPath(gain_db=gain, noise_dbfs=noise))
    assert found.leak is not None
    assert found.leak.raw_db == pytest.approx(gain, abs=2)


@pytest.mark.shows("V4")
@pytest.mark.parametrize("path", [EchoPath(gain_db=-90), EchoPath(gain_db=-90, noise_dbfs=-25)])
def test_headphones_or_a_mute_loudspeaker_are_heard_as_nothing(path: EchoPath) -> None:
    assert measured(path) == Calibration(is_heard=False)


def test_what_was_not_played_or_not_recorded_is_nothing() -> None:
    nothing = silence(2.0)
    assert not measure(nothing, chime_in_silence()[: len(nothing)], nothing[: len(chime_in_silence())]).is_heard
    assert not measure(chime_in_silence(), silence(1.5), silence(1.5)).is_heard


@pytest.mark.shows("V4")
def test_somebody_who_talks_into_it_does_not_move_it() -> None:
    played = chime_in_silence()
    path = EchoPath(gain_db=-10, delay=0.07)
    babble = at_level(np.random.default_rng(5).normal(0, 3000, len(played)).astype(np.int16), -40)
    recorded = (path.recorded(played)[: len(played)] * 32767).astype(np.int16) + babble
    assert measure(played, recorded, recorded).delay == pytest.approx(0.07, abs=0.001)


class RoomOnTheLoop:
    """Plays what it is given in a room, and feeds the guard with its chunks; no time passes."""

    def __init__(self, path: EchoPath, canceller: Canceller | None = None) -> None:
        self.reference = PlayedReference()
        self.busy_until = 0.0
        self.guard = CancellingGuard(self.reference, HalfDuplex(lambda: self.busy_until), canceller)
        self.room = Room(path, began=1000.0)
        self.covered: list[bool] = []

    def live(self, played: Samples) -> None:
        """Let the played sound happen, and a second of silence after it."""
        self.busy_until = self.room.began + len(played) / SAMPLE_RATE
        # Whole chunks of the microphone and whole blocks of the player, so that both clocks go on without a step.
        played = np.concatenate([played, np.zeros(-(len(played) + SAMPLE_RATE) % 2560, np.int16)])
        for chunk in self.room.chunks(played, silence(0), self.reference.take):
            self.hear(chunk)
        self.room = Room(self.room.path, began=self.room.began + 1 + len(played) / SAMPLE_RATE)

    def hear(self, chunk: AudioChunk) -> None:
        self.covered.append(self.guard.covers(self.guard.clean(chunk)))

    async def play(self, sound: SpeechAudio) -> None:
        resampler = StreamResampler(sound.sample_rate, SAMPLE_RATE)
        self.live(np.concatenate([resampler.feed(sound.samples), resampler.flush(), silence(2.0)]))


async def calibrated(home: RoomOnTheLoop) -> Calibration | None:
    async with asyncio.TaskGroup() as group:
        done = group.create_task(calibrate(home.guard, home.play))
        await asyncio.sleep(0)  # the tape runs
        home.live(silence(0.2))
    return done.result()


needs_livekit = pytest.mark.skipif(not has_canceller(), reason="not installed: livekit (nakari's extra `echo`)")


@needs_livekit
@pytest.mark.shows("V4")
@pytest.mark.parametrize("delay", [-0.04, 0.02, 0.2, 0.8, 1.4])
async def test_a_calibration_pairs_by_the_echo_and_ends_half_duplex(delay: float) -> None:
    home = RoomOnTheLoop(EchoPath(delay=delay), WebRtcCanceller())
    for _ in range(2):  # the second one finds what the first one has paired by
        found = await calibrated(home)
        assert found is not None
        assert found.is_heard
        assert home.guard.duplex.delay == pytest.approx(delay, abs=0.005)
    assert found is not None
    assert 0.008 <= found.delay <= 0.15
    assert home.guard.mode is Mode.FULL
    assert "everything nakari says can be interrupted" in home.guard.duplex.describe()


@needs_livekit
@pytest.mark.shows("V4")
async def test_while_it_sounds_nobody_is_heard_and_afterwards_everybody_is() -> None:
    home = RoomOnTheLoop(EchoPath(), WebRtcCanceller())
    await calibrated(home)
    assert any(home.covered)
    home.covered.clear()
    home.live(silence(1.0))
    assert not any(home.covered)


@needs_livekit
@pytest.mark.shows("V4")
async def test_headphones_are_full_duplex_and_told() -> None:
    home = RoomOnTheLoop(EchoPath(gain_db=-100), WebRtcCanceller())
    await calibrated(home)
    assert home.guard.duplex == Duplex(Mode.FULL, reason=NOT_HEARD)


@needs_livekit
@pytest.mark.shows("V4")
@pytest.mark.parametrize("gain_db", [-1.0, 5.0])
async def test_a_loudspeaker_beside_the_microphone_is_full_duplex_where_little_of_it_is_left(gain_db: float) -> None:
    home = RoomOnTheLoop(EchoPath(gain_db=gain_db), WebRtcCanceller())
    await calibrated(home)
    assert home.guard.duplex.mode is Mode.FULL


def test_a_microphone_that_stands_still_is_told_and_nothing_is_changed() -> None:
    home = RoomOnTheLoop(EchoPath())

    async def play(sound: SpeechAudio) -> None:
        """The microphone died when the sound came."""

    async def calibrated() -> Calibration | None:
        asyncio.get_running_loop().call_soon(home.live, silence(0.1))
        return await calibrate(home.guard, play)

    assert run_virtually(calibrated()) is None
    assert home.guard.duplex.mode is Mode.HALF
    home.live(silence(0.2))


class _NoOutput:
    """An `Output` that is never opened."""


def live_player() -> LivePlayer:
    output: Output = _NoOutput()  # type: ignore[assignment]  # only its callback is looked at
    return LivePlayer(output, "a loudspeaker")


async def unplayed(sound: SpeechAudio) -> None:
    raise AssertionError("nothing is to be played")


@pytest.mark.shows("V4")
async def test_without_a_loudspeaker_that_tells_what_it_plays_it_is_half_duplex_and_says_so() -> None:
    control = open_echo(SilentPlayer(), unplayed)
    await control.run()
    assert isinstance(control.guard, HalfDuplex)
    assert control.describe().startswith("half duplex (nothing (no loudspeaker) does not tell what it plays); ")
    assert (
        open_echo(live_player(), unplayed, unwanted="as it is set").describe().startswith("half duplex (as it is set)")
    )


@pytest.mark.shows("V4")
async def test_without_livekit_it_is_half_duplex_and_says_so() -> None:
    def missing() -> Canceller:
        raise ImportError("liblivekit_ffi.so is missing")

    home = RoomOnTheLoop(EchoPath())
    control = EchoControl(home.guard, unplayed, load=missing)
    await control.run()
    assert control.describe().startswith(
        "half duplex (echo cancellation cannot be loaded: liblivekit_ffi.so is missing)"
    )
    uninstalled = EchoControl(HalfDuplex(lambda: 0.0, MISSING), unplayed).describe()
    assert "cannot be interrupted" in uninstalled
    assert "extra `echo`" in uninstalled


class Nothing:
    """A `Canceller` that cancels nothing."""

    def cancel(self, near: Samples, far: Samples) -> Samples:
        return near

    def begin_anew(self, delay: float) -> None:
        """It learns nothing."""


async def until(control: EchoControl, begin: Callable[[], None], play: asyncio.Event) -> None:
    """Run the control until it has played."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(control.run())
        begin()
        await play.wait()
        running.cancel()


async def asked(control: EchoControl, feed: Callable[[], None], times: int = 1) -> list[Calibration | None]:
    """Run the control until it has answered so many who ask at the same time."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(control.run())
        askers = [group.create_task(control.calibrate()) for _ in range(times)]
        feed()
        found = [await each for each in askers]
        running.cancel()
    return found


@pytest.mark.shows("V4")
@pytest.mark.parametrize("at_start", [True, False])
async def test_it_is_calibrated_at_start_or_when_somebody_asks(at_start: bool) -> None:
    home = RoomOnTheLoop(EchoPath())
    played = asyncio.Event()

    async def play(sound: SpeechAudio) -> None:
        await home.play(sound)
        played.set()

    control = EchoControl(home.guard, play, load=Nothing, calibrates_at_start=at_start)

    def feed() -> None:
        home.live(silence(0.1))
        if not played.is_set():
            asyncio.get_running_loop().call_later(0.01, feed)

    if at_start:
        await until(control, feed, played)
    else:
        found = await asked(control, feed, times=2)
        assert found[0] is not None
        assert found[0].is_heard
        assert found[1] is found[0], "who asks before it begins gets the same one"
    assert rms_dbfs(chime().samples) > -20


async def test_where_nothing_is_cancelled_there_is_nothing_to_ask_for() -> None:
    def missing() -> Canceller:
        raise ImportError("liblivekit_ffi.so is missing")

    given_up = EchoControl(RoomOnTheLoop(EchoPath()).guard, unplayed, load=missing)
    cancels = [given_up.cancels]
    assert await asked(given_up, lambda: None) == [None]
    assert [*cancels, given_up.cancels] == [True, False], "until it was tried it may yet be loaded"
    assert await asked(EchoControl(HalfDuplex(lambda: 0.0), unplayed), lambda: None) == [None]


@needs_livekit
@pytest.mark.shows("V4")
def test_a_live_player_is_listened_to_before_anything_is_measured() -> None:
    player = live_player()
    control = open_echo(player, unplayed)
    assert isinstance(control.guard, CancellingGuard)
    assert control.guard.duplex == Duplex(Mode.HALF, reason="not measured yet")


class Kept:
    """A `KeptRoom` in memory."""

    def __init__(self, profile: RoomProfile | None = None) -> None:
        self.profile = profile
        self.saved = 0

    def devices(self) -> str:
        return "both"

    def load(self) -> RoomProfile | None:
        return self.profile

    def save(self, profile: RoomProfile) -> None:
        self.profile, self.saved = profile, self.saved + 1


LATE = EchoPath(gain_db=-6, reverberation=0.2, delay=0.02)
SPEECH = murmur(12.0, seed=1)


@needs_livekit
@pytest.mark.shows("V4")
def test_what_was_learned_of_a_room_is_kept_once_and_known_after_a_restart() -> None:
    home, kept = RoomOnTheLoop(LATE, WebRtcCanceller()), Kept()
    control = EchoControl(home.guard, unplayed, calibrates_at_start=False, kept=kept)

    async def evening() -> None:
        async with running({"follow": partial(control.follow, home.guard)}):
            await passed(KEEP_SECONDS + 1.0)
            assert kept.saved == 0, "nothing was learned yet"
            home.live(np.tile(SPEECH, 2))

    run_virtually(evening())
    assert kept.saved == 1, "at the end"
    assert kept.profile is not None
    assert kept.profile.devices == "both"

    again = RoomOnTheLoop(LATE, WebRtcCanceller())
    again.guard.recall(kept.profile)
    again.live(SPEECH[: round(2.6 * SAMPLE_RATE)])
    assert again.guard.duplex.mode is kept.profile.mode, "sooner than it could be measured"
    cold = RoomOnTheLoop(LATE, WebRtcCanceller())
    cold.live(SPEECH[: round(2.6 * SAMPLE_RATE)])
    assert cold.guard.duplex.mode is Mode.HALF


@needs_livekit
@pytest.mark.shows("V4")
def test_an_echo_that_moves_beyond_half_a_second_is_found_in_service() -> None:
    home = RoomOnTheLoop(EchoPath(delay=0.9, gain_db=-6), WebRtcCanceller())
    control = EchoControl(home.guard, unplayed, calibrates_at_start=False)

    async def evening() -> None:
        async with running({"follow": partial(control.follow, home.guard)}):
            home.live(np.tile(SPEECH, 2))
            assert home.guard.astray.is_set()
            await passed(10.0)
            home.live(SPEECH)

    run_virtually(evening())
    assert home.guard.duplex.delay == pytest.approx(0.9, abs=0.01)
    assert home.guard.duplex.leak is not None
    assert home.guard.duplex.leak.left_db < home.guard.duplex.leak.raw_db - 15
