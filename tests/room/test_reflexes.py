"""Reflexes in the simulated room: spoken over her, into a pause, and by herself."""

from pathlib import Path

import pytest

from tests.figures import figure
from tests.room.house import House, Surroundings, live
from tests.room.stories import warm_up
from tests.room.virtual_time import passed
from tests.room.voices import says

pytestmark = pytest.mark.room

LONG = " ".join(f"This is sentence number {number} of a long story about plums." for number in range(1, 9))
OWN = "You can say stop at any time. Wait. Louder. Go on. Mute. Please repeat that. Stop. That was all."


@pytest.mark.shows("V16")
def test_louder_and_mute_in_a_quiet_room_act_before_the_turn_is_over(tmp_path: Path) -> None:
    async def story(house: House) -> list[float]:
        delays = []
        reflexes = house.box.input.reflexes
        await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
        for word in ("quieter", "louder", "mute"):
            ended = house.put(says(word, "slt"), -30, after=1.0)
            await house.wait(lambda word=word: reflexes.counts.get(word), 5.0)  # type: ignore[misc]
            delays.append(house.now - ended)
            await passed(4.0)
        assert house.box.output.speech.volume.percent == 100
        assert house.box.input.acting.verbs.mute.is_on
        before = len(house.turns.started)
        house.put(says("What time is it?", "slt"), -30, after=0.5)
        await passed(6.0)
        assert len(house.turns.started) == before, "nothing is heard, not even that somebody speaks"
        assert house.turns.taken_up == [], "reflexes are nobody's question"
        return delays

    delays = live(tmp_path, story)
    figure("reflexes in the room, end of the word to the act", ", ".join(f"{delay * 1000:.0f} ms" for delay in delays))
    assert max(delays) < 0.2 + 0.25


@pytest.mark.shows("V16", "V10")
def test_stop_over_her_own_voice_ends_it(tmp_path: Path) -> None:
    async def story(house: House) -> tuple[float, int]:
        await warm_up(house)
        before = len(house.voice.sentences)
        await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
        await house.ask()
        ended = house.put(says("Stop!", "slt"), -24, after=3.0)
        await passed(3.0)
        await house.silence()
        assert house.box.input.reflexes.counts == {"stop": 1}
        assert house.turns.taken_up == [], "the mind is not asked what to do about it"
        return house.card.played[-1][1] - ended, len(house.voice.sentences) - before

    silent_after, sentences = live(tmp_path, story, Surroundings(answers=(LONG,)))
    figure("stop over her own voice, end of the word to silence", f"{silent_after * 1000:.0f} ms")
    assert silent_after < 1.5
    assert sentences < 8


@pytest.mark.shows("V16", "V4")
def test_what_she_says_herself_is_no_reflex(tmp_path: Path) -> None:
    async def story(house: House) -> tuple[dict[str, int], dict[str, int]]:
        await warm_up(house)
        for _ in range(3):
            await house.ask()
            await house.silence()
            await passed(2.0)
        reflexes = house.box.input.reflexes
        return dict(reflexes.counts), dict(reflexes.doubted)

    acted, doubted = live(tmp_path, story, Surroundings(answers=(OWN,)))
    figure("reflexes by her own words, four times eight sentences", f"{sum(acted.values())} acted, doubted {doubted}")
    assert acted == {}
