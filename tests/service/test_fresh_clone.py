"""README's first screen, on a machine that has nothing: a person clones into an empty folder and runs the main job."""

import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.service.bare_debian import BareDebian, bare_debian

pytestmark = [pytest.mark.debian, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def debian() -> Iterator[BareDebian]:
    with bare_debian() as debian:
        yield debian


@pytest.fixture(scope="module")
def clone(debian: BareDebian) -> str:
    """A clone in the person's home, after root ran the one line that set-up printed."""
    folder = debian.clone("person")
    debian.prepare("scripts/setup", "person", folder)
    return folder


def heard_seconds(file: Path) -> float:
    """Return how long a WAV is louder than -40 dB, in blocks of 20 ms."""
    with wave.open(str(file)) as recording:
        rate = recording.getframerate()
        samples = np.frombuffer(recording.readframes(recording.getnframes()), np.int16).astype(np.float64)
    blocks = samples[: len(samples) // (rate // 50) * (rate // 50)].reshape(-1, rate // 50)
    return float((np.sqrt((blocks**2).mean(axis=1)) > 328).sum()) / 50


@pytest.mark.shows("H1", "H6")
def test_a_person_is_answered_aloud(debian: BareDebian, clone: str) -> None:
    status, said = debian.run("scripts/run demo --output answer.wav", "person", clone)
    assert status == 0, said
    assert "large packages" in said, "uv fetched them, where pip takes a minute"
    assert heard_seconds(debian.tree / clone.lstrip("/") / "answer.wav") > 0.5


@pytest.mark.shows("H1", "H6")
def test_the_second_time_it_goes_straight_to_work_without_a_network(debian: BareDebian, clone: str) -> None:
    status, said = debian.run("scripts/run demo --output again.wav", "person", clone, offline=True)
    assert status == 0, said
    assert "installing" not in said
    assert heard_seconds(debian.tree / clone.lstrip("/") / "again.wav") > 0.5
