"""What the words of an event bring back by themselves, and when nothing does."""

import asyncio
import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.context import block
from agent.context.recollection import AHEAD_SECONDS, MOST_TOKENS, RECALLED, Recalled
from agent.context.tokens import TokenCounter
from agent.event import HOUSEHOLD, TIMER, Event
from agent.model.messages import Message
from agent.record import step
from appliance.reflexes.forget import Forgetting, no_graph
from appliance.wiring.memory.state import State
from memory.recall import Recall
from memory.state.images import FOLDER, Images
from memory.vectors.embedding import NoEmbedder
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

TOLD = "Anna is allergic to walnuts and pecans."


def answers(count: int) -> ScriptedModel:
    return ScriptedModel(*(calls(("complete_event", "{}"), prefix=f"c{n}") for n in range(count)))


async def said_long_ago(mind: TestMind, *told: str, session: str = "room", **fields: object) -> list[Event]:
    """Journal what was said, beside things of no interest, and let recall take it over."""
    others = [f"There were {n} birds in the garden" for n in range(20)]
    events = [spoken(words, session_id=session, **fields) for words in (*told, *others)]
    await mind.mind.bus.publish(
        *(
            step("runs.new", each, "run", {"source": "mic", "attempt": 1, "content": ""}, each.content)
            for each in events
        )
    )
    await Recall(mind.journal, NoEmbedder()).fill()
    return events[: len(told)]


def told_in(messages: Sequence[Message]) -> str:
    seen = block.parse(messages[-1].content)
    assert seen is not None
    return seen.situation.get(RECALLED, "")


@pytest.mark.shows("G3", "D4")
async def test_what_was_said_of_it_comes_back_with_id_and_date(tmp_path: Path) -> None:
    model = answers(3)
    async with a_mind(tmp_path, [model]) as mind:
        [told] = await said_long_ago(mind, TOLD, session="kitchen")
        await mind.handle(spoken("Is Anna allergic?"))
        await mind.handle(spoken("What about the walnuts for Anna?"))
        await mind.handle(spoken("Tell me a joke"))
    lines = [told_in(request) for request in model.requests]
    assert re.fullmatch(rf"[\d :-]+ UTC \(id {told.id}\): {TOLD}", lines[0])
    assert lines[1:] == ["", ""]  # it is in the context already, and nothing is near


@pytest.mark.shows("F12")
async def test_nothing_of_another_owner_comes_back(tmp_path: Path) -> None:
    model = answers(1)
    async with a_mind(tmp_path, [model]) as mind:
        await said_long_ago(mind, TOLD, owner_key="a" * 64)
        await mind.handle(spoken("Is Anna allergic?"))
    assert told_in(model.requests[0]) == ""


async def test_it_keeps_to_its_tokens_and_leaves_out_what_takes_too_long(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [answers(1)]) as mind:
        long = [f"Walnuts of Anna, {name} kind: " + f"{name} again and " * 40 for name in ("first", "second", "third")]
        await said_long_ago(mind, *long)
        recall, tokens, asks = Recall(mind.journal, NoEmbedder()), TokenCounter(), spoken("Anna's walnuts?")
        lines = await Recalled(recall, tokens, 30.0).lines(asks, [], ())
        assert lines.count("Walnuts of Anna") >= 1
        assert tokens.count(lines) <= MOST_TOKENS
        assert await Recalled(recall, tokens, 0.0).lines(asks, [], ()) == ""
        assert await Recalled(recall, tokens, 30.0).lines(Event(TIMER, "Anna's walnuts"), [], ()) == ""


async def test_what_was_found_in_the_pause_before_the_end_of_a_turn_costs_nobody_time(tmp_path: Path) -> None:
    now = [100.0]
    async with a_mind(tmp_path, [answers(1)]) as mind:
        await said_long_ago(mind, TOLD)
        recalled = Recalled(Recall(mind.journal, NoEmbedder()), TokenCounter(), 0.0, lambda: now[0])
        asks = spoken("Is Anna allergic?")
        assert await recalled.lines(asks, [], ()) == "", "there is no time to look for it now"

        async def found(looked_for: str, owner_key: str = HOUSEHOLD, later: float = 1.0) -> bool:
            await recalled.look_ahead(looked_for, owner_key)
            now[0] += later
            return TOLD in await recalled.lines(asks, [], ())

        assert await found(asks.content)
        assert await recalled.lines(asks, [], ()) == "", "once: what is asked again may have another answer"
        assert not await found("Is Anna")
        assert not await found(asks.content, owner_key="a" * 64)
        assert not await found(asks.content, later=AHEAD_SECONDS + 0.1)
        await recalled.look_ahead(asks.content, HOUSEHOLD)
        recalled.forget()
        assert await recalled.lines(asks, [], ()) == ""


async def test_what_is_forgotten_while_it_is_looked_for_is_not_kept(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [answers(1)]) as mind:
        await said_long_ago(mind, TOLD)
        recalled, asks = Recalled(Recall(mind.journal, NoEmbedder()), TokenCounter()), spoken("Is Anna allergic?")
        async with asyncio.TaskGroup() as group:
            group.create_task(recalled.look_ahead(asks.content, HOUSEHOLD))
            await asyncio.sleep(0)
            recalled.forget()
        assert not recalled.is_found(asks.content, HOUSEHOLD)


async def test_words_that_are_being_looked_up_are_not_looked_up_twice(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [answers(1)]) as mind:
        await said_long_ago(mind, TOLD)
        recalled, asks = Recalled(Recall(mind.journal, NoEmbedder()), TokenCounter(), 30.0), spoken("Is Anna allergic?")
        async with asyncio.TaskGroup() as group:
            group.create_task(recalled.look_ahead(asks.content, HOUSEHOLD))
            await asyncio.sleep(0)
            told = group.create_task(recalled.lines(asks, [], ()))
        assert TOLD in told.result()
        assert not recalled.is_found(asks.content, HOUSEHOLD), "it is what was told"


class Counting(TokenCounter):
    """Notes which threads count."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def count(self, text: str) -> int:
        self.threads.add(threading.get_ident())
        return super().count(text)


async def test_what_comes_back_may_be_a_book_so_that_a_thread_sums_it_up(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [answers(1)]) as mind:
        await said_long_ago(mind, TOLD)
        recalled = Recalled(Recall(mind.journal, NoEmbedder()), tokens := Counting(), 30.0)
        assert TOLD in await recalled.lines(spoken("Is Anna allergic?"), [], ())
    assert tokens.threads
    assert threading.get_ident() not in tokens.threads


@pytest.mark.parametrize("words", ["Thank you!", "Good morning", "There were 21 birds in the garden", "嗯"])
async def test_small_talk_and_what_is_said_again_bring_nothing_back(tmp_path: Path, words: str) -> None:
    model = answers(1)
    async with a_mind(tmp_path, [model]) as mind:
        await said_long_ago(mind, "Good morning, did you sleep well?", "Thank you for the fish", "嗯，好的，明天见")
        await mind.handle(spoken(words))
    assert told_in(model.requests[0]) == ""


@pytest.mark.shows("D9")
async def test_another_start_reads_the_same_block_out_of_the_journal(tmp_path: Path) -> None:
    first, second = answers(1), answers(1)
    async with a_mind(tmp_path, [first]) as mind:
        await said_long_ago(mind, TOLD)
        await mind.handle(spoken("Is Anna allergic?"))
    async with a_mind(tmp_path, [second]) as mind:
        await mind.handle(spoken("Tell me a joke"))
    asked = first.requests[0]
    assert RECALLED in asked[-1].content
    assert second.requests[0][: len(asked)] == asked


@pytest.mark.shows("F11")
async def test_what_is_forgotten_is_gone_from_where_it_came_back_in_another_session(tmp_path: Path) -> None:
    model = answers(3)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken(TOLD, session_id="kitchen"))
        await said_long_ago(mind)
        await mind.handle(spoken("Is Anna allergic?"))
        assert "pecans" in told_in(model.requests[1])
        images = Images(tmp_path / FOLDER, mind.journal.database)
        state = State(mind.journal, mind.mailbox, mind.mind.bus, images)
        told = [each.event_id for each in await mind.journal.entries(topic="runs.new", session_id="kitchen")]
        forgetting = Forgetting(state, mind.mind.contexts, lambda _: False, no_graph, None)
        await forgetting.these(told)
        await mind.handle(spoken("Good night"))
        kept = json.dumps([dict(each.body) for each in await mind.journal.entries()])
    assert "pecans" not in str(model.requests[2])
    assert "pecans" not in kept
