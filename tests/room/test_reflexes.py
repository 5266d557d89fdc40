"""Reflexes in the simulated room: spoken over its voice, into a pause, and by itself."""

from pathlib import Path

import pytest

from appliance.reflexes.record import ASKED_BACK
from appliance.reflexes.verbs import Order
from tests.audio.spoken import SHARED_CLIPS
from tests.figures import figure
from tests.room.house import House, Surroundings, live
from tests.room.stories import interrupt, warm_up
from tests.room.virtual_time import passed
from tests.room.voices import clip, says
from tests.sample import sample

pytestmark = pytest.mark.room

LONG = " ".join(f"This is sentence number {number} of a long story about plums." for number in range(1, 9))
SHORTER = LONG[: len(LONG) // 2]
SMALL: dict[str, dict[str, object]] = {"ears": {"model": "auto"}}
"""No Whisper model: pocketsphinx."""
OWN = "You can say stop at any time. Wait. Louder. Go on. Mute. Please repeat that. Stop. That was all."


@pytest.mark.shows("V16", "V29")
def test_louder_in_a_quiet_room_acts_before_the_turn_is_over_and_mute_with_it(tmp_path: Path) -> None:
    async def story(house: House) -> tuple[list[float], float]:
        delays = []
        reflexes, mute = house.box.input.reflexes, house.box.input.acting.verbs.mute
        await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
        for word in ("quieter", "louder"):
            ended = house.put(says(word, "slt"), -30, after=1.0)
            await house.wait(lambda word=word: reflexes.counts.get(word), 5.0)  # type: ignore[misc]
            delays.append(house.now - ended)
            await passed(4.0)
        assert house.box.output.speech.volume.percent == 100
        house.put(says("Mute.", "slt"), -30, after=1.0)
        await house.wait(lambda: reflexes.doubted.get(ASKED_BACK), 5.0)
        assert not mute.is_on, "a small recognizer finds a command in any syllable"
        await passed(4.0)
        ended = house.put(says("Mute.", "slt"), -30, after=1.0)
        await house.wait(lambda: mute.is_on, 5.0)
        muted_after = house.now - ended
        await passed(8.0)
        before = len(house.turns.started)
        house.put(says("What time is it?", "slt"), -30, after=0.5)
        await passed(6.0)
        assert len(house.turns.started) == before, "nothing is heard, not even that somebody speaks"
        assert house.turns.taken_up == [], "reflexes are nobody's question"
        return delays, muted_after

    delays, muted_after = live(tmp_path, story, Surroundings(SMALL))
    told = ", ".join(f"{delay * 1000:.0f} ms" for delay in delays)
    figure("reflexes in the room, end of the word to the act", f"{told}; mute {muted_after * 1000:.0f} ms")
    assert max(delays) < 0.2 + 0.25
    assert muted_after < 2.0


@pytest.mark.shows("V16", "V29")
def test_what_sounds_like_mute_over_its_own_voice_mutes_nothing(tmp_path: Path, every_step: bool) -> None:
    words = ["Mute!", *sample(["View!", "New!"], 1, whole=every_step)]

    async def story(house: House) -> tuple[str, ...]:
        await warm_up(house)
        await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
        suppressed: tuple[str, ...] = ()
        for word, apart in zip(words, (0.0, 20.0, 20.0), strict=False):
            await passed(apart)  # or it would be the one before, said again
            suppressed += (await interrupt(house, says(word, "slt"), -18, 2.0)).suppressed
            assert not house.box.input.acting.verbs.mute.is_on
        return suppressed

    assert live(tmp_path, story, Surroundings(SMALL, (SHORTER,), aside="All right.")) != ()


@pytest.mark.skipif(not SHARED_CLIPS.is_dir(), reason="the shared clips are not on this machine")
@pytest.mark.shows("V15", "V29")
def test_the_wake_word_ends_a_mute_and_its_own_voice_saying_it_does_not(tmp_path: Path) -> None:
    async def story(house: House) -> None:
        mute = house.box.input.acting.verbs.mute
        await passed(2.0)
        told = await house.box.input.reflexes.told(Order("mute"))
        assert "say alexa" in told
        await passed(10.0)
        assert house.voice.sentences == [told]
        assert mute.is_on, "it has said the word itself"
        house.put(clip(SHARED_CLIPS / "clips" / "openWakeWord__alexa_test.wav"), -30, after=0.5)
        await house.wait(lambda: not mute.is_on, 5.0)
        await passed(4.0)
        assert house.voice.sentences == [told, "I can hear again."]
        assert house.turns.taken_up == []

    live(tmp_path, story, Surroundings({"ears": {"wake_word": "alexa"}}))


@pytest.mark.shows("V16", "V10")
def test_stop_over_its_own_voice_ends_it(tmp_path: Path) -> None:
    """Shows what follows a "stop" that is heard, not how often: of 14 moments, 2.4 to 4 s into a reply, 4 to 6."""

    async def story(house: House) -> tuple[float, int]:
        await warm_up(house)
        before = len(house.voice.sentences)
        await house.wait(lambda: house.box.input.spotter and house.box.input.spotter.ready.is_set())
        await house.ask()
        ended = house.put(says("Stop!", "slt"), -24, after=3.1)
        await passed(3.0)
        await house.silence()
        assert house.box.input.reflexes.counts == {"stop": 1}
        assert house.turns.taken_up == [], "the mind is not asked what to do about it"
        return house.card.played[-1][1] - ended, len(house.voice.sentences) - before

    silent_after, sentences = live(tmp_path, story, Surroundings(answers=(LONG,)))
    figure("stop over its own voice, end of the word to silence", f"{silent_after * 1000:.0f} ms")
    assert silent_after < 1.5
    assert sentences < 8


@pytest.mark.shows("V16", "V4")
def test_what_it_says_itself_is_no_reflex(tmp_path: Path) -> None:
    async def story(house: House) -> tuple[dict[str, int], dict[str, int]]:
        await warm_up(house)
        for _ in range(2):
            await house.ask()
            await house.silence()
            await passed(2.0)
        reflexes = house.box.input.reflexes
        return dict(reflexes.counts), dict(reflexes.doubted)

    acted, doubted = live(tmp_path, story, Surroundings(answers=(OWN,)))
    figure("reflexes by its own words, three times eight sentences", f"{sum(acted.values())} acted, doubted {doubted}")
    assert acted == {}
