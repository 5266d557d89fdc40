"""The choice of duplex mode as stories of levels, and the meter that measures them."""

import numpy as np
import pytest

from audio.echo.duplex import DUCKED_BELOW_DB, FULL_BELOW_DB, FULL_BELOW_SHARE, Duplex, HalfDuplex, Leak, Mode, choose
from audio.echo.meter import EchoMeter
from audio.pcm import CHUNK_SECONDS, AudioChunk
from tests.audio.ears_fakes import marked

QUIET = 1e-7
"""Power of the room: -70 dBFS."""


def db(level: float) -> float:
    return float(10 ** (level / 10))


@pytest.mark.shows("V4")
@pytest.mark.parametrize(
    ("leak", "mode"),
    [
        (None, Mode.FULL),
        (Leak(-45, -12), Mode.FULL),
        (Leak(-45, 0), Mode.FULL),
        (Leak(-45, 12, 0.01), Mode.FULL),
        (Leak(-45, -12, 0.08), Mode.DUCKED),
        (Leak(-27, -12), Mode.DUCKED),
        (Leak(-10, -12), Mode.HALF),
        (Leak(-10, 5), Mode.HALF),
    ],
)
@pytest.mark.parametrize("current", list(Mode))
def test_what_is_clear_is_chosen_whatever_was_before(leak: Leak | None, mode: Mode, current: Mode) -> None:
    assert choose(leak, current) is mode


@pytest.mark.shows("V4")
@pytest.mark.parametrize("bound", [FULL_BELOW_DB, DUCKED_BELOW_DB])
def test_a_leak_that_swings_around_a_bound_changes_nothing(bound: float) -> None:
    for current in Mode:
        mode = current
        for swing in (0.0, 1.5, -1.5, 1.0, -1.0) * 3:
            mode = choose(Leak(bound + swing, -20), mode)
            settled = choose(Leak(bound, -20), current)
            assert mode is settled


@pytest.mark.shows("V4")
def test_what_sounds_like_speech_ducks_until_it_is_half_as_much() -> None:
    shares = [FULL_BELOW_SHARE * part for part in (0.9, 1.1, 0.9, 0.6, 0.4)]
    mode, seen = Mode.FULL, []
    for share in shares:
        mode = choose(Leak(-45, -12, share), mode)
        seen.append(mode)
    assert seen == [Mode.FULL, Mode.DUCKED, Mode.DUCKED, Mode.DUCKED, Mode.FULL]


def test_a_leak_that_rises_and_falls_leads_through_all_modes_and_back() -> None:
    mode, seen = Mode.FULL, []
    for leak in (*range(-50, 0), *range(0, -50, -1)):
        mode = choose(Leak(leak, -20), mode)
        seen.append(mode)
    changes = [mode for mode, before in zip(seen, [None, *seen], strict=False) if mode is not before]
    assert changes == [Mode.FULL, Mode.DUCKED, Mode.HALF, Mode.DUCKED, Mode.FULL]


@pytest.mark.shows("V4")
def test_the_status_says_mode_leak_delay_and_what_cannot_be_interrupted() -> None:
    told = Duplex(Mode.HALF, Leak(-11.6, -9.2), 0.0349).describe()
    assert told.startswith(
        "half duplex; echo after 35 ms, its own voice reaches the microphone at -9 dB, -12 dB is left"
    )
    assert "cannot be interrupted" in told
    assert Duplex(Mode.HALF, reason="livekit is missing").describe().startswith("half duplex (livekit is missing); ")
    assert "everything nakari says can be interrupted" in Duplex(Mode.FULL).describe()


def speak(meter: EchoMeter, seconds: float, *, left: float, raw: float = -15.0, began: float = 0.0) -> float:
    """Speak at about -20 dBFS; `left` and `raw` of it are heard, dB against that. Return when it ends."""
    chunks = round(seconds / CHUNK_SECONDS)
    swing = np.random.default_rng(0).normal(0.0, 4.0, chunks)
    for number in range(chunks):
        far = db(-20 + swing[number])
        meter.note(began + number * CHUNK_SECONDS, far, QUIET + far * db(raw), QUIET + far * db(left))
    return began + seconds


def room(meter: EchoMeter, seconds: float, level: float = -70.0, began: float = 0.0) -> float:
    """Nobody plays anything; something of this level is heard."""
    for number in range(round(seconds / CHUNK_SECONDS)):
        meter.note(began + number * CHUNK_SECONDS, 0.0, db(level), db(level))
    return began + seconds


@pytest.mark.shows("V4")
def test_the_leak_is_what_is_left_against_what_was_played() -> None:
    meter = EchoMeter()
    assert meter.leak_db is None
    at = room(meter, 2.0)
    at = speak(meter, 1.0, left=-40, began=at)
    assert meter.leak_db is None, "one second is not enough"
    speak(meter, 4.0, left=-40, began=at)
    assert meter.leak_db == pytest.approx(-40, abs=2)
    assert meter.raw_leak_db == pytest.approx(-15, abs=2)
    meter.forget()
    assert meter.raw_leak_db is None


@pytest.mark.shows("V4")
def test_who_speaks_meanwhile_is_not_taken_for_its_echo_and_a_leak_that_rises_is_seen() -> None:
    meter = EchoMeter()
    at = speak(meter, 10.0, left=-42, began=room(meter, 2.0))
    for number in range(round(4.0 / CHUNK_SECONDS)):
        meter.note(at + number * CHUNK_SECONDS, db(-20), db(-20), db(-22))
    assert meter.leak_db == pytest.approx(-42, abs=2)
    speak(meter, 12.0, left=-12, raw=-8, began=at + 4.0)
    assert meter.leak_db == pytest.approx(-12, abs=2)


@pytest.mark.shows("V4", "V12")
def test_suspicion_is_high_for_residual_echo_and_low_for_a_person() -> None:
    meter = EchoMeter()
    at = speak(meter, 6.0, left=-40, began=room(meter, 2.0))
    residue = meter.suspicion(3.0, at)
    assert meter.newest(10) == pytest.approx(meter.suspicion(at - 9.5 * CHUNK_SECONDS, at))
    begins = at + 1.0
    room(meter, 1.0, began=at)
    for number in range(60):
        meter.note(begins + number * CHUNK_SECONDS, db(-20), db(-30), db(-32))
    while_it_speaks = meter.suspicion(begins, begins + 1.9)
    alone = room(meter, 2.0, level=-30, began=begins + 2.0)
    assert residue > 0.8
    assert while_it_speaks < 0.1
    assert meter.suspicion(alone - 1.0, alone) < 0.01
    assert meter.newest(10) < 0.01
    assert meter.suspicion(alone + 100, alone + 101) == 0.0


def test_hours_of_it_take_no_memory() -> None:
    meter = EchoMeter()
    at = speak(meter, 120.0, left=-40)
    assert meter.suspicion(0.0, at - 61.0) == 0.0


def chunk(at: float) -> AudioChunk:
    return AudioChunk(marked(0), at)


@pytest.mark.shows("V4")
def test_what_was_recorded_while_it_spoke_or_just_after_is_covered() -> None:
    gate = HalfDuplex(lambda: 100.0, margin=0.3)
    assert [gate.covers(chunk(at)) for at in (99.0, 100.0, 100.29, 100.3, 101.0)] == [True, True, True, False, False]


def test_who_never_spoke_covers_nothing() -> None:
    gate = HalfDuplex(lambda: 0.0)
    assert not gate.covers(chunk(0.1))


def test_it_asks_for_each_chunk_anew() -> None:
    busy_until = [0.0, 50.0, 50.0]
    gate = HalfDuplex(lambda: busy_until.pop(0))
    assert [gate.covers(chunk(at)) for at in (49.0, 49.1, 60.0)] == [False, True, False]
