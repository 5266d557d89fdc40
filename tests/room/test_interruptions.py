"""Somebody speaks, coughs, slams a door or agrees while it speaks: silence at once, and a reply that goes on."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.audio.spoken import HOUSEHOLD_WHISPER
from tests.figures import figure
from tests.room.acoustics import Sound
from tests.room.house import House, Surroundings, live
from tests.room.own_words import speech
from tests.room.rooms import ROOMS
from tests.room.sounds import cough, door, mhm
from tests.room.stories import Interruption, interrupt, quantile, warm_up
from tests.room.voices import says

pytestmark = pytest.mark.room

ORDERS = (
    "Turn on the kitchen light.",
    "What time is it?",
    "Play some music.",
    "Is the front door locked?",
    "Cancel the timer.",
    "Remember that my keys are in the drawer.",
    "How much time is left?",
    "Tell me the news.",
)

AFTER = (2.3, 3.1, 4.4, 5.0, 3.7, 2.8, 5.6, 4.1)
"""Seconds of its reply, before somebody speaks."""

ROOM = ROOMS["two clocks, 40 ppm apart"]


WHISPER = str(HOUSEHOLD_WHISPER)
POCKETSPHINX = "auto"
"""What listens where no Whisper model is."""
NAMES = {WHISPER: "whisper-household", POCKETSPHINX: "pocketsphinx"}


def around(seed: int, model: str = WHISPER) -> Surroundings:
    replies = [speech(3, seed + number) for number in range(12)]
    return Surroundings(settings={"ears": {"model": model}}, answers=replies, aside="All right.", loudspeaker=ROOM)


def interruptions(
    folder: Path, sounds: Sequence[tuple[Sound, float]], surroundings: Surroundings
) -> list[Interruption]:
    """Return what came of each sound, so many dB louder than its own voice is at the microphone."""

    async def story(house: House) -> list[Interruption]:
        echo = await warm_up(house)
        return [
            await interrupt(house, sound, echo + against_echo_db, after)
            for (sound, against_echo_db), after in zip(sounds, AFTER, strict=False)
        ]

    return live(folder, story, surroundings)


SPOKEN_OVER = {0.0: ((0, 2, 4), 3), -6.0: ((6, 0, 2), 2), -12.0: ((4, 6), 1)}
"""Orders by their place that are said at each level (dB against its voice), and how many of them at least it notices.

A sample of `benchmarks/audio/barge_in_delay.py`, which has all of them in four voices.
"""


@pytest.mark.shows("V17")
def test_it_falls_silent_for_whoever_speaks(tmp_path: Path) -> None:
    said = [(ORDERS[place], db) for db, (places, _) in SPOKEN_OVER.items() for place in places]
    all_found = interruptions(tmp_path, [(says(order), db) for order, db in said], around(100))
    for db, (_, least) in SPOKEN_OVER.items():
        told = [(order, each) for (order, at), each in zip(said, all_found, strict=True) if at == db]
        silent = [each.silent_after for _, each in told if each.silent_after is not None]
        ended = [each for _, each in told if each.taken_up]
        right = [order for order, each in told if order in each.taken_up]
        times = f"silent after p50 {quantile(silent, 0.5):.2f} s, p95 {quantile(silent, 0.95):.2f} s" if silent else ""
        figure(
            f"barge-in at {db:.0f} dB against its voice at the microphone",
            f"{len(silent)} of {len(told)} noticed, {times or 'never'}; {len(ended)} ended the reply, "
            f"{len(right)} words right",
        )
        assert len(silent) >= least, (db, told)


@pytest.mark.shows("V17", "V11")
@pytest.mark.parametrize(("model", "makes"), [(WHISPER, (cough, door)), (POCKETSPHINX, (mhm, cough))])
def test_a_reply_goes_on_after_what_was_nothing(
    tmp_path: Path, model: str, makes: tuple[Callable[[], Sound], ...], every_step: bool
) -> None:
    made = makes * (4 if every_step else 1)
    found = interruptions(tmp_path, [(make(), 0.0) for make in made], around(200, model))
    for make in makes:
        of_it = [each for each, by in zip(found, made, strict=True) if by is make]
        whole = [each for each in of_it if not each.taken_up and each.unheard < 0.3]
        figure(f"{make.__name__} while it speaks, as loud as it is, {NAMES[model]}", resumed(of_it, len(whole)))
        assert len(whole) == len(of_it), (make.__name__, of_it)


@pytest.mark.shows("V17", "V11")
def test_words_so_far_whose_turn_is_nobody_s_in_the_end_cost_a_pause_and_no_reply(tmp_path: Path) -> None:
    async def story(house: House) -> tuple[Interruption, int]:
        echo = await warm_up(house)
        intake = house.box.input.intake
        intake.over_reply = lambda heard: "unsure"  # of whole turns: what is asked ahead passes
        found = await interrupt(house, says(ORDERS[5]), echo, AFTER[0])
        return found, len([heard for _, heard in house.turns.so_far if heard.transcript.text])

    found, told_ahead = live(tmp_path, story, around(300))
    assert told_ahead > 0
    assert found.suppressed == ("unsure",)
    assert found.silent_after is not None
    assert found.went_on_after is not None
    assert found.unheard < 0.3


@pytest.mark.shows("V17")
@pytest.mark.parametrize("make", [mhm])
def test_what_a_closed_set_of_sentences_makes_of_voices(tmp_path: Path, make: Callable[[], Sound]) -> None:
    # It has no word for either: a sentence that sounds like it may end the reply. Told, because it is so.
    found = interruptions(tmp_path, [(make(), 0.0)] * 2, around(200))
    whole = [each for each in found if not each.taken_up and each.unheard < 0.3]
    name = make.__name__.replace("_", " ")
    figure(f"{name} while it speaks, whisper-household, which has no word for it", resumed(found, len(whole)))
    assert len(whole) >= 1


def resumed(found: list[Interruption], whole: int) -> str:
    gaps = [each.went_on_after for each in found if each.went_on_after is not None]
    told = f", {len(gaps)} of them after a pause of {quantile(gaps, 0.5):.2f} s (p50)" if gaps else ""
    return f"{whole} of {len(found)} replies were heard to their end{told}"
