"""The offline model in a whole mind: real loop, real mailbox, real journal, real tools."""

import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.context.block import parse
from agent.context.situation import place_in_time, waited
from agent.event import SELF_CREATED, TIMER, Event
from agent.intents.model import OfflineModel
from agent.loop import Loop
from agent.mailbox import MailboxRecord
from agent.model.interface import ChatModel
from agent.run.budget import RunLimits
from agent.tools.journal import recall_tool
from agent.tools.registry.registry import ToolRegistry
from agent.tools.timers import timer_tools
from appliance.reflexes.forget import Forgetting, no_graph
from appliance.wiring.memory.state import State
from memory.recall import Recall
from memory.state.images import FOLDER, Images
from memory.vectors.embedding import NoEmbedder
from tests.agent.mind import SYSTEM, OnePrompt, TestMind, a_mind, spoken, typed
from tests.fakes import ScriptedModel, UnreachableModel, calls

YESTERYEAR = datetime(2020, 5, 1, 10, 0, tzinfo=UTC)
"""A timer set then is due at once for a mailbox that lives today."""


@asynccontextmanager
async def a_house(
    folder: Path, models: Sequence[ChatModel] = (), now: datetime | None = None
) -> AsyncIterator[TestMind]:
    """A mind with timers and recall; `now` is its clock, real time when it is not given."""

    def clock() -> datetime:
        return now or datetime.now(UTC)

    async with a_mind(folder, models or [OfflineModel()]) as house:
        tools = [
            *house.mind.registry,
            *timer_tools(house.mailbox, clock),
            recall_tool(Recall(house.journal, NoEmbedder())),
        ]
        mind = replace(house.mind, registry=ToolRegistry(tools))
        situation = [place_in_time(UTC, clock), waited(clock)]
        loop = Loop(mind, house.attention, OnePrompt(SYSTEM), situation, clock, RunLimits())
        yield dataclasses.replace(house, mind=mind, loop=loop)


async def model_calls(house: TestMind, event: Event) -> int:
    return (await house.topics(event)).count("llm.requests")


async def hear(house: TestMind, words: str, confidence: str = "normal", at: datetime | None = None) -> str:
    """Say something, now where no moment is given, and return what is answered."""
    before = len(house.outlet.said)
    evidence = {"evidence": {"confidence": confidence}}
    event = replace(spoken(words, metadata=evidence), created_at=at or datetime.now(UTC))
    await house.handle(event)
    assert await house.state_of(event) == "completed"
    return " ".join(house.outlet.said[before:])


async def its_own(house: TestMind) -> MailboxRecord:
    """Return the one event it left itself."""
    [accepted] = [
        entry for entry in await house.journal.entries(topic="tools.requests") if "create_event" in str(entry.body)
    ]
    children = [
        entry.event_id for entry in await house.journal.entries(topic="runs.new") if entry.body.get("source") == "self"
    ]
    filed = await house.mailbox.find(children[0])
    assert filed is not None
    assert filed.event.parent_id == accepted.event_id
    return filed


@pytest.mark.shows("V30", "B3")
async def test_a_question_of_time_costs_one_model_call(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        event = spoken("What time is it?")
        await house.handle(event)
        assert await house.state_of(event) == "completed"
        assert house.outlet.said[0].startswith("It is ")
        assert await model_calls(house, event) == 1


async def test_now_is_when_it_answers_and_minutes_count_from_when_they_were_said(
    tmp_path: Path,
) -> None:
    said, told = YESTERYEAR + timedelta(minutes=18, seconds=1), "It is 10:18 in the morning."
    async with a_house(tmp_path, now=said + timedelta(seconds=52)) as house:
        assert await hear(house, "What time is it?", at=said - timedelta(seconds=2)) == told
        await hear(house, "Set a timer for five minutes.", at=said)
        [timer] = await house.mailbox.waiting(TIMER, "household")
        assert timer.not_before == said + timedelta(minutes=5)


@pytest.mark.shows("V30")
async def test_a_status_report_counts_what_waits_and_the_timers(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        await hear(house, "Set a timer for ten minutes.")
        told = "In my mailbox: 1 waiting, 0 put aside, 0 given up. Timers: 1."
        assert (await hear(house, "Status report.")).endswith(told)
        await hear(house, "Cancel the timer.")
        told = "信箱里有0件在等，0件搁置，0件放弃。 计时器有0个。"
        assert (await hear(house, "状态")).endswith(told)
        assert "/help lists the commands" in await hear(house, "help")


@pytest.mark.shows("V30")
async def test_each_of_several_wishes_is_done_and_told(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        told = await hear(house, "Set a timer for ten minutes, and another for twelve, and set an alarm for seven.")
        assert told.split(". ")[:2] == ["Your timer is set for ten minutes", "Your timer is set for twelve minutes"]
        assert "The alarm is set for seven" in told
        assert (await hear(house, "Status report.")).endswith("Timers: 3.")


@pytest.mark.shows("V23", "V30")
async def test_a_timer_is_set_and_rings(tmp_path: Path) -> None:
    async with a_house(tmp_path, now=YESTERYEAR) as house:
        event = spoken("Set a timer for five minutes.")
        await house.handle(event)
        assert house.outlet.said == ["Your timer is set for five minutes."]
        assert await model_calls(house, event) == 2
        [timer] = await house.mailbox.waiting(TIMER, "household")
        assert timer.not_before == YESTERYEAR + timedelta(minutes=5)
        await house.handle_next()
        assert house.outlet.said[1:] == ["Your five-minute timer is up."]
        assert await house.state_of(timer) == "completed"


@pytest.mark.shows("V23", "V30")
async def test_a_timer_that_came_due_while_the_machine_was_off_rings_late_and_says_so(tmp_path: Path) -> None:
    async with a_house(tmp_path, now=YESTERYEAR) as house:
        await house.handle(spoken("Set a pasta timer for ten minutes."))
    async with a_house(tmp_path, now=YESTERYEAR + timedelta(minutes=30)) as house:
        await house.handle_next()
        assert house.outlet.said == ["Time is up: pasta.", "It was due 20 minutes ago, while I was off."]


@pytest.mark.shows("V30", "V23")
async def test_what_rings_every_day_is_left_out_tomorrow_and_goes_on(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        assert "every day" in await hear(house, "Wake me every day at seven.")
        assert (await hear(house, "Don't wake me tomorrow.")).endswith("after that it rings as before.")
        comes_today = (
            datetime.now(UTC).hour < 7
        )  # at night today's is the next, and tomorrow's is left out all the same
        assert ("the day after tomorrow" in await hear(house, "What alarms are set?")) != comes_today
        assert await hear(house, "明天别叫我了") == "明天没有闹钟。"


@pytest.mark.shows("V30")
async def test_timers_are_listed_and_cancelled(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        assert await hear(house, "Set a timer for ten minutes.") == "Your timer is set for ten minutes."
        assert await hear(house, "二十分钟后提醒我关火") == "20分钟后我会提醒你：关火。"
        told = await hear(house, "What timers do I have?")
        assert "left on your ten-minute timer." in told
        assert "I will remind you in 20 minutes: 关火." in told
        assert await hear(house, "Cancel the ten minute timer.") == "All right, I cancelled your ten-minute timer."
        assert await hear(house, "取消所有计时器") == "好的，已经取消了。"
        assert await hear(house, "How much time is left?") == "No timer is set."


@pytest.mark.shows("V30", "G13")
async def test_an_alarm_is_set_for_the_time_that_was_said(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        said = await hear(house, "Remind me to call my mother tomorrow at nine in the morning.")
        assert said == "I will remind you at nine o'clock in the morning tomorrow: call your mother."
        [alarm] = await house.mailbox.waiting(TIMER, "household")
        tomorrow = datetime.now(UTC).date() + timedelta(days=1)
        assert alarm.not_before == datetime(tomorrow.year, tomorrow.month, tomorrow.day, 9, tzinfo=UTC)


@pytest.mark.shows("V30", "D4")
async def test_what_was_to_be_remembered_is_recalled_after_a_restart(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        said = await hear(house, "Remember that my keys are in the drawer.")
        assert said == "I will keep that: your keys are in the drawer."
        assert await hear(house, "记住我妹妹叫安娜") == "我记住了：你妹妹叫安娜。"
    async with a_house(tmp_path) as house:
        await house.handle_next()
        await house.handle_next()
        assert house.outlet.said == []
        assert await hear(house, "Where are my keys?") == "You told me: your keys are in the drawer."
        assert await hear(house, "我妹妹叫什么名字？") == "你告诉过我：你妹妹叫安娜。"
        assert (await hear(house, "Where is my phone?")).startswith("I find nothing about that")


async def test_it_is_found_also_after_it_was_asked_for_many_times(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        await hear(house, "Remember that my keys are in the drawer.")
        await house.handle_next()
        for _ in range(25):
            assert await hear(house, "Where are my keys?") == "You told me: your keys are in the drawer."


async def test_the_newest_word_counts(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        for place in ("drawer", "hall", "car"):
            await hear(house, f"Remember that my keys are in the {place}.")
            await house.handle_next()
        assert await hear(house, "Where are my keys?") == "You told me: your keys are in the car."


async def test_what_one_client_was_told_another_may_ask(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        await house.handle(typed("remember that the wifi password is rosebud", "laptop"))
        await house.handle_next()
        assert await hear(house, "What is the wifi password?") == "You told me: the wifi password is rosebud."


@pytest.mark.shows("V30", "A11")
async def test_its_own_work_waits_and_goes_on_when_a_model_is_back(tmp_path: Path) -> None:
    chosen = ScriptedModel(
        calls(("reply", '{"text": "Hello again."}'), prefix="a"),
        calls(("complete_event", '{"summary": "written"}'), prefix="b"),
    )
    async with a_house(tmp_path) as house:
        await hear(house, "Remember that my keys are in the drawer.")
        await house.handle_next()
        assert (await its_own(house)).state == "suspended"
        assert (await its_own(house)).waits_for == "model_available"
    async with a_house(tmp_path, [chosen, OfflineModel()]) as house:
        await house.handle(spoken("hello"))
        await house.handle_next()
        assert (await its_own(house)).state == "completed"
    handed = parse(chosen.requests[1][-1].content)
    assert handed is not None
    assert handed.event_type == SELF_CREATED
    assert "“my keys are in the drawer”" in handed.words
    assert "nothing was done yet" in handed.situation["Note"]


@pytest.mark.shows("F6", "V30")
async def test_it_answers_where_the_chosen_model_cannot(tmp_path: Path) -> None:
    async with a_house(tmp_path, [UnreachableModel(), OfflineModel()]) as house:
        assert (await hear(house, "What time is it?")).startswith("It is ")
        joke = spoken("Tell me a joke.")
        await house.handle(joke)
        assert house.outlet.said[-2].startswith("I heard you, but I cannot reach the model")
        assert await house.state_of(joke) == "suspended", "what takes a model waits for one"


@pytest.mark.shows("V12", "V30")
async def test_what_was_hard_to_hear_takes_effect_only_after_a_yes(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        assert await hear(house, "set a timer for five minutes", "low") == "Did you say: set a timer for five minutes?"
        assert await house.mailbox.waiting(TIMER, "household") == []
        assert await hear(house, "Yes.") == "Your timer is set for five minutes."
        assert len(await house.mailbox.waiting(TIMER, "household")) == 1
        assert await hear(house, "cancel the timer", "low") == "Did you say: cancel the timer?"
        assert await hear(house, "no") == "All right, I leave it."
        assert len(await house.mailbox.waiting(TIMER, "household")) == 1


@pytest.mark.shows("V29", "V30")
async def test_what_is_forgotten_is_not_found_again_nor_left_for_a_model(tmp_path: Path) -> None:
    async with a_house(tmp_path) as house:
        await hear(house, "Remember that the spare key is under the mat.")
        await hear(house, "Remember that the xylophone is under the apple tree.")
        for _ in range(2):
            await house.handle_next()
        interrupt, images = house.loop.interrupt, Images(tmp_path / FOLDER, house.journal.database)
        state = State(house.journal, house.mailbox, house.mind.bus, images)
        forgetting = Forgetting(state, house.mind.contexts, interrupt, no_graph, None)
        assert (await forgetting.last()).did == "forgotten"
        assert (await hear(house, "Where is the xylophone?")).startswith("I find nothing about that")
        assert await hear(house, "Where is the spare key?") == "You told me: the spare key is under the mat."
    assert not on_disk(tmp_path, "apple tree")


def on_disk(folder: Path, words: str) -> bool:
    return any(words.encode() in file.read_bytes() for file in folder.iterdir())
