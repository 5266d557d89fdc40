"""The one backoff: what whoever tries again may count on, on an own clock."""

from dataclasses import dataclass

import pytest

from memory.backoff import Backoff


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def rests(backoff: Backoff, clock: Clock, failures: int) -> list[float]:
    """Fail so often, each time at the end of the rest before."""
    found = []
    for _ in range(failures):
        backoff.failed()
        found.append(backoff.rest)
        clock.now += backoff.rest
        assert backoff.rest == 0, "one try is due"
    return found


@pytest.mark.shows("F6")
def test_rests_double_to_the_longest_and_stay_there_for_years(clock: Clock) -> None:
    backoff = Backoff(5.0, 120.0, clock=clock)
    assert rests(backoff, clock, 7) == [5, 10, 20, 40, 80, 120, 120]
    for _ in range(3_000):
        assert backoff.failed() <= 120.0


def test_a_rest_passes_with_the_clock(clock: Clock) -> None:
    backoff = Backoff(10.0, 300.0, clock=clock)
    assert backoff.rest == 0
    backoff.failed()
    clock.now += 4
    assert backoff.rest == 6


def test_a_success_forgets_failures_and_rest(clock: Clock) -> None:
    backoff = Backoff(10.0, 300.0, clock=clock)
    for _ in range(3):
        backoff.failed()
    backoff.worked()
    assert backoff.rest == 0
    assert rests(backoff, clock, 2) == [10, 20]


def test_what_is_forgiven_needs_no_rest_again_after_each_success(clock: Clock) -> None:
    backoff = Backoff(5.0, 120.0, forgiven=1, clock=clock)
    assert rests(backoff, clock, 3) == [0, 5, 10]
    backoff.worked()
    assert rests(backoff, clock, 2) == [0, 5]


def test_what_is_asked_for_is_kept_to_at_once_and_in_full(clock: Clock) -> None:
    backoff = Backoff(5.0, 120.0, forgiven=1, jitter=0.5, clock=clock)
    assert backoff.failed(at_least=7.0) == 7
    assert backoff.failed(at_least=900.0) == 900
    assert backoff.rest == 900


def test_what_lived_steadily_after_its_rest_fails_for_the_first_time_again(clock: Clock) -> None:
    backoff, delays = Backoff(1.0, 8.0, steady=60.0, clock=clock), []
    for lived in (0.1, 0.1, 59.0, 0.0, 0.0, 60.0, 0.0):
        clock.now += lived
        delays.append(backoff.failed())
        clock.now += delays[-1]
    assert delays == [1, 2, 4, 8, 8, 1, 2]


def test_chance_shortens_a_rest_by_its_share_at_most_and_never_twice_alike(clock: Clock) -> None:
    found = [Backoff(10.0, 300.0, jitter=0.1, clock=clock).failed() for _ in range(50)]
    assert min(found) > 9 - 1e-9
    assert max(found) <= 10
    assert len(set(found)) > 40
