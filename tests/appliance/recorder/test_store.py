"""The folder of recordings: bounded, private, whole or not at all, and empty once something is to be forgotten."""

import io
import json
import os
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from appliance.config.sections import RecorderSettings, StateSettings
from appliance.errors import Problem
from appliance.recorder.recording import Damaged, Recording
from appliance.recorder.store import Limits, Recordings, recordings_in
from audio.pcm import CHUNK_SAMPLES
from memory.json_value import Json

pytestmark = pytest.mark.shows("V26")

NOW = datetime.now(UTC)


def a_recording(name: str, chunks: int = 10) -> Recording:
    sound = np.random.default_rng(len(name)).integers(-99, 99, chunks * CHUNK_SAMPLES).astype(np.int16)
    at = np.linspace(0.0, chunks * 0.032, chunks, endpoint=False)
    return Recording(
        id=name,
        owner_key="household",
        began="2026-11-22T12:00:00+00:00",
        settings={},
        decided={"text": f"words of {name}", "reason": ""},
        microphone=sound,
        cleaned=sound,
        reference=0 * sound,
        microphone_at=at,
        cleaned_at=at,
        probability=np.zeros(chunks),
        covered=at < 0,
    )


def kept(recordings: Recordings, *names: str) -> None:
    """Keep recordings of these names, each a second after the one before."""
    for number, name in enumerate(names):
        assert recordings.keep(a_recording(name), recordings.forgotten)
        age(recordings, name, timedelta(seconds=len(names) - number))


def age(recordings: Recordings, name: str, by: timedelta) -> None:
    """Make a file so old."""
    [file] = folder_of(recordings).glob(f"{name}.npz")
    at = (NOW - by).timestamp()
    os.utime(file, (at, at))


def folder_of(recordings: Recordings) -> Path:
    return recordings._folder


def test_the_last_turns_are_kept_and_the_oldest_go(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "recordings", Limits(3, 10**9))
    kept(recordings, "a", "b", "c", "d", "e")
    assert [each.id for each in recordings.listed()] == ["e", "d", "c"]


def test_they_take_no_more_of_the_disk_than_is_allowed(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "recordings", Limits(100, 60_000))
    kept(recordings, *"abcdefgh")
    count, size = recordings.measure()
    assert 1 <= count < 8
    assert size <= 60_000
    assert size == sum(file.stat().st_size for file in (tmp_path / "recordings").iterdir())


def test_what_is_too_old_goes_and_switched_off_everything_does(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    recordings = Recordings(folder, Limits(100, 10**9, days=7))
    kept(recordings, "new", "old")
    age(recordings, "old", timedelta(days=8))
    recordings.tidy()
    assert [each.id for each in recordings.listed()] == ["new"]
    Recordings(folder, Limits(0, 10**9)).tidy()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("details", "words", "days"), [(90, 0, 90), (90, 7, 7), (0, 30, 30), (0, 0, 0)])
def test_they_are_kept_no_longer_than_the_steps_of_its_work(
    details: int, words: int, days: int, tmp_path: Path
) -> None:
    kept_for = StateSettings(keep_details_days=details, keep_words_days=words)
    assert recordings_in(tmp_path, RecorderSettings(5, 2), kept_for).limits == Limits(5, 2_000_000, days)


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    kept(Recordings(tmp_path / "recordings", Limits(9, 10**9)), "a")
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "recordings").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "recordings").stat().st_mode) == 0o700


def test_what_is_to_be_forgotten_leaves_no_byte_and_what_was_under_way_is_not_kept(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "recordings", Limits(9, 10**9))
    kept(recordings, "a", "b")
    before = recordings.forgotten
    recordings.forget()
    assert list((tmp_path / "recordings").iterdir()) == []
    assert not recordings.keep(a_recording("c"), before)
    assert list((tmp_path / "recordings").iterdir()) == []


def test_one_is_found_by_the_beginning_of_its_id_or_as_the_last(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "recordings", Limits(9, 10**9))
    kept(recordings, "abc", "abd", "xyz")
    assert recordings.find("abd").id == "abd"
    assert recordings.find("x").id == "xyz"
    assert recordings.find("last").id == "xyz"
    with pytest.raises(Problem, match="2 recordings begin with ab"):
        recordings.find("ab")
    with pytest.raises(Problem, match=r"\[recorder\] turns = 20"):
        recordings.find("nothing")
    with pytest.raises(Problem, match="nothing is recorded"):
        Recordings(tmp_path / "none", Limits(9, 10**9)).find("last")


@pytest.mark.parametrize("cut", [0, 10, 1000, -1])
def test_a_damaged_file_is_told_and_the_others_are_read(cut: int, tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "recordings", Limits(9, 10**9))
    kept(recordings, "a", "b")
    file = tmp_path / "recordings" / "a.npz"
    file.write_bytes(file.read_bytes()[:cut])
    assert [each.id for each in recordings.listed()] == ["b"]
    with pytest.raises(Problem, match="cannot be read"):
        recordings.find("a")


def test_no_byte_of_a_file_can_be_bent_into_something_else_than_a_sentence(tmp_path: Path) -> None:
    data = bytearray(a_recording("a", 2).to_bytes())
    for place in range(0, len(data), 37):
        bent = bytes(data[:place]) + bytes([data[place] ^ 255]) + bytes(data[place + 1 :])
        try:
            Recording.from_bytes(bent)
        except Damaged:
            continue


@pytest.mark.parametrize("change", [{"format": 2}, {"barge_in": "x"}, {"decided": []}, {"hypotheses": [{}]}, {"id": 7}])
def test_what_is_told_of_the_sound_in_another_shape_is_a_sentence_too(change: dict[str, Json]) -> None:
    with pytest.raises(Damaged, match="it is not whole"):
        Recording.from_bytes(told_otherwise(a_recording("a"), change))


def test_of_another_version_that_is_said() -> None:
    with pytest.raises(Damaged, match="another version of nakari wrote it"):
        Recording.from_bytes(told_otherwise(a_recording("a"), {"format": 2, "decided": []}))


def test_sound_of_another_length_than_its_times_is_a_sentence_too() -> None:
    longer = replace(a_recording("a", 9), microphone_at=a_recording("a", 8).microphone_at)
    with pytest.raises(Damaged, match="not of one length"):
        Recording.from_bytes(longer.to_bytes())


def told_otherwise(recording: Recording, change: dict[str, Json]) -> bytes:
    with np.load(io.BytesIO(recording.to_bytes()), allow_pickle=False) as file:
        arrays = dict(file)
    meta = json.loads(arrays.pop("meta").tobytes()) | change
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    return out.getvalue()


def test_a_disk_that_refuses_keeps_no_half(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "b.npz").mkdir()  # what cannot be replaced by a file
    with pytest.raises(OSError, match="directory"):
        Recordings(folder, Limits(9, 10**9)).keep(a_recording("b"), 0)
    assert [each.name for each in folder.iterdir()] == ["b.npz"]


KEEPS = """
import sys
from pathlib import Path
from appliance.recorder.store import Limits, Recordings
from tests.appliance.recorder.test_store import a_recording
recordings = Recordings(Path(sys.argv[1]), Limits(5, 10**9))
print("begun", flush=True)
while True:
    for name in "abcdefgh":
        recordings.keep(a_recording(name, 400), 0)
"""


def test_a_kill_in_the_middle_leaves_whole_recordings_only(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    for _ in range(3):
        writes = subprocess.Popen([sys.executable, "-c", KEEPS, str(folder)], stdout=subprocess.PIPE)
        assert writes.stdout is not None
        writes.stdout.readline()
        while len(list(folder.glob("*.npz")) if folder.exists() else ()) < 4:
            assert writes.poll() is None
        os.kill(writes.pid, signal.SIGKILL)
        writes.wait()
        writes.stdout.close()
        recordings = Recordings(folder, Limits(5, 10**9))
        recordings.tidy()
        assert list(folder.glob("*.part")) == []
        assert len(recordings.listed()) == len(list(folder.glob("*.npz"))) in (4, 5, 6)


def test_of_a_turn_it_tells_no_sound() -> None:
    told = replace(a_recording("a"), hypotheses=(), barge_in=((3, "paused"),)).about()
    assert told["text"] == "words of a"
    assert told["barge_in"] == [[3, "paused"]]
    assert "microphone" not in told
