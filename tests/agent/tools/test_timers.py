"""Timers and alarms as tools, over a real mailbox: durable events, at times as people and models write them."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest

from agent.event import TIMER, Event
from agent.tools.timers import chosen, duration, late_seconds, moment, timer_tools
from agent.tools.tool import Call, run_tool
from memory.json_value import Json
from tests.agent.clock import MORNING, Clock
from tests.agent.mailboxes import NothingDue, Rig, filed, finish, handled, sqlite

BERLIN = ZoneInfo("Europe/Berlin")
ASKED = Event("asr_transcript", "set a timer", owner_key="household", session_id="desk", id="asked")


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with sqlite(tmp_path) as rig:
        yield rig


async def call(rig: Rig, name: str, event: Event = ASKED, **arguments: Json) -> str:
    tools = {tool.name: tool for tool in timer_tools(rig.mailbox, rig.clock, "Europe/Berlin")}
    return await run_tool(tools[name], json.dumps(arguments), Call("c1", event))


async def labels(rig: Rig, event: Event = ASKED) -> list[str]:
    timers = await call(rig, "list_timers", event)
    return [timer["label"] for timer in json.loads(timers)] if timers.startswith("[") else []


@pytest.mark.shows("V23", "A9")
async def test_a_timer_is_an_event_at_its_time(rig: Rig) -> None:
    told = json.loads(await call(rig, "set_timer", seconds=300, label="pasta"))
    assert (told["label"], told["due"], told["left"]) == ("pasta", "2026-11-21 11:05:00 CET", "5 minutes")
    rig.clock.advance(299)
    with pytest.raises(NothingDue):
        await rig.take_now()
    rig.clock.advance(1)
    event = (await rig.take_now()).event
    assert event == Event(
        TIMER,
        "Timer 'pasta' (5 minutes) is due.",
        id=told["id"],
        session_id="desk",
        parent_id="asked",
        source="timer",
        priority=20,
        not_before=rig.clock(),
        metadata={
            "label": "pasta",
            "set_at": "2026-11-21 10:00:00 UTC",
            "due": "2026-11-21 10:05:00 UTC",
            "counts": True,
        },
        created_at=MORNING,
    )


@pytest.mark.shows("V23", "A9")
async def test_a_timer_due_while_the_machine_was_off_comes_exactly_once_and_is_late(rig: Rig) -> None:
    await call(rig, "set_timer", seconds=300)
    rig.clock.advance(3600)
    await rig.restart()
    hand = await rig.take_now()
    assert hand.event.content == "Timer (5 minutes) is due."
    assert late_seconds(hand.event, rig.clock()) == 3300.0
    await finish(rig, hand.event.id)
    await rig.restart()
    assert await handled(rig) == []


def test_only_what_comes_a_second_after_its_time_is_late() -> None:
    timer = Event(TIMER, not_before=MORNING)
    clock = Clock()
    assert [late_seconds(timer, clock.after(seconds)) for seconds in (-5, 0, 0.99, 1, 90)] == [0, 0, 0, 1, 90]
    assert late_seconds(Event(TIMER), clock()) == 0


@pytest.mark.shows("V23")
async def test_a_timer_comes_before_what_a_person_says(rig: Rig) -> None:
    await call(rig, "set_timer", seconds=60, label="tea")
    await filed(rig, Event("user_text", "hello", priority=10))
    rig.clock.advance(60)
    assert await handled(rig) == ["Timer 'tea' (1 minute) is due.", "hello"]


@pytest.mark.shows("V23")
async def test_an_alarm_is_meant_in_local_time(rig: Rig) -> None:
    told = json.loads(await call(rig, "set_alarm", at="07:30", label="school"))
    assert told["due"] == "2026-11-22 07:30:00 CET"
    assert told["left"] == "20 hours 30 minutes"
    rig.clock.advance(20.5 * 3600)
    assert await handled(rig) == ["Alarm 'school' (2026-11-22 07:30:00 CET) is due."]


@pytest.mark.shows("V23")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("07:30", "2026-11-22 06:30"),  # has been today
        ("11:30", "2026-11-21 10:30"),
        ("11:00", "2026-11-22 10:00"),  # is just now
        ("10:30Z", "2026-11-21 10:30"),
        ("2026-11-22T07:30", "2026-11-22 06:30"),
        ("2026-11-22T07:30:00+08:00", "2026-11-21 23:30"),
        ("2026-11-22 06:30:00 UTC", "2026-11-22 06:30"),
        (" 2026-11-22T06:30Z ", "2026-11-22 06:30"),
        ("2027-07-01T08:00", "2027-07-01 06:00"),  # summer time
        ("2027-03-28T02:30", "2027-03-28 01:30"),  # skipped: 03:30, as long after as it would have been
        ("2027-10-31T02:30", "2027-10-31 00:30"),  # comes twice: the first
        ("2020-01-01T00:00", "2019-12-31 23:00"),  # past, and for the caller to judge
    ],
)
def test_times_as_people_and_models_write_them(text: str, expected: str) -> None:
    assert moment(text, MORNING, BERLIN) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "25:00", "2026-13-01T00:00", "in 5 minutes", "UTC"),
        *("9999-12-31T23:59-05:00", "9999-12-31T23:59", "0001-01-01T00:00", "0001-01-01T00:00+14:00"),
    ],
)
def test_a_text_that_is_no_time_is_none(text: str) -> None:
    assert moment(text, MORNING, BERLIN) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 seconds"),
        (1, "1 second"),
        (90, "1 minute 30 seconds"),
        (300, "5 minutes"),
        (5400, "1 hour 30 minutes"),
        (86_400 + 7200, "1 day 2 hours"),
    ],
)
def test_a_length_of_time_as_a_person_says_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.shows("V23", "F12")
async def test_timers_are_listed_with_what_is_left_and_only_to_their_owner(rig: Rig) -> None:
    guest = Event("user_text", owner_key="guest")
    assert await call(rig, "list_timers") == "no timer is set"
    await call(rig, "set_timer", seconds=600, label="bread")
    await call(rig, "set_timer", seconds=60, label="eggs")
    await call(rig, "set_timer", guest, seconds=30, label="hidden")
    rig.clock.advance(20)
    await rig.restart()
    shown = json.loads(await call(rig, "list_timers"))
    assert [(timer["label"], timer["left"]) for timer in shown] == [
        ("eggs", "40 seconds"),
        ("bread", "9 minutes 40 seconds"),
    ]
    assert await labels(rig, guest) == ["hidden"]
    assert "no timer 'bread'" in await call(rig, "cancel_timer", guest, which="bread")


@pytest.mark.shows("V23")
async def test_a_timer_is_cancelled_by_id_label_or_as_the_next(rig: Rig) -> None:
    for seconds, label in ((600, "Bread"), (60, "eggs"), (1200, "green tea"), (1800, "")):
        told = json.loads(await call(rig, "set_timer", seconds=seconds, label=label))
    assert json.loads(await call(rig, "cancel_timer"))["cancelled"]["label"] == "eggs"
    assert json.loads(await call(rig, "cancel_timer", which="bread "))["still_set"] == 2
    assert await call(rig, "cancel_timer", which="cake") == (
        "error: there is no timer 'cake'; set are: green tea, (no label)"
    )
    assert json.loads(await call(rig, "cancel_timer", which=told["id"]))["cancelled"]["label"] == ""
    assert await labels(rig) == ["green tea"]
    assert json.loads(await call(rig, "cancel_timer", which="tea"))["still_set"] == 0
    assert await call(rig, "cancel_timer") == "error: no timer is set"
    rig.clock.advance(3600)
    await rig.restart()
    assert await handled(rig) == []


@pytest.mark.shows("V23")
async def test_what_counts_down_to_remind_is_listed_as_a_reminder(rig: Rig) -> None:
    await call(rig, "set_timer", seconds=600, label="call mum", reminder=True)
    await call(rig, "set_timer", seconds=700, label="rice")
    assert [timer["kind"] for timer in json.loads(await call(rig, "list_timers"))] == ["reminder", "timer"]


@pytest.mark.parametrize(
    ("label", "which"), [("turn the steak", "tea"), ("15 minutes", "5 minutes"), ("ring my mother", "other")]
)
def test_what_is_only_within_a_word_or_a_number_names_nothing(label: str, which: str) -> None:
    timer = Event(TIMER, metadata={"label": label})
    assert chosen([timer], which) is None
    assert chosen([timer], label.split()[-1]) is timer


def test_a_whole_label_is_meant_before_a_part_of_one() -> None:
    green, tea = (Event(TIMER, id=label, metadata={"label": label}) for label in ("green tea", "tea"))
    assert chosen([green, tea], "TEA") is tea
    assert chosen([green, tea], "gre") is green
    assert chosen([], "") is None


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("set_timer", {"seconds": 0}, "wrong arguments"),
        ("set_timer", {"seconds": 1e9}, "wrong arguments"),
        ("set_timer", {}, "wrong arguments"),
        ("set_alarm", {"at": "whenever"}, "'whenever' is no time; write it as 07:30"),
        ("set_alarm", {"at": "2020-01-01T00:00Z"}, "2020-01-01 00:00:00 UTC is past: it is 2026-11-21 10:00:00 UTC"),
    ],
)
async def test_what_cannot_be_set_is_told_in_words(rig: Rig, name: str, arguments: dict[str, Json], words: str) -> None:
    observation = await call(rig, name, ASKED, **arguments)
    assert observation.startswith("error: ")
    assert words in observation
    assert await labels(rig) == []


async def test_the_model_sees_only_what_it_has_to_give(rig: Rig) -> None:
    schemas = {tool.name: tool.spec.parameters for tool in timer_tools(rig.mailbox, rig.clock)}
    assert {name: list(schema["properties"]) for name, schema in schemas.items()} == {  # type: ignore[arg-type]
        "set_timer": ["seconds", "label", "repeat", "reminder"],
        "set_alarm": ["at", "label", "repeat"],
        "list_timers": [],
        "cancel_timer": ["which", "day"],
    }
    with pytest.raises(ZoneInfoNotFoundError):
        timer_tools(rig.mailbox, rig.clock, "Mars/Olympus")


@pytest.mark.shows("V28", "V23")
async def test_a_timer_belongs_to_the_room_it_was_set_in_and_the_list_names_another_one(rig: Rig) -> None:
    kitchen = Event("asr_transcript", metadata={"room": "kitchen"})
    await call(rig, "set_timer", kitchen, seconds=600, label="bread")
    await call(rig, "set_timer", ASKED, seconds=700, label="call")
    there, here = json.loads(await call(rig, "list_timers", kitchen)), json.loads(await call(rig, "list_timers"))
    assert [timer.get("room") for timer in there] == [None, "box"]
    assert [timer.get("room") for timer in here] == ["kitchen", None]
