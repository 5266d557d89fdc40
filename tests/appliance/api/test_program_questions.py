"""Questions of programs that ask again by themselves: one event, one answer, whatever they do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from agent import mailbox as mailbox_module
from agent.attachments.attachment import PROGRAM_SAYS, Document
from agent.bus import Bus
from agent.mailbox import Mailbox, Wake
from agent.record import Recorder, step
from agent.replies import Reply
from agent.run.opening import MANNER, attached_to
from appliance.api.event_intake import EventIntake
from appliance.api.handler import Household
from appliance.api.outcome import Outcome
from appliance.api.parts import Told
from appliance.api.program_questions import Figures, Item, ProgramQuestions, Question
from appliance.commands.registry import Commands
from appliance.output.saying import DoorReplies
from appliance.output.text import TextReplySink
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.journal import Journal

pytestmark = pytest.mark.shows("X13")

ADA = "ada"


@dataclass
class Box:
    """A mailbox, a journal, and one who answers what is in it when the test says so."""

    mailbox: Mailbox
    bus: Bus
    replies: DoorReplies
    programs: ProgramQuestions
    begun: list[asyncio.Event] = field(default_factory=list)

    async def answer(self, words: str) -> None:
        """Take what is next and answer it."""
        event = (await self.mailbox.take()).event
        delivery = self.replies.text.open(Reply(event, "c1"))
        await delivery.feed(words)
        await delivery.close()
        await self.mailbox.complete(event.id, "done", lambda _: {"prompt_tokens": 9, "completion_tokens": 2})
        await self.over(event.id)

    async def over(self, event_id: str) -> None:
        filed = await self.mailbox.find(event_id)
        assert filed is not None
        await self.bus.publish(step("ui.events", filed.event, "", {"event": "run_finished", "status": "COMPLETED"}))
        self.replies.text.finish(event_id)

    async def ask(self, question: Question) -> list[Item]:
        return [item async for item in self.programs.ask(question)]


@asynccontextmanager
async def a_box(folder: Path) -> AsyncIterator[Box]:
    database = Database(folder / "nakari.db")
    await database.open(journal_module.SCHEMA, mailbox_module.SCHEMA)
    journal, mailbox = Journal(database), Mailbox(database)
    bus, nobody = Bus(Recorder(journal)), cast("Any", None)
    replies = DoorReplies(TextReplySink(bus), nobody)
    letters, told, commands = EventIntake(mailbox, lambda _: True, lambda _: ""), Told({}, 0.0), Commands([], "en")
    household = Household(letters, nobody, bus, replies, nobody, nobody, told, commands)
    yield Box(mailbox, bus, replies, ProgramQuestions(household, journal, dict))
    await database.close()


async def test_an_answer_comes_with_what_it_took(tmp_path: Path) -> None:
    async with a_box(tmp_path) as box, asyncio.timeout(120), asyncio.TaskGroup() as group:
        asked = group.create_task(box.ask(Question("what time is it", "program", ADA)))
        await box.answer("It is three.")
    assert asked.result() == ["It is three.", "\n", Figures(9, 0, 2)]


@pytest.mark.parametrize("is_keyed", [True, False])
async def test_what_was_answered_is_told_again_and_not_asked_again(tmp_path: Path, is_keyed: bool) -> None:
    first = Question("light off", "program", ADA, event_id="e1", is_keyed=is_keyed)
    async with a_box(tmp_path) as box, asyncio.timeout(120):
        async with asyncio.TaskGroup() as group:
            group.create_task(box.ask(first))
            await box.answer("It is off.")
        again = first if is_keyed else Question("light off", "program", ADA, is_retry=True)
        told = await box.ask(again)
        assert told == ["It is off.\n", Figures(9, 0, 2)]
        assert (await box.mailbox.counts())["completed"] == 1
        assert (await box.mailbox.counts())["pending"] == 0


async def test_who_left_in_mid_answer_gets_all_of_it_when_they_come_back(tmp_path: Path) -> None:
    question = Question("what time is it", "program", ADA)
    async with a_box(tmp_path) as box, asyncio.timeout(120):
        filed = asyncio.Event()
        box.mailbox.observe_changes(filed.set)
        async with asyncio.TaskGroup() as group:
            left = group.create_task(box.ask(question))
            await filed.wait()
            left.cancel()
        async with asyncio.TaskGroup() as group:
            back = group.create_task(box.ask(Question("what time is it", "program", ADA, is_retry=True)))
            await asyncio.sleep(0)
            await box.answer("It is three.")
        assert back.result() == ["It is three.\n", Figures(9, 0, 2)]


@pytest.mark.parametrize(
    "other",
    [
        Question("light off", "program", ADA),
        Question("light on", "program", ADA, is_retry=True),
        Question("light off", "program phone", ADA, is_retry=True),
        Question("light off", "program", "eve", is_retry=True),
        Question("light off", "program", ADA, event_id="e9", is_keyed=True),
    ],
    ids=["asked anew", "other words", "another program", "another owner", "another key"],
)
async def test_what_is_another_question_is_asked(tmp_path: Path, other: Question) -> None:
    async with a_box(tmp_path) as box, asyncio.timeout(120):
        for question in (Question("light off", "program", ADA), other):
            async with asyncio.TaskGroup() as group:
                group.create_task(box.ask(question))
                await box.answer("Yes.")
        assert (await box.mailbox.counts())["completed"] == 2


async def test_what_waits_is_not_waited_for(tmp_path: Path) -> None:
    question = Question("what time is it", "program", ADA, event_id="e1", is_keyed=True)
    async with a_box(tmp_path) as box, asyncio.timeout(120):
        async with asyncio.TaskGroup() as group:
            group.create_task(box.ask(question))
            await box.mailbox.take()
            await box.mailbox.suspend("e1", "later", Wake("event", name="model_available"))
            await box.over("e1")
        outcome, _ = await box.ask(question)
        assert isinstance(outcome, Outcome)
        assert outcome.status == "waiting"


async def test_what_a_program_says_of_itself_stands_beside_the_words_and_orders_nothing(tmp_path: Path) -> None:
    question = Question("hello", "program", ADA, event_id="e1", program="Rhyme.")
    async with a_box(tmp_path) as box, asyncio.timeout(120), asyncio.TaskGroup() as group:
        asked = group.create_task(box.ask(question))
        event = (await box.mailbox.take()).event
        [said] = attached_to(event)
        assert isinstance(event.attachments[0], Document)
        assert (event.content, said.text, said.about["type"], said.about["note"]) == (
            "hello",
            "Rhyme.",
            PROGRAM_SAYS,
            MANNER,
        )
        assert event.outside
        asked.cancel()
