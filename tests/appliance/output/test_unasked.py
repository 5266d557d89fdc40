"""What nobody asked for waits for its gap, durably and once; what was asked for is said at its time."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agent.event import ASR_TRANSCRIPT, CALENDAR, HOME_WATCH, SYSTEM, TIMER, USER_TEXT, Event
from agent.mailbox import Lease
from agent.replies import Reply
from agent.time.quiet import quiet_hours
from agent.unasked.announcement import TERMS
from agent.unasked.decide import GAP, Rules
from appliance.output.company import LONGEST_HOLD, Company
from audio.speech import SpeechAudio, SpeechStarted
from audio.turns.surroundings import SpeechActivity
from tests.appliance.output.parlour import Parlour, Scene, own, parlour
from tests.audio.heard import heard
from tests.audio.mouth_fakes import Clock, ScriptedVoice
from tests.crash.body import ReadableVoice
from tests.room.virtual_time import passed, run_virtually

T = TypeVar("T")
Story = Callable[[Parlour], Coroutine[Any, Any, T]]

WASH = "The wash is done."


def told(folder: Path, story: Story[T], scene: Scene | None = None) -> T:
    """Live a story in a parlour, in virtual time, and return what it returns."""

    async def live() -> T:
        async with asyncio.timeout(1e6), parlour(folder, scene) as room:
            return await story(room)

    return run_virtually(live())


@pytest.mark.shows("G13")
@pytest.mark.parametrize("kind", [ASR_TRANSCRIPT, USER_TEXT, TIMER, CALENDAR])
def test_what_somebody_asked_for_is_said_at_once_in_quiet_hours_too(tmp_path: Path, kind: str) -> None:
    async def story(room: Parlour) -> tuple[list[str], int]:
        await room.wants_to_say(WASH, Event(kind))
        await passed(1.0)
        return room.said, await room.waiting()

    assert told(tmp_path, story, Scene(rules=Rules(quiet_hours("11:00-13:00", UTC)))) == ([WASH], 0)


@pytest.mark.shows("V24", "G14")
def test_what_nobody_asked_for_waits_until_somebody_is_there_and_has_finished(tmp_path: Path) -> None:
    async def story(room: Parlour) -> tuple[list[str], list[str], int, str]:
        await room.wants_to_say(WASH)
        await passed(600.0)
        alone = room.said
        await room.somebody_says()
        await passed(GAP - 0.5)
        assert room.said == alone
        await passed(1.0)
        return alone, room.said, await room.waiting(), await room.is_told()

    assert told(tmp_path, story) == ([], [WASH], 0, 'said 0 min ago: "The wash is done"')


def test_what_was_erased_while_it_waits_is_not_said(tmp_path: Path) -> None:
    async def story(room: Parlour) -> list[str]:
        await room.wants_to_say(WASH)
        await passed(60.0)
        [waits] = await room.announcements.waiting()
        await room.mailbox.erase(waits.id)
        await room.somebody_says()
        await passed(600.0)
        return room.said

    assert told(tmp_path, story) == []


@pytest.mark.shows("V24")
def test_it_waits_while_an_answer_is_due(tmp_path: Path) -> None:
    async def story(room: Parlour) -> tuple[list[str], list[str]]:
        room.is_engaged = True
        await room.somebody_says()
        await room.wants_to_say(WASH)
        await passed(60.0)
        before, room.is_engaged = room.said, False
        await passed(1.0)
        return before, room.said

    assert told(tmp_path, story) == ([], [WASH])


@pytest.mark.shows("V24")
def test_what_waits_is_said_in_one_breath(tmp_path: Path) -> None:
    async def story(room: Parlour) -> list[str]:
        await room.wants_to_say("An idea.")
        await room.wants_to_say(WASH, Event(HOME_WATCH, "They waited to hear of the wash.", source="home"))
        await room.somebody_says()
        await passed(GAP + 1)
        return room.said

    assert told(tmp_path, story) == [WASH, "An idea."]


@pytest.mark.shows("G13")
def test_it_comes_at_the_end_of_the_quiet_hours_once(tmp_path: Path) -> None:
    """Filed twice, as after a crash; what it came of and how long it is good for is no hindrance."""
    scene = Scene(datetime(2026, 11, 22, 1, 0, tzinfo=UTC), Rules(quiet_hours("22:00-07:00", UTC)))

    async def story(room: Parlour) -> tuple[list[str], list[str]]:
        await room.wants_to_say(WASH)
        await room.wants_to_say(WASH)
        await room.somebody_says()
        await passed(3600.0 * 5.9)
        by_night = room.said
        await passed(600.0)
        await room.somebody_says()
        await passed(GAP + 1)
        return by_night, room.said

    assert told(tmp_path, story, scene) == ([], [WASH])


@pytest.mark.shows("V24")
def test_what_lost_its_point_is_not_said_and_the_agent_learns_it(tmp_path: Path) -> None:
    async def story(room: Parlour) -> tuple[list[str], str, str]:
        await room.wants_to_say(WASH)
        await passed(TERMS["own"].useful.total_seconds() + 60)
        await room.somebody_says()
        await passed(60.0)
        return room.said, await room.is_told(), await room.is_told()

    assert told(tmp_path, story) == ([], 'not said, no gap came in time: "The wash is done"', "")


@pytest.mark.shows("V24")
def test_twice_ignored_it_is_not_offered_again(tmp_path: Path) -> None:
    async def story(room: Parlour) -> tuple[list[str], str]:
        for number in range(4):
            await room.somebody_says()
            await room.wants_to_say(WASH, own(f"{number}", about="look at the wash"))
            await passed(600.0)
        return room.said, await room.is_told()

    said, block = told(tmp_path, story)
    assert said == [WASH, WASH]
    assert "no answer" in block
    assert block.count("not said, they ignored it twice") == 2


@pytest.mark.shows("V24")
def test_what_is_answered_is_offered_again(tmp_path: Path) -> None:
    async def story(room: Parlour) -> list[str]:
        for number in range(4):
            await room.somebody_says()
            await room.wants_to_say(WASH, own(f"{number}", about="look at the wash"))
            await passed(30.0)
            await room.mailbox.enqueue(Event(ASR_TRANSCRIPT, "thanks", id=f"answer {number}"))
            await passed(600.0)
        return room.said

    assert told(tmp_path, story) == [WASH] * 4


class Drawling(ReadableVoice):
    """A voice that takes a minute over a long sentence."""

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        async for piece in super().speak(sentence, language):
            yield piece
            await passed(30.0 if "Once" in sentence else 0.1)


@pytest.mark.shows("V24")
def test_what_is_urgent_ends_an_answer_and_waits_for_a_full_stop_alone(tmp_path: Path) -> None:
    fire, smoke = Event(SYSTEM, "Smoke detector: on", source="http"), "Smoke in the kitchen!"
    scene = Scene(rules=Rules(quiet_hours("11:00-13:00", UTC)), urgent=("smoke",), voice=Drawling())

    async def story(room: Parlour) -> tuple[bool, bool, bool, list[str]]:
        answer = room.voice.open(Reply(Event(ASR_TRANSCRIPT), "a"))
        await answer.feed("Once upon a time there was a king. ")
        await answer.close()
        room.is_engaged = True
        async with asyncio.TaskGroup() as group:
            group.create_task(room.somebody_says(seconds=4.0))
            await passed(0.5)
            await room.wants_to_say(smoke, fire)
            await passed(3.0)
            before = answer.is_sounding
        await passed(2.0)
        return before, answer.is_sounding, (await answer.ended()).interrupted, room.said

    before, after, interrupted, said = told(tmp_path, story, scene)
    assert (before, after, interrupted) == (True, False, True)
    assert said[-1] == smoke


@pytest.mark.shows("V24")
def test_who_speaks_before_its_first_sound_has_the_floor_and_it_is_said_later(tmp_path: Path) -> None:
    voice = ScriptedVoice(hold=asyncio.Event())

    async def story(room: Parlour) -> tuple[int, int]:
        await room.somebody_says()
        await room.wants_to_say(WASH)
        await voice.held.wait()
        room.voice.stop_speaking()  # as barge-in does
        assert voice.hold is not None
        voice.hold.set()
        await passed(1.0)
        kept = await room.waiting()
        await passed(60.0)
        return kept, await room.waiting()

    assert told(tmp_path, story, Scene(voice=voice)) == (1, 0)
    assert [sentence for sentence, _ in voice.asked] == [WASH, WASH]


@pytest.mark.shows("G13", "V24")
def test_a_reminder_waits_for_a_full_stop_and_not_for_ever(tmp_path: Path) -> None:
    async def story(room: Parlour) -> tuple[list[str], list[str], float]:
        async with asyncio.TaskGroup() as group:
            group.create_task(room.somebody_says(seconds=3.0))
            await passed(0.5)
            group.create_task(room.wants_to_say("Your train.", Event(CALENDAR)))
            await passed(2.0)
            before = room.said
        after, began = room.said, asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            television = group.create_task(room.somebody_says(seconds=60.0))
            await passed(0.5)
            await room.wants_to_say("Your bus.", Event(TIMER))
            held = asyncio.get_running_loop().time() - began
            television.cancel()
        return before, after, held

    before, after, held = told(tmp_path, story)
    assert (before, after) == ([], ["Your train."])
    assert LONGEST_HOLD <= held < LONGEST_HOLD + 1.5


@pytest.mark.shows("G13")
def test_what_broke_off_is_not_kept(tmp_path: Path) -> None:
    async def story(room: Parlour) -> tuple[str, int]:
        stream = room.sink.open(Reply(own("x"), "c"))
        await stream.feed("Half a sen")
        await stream.cut()
        await stream.close()
        return (await stream.ended()).text, await room.waiting()

    assert told(tmp_path, story) == ("", 0)


@pytest.mark.shows("V24")
def test_what_became_of_it_is_told_and_remembered_over_a_restart(tmp_path: Path) -> None:
    async def once(room: Parlour) -> None:
        await room.somebody_says()
        await room.wants_to_say(WASH, own("1", about="look at the wash"))
        await passed(600.0)
        await room.wants_to_say(WASH, own("2", about="look at the wash"))

    async def again(room: Parlour) -> tuple[str, list[str]]:
        block = await room.is_told()
        await room.somebody_says()
        await passed(30.0)
        await room.wants_to_say(WASH, own("3", about="look at the wash"))
        await passed(30.0)
        return block, [fate.outcome for fate in room.announcements.past]

    told(tmp_path, once)
    later = Scene(datetime(2026, 11, 22, 12, 20, tzinfo=UTC))
    assert told(tmp_path, again, later) == (
        'said 20 min ago, no answer: "The wash is done"',
        ["said", "said", "ignored"],
    )


def test_another_session_is_told_nothing_of_it(tmp_path: Path) -> None:
    async def story(room: Parlour) -> tuple[bool, str]:
        await room.somebody_says()
        await room.wants_to_say(WASH)
        await passed(10.0)
        kitchen = room.announcements.situation(Lease(Event(USER_TEXT, session_id="kitchen")))
        return bool(kitchen), await room.is_told()

    is_told, block = told(tmp_path, story)
    assert not is_told
    assert block


def test_a_turn_that_nobody_ends_is_over_some_time() -> None:
    clock = Clock()
    activity = SpeechActivity(clock)
    company = Company(asyncio.Event(), clock)
    turns = company.turns_in("box", activity)
    activity.heard(clock())
    turns.speech_started(SpeechStarted(clock(), lambda: None))
    was_speaking = company.is_speaking
    clock.now += 60
    assert (was_speaking, company.is_speaking) == (True, False)


def test_a_television_is_no_company() -> None:
    clock = Clock()
    company = Company(asyncio.Event(), clock)
    turns = company.turns_in("box", SpeechActivity(clock))
    before = company.heard
    company.listen_by(lambda: True)
    turns.turn_ended(heard("and now the news", 0.0, 1.0), "not addressed")
    assert (before, company.heard) == (None, {}), "without ears nobody knows"
    turns.turn_ended(heard("stop", 0.0, 1.0), "reflex")
    clock.now += 7
    assert company.heard == {"box": 7.0}
