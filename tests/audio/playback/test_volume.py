"""Louder, quieter, ducked: what the player is told."""

import pytest

from audio.playback.loudness import gain
from audio.playback.volume import QUIETEST, STEP, Volume
from tests.audio.mouth_fakes import ScriptedPlayer


def a_volume(percent: int = 100) -> tuple[Volume, list[float]]:
    player = ScriptedPlayer()
    return Volume(player, percent), player.gains


def test_the_configured_volume_is_applied_at_once() -> None:
    _, gains = a_volume(40)
    assert gains == [gain(40)]


@pytest.mark.shows("V16")
def test_quieter_steps_down_to_the_quietest_and_no_further() -> None:
    volume, gains = a_volume(60)
    assert [volume.quieter() for _ in range(5)] == [60 - STEP, 60 - 2 * STEP, 60 - 3 * STEP, QUIETEST, QUIETEST]
    assert gains[1] == gain(60 - STEP)
    assert gains[-1] == gain(QUIETEST) > 0


@pytest.mark.shows("V16")
def test_louder_steps_up_to_the_whole() -> None:
    volume, gains = a_volume(80)
    assert (volume.louder(), volume.louder()) == (80 + STEP, 100)
    assert gains[-1] == 1.0


def test_one_that_was_set_below_the_quietest_is_not_made_louder_by_quieter() -> None:
    volume, _ = a_volume(5)
    assert volume.quieter() == 5
    volume.percent = -3
    assert (volume.quieter(), volume.louder()) == (0, STEP)
    volume.percent = 300
    assert volume.percent == 100


@pytest.mark.shows("V17")
def test_ducking_comes_on_top_of_the_volume_and_goes_without_a_trace() -> None:
    volume, gains = a_volume(50)
    volume.duck(12.0)
    assert gains[-1] == pytest.approx(gain(50) * 10 ** (-12 / 20))
    volume.louder()
    assert gains[-1] == pytest.approx(gain(50 + STEP) * 10 ** (-12 / 20))
    volume.unduck()
    assert gains[-1] == gain(50 + STEP)
    assert volume.percent == 50 + STEP
