"""A linear echo is learned in seconds, and kept while somebody speaks as well."""

import numpy as np
import pytest

from audio.echo.linear import BLOCK, BLOCK_SECONDS, LinearEcho
from tests.audio.echo_room import EchoPath
from tests.audio.speechlike import murmur

SECONDS = 10.0
HERS = (murmur(SECONDS, seed=1) / 32768.0).astype(np.float32)
ROOM = EchoPath(reverberation=0.2, noise_dbfs=-75.0)


def recorded(path: EchoPath = ROOM) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return path.recorded((HERS * 32768).astype(np.int16))[: len(HERS)].astype(np.float32)


def lowered(
    echo: LinearEcho, near: np.ndarray[tuple[int], np.dtype[np.float32]], hers: float = 1.0
) -> "list[tuple[float, float]]":
    """Return, for each second, the power of what was recorded over that of the rest, and of the rest, in dB."""
    powers = []
    for start in range(0, len(near) - BLOCK + 1, BLOCK):
        far = hers * HERS[start : start + BLOCK]
        found, rest = echo.explain(near[start : start + BLOCK], far)
        assert np.allclose(found + rest, near[start : start + BLOCK])
        powers.append((np.mean(near[start : start + BLOCK] ** 2), np.mean(rest**2)))
    each = round(1 / BLOCK_SECONDS)
    sums = np.array(powers[: len(powers) // each * each]).reshape(-1, each, 2).sum(axis=1)
    return [(float(10 * np.log10(near / rest)), float(10 * np.log10(rest / each))) for near, rest in sums]


@pytest.mark.shows("V4")
def test_within_three_seconds_of_her_voice_its_echo_is_20_db_lower() -> None:
    assert min(gain for gain, _ in lowered(LinearEcho(), recorded())[3:]) > 20


@pytest.mark.shows("V17")
def test_who_speaks_meanwhile_is_left_as_loud_and_unlearns_nothing() -> None:
    near, other = recorded(), 0.1 * murmur(2.0, seed=2) / 32768.0
    start = round(5.0 / BLOCK_SECONDS) * BLOCK
    near[start : start + len(other)] += other
    seconds = lowered(LinearEcho(), near)
    loud = 10 * np.log10(np.mean(other**2))
    assert [level for _, level in seconds[5:7]] == pytest.approx([loud, loud], abs=3.0)
    assert seconds[8][0] > 17


def test_where_nothing_is_played_nothing_is_explained() -> None:
    near = recorded()
    assert all(gain == pytest.approx(0.0, abs=1e-6) for gain, _ in lowered(LinearEcho(), near, hers=0.0))
