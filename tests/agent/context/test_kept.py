"""What the agent chose to keep is kept: through every later compression, whatever becomes of the models."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.context.block import parse
from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH
from agent.context.tokens import TokenCounter
from agent.errors import ModelUnavailable
from agent.event import Event
from agent.model.messages import Message
from tests.agent.context.test_compression import LONG, REPLY, is_summary_request, lawful
from tests.agent.mind import PATIENCE, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

LIMITS = ContextLimits(history_messages=6, history_tokens=600, compress_above_tokens=3_000, summary_tokens=120)
OWN = "We spoke of fruit:\nplums are blue, and I promised to buy some on Friday."
CODE = "  the code is <4711> & it\nstays  "


class Sums(ScriptedModel):
    """A model that replies to everything, compresses once when it is told to tidy up, and sums up in its way."""

    def __init__(self, account: str | Exception, keep: Sequence[str] = (CODE,), summary: str = OWN) -> None:
        super().__init__(*[self.respond] * 500)
        self.account = account
        self.wanted: dict[str, object] = {"summary": summary, "keep": list(keep)}
        self.summaries = 0
        self.hangs = False
        """Whether a summary never comes."""
        self.asked = asyncio.Event()
        """Set when it is asked for a summary."""

    def respond(self, messages: Sequence[Message]) -> Message:
        prefix = f"c{len(self.requests)}"
        if is_summary_request(messages):
            self.summaries += 1
            self.asked.set()
            if self.hangs:
                self.hold[len(self.requests) - 1] = asyncio.Event()
            if isinstance(self.account, Exception):
                raise self.account
            return Message("assistant", f"{self.account} ({self.summaries})")
        if messages[-1].role == "user" and "tidy up" in messages[-1].content:
            return calls(("compress_context", json.dumps(self.wanted)), prefix=prefix)
        return calls(REPLY, prefix=prefix)


async def questions(mind: TestMind, count: int) -> None:
    for number in range(count):
        await mind.handle(spoken(f"question {number} {LONG}"))


@pytest.mark.shows("D3", "D2")
@pytest.mark.parametrize("account", ["Much was said.", ModelUnavailable("away"), TimeoutError("over 30 s")])
async def test_its_own_words_stay_word_for_word_through_later_compressions(
    tmp_path: Path, account: str | Exception
) -> None:
    model = Sums(account)
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await mind.handle(spoken("tidy up"))
        since = len(model.requests) - 1
        await questions(mind, 30)
        assert len(await mind.journal.entries(topic=EPOCH)) >= 4
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await questions(mind, 10)
    assert model.summaries >= 3
    assert all(map(lawful, model.requests))
    for request in model.requests[since:]:
        assert OWN in request[1].content
        assert CODE in request[1].content


@pytest.mark.shows("D3")
async def test_a_person_who_speaks_during_a_summary_takes_nothing_from_it(tmp_path: Path) -> None:
    model = Sums("never told")
    model.hangs = True
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind, asyncio.timeout(PATIENCE):
        await mind.handle(spoken("tidy up"))
        for number in range(20):
            model.asked.clear()
            await mind.mailbox.enqueue(spoken(f"question {number} {LONG * 2}"))
            hand = await mind.mailbox.take()
            async with asyncio.TaskGroup() as group:
                life = group.create_task(mind.loop.handle(hand))
                summed = group.create_task(model.asked.wait())
                await asyncio.wait([life, summed], return_when=asyncio.FIRST_COMPLETED)
                if summed.done():
                    await mind.mailbox.enqueue(spoken("and another thing"))
                summed.cancel()
            assert mind.loop_epoch.tokens <= LIMITS.compress_above_tokens
            if model.asked.is_set():
                await mind.handle_next()
            assert OWN in model.requests[-1][1].content
            assert CODE in model.requests[-1][1].content
    assert model.summaries >= 2


@pytest.mark.shows("D3")
async def test_a_turn_that_it_keeps_stays_whole_through_later_compressions(tmp_path: Path) -> None:
    plums = spoken("plums are blue")
    model = Sums("Much was said.", keep=[plums.id])
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await mind.handle(plums)
        turn = mind.loop_epoch.messages[1:]
        await mind.handle(spoken("tidy up"))
        await questions(mind, 30)
        assert mind.loop_epoch.messages[2 : 2 + len(turn)] == turn
        await mind.mind.contexts.leave_out(plums, {plums.id}, {plums.content})
        assert "plums are blue" not in str(mind.loop_epoch.messages)


@pytest.mark.shows("D3")
async def test_what_is_too_long_to_keep_is_told_at_once(tmp_path: Path) -> None:
    model = Sums("so", keep=["short", "long " * 600])
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await mind.handle(spoken("tidy up"))
    result = model.requests[1][-1].content
    assert "too long to keep, 2" in result, "how many tokens it may"
    assert "long long" in result
    assert "short" in model.requests[1][1].content


@pytest.mark.shows("D3")
async def test_a_summary_that_is_too_long_changes_nothing_and_is_told(tmp_path: Path) -> None:
    model = Sums("so", summary="word " * 400)
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        await mind.handle(spoken("tidy up"))
        assert len(await mind.journal.entries(topic=EPOCH)) == 1
    assert "nothing was changed: your summary has" in model.requests[1][-1].content
    assert f"and {LIMITS.summary_tokens} are carried on" in model.requests[1][-1].content


@pytest.mark.shows("D2", "D3")
async def test_a_models_summary_has_its_length_and_is_carried_on_by_a_rule(tmp_path: Path) -> None:
    model = Sums("They like plums. " + "And so on. " * 100)
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        while not model.summaries:
            await questions(mind, 1)
        front = mind.loop_epoch.front
        assert front is not None
        account = front.account
        assert 100 <= TokenCounter().count(account) <= LIMITS.summary_tokens
        model.account = ModelUnavailable("away")
        await questions(mind, 10)
        last = mind.loop_epoch.front
        assert last is not None
        assert last.left != front.left
        assert last.account == account, "carried along"
        assert last.lines, "with what came since"
        assert TokenCounter().count("\n".join(last.lines)) <= LIMITS.summary_tokens
        assert "What came after that" in mind.loop_epoch.messages[1].content


def gauge_of(message: Message) -> str:
    seen = parse(message.content)
    assert seen is not None
    return seen.situation.get("Context_Full", "")


@pytest.mark.shows("D3")
async def test_it_sees_how_full_its_context_is_past_half(tmp_path: Path) -> None:
    model = Sums("so")
    gauges: list[tuple[float, str]] = []
    async with a_mind(tmp_path, [model], limits=LIMITS) as mind:
        for number in range(16):
            epoch = await mind.mind.contexts.opened(Event("x"))
            full = 0.0
            if epoch is not None:
                room = LIMITS.compress_above_tokens - epoch.prefix_tokens
                full = (epoch.tokens - epoch.prefix_tokens) / room
            before = len(model.requests)
            await mind.handle(spoken(f"question {number} {LONG}"))
            gauges.append((full, gauge_of(model.requests[before][-1])))
    assert any(full > 0.5 for full, _ in gauges)
    assert any(0.0 < full <= 0.5 for full, _ in gauges)
    for full, gauge in gauges:
        assert bool(gauge) is (full > 0.5)
        assert not gauge or gauge.startswith(f"{int(100 * full)} % of ")
    assert any('turns, from "question 0 and more' in gauge for _, gauge in gauges), "what goes next"
    for request in model.requests:
        assert "Context_Full" not in request[0].content
        assert parse(request[1].content) is not None or "Context_Full" not in request[1].content
