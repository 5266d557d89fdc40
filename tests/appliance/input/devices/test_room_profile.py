"""The room's profile in its file: whole, or ignored in a sentence."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from appliance.input.devices.echo import LARGEST, NAME, RoomProfileFile
from audio.echo.duplex import Mode
from audio.echo.guard import RoomProfile

PROFILE = RoomProfile(
    "a microphone | a loudspeaker", Mode.DUCKED, 0.7, 1e-6, 2e-7, np.linspace(-1, 1, 99, dtype=np.float32),
    np.arange(32.0).reshape(2, 16),
)  # fmt: skip


def kept_in(file: Path, devices: str = PROFILE.devices) -> RoomProfileFile:
    """Return what keeps the profile of these devices in a file."""
    return RoomProfileFile(file, lambda: devices)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / NAME


@pytest.mark.shows("V4")
def test_what_is_kept_is_loaded(file: Path) -> None:
    assert kept_in(file).load() is None
    for _ in range(2):
        kept_in(file).save(PROFILE)
    loaded = kept_in(file).load()
    assert loaded is not None
    assert (loaded.devices, loaded.mode, loaded.echo_delay) == (PROFILE.devices, Mode.DUCKED, 0.7)
    assert (loaded.raw_floor, loaded.left_floor) == (1e-6, 2e-7)
    assert np.array_equal(loaded.path, PROFILE.path)
    assert np.array_equal(loaded.expected, PROFILE.expected)
    assert [each.name for each in file.parent.iterdir()] == [NAME]


@pytest.mark.shows("V4")
def test_with_other_devices_it_does_not_hold(file: Path) -> None:
    kept_in(file).save(PROFILE)
    assert kept_in(file).load() is not None
    assert kept_in(file, "a microphone | headphones").load() is None


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def noise(content: bytes) -> bytes:
    return np.random.default_rng(0).bytes(len(content))


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


@pytest.mark.shows("V4")
@pytest.mark.parametrize("spoil", [cut, noise, flipped, lambda _: b"", lambda _: b"x" * (LARGEST + 1)])
def test_a_spoilt_file_is_ignored_in_a_sentence(file: Path, spoil: Callable[[bytes], bytes]) -> None:
    kept_in(file).save(PROFILE)
    file.write_bytes(spoil(file.read_bytes()))
    with capture_logs() as logs:
        assert kept_in(file).load() is None
    assert [each["event"] for each in logs] == ["room_profile_ignored"]
    kept_in(file).save(PROFILE)
    assert kept_in(file).load() is not None


@pytest.mark.parametrize("path", [np.array([1.0, np.nan], np.float32), np.zeros((2, 2), np.float32)])
def test_what_is_no_echo_path_is_not_believed(
    file: Path, path: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    kept_in(file).save(RoomProfile(PROFILE.devices, Mode.FULL, 0.0, 0.0, 0.0, path, PROFILE.expected))
    with capture_logs():
        assert kept_in(file).load() is None


def test_where_nothing_can_be_written_that_is_told_and_all(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in its place")
    with capture_logs() as logs:
        kept_in(tmp_path / "state" / NAME).save(PROFILE)
    assert [each["event"] for each in logs] == ["room_profile_not_kept"]
