"""Several rooms and one mind: each is answered where it spoke, whatever the others say and hear."""

import asyncio
import json
from pathlib import Path

import pytest

from agent.event import HOME_WATCH, Event
from agent.intents.model import OfflineModel
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.reflexes.verbs import Order
from appliance.rooms.arbitration import ECHO, PATIENCE
from tests.appliance.rooms.home import Home, live
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import passed


def answering(*replies: str) -> ScriptedModel:
    """Return a model that answers one event after the other by a reply."""
    script = [calls(("reply", json.dumps({"text": each})), prefix=f"r{at}") for at, each in enumerate(replies)]
    return ScriptedModel(*script)


def own(name: str, **metadata: str) -> Event:
    """Return an event of the house that somebody waits for."""
    return Event(HOME_WATCH, name, id=name, source="home", metadata=metadata)


@pytest.mark.shows("V28")
def test_each_room_is_answered_where_somebody_spoke(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], ...]:
        await home.kitchen.hears("what is the time")
        await home.over()
        await home.study.hears("is it cold outside")
        await home.over()
        await home.says("and what about me")
        await home.over()
        return home.kitchen.heard, home.study.heard, home.own.heard

    model = answering("It is nine.", "It is very cold.", "You are at the box.")
    assert live(tmp_path, story, [model]) == (["It is nine."], ["It is very cold."], ["You are at the box."])
    blocks = [next(m.content for m in reversed(each) if m.role == "user") for each in model.requests]
    rooms = [block.partition("<Room>")[2].partition("</Room>")[0] for block in blocks]
    assert rooms == ["kitchen; others: box, study", "study; others: box, kitchen", "box; others: kitchen, study"]


@pytest.mark.shows("V28")
def test_two_people_in_two_rooms_at_once_are_two_events_and_both_are_told(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], list[str], list[str]]:
        async with asyncio.TaskGroup() as group:
            group.create_task(home.kitchen.hears("turn off the light in the hall", 1.5))
            group.create_task(home.study.hears("what is the weather going to be", 1.6))
        await home.over()
        return [event.content for event in await home.events()], home.kitchen.heard, home.study.heard

    model = answering("The light is off. It was on for three hours today, all in all.", "It will rain.")
    events, kitchen, study = live(tmp_path, story, [model])
    assert sorted(events) == ["turn off the light in the hall", "what is the weather going to be"]
    first, second = (kitchen, study) if events[0].startswith("turn") else (study, kitchen)
    assert first[0] == "The light is off."
    assert second == ["One moment.", "It will rain."], "told at once that it was heard, and answered behind the other"


@pytest.mark.shows("V28")
@pytest.mark.parametrize("better", ["kitchen", "study"])
def test_a_sentence_that_two_rooms_hear_is_one_event_of_the_better_one(tmp_path: Path, better: str) -> None:
    async def story(home: Home) -> tuple[list[str], list[str], list[dict[str, object]]]:
        snr = {"kitchen": 8.0, "study": 8.0, better: 24.0}
        async with asyncio.TaskGroup() as group:
            group.create_task(home.kitchen.hears("set the heating to twenty degrees", snr=snr["kitchen"]))
            await passed(0.05)  # of sound, and of a device's chunks
            group.create_task(home.study.hears("set the eating to twenty degree", snr=snr["study"]))
        await home.over()
        await passed(0.1)
        echoes = await home.box.insight.journal.entries(topic=EARS_SUPPRESSED)
        events = await home.events()
        assert [echo.body["echo_of"] for echo in echoes] == [events[0].id]
        return (
            [str(event.metadata["room"]) for event in events],
            home.kitchen.heard + home.study.heard,
            [dict(echo.body) for echo in echoes],
        )

    rooms, said, (echo,) = live(tmp_path, story, [answering("All right.")])
    assert (rooms, said) == ([better], ["All right."])
    assert (echo["reason"], echo["heard_in"], echo["room"]) == (
        ECHO,
        better,
        {"kitchen": "study", "study": "kitchen"}[better],
    )
    assert echo["better"] == {"snr_db": 24.0, "level_dbfs": -25.0, "avg_logprob": -0.3}
    assert echo["here"] == {"snr_db": 8.0, "level_dbfs": -25.0, "avg_logprob": -0.3}


@pytest.mark.shows("V28")
def test_words_that_come_much_later_from_the_other_room_are_its_echo_all_the_same(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], float, list[str]]:
        began = home.kitchen.clock()
        async with asyncio.TaskGroup() as group:
            kitchen = group.create_task(home.kitchen.hears("what is for dinner tonight", snr=5.0))
            slow = group.create_task(home.study.hears("what's for dinner tonight", recognized_in=6.0, snr=30.0))
            await kitchen
            waited = home.kitchen.clock() - began - 1.2 - 0.3
        await home.over()
        return [event.content for event in await home.events()], waited, [kitchen.result(), slow.result()]

    events, waited, reasons = live(tmp_path, story, [answering("Soup.")])
    assert (events, reasons) == (["what is for dinner tonight"], ["", ECHO])
    assert waited == pytest.approx(PATIENCE, abs=0.01), "bounded, however slow the other one is"


@pytest.mark.shows("V28")
def test_a_room_that_hears_alone_never_waits(tmp_path: Path) -> None:
    async def story(home: Home) -> float:
        await home.study.hears("hello there my friend")
        began = home.kitchen.clock()
        await home.kitchen.hears("what is for dinner tonight")
        return home.kitchen.clock() - began

    assert live(tmp_path, story, [answering("Hello.", "Soup.")]) == pytest.approx(1.5, abs=1e-6)


@pytest.mark.shows("V28")
def test_what_it_says_in_one_room_is_no_turn_of_another(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[str, list[str]]:
        await home.kitchen.hears("tell me about the garden")
        while home.kitchen.room.speech.current is None:
            await passed(0.05)
        return await home.study.hears("the roses are dry and want water", 1.4), home.kitchen.heard

    reply = "The roses are dry and want water."
    reason, _ = live(tmp_path, story, [answering(reply)])
    assert reason == "its own words"


@pytest.mark.shows("V28")
def test_speech_in_one_room_does_not_stop_a_reply_in_another(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], list[bool], list[str]]:
        await home.kitchen.hears("tell me about the garden")
        while home.kitchen.room.speech.current is None:
            await passed(0.05)
        await home.study.hears("is anybody at the door")
        await home.over()
        return home.kitchen.heard, home.kitchen.ledger.is_whole, home.study.heard

    long = "The roses are dry and want a lot of water. The lawn was cut on Monday and the hedge was left alone."
    kitchen, whole, study = live(tmp_path, story, [answering(long, "Nobody.")])
    assert " ".join(kitchen) == long
    assert all(whole)
    assert study[-1] in {"One moment.", "Nobody."}


@pytest.mark.shows("V28")
def test_stop_said_beside_the_box_is_not_for_another_room(tmp_path: Path) -> None:
    async def story(home: Home) -> list[bool]:
        await home.kitchen.hears("tell me about the garden")
        while home.kitchen.room.speech.current is None:
            await passed(0.05)
        await home.box.input.reflexes.told(Order("stop"), "stop", "committed")
        await home.over()
        return home.kitchen.ledger.is_whole

    long = "The roses are dry and want a lot of water and so does the lawn that was cut on Monday."
    assert live(tmp_path, story, [answering(long)]) == [True]


@pytest.mark.shows("V28")
def test_an_answer_whose_room_is_unplugged_is_told_there_when_it_is_back(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], list[str], list[str]]:
        await home.kitchen.hears("when does the train leave")
        home.kitchen.go_away()
        await home.over()
        await passed(60.0)
        before = home.kitchen.heard + home.own.heard + home.study.heard
        home.kitchen.is_there = True
        await passed(20.0)
        return before, home.kitchen.heard, home.own.heard + home.study.heard

    before, there, elsewhere = live(tmp_path, story, [answering("At ten past nine.")])
    assert (before, there, elsewhere) == ([], ["At ten past nine."], [])


@pytest.mark.shows("V28")
def test_a_room_unplugged_in_the_middle_of_the_first_sentence_loses_only_the_rest(tmp_path: Path) -> None:
    async def story(home: Home) -> list[str]:
        await home.kitchen.hears("when does the train leave")
        while home.kitchen.room.speech.current is None:
            await passed(0.05)
        await passed(0.7)
        home.kitchen.go_away()
        await home.over()
        home.kitchen.is_there = True
        await passed(120.0)
        return home.kitchen.heard

    heard = live(tmp_path, story, [answering("The train leaves at ten past nine from the second platform.")])
    assert len(heard) == 1
    assert heard[0].startswith("The train")


@pytest.mark.shows("V28")
def test_an_answer_for_a_room_that_never_comes_back_is_told_nowhere(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], str]:
        home.kitchen.is_there = False
        await home.kitchen.hears("when does the train leave")
        await home.over()
        await passed(3600.0)
        ask = await home.says("and?")
        await home.over()
        return home.own.heard + home.study.heard + home.kitchen.heard, ask.content

    said, _ = live(tmp_path, story, [answering("At ten past nine.", "Nothing.")])
    assert said == ["Nothing."]


@pytest.mark.shows("V28")
def test_it_can_be_asked_to_say_something_in_another_room_without_a_model(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], list[str], list[str]]:
        await home.kitchen.hears("say dinner is ready in the study")
        await home.over()
        await home.study.hears("announce everywhere that the taxi is here")
        await home.over()
        await home.kitchen.hears("say hello in the cellar")
        await home.over()
        return home.kitchen.heard, home.study.heard, home.own.heard

    kitchen, study, own = live(tmp_path, story, [OfflineModel()])
    assert study == ["dinner is ready", "the taxi is here", "All right, I said it."]
    assert own == ["the taxi is here"]
    assert kitchen == [
        "All right, I said it.",
        "the taxi is here",
        "There is no such room.",
        "I can speak here: box, kitchen, study.",
    ]


def test_a_room_that_is_away_is_told_from_one_that_never_was(tmp_path: Path) -> None:
    async def story(home: Home) -> list[str]:
        home.study.go_away()
        await home.kitchen.hears("say dinner is ready in the study")
        await home.over()
        return home.kitchen.heard

    kitchen = live(tmp_path, story, [OfflineModel()])
    assert kitchen == ["That room cannot be reached just now.", "I can speak here: box, kitchen."]


def test_and_in_chinese(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], list[str]]:
        await home.kitchen.hears("在study说饭好了")
        await home.over()
        return home.study.heard, home.kitchen.heard

    study, kitchen = live(tmp_path, story, [OfflineModel()])
    assert study == ["饭好了"]
    assert kitchen == ["好的，已经说了。"]


@pytest.mark.shows("V28")
def test_the_agent_says_something_in_another_room_and_only_there(tmp_path: Path) -> None:
    asked = ("reply", json.dumps({"room": "study", "text": "Come and eat."}))
    told = ("reply", json.dumps({"text": "They know."}))

    async def story(home: Home) -> tuple[list[str], list[str]]:
        await home.kitchen.hears("call them please")
        await home.over()
        return home.study.heard, home.kitchen.heard

    assert live(tmp_path, story, [ScriptedModel(calls(asked, told))]) == (["Come and eat."], ["They know."])


def test_a_plan_of_its_own_is_told_where_it_was_made_and_else_where_somebody_is(tmp_path: Path) -> None:
    async def story(home: Home) -> tuple[list[str], list[str], list[str]]:
        await home.study.hears("hello my friend")
        await home.over()
        await home.box.output.announcements.file(own("a"), "The wash is done.")
        await passed(30.0)
        await home.box.output.announcements.file(own("b", room="kitchen"), "The soup boils over.")
        await passed(60.0)
        return home.study.heard[1:], home.kitchen.heard, home.own.heard

    assert live(tmp_path, story, [answering("Hello.")]) == (["The wash is done."], ["The soup boils over."], [])
