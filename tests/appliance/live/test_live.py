"""What goes on in a real mind, as people see it who look on."""

import asyncio
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent.event import HOUSEHOLD, TIMER, USER_TEXT, Event
from agent.model.messages import Message
from agent.record import COMMAND, step
from agent.run.budget import RunLimits
from agent.tools.tool import Tool, tool
from appliance.errors import Problem
from appliance.live.readers import MOST_OF_VISITOR, MOST_WAITING
from appliance.live.steps import BROKE_OFF
from appliance.output.text import WRITTEN
from memory.json_value import Json
from memory.state.tiers import TASK
from tests.agent.mind import AT_ONCE, PATIENCE, Start, a_mind, spoken, typed
from tests.appliance.live.looking import Look, SlowJournal, a_live, a_look, joined, names, payloads, valid
from tests.appliance.reflexes.test_forget import forgetting, replies, said
from tests.fakes import ScriptedModel, calls

VISITOR = "a visitor's key"


def by_visitor(words: str) -> Event:
    return Event(USER_TEXT, words, owner_key=VISITOR, session_id=f"cli@{VISITOR}", source="cli", priority=10)


def weather() -> Tool:
    async def weather(place: str) -> str:
        """Tell the weather."""
        return f"rain in {place}"

    return tool(weather, effect="pure")


@pytest.mark.shows("F20", "F21", "F22", "E21")
async def test_a_run_is_told_from_its_beginning_to_its_end_in_causal_order(tmp_path: Path) -> None:
    answer = calls(
        ("reply", '{"text": "It rains. Take a coat."}'), ("complete_event", '{"summary": "told"}'), prefix="b"
    )
    model = ScriptedModel(calls(("weather", '{"place": "Leeds"}'), text="I look."), answer)
    async with a_mind(tmp_path, [model], [weather()]) as mind, a_live(mind) as live, a_look(live) as look:
        await mind.handle(event := typed("How is the weather?"))
        told = await look.until("run_finished")
    assert names(told, "text_chunk") == [
        "snapshot", "heard", "run_started",
        "tool_call_started", "tool_call_finished",
        "tool_call_started", "tool_call_started", "tool_call_finished", "tool_call_finished",
        "run_finished",
    ]  # fmt: skip
    (started,) = payloads(told, "run_started")
    assert (started["event_id"], started["source"], started["session"]) == (event.id, "cli", "client")
    assert started["content"] == "How is the weather?"
    assert joined(told) == "I look.It rains. Take a coat."
    first, *_ = payloads(told, "tool_call_started")
    assert first == {"call_id": "call_0", "tool_name": "weather", "args": {"place": "Leeds"}}
    result, *_ = payloads(told, "tool_call_finished")
    assert (result["call_id"], result["status"], result["result"]) == ("call_0", "ok", "rain in Leeds")
    begun = [each["call_id"] for each in payloads(told, "tool_call_started")]
    over = [each["call_id"] for each in payloads(told, "tool_call_finished")]
    assert sorted(begun) == sorted(over) == sorted({*begun})
    assert payloads(told, "run_finished") == [{"event_id": event.id, "status": "COMPLETED", "error": None}]
    assert len({each["run_id"] for each in told if each["run_id"]}) == 1
    states = [each["state"] for each in payloads(told, "state")]
    assert states == ["thinking", "using_a_tool", "thinking"], "speaking to somebody, or ending, is no tool at work"
    places = [each["seq"] for each in told if each["seq"] is not None and each["event"] != "snapshot"]
    assert places == sorted({*places})


@pytest.mark.shows("F21")
async def test_a_call_that_was_refused_begins_and_ends_too(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("weather", '{"place": "Rome"}'), ("weather", "{}"), prefix="a"), Message("assistant", "-")
    )
    start = Start(limits=RunLimits(max_tool_calls=1))
    async with a_mind(tmp_path, [model], [weather()], start=start) as mind, a_live(mind) as live, a_look(live) as look:
        await mind.handle(typed("How is the weather?"))
        told = await look.until("run_finished")
    assert [each["call_id"] for each in payloads(told, "tool_call_started")] == ["a_0", "a_1"]
    assert {each["call_id"]: each["status"] for each in payloads(told, "tool_call_finished")} == {
        "a_0": "ok",
        "a_1": "refused",
    }


@pytest.mark.shows("F22")
async def test_a_run_that_fails_by_a_bug_finishes_once_and_says_so(tmp_path: Path) -> None:
    async with (
        a_mind(tmp_path, [ScriptedModel(RuntimeError("a bug"))]) as mind,
        a_live(mind) as live,
        a_look(live) as look,
    ):
        await mind.handle(typed("hello"))
        told = await look.until("run_finished")
        (finished,) = payloads(told, "run_finished")
        assert (finished["status"], bool(finished["error"])) == ("FAILED", True)
        assert "Something went wrong" in joined(told), "what it says of itself is shown like any reply"
        await mind.mailbox.enqueue(typed("again"))
        assert "run_finished" not in names(await look.until("heard"))


@pytest.mark.shows("F22")
async def test_a_run_that_the_disk_broke_off_finishes_once_and_so_does_the_next_try(tmp_path: Path) -> None:
    model = ScriptedModel(Message("assistant", "One."), Message("assistant", "Two."))
    async with (
        a_mind(tmp_path, [model], start=Start(limits=AT_ONCE)) as mind,
        a_live(mind) as live,
        a_look(live) as look,
    ):
        mind.disk.full_at = "ui.events"
        await mind.mailbox.enqueue(typed("hello"))
        async with asyncio.TaskGroup() as group:
            loop = group.create_task(mind.loop.run())
            first = await look.until("run_finished", status="FAILED")
            second = await look.until("run_finished", status="COMPLETED")
            loop.cancel()
    assert payloads(first, "run_finished")[0]["error"] == BROKE_OFF
    runs = [each["run_id"] for each in [*first, *second] if each["event"] == "run_started"]
    assert len({*runs}) == len(runs) == 2
    assert [each["run_id"] for each in [*first, *second] if each["event"] == "run_finished"] == runs


async def test_what_is_forgotten_waits_for_nobody(tmp_path: Path) -> None:
    words = "A secret that is told at some length, and goes on."
    model = ScriptedModel(Message("assistant", words))
    model.hold[0] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind, a_live(mind) as live, live.reading(HOUSEHOLD) as behind:
        mind.outlet.writes = True
        async with mind.at_work(typed("my secret")), a_look(live) as look:
            await look.until("text_chunk", chunk=words[:7])
            live.forget()
            lost, snapshot = await behind.take(PATIENCE)
            model.hold[0].set()
        run = valid(snapshot.json)["payload"]["run"]
    assert lost.name == "lost"
    assert (run["content"], run["text"], run["tool_calls"]) == ("", "", [])


@pytest.mark.shows("V29", "F22")
async def test_a_forgetting_is_told_to_who_looks_and_to_who_comes_back(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [replies(1)]) as mind, a_live(mind) as live, a_look(live) as look:
        await mind.handle(event := said("the apple tree"))
        await look.until("run_finished")
        await forgetting(mind).last()
        (told,) = payloads(await look.until("forgotten"), "forgotten")
        async with a_look(live, after=0) as again:
            past = await again.until("snapshot")
    assert told["event_ids"] == [event.id]
    assert datetime.fromisoformat(told["since"]) == event.created_at
    assert payloads(past, "forgotten") == [told]
    assert "apple tree" not in str(past)


async def test_a_sign_that_it_goes_on_is_no_part_of_an_answer(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live, a_look(live) as look:
        await mind.attention.system_replies.fill(event := spoken("hello"))
        await mind.attention.system_replies.tell(event, "context_lost")
        (told,) = payloads(await look.until("text_chunk"), "text_chunk")
    assert mind.outlet.said[0] == "One moment."
    assert told["chunk"].startswith("I could not read all")


@pytest.mark.shows("E21", "F20")
async def test_a_page_that_is_loaded_again_in_mid_answer_loses_nothing(tmp_path: Path) -> None:
    words = "There is a lot to say about that. It begins in the year 1066, and goes on for long."
    model = ScriptedModel(calls(("weather", '{"place": "Hastings"}')), Message("assistant", words))
    model.hold[1] = asyncio.Event()
    async with (
        a_mind(tmp_path, [model], [weather()]) as mind,
        a_live(mind) as live,
        a_look(live) as look,
        mind.at_work(typed("Tell me.")),
    ):
        mind.outlet.writes = True
        await look.until("text_chunk", chunk=words[35:42])
        async with a_look(live) as again:
            (snapshot,) = await again.until("snapshot")
            run = snapshot["payload"]["run"]
            assert words.startswith(run["text"])
            assert 0 < len(run["text"]) < len(words)
            assert [(each["tool_name"], each["status"]) for each in run["tool_calls"]] == [("weather", "ok")]
            assert snapshot["payload"]["state"] == "thinking"
            model.hold[1].set()
            rest = await again.until("run_finished")
    assert run["text"] + joined(rest) == words
    assert {each["run_id"] for each in rest if each["run_id"]} == {run["run_id"]}
    assert {each["call_id"] for each in payloads(rest, "text_chunk")} == {run["call_id"]}


@pytest.mark.shows("E21")
async def test_who_comes_back_is_told_from_the_journal_what_was_missed_once(tmp_path: Path) -> None:
    model = ScriptedModel(*(Message("assistant", f"Answer {number}.") for number in range(3)))
    async with a_mind(tmp_path, [model]) as mind, a_live(mind) as live:
        async with a_look(live) as look:
            await mind.handle(typed("first"))
            place = (await look.until("run_finished"))[-1]["seq"]
        await mind.handle(second := typed("second"))
        async with a_look(live, after=place) as back:
            missed = await back.until("snapshot")
            await mind.handle(typed("third"))
            rest = await back.until("run_finished")
    assert names(missed) == ["turn", "run_started", "run_finished", "turn", "snapshot"]
    assert payloads(missed, "run_started")[0]["event_id"] == second.id
    assert all(each["seq"] > place for each in missed)
    assert missed[-1]["seq"] == missed[-2]["seq"], "a snapshot is as of the last step"
    assert payloads(rest, "run_started")[0]["content"] == "third"


@pytest.mark.shows("E21", "F22")
async def test_a_run_that_a_kill_broke_off_has_an_end_for_who_comes_back(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("reply", '{"text": "It begins so, and goes on."}')))
    model.hold[0] = asyncio.Event()
    async with a_mind(tmp_path, [model]) as mind, a_live(mind) as live, a_look(live) as look:
        await mind.mailbox.enqueue(typed("Tell me."))
        async with asyncio.TaskGroup() as group:
            life = group.create_task(mind.loop.handle(await mind.mailbox.take()))
            started = (await look.until("run_started"))[-1]
            life.cancel()
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind) as live,
        a_look(live, after=started["seq"] - 1) as back,
    ):
        missed = await back.until("snapshot")
    assert names(missed) == ["run_started", "run_finished", "snapshot"]
    assert (missed[1]["run_id"], missed[1]["payload"]["error"]) == (started["run_id"], BROKE_OFF)
    assert missed[-1]["payload"]["run"] is None


def stopped_in_writing(event: Event) -> list[Event]:
    """What is published of an answer in writing that a person stops, from its beginning to its end."""
    ended: dict[str, Json] = {"event": "run_finished", "status": "COMPLETED"}
    return [
        step(TASK, event, "r1", {"source": "cli"}, event.content),
        step(WRITTEN, event, "", {"call_id": "c"}, "It begins so"),
        step(COMMAND, event, "r1", {"command": "stop", "reason": "interrupted"}),
        step("ui.events", event, "r1", ended),
    ]


@pytest.mark.shows("E21", "F20", "F22")
@pytest.mark.parametrize("seen", [0, 1, 2, 3])
async def test_who_comes_back_after_a_stop_is_told_of_it_whatever_was_seen_before(tmp_path: Path, seen: int) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live:
        steps = stopped_in_writing(typed("Tell me."))
        for each in steps[:seen]:
            await mind.mind.bus.publish(each)
        newest = await mind.journal.entries(newest=True, limit=1)
        place = newest[0].seq if newest else 0
        for each in steps[seen:]:
            await mind.mind.bus.publish(each)
        async with a_look(live, after=place) as back:
            missed = await back.until("snapshot")
    assert names(missed) == [*["run_started", "reply_written"][seen:], "interrupted", "run_finished", "snapshot"]
    assert payloads(missed, "interrupted")[0]["heard"] == "It begins so"


@pytest.mark.shows("E21", "F20", "F22")
async def test_who_comes_while_an_answer_is_stopped_is_told_of_that(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind:
        *begun, end = stopped_in_writing(typed("Tell me."))
        slow = SlowJournal(mind.journal, lambda: mind.mind.bus.publish(end))
        async with a_live(mind, journal=slow) as live:
            for each in begun:
                await mind.mind.bus.publish(each)
            async with a_look(live, after=0) as look:
                told = await look.until("snapshot")
    assert names(told) == ["run_started", "reply_written", "interrupted", "run_finished", "snapshot"]


@pytest.mark.shows("F20", "E21")
async def test_what_is_another_owners_is_seen_by_nobody_else(tmp_path: Path) -> None:
    model = ScriptedModel(calls(("weather", '{"place": "a secret place"}')), Message("assistant", "A secret."))
    model.hold[1] = asyncio.Event()
    async with (
        a_mind(tmp_path, [model], [weather()]) as mind,
        a_live(mind) as live,
        a_look(live) as house,
        a_look(live, VISITOR) as visitor,
        a_look(live, "another") as other,
    ):
        mind.outlet.writes = True
        async with mind.at_work(by_visitor("my secret")):
            await visitor.until("text_chunk")
            async with a_look(live) as again:
                snapshot = (await again.until("snapshot"))[-1]["payload"]
            assert (snapshot["state"], snapshot["tool"], snapshot["run"]) == ("thinking", None, None)
            model.hold[1].set()
        mine = await visitor.until("run_finished")
        seen = [*await house.until("state", state="listening"), *await other.until("state", state="idle")]
        async with a_look(live, "another", after=0) as thief:
            stolen = await thief.until("snapshot")
    assert joined([*mine]) in "A secret."
    assert {each["event"] for each in seen} <= {"snapshot", "state", "mailbox"}
    assert [each["state"] for each in payloads(seen, "state")] == ["thinking", "listening", "thinking", "idle"]
    assert names(stolen) == ["snapshot"], "the place of somebody else's step is no key to it"
    assert "secret" not in f"{seen}{stolen}"


async def test_a_reader_that_does_not_read_loses_messages_and_is_told_how_it_is(tmp_path: Path) -> None:
    words = "word " * (2 * MOST_WAITING)
    model = ScriptedModel(Message("assistant", words), Message("assistant", "On it."), piece=2)
    async with a_mind(tmp_path, [model]) as mind, a_live(mind) as live, live.reading(HOUSEHOLD) as slow:
        mind.outlet.writes = True
        await mind.handle(typed("Tell me."))
        async with a_look(live) as look:
            await look.until("snapshot")
        lost, snapshot = await slow.take(PATIENCE)
        assert (lost.name, snapshot.name) == ("lost", "snapshot")
        assert valid(lost.json)["payload"]["count"] == slow.lost == live.readers.describe()["lost"]
        assert slow.lost > MOST_WAITING
        await mind.handle(typed("And now?"))
        look = Look(slow)
        assert joined(await look.until("run_finished")) == "On it.", "it goes on from there"


@pytest.mark.shows("F25")
async def test_timers_and_the_mailbox_are_told_as_they_change(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live, a_look(live) as look:
        due = mind.mailbox.now() + timedelta(hours=1)
        timer = Event(TIMER, 'Timer "tea" (1 hour) is due.', not_before=due, metadata={"label": "tea"})
        await mind.mailbox.enqueue(timer)
        told = await look.until("timer", state="set")
        (shown,) = payloads(told, "timer")
        assert (shown["id"], shown["label"], datetime.fromisoformat(shown["due"])) == (timer.id, "tea", due)
        assert payloads(told, "mailbox")[-1]["counts"]["pending"] == 1
        async with a_look(live) as other, a_look(live, VISITOR) as visitor:
            assert [each["id"] for each in (await other.until("snapshot"))[-1]["payload"]["timers"]] == [timer.id]
            assert (await visitor.until("snapshot"))[-1]["payload"]["timers"] == []
        await mind.mailbox.withdraw(timer.id, "not needed")
        await look.until("timer", state="cancelled", id=timer.id)


async def test_nobody_is_let_in_beyond_the_most(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind) as live, AsyncExitStack() as readers:
        for _ in range(MOST_OF_VISITOR):
            await readers.enter_async_context(live.reading(VISITOR))
        with pytest.raises(Problem, match="too many"):
            await readers.enter_async_context(live.reading(VISITOR))
        await readers.enter_async_context(live.reading(HOUSEHOLD))
