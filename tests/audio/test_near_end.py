"""A sudden sound stands out of what is left of her voice; what stays does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.near_end import ABOVE_DB, ADOPTED_SECONDS, CHUNKS, LEARNING_SECONDS, NearEnd
from audio.pcm import CHUNK_SECONDS

RESIDUAL = -60.0


def learnt() -> NearEnd:
    ears = NearEnd()
    assert not any(ears.stands_out(RESIDUAL) for _ in range(round(LEARNING_SECONDS / CHUNK_SECONDS) + 1))
    return ears


def told(ears: NearEnd, *levels: float) -> list[bool]:
    return [ears.stands_out(level) for level in levels]


@pytest.mark.shows("V17")
def test_a_sudden_sound_is_told_once_at_its_second_chunk() -> None:
    assert told(learnt(), *[-30.0] * 5) == [False] * (CHUNKS - 1) + [True] + [False] * (5 - CHUNKS)


def test_a_click_is_none() -> None:
    assert not any(told(learnt(), -20.0, RESIDUAL, -20.0, RESIDUAL))


def test_nothing_is_told_before_her_own_rest_is_known() -> None:
    assert not any(told(NearEnd(), *[-70.0] * 10, *[-20.0] * 10))


def test_what_is_hardly_louder_than_her_rest_does_not_stand_out() -> None:
    assert not any(told(learnt(), *[RESIDUAL + ABOVE_DB] * 30))


def test_her_rest_is_remembered_through_her_pauses() -> None:
    ears = learnt()
    told(ears, -45.0, *[-80.0] * 20)
    assert not any(told(ears, -45.0, -44.0, -45.0))


def test_what_stays_loud_becomes_the_background() -> None:
    ears = learnt()
    told(ears, *[-30.0] * (round(ADOPTED_SECONDS / CHUNK_SECONDS) + 2))
    assert not any(told(ears, RESIDUAL, *[-30.0] * 5))


@given(st.lists(st.floats(-90, -50), max_size=200))
def test_within_its_margin_nothing_ever_stands_out(levels: list[float]) -> None:
    ears = NearEnd()
    told(ears, -50.0 - ABOVE_DB / 2)
    assert not any(told(ears, *[max(level, -60.0) for level in levels]))
