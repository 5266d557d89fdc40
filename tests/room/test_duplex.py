"""Full duplex beside the loudspeaker, in a stairwell and by a fan: a seeded sample of `benchmarks/ears/duplex.py`."""

import pytest

from audio.echo.canceller import WebRtcCanceller, has_canceller
from audio.echo.duplex import Mode
from audio.turns.vad import load_detector
from tests.room.acoustics import at_level
from tests.room.echo_loop import TAIL_SECONDS, EchoLoop, level_of
from tests.room.own_words import speech
from tests.room.rooms import DUPLEX_CHOOSING
from tests.room.voices import says, spoken
from tests.sample import sample

pytestmark = [
    pytest.mark.room,
    pytest.mark.skipif(not has_canceller(), reason="not installed: livekit (nakari's extra `echo`)"),
]

ORDERS = {
    "Turn on the kitchen light.": -6.0,
    "Is the front door locked?": 0.0,
    "How much time is left?": -6.0,
}
"""Each with its level, dB against the echo."""


def opened(room: str) -> EchoLoop:
    """Return a room after the chime."""
    loop = EchoLoop(DUPLEX_CHOOSING[room], WebRtcCanceller(), load_detector)
    loop.run(1.0)
    loop.calibrate()
    loop.run(0.5)
    return loop


ROOMS = ("beside, dry", "on the microphone", "a stairwell", "a fan", "overdriven, beside")
SOME = 3
"""Of them, others after each commit."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Speak in some of the rooms, or in all."""
    if "room" in metafunc.fixturenames:
        every_step: bool = metafunc.config.getoption("--every-step")
        metafunc.parametrize("room", sample(ROOMS, SOME, whole=every_step))


@pytest.mark.shows("V4", "V17")
def test_its_own_voice_pauses_nothing_however_near_the_loudspeaker_is(room: str) -> None:
    loop = opened(room)
    loop.reply(spoken(speech(5, seed=0), "slt"))
    assert loop.told.sounding > 15.0
    assert loop.told.modes[Mode.FULL] > 0.9 * loop.told.sounding
    assert loop.told.pauses == []


@pytest.mark.shows("V4", "V17")
def test_what_a_stairwell_leaves_of_its_first_words_pauses_it_once_at_most() -> None:
    loop = opened("a stairwell")
    loop.reply(spoken(speech(5, seed=0), "en-gb"))
    assert loop.told.sounding > 15.0
    assert len(loop.told.pauses) <= 1, loop.told.causes


@pytest.mark.shows("V4", "V17")
def test_beside_the_loudspeaker_whoever_speaks_is_noticed() -> None:
    loop = opened("beside, dry")
    loop.reply(spoken(speech(2, seed=3), "slt"))
    loop.run(1.5)
    echo, delays = level_of(loop.echo_power), list[float]()
    for number, (order, db) in enumerate(ORDERS.items()):
        sound = at_level(says(order), echo + db)
        start = loop.now + 3.0
        loop.put(sound, start)
        loop.reply(spoken(speech(2, seed=4 + number), "slt"))
        loop.run(1.5)
        end = start + len(sound) / 16_000 + TAIL_SECONDS
        delays += [at - start for at in loop.told.pauses if start < at < end][:1]
    assert len(delays) == len(ORDERS)
    assert sorted(delays)[len(delays) // 2] < 0.35
