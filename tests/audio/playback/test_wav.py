import resource
from pathlib import Path

import numpy as np
import pytest

from audio.errors import OutputUnwritable
from audio.playback.wav import GAP_SECONDS, SAMPLE_RATE, WavPlayer
from audio.speech import SpeechAudio
from tests.audio.mouth_fakes import is_tone, note, read_wav
from tests.room.virtual_time import in_virtual_time, now, passed


def level(value: int, seconds: float) -> SpeechAudio:
    return SpeechAudio(np.full(round(seconds * SAMPLE_RATE), value, np.int16), SAMPLE_RATE)


async def started(path: Path, *, realtime: bool) -> WavPlayer:
    player = WavPlayer(path, realtime=realtime, clock=now)
    await player.start()
    return player


@in_virtual_time
async def test_without_waiting_sentences_follow_each_other_with_a_gap(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=False)
    began = now()
    for value in (100, 200):
        await player.play(level(value, 30.0))
        await player.play(level(value + 1, 30.0))
        await player.drain()
    await player.aclose()

    samples, rate = read_wav(tmp_path / "said.wav")
    assert rate == SAMPLE_RATE
    assert now() == began
    gap, half = round(GAP_SECONDS * SAMPLE_RATE), 30 * SAMPLE_RATE
    assert len(samples) == 2 * (2 * half + gap)
    assert samples[:: half // 2].tolist()[:4] == [100, 100, 101, 101]
    assert not samples[2 * half : 2 * half + gap].any()
    assert samples[2 * half + gap] == 200


@in_virtual_time
async def test_without_waiting_everything_was_heard(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=False)
    assert player.busy_until == 0.0

    await player.play(level(100, 10.0))

    assert player.stop() == 0.0
    assert player.busy_until <= now()
    assert len(read_wav(tmp_path / "said.wav")[0]) == 10 * SAMPLE_RATE


@in_virtual_time
async def test_in_real_time_sound_takes_its_time_and_silence_does_too(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=True)
    began = now()
    await player.play(level(100, 0.2))
    assert player.busy_until - now() == pytest.approx(0.2)
    await player.drain()
    first_ended = now() - began
    await passed(0.1)
    await player.drain()  # nothing is queued: only time passes
    await player.play(level(200, 0.1))
    await player.drain()
    await player.aclose()

    samples, _ = read_wav(tmp_path / "said.wav")
    assert first_ended == pytest.approx(0.2)
    first, second = np.flatnonzero(samples == 100), np.flatnonzero(samples == 200)
    assert (len(first), len(second)) == (0.2 * SAMPLE_RATE, 0.1 * SAMPLE_RATE)
    assert (second[0] - first[0]) / SAMPLE_RATE == pytest.approx(0.3, abs=0.001)
    assert not samples[first[-1] + 1 : second[0]].any()


@in_virtual_time
async def test_in_real_time_play_waits_when_more_than_a_second_is_ahead(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=True)
    began = now()

    await player.play(level(100, 1.0))
    at_once = now() - began
    await player.play(level(100, 0.2))

    assert at_once == 0.0
    assert now() - began == pytest.approx(0.2)
    player.stop()


@pytest.mark.shows("V22")
@in_virtual_time
async def test_stop_cuts_off_what_was_not_heard_yet(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=True)
    await player.play(level(100, 1.1))

    dropped = player.stop()
    size = (tmp_path / "said.wav").stat().st_size
    await player.play(level(200, 0.1))
    await player.drain()

    samples, _ = read_wav(tmp_path / "said.wav")
    heard = np.count_nonzero(samples == 100) / SAMPLE_RATE
    assert (size - 44) / 2 / SAMPLE_RATE == pytest.approx(heard, abs=0.001)
    assert np.argmax(samples == 200) / SAMPLE_RATE == pytest.approx(heard, abs=0.001)
    assert heard == pytest.approx(1.1 - dropped, abs=0.001)
    assert heard == pytest.approx(0.1, abs=0.001)
    assert np.count_nonzero(samples == 200) == 0.1 * SAMPLE_RATE
    assert player.stop() == 0.0


async def test_the_file_can_be_read_at_any_moment_as_after_a_kill(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=False)
    lengths = [len(read_wav(tmp_path / "said.wav")[0])]

    for _ in range(3):
        await player.play(level(100, 0.5))
        lengths.append(len(read_wav(tmp_path / "said.wav")[0]))

    assert lengths == [0, 12_000, 24_000, 36_000]


async def test_voices_of_different_rates_end_up_in_one_file(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=False)
    await player.play(SpeechAudio(note(440, 0.5, 22_050), 22_050))
    await player.play(SpeechAudio(note(880, 0.5, 16_000), 16_000))
    await player.drain()
    await player.aclose()

    samples, _ = read_wav(tmp_path / "said.wav")
    assert len(samples) == pytest.approx((1.0 + GAP_SECONDS) * SAMPLE_RATE, abs=4)
    assert is_tone(samples[:12_000], SAMPLE_RATE, 440)
    assert is_tone(samples[12_000:24_000], SAMPLE_RATE, 880)


async def test_an_old_recording_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "said.wav").write_bytes(b"x" * 100_000)

    player = await started(tmp_path / "said.wav", realtime=True)
    await player.aclose()
    await player.aclose()

    assert len(read_wav(tmp_path / "said.wav")[0]) == 0


@pytest.mark.parametrize(
    ("path", "reason"),
    [("missing/said.wav", r"there is no folder .*/missing\)"), (".", "Is a directory"), ("/dev/full", "No space left")],
)
async def test_a_file_that_cannot_be_written_is_told_with_the_mend(tmp_path: Path, path: str, reason: str) -> None:
    with pytest.raises(OutputUnwritable, match=f"cannot be written .{reason}.*choose another output file"):
        await started(tmp_path / path, realtime=True)


async def test_a_disk_that_fills_up_at_the_end_leaves_no_file_open(tmp_path: Path) -> None:
    player = await started(tmp_path / "said.wav", realtime=False)
    await player.play(SpeechAudio(note(440, 10.0, 16_000), 16_000))  # the end of it waits in the resampler
    no_more = (tmp_path / "said.wav").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (no_more, limits[1]))
    try:
        with pytest.raises(OutputUnwritable, match="File too large"):
            await player.aclose()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert tmp_path / "said.wav" not in open_files()
    await player.aclose()


def open_files() -> list[Path]:
    return [each.resolve() for each in Path("/proc/self/fd").iterdir()]


async def test_writing_to_a_closed_file_is_told() -> None:
    player = await started(Path("/dev/null"), realtime=True)
    await player.play(level(100, 0.1))
    player.stop()
    await player.aclose()

    with pytest.raises(OutputUnwritable, match="/dev/null cannot be written"):
        await player.play(level(100, 0.1))
