"""Ears of a mind elsewhere: what is said reaches it once and in order, or is answered here while it is away."""

from pathlib import Path

import pytest

from appliance.machines.wire import ANSWERED
from tests.appliance.machines.ears_box import EarsBox, live
from tests.room.virtual_time import passed


@pytest.mark.shows("H10")
def test_words_go_to_the_mind_and_its_sentences_are_spoken_once_and_in_order(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind.answer = lambda event: ["One is here.", "Two is here.", "Three is here."]
        ears.mind_comes()
        await ears.there()
        event = await ears.says("count for me")
        await ears.until(lambda: len(ears.mind.heard.get(event.id, [])) == 3)
        await ears.over()
        assert ears.heard == ["One is here.", "Two is here.", "Three is here."]
        assert ears.mind.heard[event.id] == ears.heard
        assert [turn.content for turn in ears.mind.turns] == ["count for me"]
        states = [report.state for report in ears.mind.reports]
        assert states == ["started", "heard"] * 3

    live(tmp_path, story)


@pytest.mark.shows("H10")
def test_without_a_mind_the_offline_model_answers_what_it_can_and_keeps_the_rest(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        await ears.says("set a timer for ten minutes")
        await ears.says("what is the meaning of life")
        await ears.says("生命的意义是什么")
        await ears.until(lambda: len(ears.heard) >= 3)
        await passed(20)
        assert ears.heard[0] == "Your timer is set for ten minutes."
        assert any("I will answer when it is back" in each for each in ears.heard)
        assert any("等" in each for each in ears.heard)
        told = len(ears.heard)
        ears.mind_comes()
        await ears.there()
        await ears.over()
        await ears.until(lambda: len(ears.heard) == told + 2)
        people = [turn for turn in ears.mind.turns if turn.is_from_person]
        assert [turn.content for turn in people] == [
            "set a timer for ten minutes",
            "what is the meaning of life",
            "生命的意义是什么",
        ]
        assert [ANSWERED in turn.metadata for turn in people] == [True, False, False]
        assert str(people[0].metadata[ANSWERED]) == ears.heard[0]
        assert [turn.type for turn in ears.mind.turns if not turn.is_from_person] == ["timer"]

    live(tmp_path, story)
