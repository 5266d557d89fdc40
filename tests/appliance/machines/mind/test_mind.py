"""The mind of ears elsewhere: a room of its own for each, sentences at most once, and nothing lost on either side."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.event import Event
from agent.mailbox import Mailbox
from agent.replies import Reply
from appliance.machines.mind.arriving import Arriving, is_same
from appliance.machines.wire import Turn
from appliance.output.unasked import KeptBack
from tests.agent.mailboxes import sqlite
from tests.appliance.machines.two_boxes import TwoBoxes, answer, live
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import passed

SENTENCES = [
    "The first of them is standing right here.",
    "The second of them is standing over there.",
    "The third of them has gone home already.",
]
THREE = " ".join(SENTENCES)


@pytest.mark.shows("H10")
def test_what_is_asked_at_the_ears_is_answered_there_and_journaled_here(tmp_path: Path) -> None:
    model = ScriptedModel(answer(THREE))

    async def story(home: TwoBoxes) -> None:
        await home.start()
        event = await home.says("count for me")
        assert await home.settled(event) == "completed"
        await home.until(lambda: len(home.heard) == 3)
        assert home.heard == SENTENCES
        entries = await home.spoken(event)
        assert [each.body["words"] for each in entries if each.topic.endswith("started")] == SENTENCES
        assert [each.body["heard"] for each in entries if each.topic.endswith("ended")] == SENTENCES
        filed = await home.mind.box.household.mailbox.find(event.id)
        assert filed is not None
        assert (filed.event.session_id, filed.event.metadata["room"]) == ("room:kitchen", "kitchen")
        assert "kitchen" in model.requests[0][-1].content

    live(tmp_path, story, model)


@pytest.mark.shows("H10")
def test_what_was_answered_while_the_mind_was_away_is_known_to_it_and_not_answered_again(tmp_path: Path) -> None:
    model = ScriptedModel(answer("You set one for ten minutes."))

    async def story(home: TwoBoxes) -> None:
        await home.ears.start()
        first = await home.says("set a timer for ten minutes")
        await home.until(lambda: home.heard, 60)
        await home.mind.start()
        await home.know()
        assert await home.settled(first) == "completed"
        assert not model.requests
        told = len(home.heard)
        second = await home.says("which timer did I set")
        assert await home.settled(second) == "completed"
        assert "set a timer for ten minutes" in str(model.requests[0])
        assert home.heard[0] in str(model.requests[0])
        assert len(home.heard) == told + 1
        mailbox = home.mind.box.household.mailbox
        assert [timer.metadata["room"] for timer in await mailbox.waiting("timer", "household")] == ["kitchen"]

    live(tmp_path, story, model)


@pytest.mark.shows("H10")
def test_a_mind_that_dies_in_mid_reply_goes_on_with_it_and_says_nothing_twice(tmp_path: Path) -> None:
    async def story(home: TwoBoxes) -> None:
        await home.start()
        event = await home.says("count for me")
        await home.until(lambda: len(home.heard) == 1)
        await home.mind.die()
        await passed(3)
        await home.mind.start(ScriptedModel(answer("Nothing more is to be counted now."), answer("It is late.")))
        await home.know()
        assert await home.settled(event) == "completed"
        await home.ears.box.output.speech.quiet()
        assert home.heard[:3] == SENTENCES
        assert all(home.heard.count(each) == 1 for each in SENTENCES)

    live(tmp_path, story, ScriptedModel(answer(THREE)))


@pytest.mark.shows("H10")
def test_ears_that_are_cut_off_in_mid_reply_say_nothing_twice_and_lose_nothing(tmp_path: Path) -> None:
    async def story(home: TwoBoxes) -> None:
        await home.start()
        event = await home.says("count for me")
        await home.until(lambda: len(home.heard) == 1)
        home.ears.engine.link.cut()
        assert await home.settled(event) == "completed"
        await passed(20)
        home.ears.engine.link.mend()
        await home.know()
        await passed(60)
        assert sorted(home.heard) == sorted(SENTENCES)

    live(tmp_path, story, ScriptedModel(answer(THREE), answer("Yes.")))


@pytest.mark.shows("H10")
def test_ears_that_die_in_mid_reply_hear_the_rest_of_it_later_and_nothing_again(tmp_path: Path) -> None:
    async def story(home: TwoBoxes) -> None:
        await home.start()
        event = await home.says("count for me")
        await home.until(lambda: len(home.heard) == 1)
        begun = await home.spoken(event)
        assert begun
        await home.ears.die()
        assert await home.settled(event) == "completed"
        await home.ears.start()
        await home.know()
        await passed(60)
        assert home.heard[0] == SENTENCES[0]
        assert all(home.heard.count(each) <= 1 for each in SENTENCES)
        assert SENTENCES[2] in home.heard

    live(tmp_path, story, ScriptedModel(answer(THREE), answer("Yes.")))


@pytest.mark.shows("H10")
@pytest.mark.parametrize("dies", [True, False])
def test_a_long_reply_goes_on_to_its_end_at_ears_that_were_away(tmp_path: Path, dies: bool) -> None:
    """Longer than what is sent ahead: the rest was never sent, and comes behind what was."""
    told = [
        f"This is sentence number {word} of a long story."
        for word in ["one", "two", "three", "four", "five", "six", "seven"]
    ]

    async def story(home: TwoBoxes) -> None:
        await home.start()
        event = await home.says("tell me a story")
        await home.until(lambda: len(home.heard) == 1)
        if dies:
            await home.ears.die()
        else:
            home.ears.engine.link.cut()
        assert await home.settled(event) == "completed"
        await passed(20)
        if dies:
            await home.ears.start()
        else:
            home.ears.engine.link.mend()
        await home.know()
        await passed(120)
        assert home.heard[-4:] == told[-4:]
        assert sorted(home.heard) == sorted(set(home.heard)), "nothing twice"
        assert set(told) - set(home.heard) <= ({told[1]} if dies else set()), "but for the sentence under way"

    live(tmp_path, story, ScriptedModel(answer(" ".join(told)), answer("Yes.")))


@pytest.mark.shows("H10")
def test_silence_that_is_wanted_at_the_ears_ends_the_run_and_tells_what_was_heard(tmp_path: Path) -> None:
    model = ScriptedModel(answer(THREE), answer("All right then, what else do you want?"))

    async def story(home: TwoBoxes) -> None:
        await home.start()
        event = await home.says("count for me")
        await home.until(lambda: len(home.heard) == 1)
        home.ears.box.household.loop.interrupt()
        assert await home.settled(event) == "completed"
        await passed(5)
        assert SENTENCES[2] not in home.heard
        again = await home.says("what did you say")
        assert await home.settled(again) == "completed"
        assert SENTENCES[2] in str(model.requests[1])

    live(tmp_path, story, model)


@pytest.mark.shows("H10")
def test_a_timer_rings_once_where_it_was_set_also_without_its_mind(tmp_path: Path) -> None:
    timer = calls(
        ("set_timer", '{"seconds": 60, "label": "eggs"}'), ("complete_event", '{"summary": "set"}'), prefix="t"
    )

    async def story(home: TwoBoxes) -> None:
        await home.start()
        event = await home.says("set a timer for the eggs")
        assert await home.settled(event) == "completed"
        box = home.ears.box.household.mailbox
        while not await box.waiting("timer", "household"):
            await passed(0.2)
        await home.mind.die()
        rung: list[str] = []
        await passed(75)
        entries = await home.ears.box.insight.journal.entries(topic="timer.rang")
        rung += [str(each.body["label"]) for each in entries]
        assert rung == ["eggs"]
        await home.mind.start(ScriptedModel(answer("The eggs are done."), answer("The eggs are done.")))
        await home.know()
        await passed(10)
        rang = await home.mind.box.insight.journal.entries(topic="timer.rang")
        assert len(rang) == 1

    live(tmp_path, story, ScriptedModel(timer, answer("It is set.")))


def heard(words: str, at: float, machine: str) -> Turn:
    """Return a turn of two seconds, that many seconds after noon."""
    when = datetime(2026, 11, 23, 12, tzinfo=UTC) + timedelta(seconds=at)
    event = Event("asr_transcript", words, source="mic", metadata={"evidence": {"seconds": 2.0}}, created_at=when)
    return Turn(machine, machine, event)


@pytest.mark.shows("H10")
def test_the_same_words_at_the_same_time_are_one_event_and_others_are_not() -> None:
    kitchen = heard("turn on the light", 0.0, "kitchen").event
    assert is_same(kitchen, heard("turn on the lights", 0.3, "study").event)
    assert not is_same(kitchen, heard("turn on the light", 8.0, "study").event)
    assert not is_same(kitchen, heard("what time is it", 0.3, "study").event)


@pytest.mark.shows("H10")
async def test_a_turn_that_another_room_heard_too_or_that_comes_twice_is_filed_once(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as rig:
        assert isinstance(rig.mailbox, Mailbox)
        arriving = Arriving(rig.mailbox)
        first = heard("turn on the light", 0.0, "kitchen")
        for turn in (first, heard("turn on the light", 0.2, "study"), first, heard("turn on the light", 9.0, "study")):
            await arriving.file(turn)
        assert (await rig.mailbox.counts())["pending"] == 2


@pytest.mark.shows("H10")
async def test_what_a_room_that_is_away_heard_before_a_crash_is_not_kept_for_it_again() -> None:
    kept: list[str] = []

    async def file(event: Event, words: str) -> None:
        kept.append(words)

    reply = Reply(Event("asr_transcript", "count for me"), "call", already=(SENTENCES[0], SENTENCES[1]))
    stream = KeptBack(reply, file)
    await stream.feed(THREE)
    await stream.close()
    assert kept == [SENTENCES[2]]
