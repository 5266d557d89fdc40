"""The streams of a whole box in a scripted room: what people in it and at a page see of each other."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.errors import StreamBroken
from agent.event import TIMER, Event, utc_now
from agent.model.messages import Message
from tests.appliance.http.streaming import Talk, talking
from tests.appliance.live.looking import Told, joined, names, payloads
from tests.appliance.wiring.test_box import STORY, Room, a_box, answers
from tests.fakes import ScriptedModel


def states(told: list[Told]) -> list[str]:
    return [each["state"] for each in payloads(told, "state")]


async def asked(talk: Talk, **words: object) -> list[Told]:
    await talk.send("user_message", payload={"content": "What time is it?", **words})
    return await talk.until("run_finished")


@pytest.mark.shows("A7", "F23", "F25")
@pytest.mark.parametrize("name", ["client_timestamp_utc", "client_timestamp"])
@pytest.mark.parametrize("at", ["2025-09-17T01:16:03Z", "2025-09-17T01:16:03.000", "2025-09-17T09:16:03+08:00"])
async def test_the_clock_of_who_writes_reaches_the_context(tmp_path: Path, name: str, at: str) -> None:
    room = Room(model=ScriptedModel(Message("assistant", "It is a quarter past nine.")))
    async with a_box(tmp_path, room) as box, talking(box.config.socket) as talk:
        told = await asked(talk, **{name: at}, client_timezone_offset=-480)
    assert joined(told) == "It is a quarter past nine."
    block = room.model.requests[0][-1].content
    assert "<Current_Time>2025-09-17 01:16:03 UTC</Current_Time>" in block
    assert "<Timezone>UTC+08:00</Timezone>" in block
    assert "<Human_Input>What time is it?</Human_Input>" in block
    (started,) = payloads(told, "run_started")
    assert (started["source"], started["session"]) == ("http", "console")


@pytest.mark.shows("F23")
async def test_a_client_that_tells_no_time_is_answered_by_the_clock_of_the_box(tmp_path: Path) -> None:
    room = Room(model=ScriptedModel(Message("assistant", "Noon.")))
    async with a_box(tmp_path, room) as box, talking(box.config.socket) as talk:
        before = utc_now()
        await asked(talk)
    block = room.model.requests[0][-1].content
    told = block.partition("<Current_Time>")[2].partition("</Current_Time>")[0]
    assert f"{before:%Y-%m-%d %H:%M}"[:15] == told[:15]
    assert f"<Timezone>{box.config.zone} (UTC" in block


@pytest.mark.shows("E21", "F20", "F22")
async def test_a_spoken_turn_is_seen_from_hearing_to_the_last_sentence(tmp_path: Path) -> None:
    room = Room(model=answers(STORY))
    async with a_box(tmp_path, room) as box, talking(box.config.socket) as talk:
        assert (await talk.until("snapshot"))[-1]["payload"]["state"] == "listening"
        await room.says("tell me a story please")
        told = [*await talk.until("run_finished"), *await talk.until("state", state="listening")]
    assert names(told, "text_chunk", "tool_call_started", "tool_call_finished") == [
        "heard", "run_started", "sentence", "run_finished",
    ]  # fmt: skip
    (heard,), (started,) = payloads(told, "heard"), payloads(told, "run_started")
    assert (heard["text"], heard["event_id"]) == ("tell me a story please", started["event_id"])
    assert payloads(told, "sentence")[0]["text"] == joined(told) == STORY
    seen = states(told)
    assert (seen[0], seen[-1]) == ("hearing", "listening")
    assert seen.index("hearing") < seen.index("thinking") < seen.index("speaking")


@pytest.mark.shows("E21")
async def test_of_a_spoken_answer_that_breaks_off_a_page_shows_what_was_said_once(tmp_path: Path) -> None:
    first, second = "There was a king.", "He had two daughters, and both were clever."
    broken = [Message("assistant", f"{first} He had two dau"), Message("assistant", f"{first} He had tw")]
    model = ScriptedModel(
        *(StreamBroken("it broke off", each) for each in broken), Message("assistant", f"{first} {second}")
    )
    room = Room(model=model)
    async with a_box(tmp_path, room) as box, talking(box.config.socket) as talk:
        await room.says("tell me a story please")
        told = await talk.until("run_finished")
    assert "".join(joined(told).split()) == "".join(f"{first}{second}".split())
    assert [each["text"] for each in payloads(told, "sentence")] == [first, second]


@pytest.mark.shows("E21")
async def test_who_wants_silence_at_a_page_has_it_and_sees_what_was_not_heard(tmp_path: Path) -> None:
    room = Room(model=answers(STORY))
    room.player.at_once = False
    async with a_box(tmp_path, room) as box, talking(box.config.socket) as talk:
        await room.says("tell me a story please")
        await talk.until("sentence")
        await room.player.draining.wait()
        room.player.unheard = 1.0
        await talk.send("stop")
        told = await talk.until("run_finished")
        assert "stop" in room.player.happened
    (interrupted,) = payloads(told, "interrupted")
    assert f"{interrupted['heard']} {interrupted['unsaid']}" == STORY
    assert interrupted["heard"].startswith("Once there was a king")


@pytest.mark.shows("E21")
async def test_what_was_held_back_and_what_a_word_did_at_once_are_seen(tmp_path: Path) -> None:
    room = Room()
    async with a_box(tmp_path, room, ears={"wake_word": "alexa"}) as box, talking(box.config.socket) as talk:
        await room.says("what is for dinner tonight")
        held = (await talk.until("heard"))[-1]["payload"]
        assert (held["text"], bool(held["held_back"]), held["event_id"]) == ("what is for dinner tonight", True, None)
        await talk.send("user_message", id="1", payload={"content": "mute"})
        told = await talk.until("state", muted=True)
        (answer,) = payloads(told, "answer") or payloads(await talk.until("answer"), "answer")
        assert (answer["event_id"], bool(answer["done"])) == (None, True)
        assert payloads(told, "state")[-1]["state"] == "idle"
        await talk.send("user_message", payload={"content": "unmute"})
        await talk.until("state", muted=False)


@pytest.mark.shows("F25")
async def test_how_loud_it_is_is_told_to_who_wants_to_know(tmp_path: Path) -> None:
    room = Room(words=["-"])
    async with a_box(tmp_path, room) as box, talking(box.config.socket, query="") as talk:
        await talk.until("snapshot")
        await room.says("hello there my friend")
        loud = (await talk.until("levels"))[-1]["payload"]
    assert loud["microphone_db"] > -120


async def test_a_timer_is_seen_from_its_setting_to_its_end(tmp_path: Path) -> None:
    async with a_box(tmp_path, Room(model=answers("Tea."))) as box, talking(box.config.socket) as talk:
        await talk.until("snapshot")
        soon = utc_now() + timedelta(seconds=0.3)
        timer = Event(TIMER, 'Timer "tea" is due.', not_before=soon, metadata={"label": "tea"}, priority=20)
        await box.household.mailbox.enqueue(timer)
        await talk.until("timer", id=timer.id, label="tea", state="rings")
        await talk.send("stop")
        await talk.until("timer", id=timer.id, state="ended")
