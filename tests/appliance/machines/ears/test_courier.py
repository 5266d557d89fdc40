"""Partitions and deaths between ears and mind: nothing said is lost, nothing is answered twice, the order stays."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.replies import SENTENCE_STARTED
from appliance.machines.wire import ANSWERED
from tests.appliance.machines.ears_box import EarsBox, live
from tests.engine_fake import FakeServer
from tests.room.virtual_time import passed


async def begun(ears: EarsBox) -> list[str]:
    """Return what the ears began to say, by event and words, over all starts."""
    entries = await ears.box.insight.journal.entries(topic=SENTENCE_STARTED)
    return [f"{each.event_id} {each.body.get('words')}" for each in entries]


@pytest.mark.shows("H10", "X17")
def test_minutes_of_partition_lose_nothing_double_nothing_and_keep_the_order(tmp_path: Path, every_step: bool) -> None:
    minutes = 10 if every_step else 3

    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        await ears.says("before the cut", "a0")
        await ears.over()
        ears.engine.link.cut()
        await ears.away()
        for minute in range(minutes):
            await ears.says(f"where is book number {minute}", f"b{minute}")
            await passed(60)
        assert [turn.id for turn in ears.mind.turns] == ["a0"]
        ears.engine.link.mend()
        await ears.says("after the cut", "c0")
        await ears.there()
        await ears.over()
        await ears.until(lambda: len(ears.mind.turns) == minutes + 2)
        wanted = [turn for turn in ears.mind.turns if ANSWERED not in turn.metadata]
        await ears.until(lambda: len(ears.mind.heard) == len(wanted))
        await ears.over()
        assert [turn.id for turn in ears.mind.turns] == ["a0", *(f"b{minute}" for minute in range(minutes)), "c0"]
        answers = [each for each in ears.heard if each.startswith("You said")]
        assert sorted(answers) == sorted(f"You said {turn.content}." for turn in wanted)
        assert len(set(await begun(ears))) == len(await begun(ears))

    live(tmp_path, story)


@pytest.mark.shows("H10", "X17")
def test_an_hour_of_cuts_loses_nothing_and_says_nothing_twice(tmp_path: Path, every_step: bool) -> None:
    asked = 60 if every_step else 12

    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        link = ears.engine.link
        for number in range(asked):
            if number % 3 == 0:
                link.cut()
            elif number % 3 == 1:
                link.lose_answers, link.double = 1, 1
            await ears.says(f"where is key number {number}", f"e{number}")
            await passed(20 + 7 * (number % 4))
            link.mend()
            await passed(24)
        await ears.there()
        await ears.over()
        await ears.until(lambda: len(ears.mind.turns) >= asked)
        assert [turn.id for turn in ears.mind.turns] == [f"e{number}" for number in range(asked)]
        wanted = {turn.id for turn in ears.mind.turns if ANSWERED not in turn.metadata}
        await ears.until(lambda: set(ears.mind.heard) == wanted)
        answers = [each for each in ears.heard if each.startswith("You said")]
        assert len(answers) == len(set(answers)) == len(wanted)
        assert len(set(await begun(ears))) == len(await begun(ears))

    live(tmp_path, story)


@pytest.mark.shows("H10", "X17")
def test_a_mind_that_comes_back_while_the_offline_model_answers_does_not_answer_too(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        await ears.away()
        await passed(6)
        event = await ears.says("what time is it")
        await ears.until(lambda: ears.box.output.speech.current is not None)
        ears.mind_comes()
        await ears.there()
        later = await ears.says("and now")
        await ears.until(lambda: later.id in ears.mind.heard)
        await ears.over()
        assert [turn.id for turn in ears.mind.turns] == [event.id, later.id]
        assert ears.mind.turns[0].metadata[ANSWERED] == ears.heard[0]
        assert ears.heard[1:] == ["You said and now."]

    live(tmp_path, story)


@pytest.mark.shows("H10", "X17")
def test_what_the_engine_may_have_is_not_offered_here_and_its_person_is_told(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        ears.mind_goes()
        ears.engine.link.lose_answers = 1
        event = await ears.says("set a timer for ten minutes")
        await passed(0.2)
        ears.engine.link.cut()
        await ears.until(lambda: len(ears.heard) == 2)
        assert "when it is back" in ears.heard[1]
        assert await ears.box.household.mailbox.find(event.id) is None, "no second timer is set here"
        ears.engine.link.mend()
        ears.mind_comes()
        await ears.until(lambda: event.id in ears.mind.heard)
        assert [turn.id for turn in ears.mind.turns] == [event.id]

    live(tmp_path, story)


@pytest.mark.shows("H10", "X17")
def test_what_waits_goes_to_the_mind_after_a_death_of_the_ears(tmp_path: Path) -> None:
    server, begin = FakeServer(), datetime.now(UTC)

    async def cut_off(ears: EarsBox) -> list[str]:
        await passed(6)
        return [(await ears.says(words)).id for words in ("what time is it", "who wrote this book", "where is my key")]

    async def after(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        await ears.over()
        await ears.until(lambda: len(ears.mind.turns) == 3)
        assert [turn.id for turn in ears.mind.turns] == ids

    ids = live(tmp_path, cut_off, server, begin)
    live(tmp_path, after, server, begin + timedelta(hours=1))


@pytest.mark.shows("H10", "X17")
def test_a_question_that_nobody_wants_answered_any_more_is_told_so(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        await passed(6)
        event = await ears.says("who wrote this book")
        await ears.until(lambda: len(ears.heard) == 2)
        await passed(5)
        await ears.says("never mind")
        await passed(10)
        ears.mind_comes()
        await ears.there()
        await ears.over()
        assert ears.mind.turns[0].id == event.id
        assert "wants no answer" in str(ears.mind.turns[0].metadata[ANSWERED])

    live(tmp_path, story)


@pytest.mark.shows("H10", "X17")
def test_whoever_waits_for_a_slow_mind_hears_a_sign_once(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind.answer = lambda event: []
        ears.mind_comes()
        await ears.there()
        await ears.says("tell me a long story")
        await passed(1.5)
        assert ears.player.played == 0
        await passed(20)
        assert ears.player.played == 1, "a sign, and no second one"
        assert ears.heard == []

    live(tmp_path, story)


@pytest.mark.shows("H10", "X17")
def test_what_is_forgotten_here_leaves_what_waits_or_is_told_to_the_mind(tmp_path: Path) -> None:
    async def story(ears: EarsBox) -> None:
        ears.mind_comes()
        await ears.there()
        await ears.says("my secret is blue", "s1")
        await ears.over()
        elsewhere, forgetting = ears.box.elsewhere, ears.box.input.acting.forgetting
        assert elsewhere is not None
        assert (await elsewhere.forget(forgetting.last)).did == "forgotten"
        await ears.until(lambda: ears.mind.forgets)
        assert [(each.machine, each.count) for each in ears.mind.forgets] == [("kitchen", 1)]
        ears.mind_goes()
        await passed(12)
        await ears.says("my other secret is green", "s2")
        await passed(15)
        assert (await elsewhere.forget(forgetting.last)).did == "forgotten"
        ears.mind_comes()
        await ears.there()
        await ears.over()
        assert [turn.id for turn in ears.mind.turns] == ["s1"]
        assert not await ears.box.insight.journal.database.read(
            lambda c: c.execute("SELECT 1 FROM outbox WHERE body LIKE '%green%'").fetchall()
        )

    live(tmp_path, story)
