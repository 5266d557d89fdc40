"""The calendar, asked for without a model, and its reminders."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from agent.calendars.agenda import Entry, Occurrence
from agent.calendars.household import reminder_event
from agent.calendars.reminders import Reminder
from agent.event import CALENDAR, HOUSEHOLD, USER_TEXT, Event
from agent.tools.calendar import calendar_tools
from agent.tools.tool import Call, from_outside, run_tool
from tests.agent.calendars.household import ZONE, a_home
from tests.agent.calendars.household import at as entry_at
from tests.agent.clock import MORNING
from tests.agent.intents.test_mind import a_house
from tests.agent.mcp_house import shares
from tests.agent.offline_talk import OFFLINE, SPECS, Talk, without

pytestmark = pytest.mark.shows("X11", "V30")

DENTIST = {"title": "Dentist", "begin": "2026-11-21T15:30"}
BIRTHDAY = {"title": "Ada's birthday.", "begin": "2026-11-21"}
"""A Saturday; it is eleven in the morning at home."""
NOW = {"name": "calendar_events", "start": "2026-11-21T11:00", "end": "2027-11-21"}


@pytest.fixture
def asked() -> Talk:
    """A talk in a box with a calendar."""
    return Talk(OFFLINE, without("set_volume", "device"))


def told(*events: dict[str, str], more: int = 0, **stale: str) -> str:
    """What the tool answers."""
    lost = {"not_up_to_date": [{"calendar": "family", **stale}]} if stale else {}
    body = {"from": "…", "events": [*events], **({"more": more} if more else {}), **lost}
    return from_outside(json.dumps(body, ensure_ascii=False), "calendar")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "What is on tomorrow?",
            "Tomorrow there is nothing in the calendar. I could not read all of the calendar family.",
        ),
        ("明天有什么安排？", "明天没有安排。日历family太大，我没能读完。"),
    ],
)
async def test_of_a_calendar_that_was_too_long_it_says_that_some_is_missing(asked: Talk, words: str, said: str) -> None:
    body = json.dumps({"events": [], "not_read_whole": ["family"]})
    asked.hear(words)
    await asked.calls(from_outside(body, "calendar"))
    assert await asked.says() == said


@pytest.mark.parametrize(
    ("words", "day", "said"),
    [
        (
            "What is on today?",
            21,
            "Today there is: all day, Ada's birthday; at half past three in the afternoon, Dentist.",
        ),
        (
            "What's on my calendar?",
            21,
            "Today there is: all day, Ada's birthday; at half past three in the afternoon, Dentist.",
        ),
        ("What do I have tomorrow?", 22, "Tomorrow there is: all day, Ada's birthday; all day, Dentist."),
        ("今天有什么安排？", 21, "今天有：全天，Ada's birthday；下午3点半，Dentist。"),
        ("明天我有什么日程", 22, "明天有：全天，Ada's birthday；全天，Dentist。"),
    ],
)
async def test_a_day_is_told(asked: Talk, words: str, day: int, said: str) -> None:
    asked.hear(words)
    wanted = f"2026-11-{day}"
    assert await asked.calls(told(BIRTHDAY, DENTIST)) == [("calendar_events", {"start": wanted, "end": wanted})]
    assert await asked.says() == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("What is my next appointment?", "Next comes this, today at half past three in the afternoon: Dentist."),
        ("When is my next meeting", "Next comes this, today at half past three in the afternoon: Dentist."),
        ("我下一个约会是什么时候？", "接下来是今天下午3点半：Dentist。"),
    ],
)
async def test_what_comes_next_is_told(asked: Talk, words: str, said: str) -> None:
    asked.hear(words)
    ((name, given),) = await asked.calls(told(BIRTHDAY, {"title": "Now", "begin": "2026-11-21T10:30"}, DENTIST))
    assert {"name": name, **given} == NOW
    assert await asked.says() == said


@pytest.mark.parametrize(
    ("words", "answer", "said"),
    [
        ("What is on today?", told(), "Today there is nothing in the calendar."),
        ("今天有安排吗", told(), "今天没有安排。"),
        ("What is my next appointment?", told(), "There is nothing more in the calendar."),
        (
            "What is on today?",
            told(*[BIRTHDAY] * 7, more=2),
            f"Today there is: {'; '.join(['all day, Ada' + chr(39) + 's birthday'] * 5)}; and 4 more things.",
        ),
        ("What is on today?", "error: it is broken", "That did not work: it is broken."),
        ("What is on today?", "garbage", "Today there is nothing in the calendar."),
    ],
)
async def test_nothing_much_and_trouble_are_told(asked: Talk, words: str, answer: str, said: str) -> None:
    asked.hear(words)
    await asked.calls(answer)
    assert await asked.says() == said


@pytest.mark.parametrize(
    ("as_of", "words", "said"),
    [
        ("2026-11-21T09:00", "What is on today?", "Today there is: at half past three in the afternoon, Dentist. "
            "The calendar family cannot be reached; I know it as it was two hours ago."),
        ("2026-11-19T10:00", "我下一个约会是什么", "接下来是今天下午3点半：Dentist。"
            "日历family现在连不上，这是两天前的内容。"),
        ("2026-11-21T11:00", "What is on tomorrow?", "Tomorrow there is: all day, Dentist. "
            "The calendar family cannot be reached; I know it as it was a minute ago."),
    ],
)  # fmt: skip
async def test_an_old_copy_says_how_old_it_is(asked: Talk, as_of: str, words: str, said: str) -> None:
    asked.hear(words)
    await asked.calls(told(DENTIST, as_of=as_of, reason="it cannot be reached"))
    assert await asked.says() == said


async def test_a_calendar_that_was_never_read_is_said_to_be_so(asked: Talk) -> None:
    asked.hear("What is on today?")
    await asked.calls(told(as_of="", reason="it refuses the user or the password"))
    assert await asked.says() == "I cannot read the calendar family: it refuses the user or the password."


async def test_without_a_calendar_it_is_asked_of_what_was_told(talk: Talk) -> None:
    assert all(spec.name != "calendar_events" for spec in SPECS)
    talk.hear("What is on today?")
    assert {name for name, _ in await talk.answer()} == {"recall"}


async def test_the_real_tool_is_understood(tmp_path: Path, asked: Talk) -> None:
    async with a_home(tmp_path) as home:
        home.source.write(entry_at(MORNING + timedelta(hours=4)))
        asked.hear("What is my next appointment?")
        ((name, given),) = await asked.answer()
        tool = next(each for each in calendar_tools(home.calendars(), shares) if each.name == name)
        asked.result(await run_tool(tool, json.dumps(given), Call("call", Event(USER_TEXT, owner_key=HOUSEHOLD))))
    assert await asked.says() == "Next comes this, today at three o'clock in the afternoon: Dentist."


@pytest.mark.parametrize(
    ("begin", "language", "said"),
    [
        (MORNING + timedelta(minutes=15), "en", "In 15 minutes: Dentist."),
        (MORNING + timedelta(minutes=15), "zh", "15分钟后：Dentist。"),
        (MORNING + timedelta(seconds=20), "en", "It is time: Dentist."),
        (date(2026, 11, 22), "en", "Tomorrow: Dentist."),
    ],
)
async def test_a_reminder_is_announced(talk: Talk, begin: date, language: str, said: str) -> None:
    if language == "zh":
        talk.hear("现在几点了")
        await talk.says()
    end = begin + timedelta(days=1)
    occurrence = Occurrence(Entry("1", "Dentist", "Main Street", ""), begin, end)
    event = reminder_event(Reminder(MORNING, occurrence, "family", 0.0), ZONE, MORNING)
    assert isinstance(event.created_at, datetime)
    talk.happen(event.content, CALENDAR)
    assert await talk.says() == said


async def test_a_reminder_is_spoken_by_a_mind_without_a_model_and_once(tmp_path: Path) -> None:
    begin = datetime.now(UTC) + timedelta(hours=2)
    occurrence = Occurrence(Entry("1", "Dentist", "", ""), begin, begin + timedelta(hours=1))
    event = reminder_event(Reminder(begin, occurrence, "family", 0.0), ZONE, begin - timedelta(hours=2))
    async with a_house(tmp_path) as house:
        await house.handle(event)
        assert await house.state_of(event) == "completed"
        assert not await house.mailbox.enqueue(event)
        (said,) = house.outlet.said
        assert "Dentist" in said


async def test_a_reminder_that_says_nothing_of_itself_is_one_all_the_same(talk: Talk) -> None:
    talk.happen("something else", CALENDAR)
    assert await talk.says() == "There is a reminder in your calendar."
