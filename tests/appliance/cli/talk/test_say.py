"""`nakari say --output`: a whole file, or none."""

from pathlib import Path

import pytest

from appliance.cli.talk.speech import WHEN_NOBODY_WAITS, beside
from appliance.config.sections import VoiceSettings
from appliance.errors import Exit, Problem


def test_the_file_is_there_once_all_of_it_is(tmp_path: Path) -> None:
    wanted = tmp_path / "said.wav"
    wanted.write_bytes(b"before")
    with beside(wanted) as part:
        assert part is not None
        part.write_bytes(b"whole")
        assert wanted.read_bytes() == b"before"
    assert wanted.read_bytes() == b"whole"
    assert [each.name for each in tmp_path.iterdir()] == ["said.wav"]


def half_of(wanted: Path) -> None:
    with beside(wanted) as part:
        assert part is not None
        part.write_bytes(b"half")
        raise Problem("no voice", Exit.UNAVAILABLE)


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Problem):
        half_of(tmp_path / "said.wav")
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_as_it_comes() -> None:
    with beside(Path("/dev/null")) as part:
        assert part == Path("/dev/null")


def test_a_file_gives_the_voice_time() -> None:
    assert 100 * VoiceSettings().first_sound_deadline < WHEN_NOBODY_WAITS
