"""Turns that nobody gets, from the ears over the bus and the journal to `nakari heard`; and the connection ahead."""

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.bus import Bus
from agent.event import ASR_TRANSCRIPT, Event
from agent.record import step
from appliance.config.load import load
from appliance.input.event import OWN
from appliance.input.heard_history import newest
from appliance.input.prewarm import NOT_AGAIN_WITHIN, LookAhead, Prewarm
from appliance.input.suppressed import EARS_SUPPRESSED, WAITING, SuppressedTurns
from appliance.machines.mind.arriving import in_its_room
from appliance.machines.wire import Turn
from appliance.output.text import REMOTE
from appliance.rooms.arbitration import Undisputed
from appliance.wiring.memory.state import State, open_state
from audio.speech import SpeechStarted
from audio.turns.listener import REFLEX, TOO_SHORT
from memory.errors import StateUnusable
from memory.state.journal import SCHEMA
from tests.appliance.command import nakari, state_folder
from tests.appliance.input.test_hearing import heard
from tests.audio.ears_fakes import unasked

KITCHEN = Event(type=ASR_TRANSCRIPT, content="set a timer", source="mic")

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


async def tell(state: State) -> None:
    """Let a turn through, hold two back."""
    published = state.bus.observe(EARS_SUPPRESSED)
    turns = SuppressedTurns(state.bus, lambda: NOW, OWN, Undisputed().told)
    cause = Event(type=ASR_TRANSCRIPT, content="what time is it", source="mic")
    for run in ("run", "the same event, taken again after it was suspended"):
        await state.bus.publish(
            step("runs.new", cause, run, {"source": "mic", "attempt": 1, "content": ""}, cause.content)
        )
    typed = Event(type="user_text", content="hello", source="cli")
    await state.bus.publish(step("runs.new", typed, "run", {"source": "cli", "attempt": 1, "content": ""}, "hello"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(turns.run())
        turns.speech_started(SpeechStarted(1.0, unasked))
        turns.words_so_far(heard("thank you for"))
        turns.turn_ended(heard("thank you for watching"), "echo")
        turns.turn_ended(None, "failed")
        turns.turn_ended(None, TOO_SHORT)
        turns.turn_ended(heard("stop"), REFLEX)
        turns.turn_ended(heard("hello"), "")

        async for envelope in published:
            if envelope.metadata["reason"] == "failed":
                running.cancel()
                return


@pytest.mark.shows("V12")
async def test_turns_held_back_are_listed_with_reason_and_evidence(tmp_path: Path) -> None:
    async with open_state(load(environ={"XDG_STATE_HOME": str(tmp_path)}).state_folder) as state:
        await tell(state)
        assert await state.journal.search("watching", "household") == []
        turns = newest(tmp_path / "nakari", 20)
    assert [(turn.words, turn.reason) for turn in turns] == [
        ("what time is it", ""),
        ("thank you for watching", "echo"),
        ("", "failed"),
    ]
    assert turns[1].evidence["snr_db"] == 30.5
    assert turns[1].line(UTC).startswith("2026-11-21 12:00:00  held back: echo")
    assert '"thank you for watching"  [recognizer pocketsphinx, confidence low, score 0.508, snr_db 30.5' in turns[
        1
    ].line(UTC)
    assert "(no words)" in turns[2].line(UTC)
    assert [turn.words for turn in newest(tmp_path / "nakari", 1)] == [""]


@pytest.mark.parametrize("event", [in_its_room(Turn("kitchen", "Kitchen", KITCHEN)), replace(KITCHEN, source=REMOTE)])
async def test_what_other_ears_heard_is_listed_too(tmp_path: Path, event: Event) -> None:
    async with open_state(load(environ={"XDG_STATE_HOME": str(tmp_path)}).state_folder) as state:
        await state.bus.publish(step("runs.new", event, "run", {"source": event.source, "attempt": 1}, event.content))
    assert [turn.words for turn in newest(tmp_path / "nakari", 20)] == ["set a timer"]


def test_ears_say_who_keeps_what_they_hear(tmp_path: Path) -> None:
    (tmp_path / "nakari.toml").write_text('[machines]\nurl = "nats://127.0.0.1:1"\nrole = "ears"\n')
    file = state_folder(tmp_path) / "nakari.db"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(SCHEMA)
    done = nakari(tmp_path, "--config", tmp_path / "nakari.toml", "heard")
    assert (done.returncode, "the mind keeps: `nakari heard` there" in done.stdout) == (0, True), done


@pytest.mark.shows("V12")
async def test_the_command_lists_them(tmp_path: Path) -> None:
    async with open_state(load(environ={"HOME": str(tmp_path)}).state_folder) as state:
        await tell(state)
    shown = nakari(tmp_path, "heard")
    assert (shown.returncode, shown.stderr) == (0, "")
    fates = [line.split("  ")[1].strip() for line in shown.stdout.splitlines()]
    assert fates == ["heard", "held back: echo", "held back: failed"]
    [turn] = json.loads(nakari(tmp_path, "heard", "-n", "1", "--json").stdout)["turns"]
    assert turn["reason"] == "failed"


def test_without_a_state_it_says_so(tmp_path: Path) -> None:
    shown = nakari(tmp_path, "heard")
    assert (shown.returncode, shown.stdout) == (69, "")
    assert "nothing was heard yet" in shown.stderr
    state_folder(tmp_path).mkdir(parents=True)
    (state_folder(tmp_path) / "nakari.db").write_text("no database")
    shown = nakari(tmp_path, "heard")
    assert (shown.returncode, shown.stdout) == (69, "")
    assert "cannot be read" in shown.stderr


async def test_what_a_full_disk_refuses_is_left_out_and_waiting_turns_are_bounded() -> None:
    was_refused, told = asyncio.Event(), asyncio.Event()
    published: list[Event] = []

    async def journal(events: tuple[Event, ...]) -> None:
        if not was_refused.is_set():
            was_refused.set()
            raise StateUnusable("the disk is full")
        published.extend(events)
        told.set()

    turns = SuppressedTurns(Bus(journal), lambda: NOW, OWN, Undisputed().told)
    turns.turn_ended(None, "failed")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(turns.run())
        await was_refused.wait()
        for number in range(WAITING + 10):
            turns.turn_ended(None, f"reason {number}")
        await told.wait()
        running.cancel()
    assert len(published) == WAITING
    assert published[-1].metadata["reason"] == f"reason {WAITING + 9}"


@pytest.mark.shows("V29")
async def test_a_turn_that_was_forgotten_before_the_disk_had_it_never_gets_there() -> None:
    published: list[Event] = []
    told = asyncio.Event()

    async def journal(events: tuple[Event, ...]) -> None:
        published.extend(events)
        told.set()

    turns = SuppressedTurns(Bus(journal), lambda: NOW, OWN, Undisputed().told)
    turns.turn_ended(heard("the apple tree"), "not addressed to nakari")
    turns.forget()
    turns.turn_ended(None, "failed")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(turns.run())
        await told.wait()
        running.cancel()
    assert [event.metadata for event in published] == [{"reason": "failed"}]


@pytest.mark.shows("V7")
async def test_the_connection_is_warmed_while_somebody_speaks_but_not_again_and_again() -> None:
    now, warmed = [100.0], asyncio.Queue[float]()

    async def warm() -> None:
        await warmed.put(now[0])

    prewarm = Prewarm(warm, lambda: now[0])
    async with asyncio.TaskGroup() as group:
        running = group.create_task(prewarm.run())
        prewarm.speech_started(SpeechStarted(1.0, unasked))
        prewarm.words_so_far(heard("what time"))
        assert await warmed.get() == 100.0
        now[0] += NOT_AGAIN_WITHIN - 1
        prewarm.speech_started(SpeechStarted(2.0, unasked))
        prewarm.turn_ended(heard("what time is it"), "")
        now[0] += 1
        prewarm.speech_started(SpeechStarted(3.0, unasked))
        assert await warmed.get() == 110.0
        running.cancel()
    assert warmed.empty()


async def test_the_newest_words_of_a_turn_are_looked_up_in_its_pauses() -> None:
    looked, go_on = asyncio.Queue[str](), asyncio.Event()

    async def look(words: str) -> None:
        await looked.put(words)
        await go_on.wait()

    ahead = LookAhead(look)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(ahead.run())
        ahead.words_so_far(heard("is Anna"))
        assert await looked.get() == "is Anna"
        ahead.words_so_far(heard("is Anna allergic"))
        ahead.words_so_far(heard("is Anna allergic to nuts"))
        go_on.set()
        assert await looked.get() == "is Anna allergic to nuts"
        running.cancel()
    assert looked.empty()
