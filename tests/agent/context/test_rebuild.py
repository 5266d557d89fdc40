"""The exact message list of any past model call, from the journal alone."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH
from agent.context.rebuild import Gone, rebuild
from agent.errors import StreamBroken
from agent.event import Event
from agent.model.messages import Message
from agent.run.budget import ThoughtLimits
from agent.tools.journal import journal_read_tool
from agent.tools.tool import Call, run_tool
from memory.errors import StateUnusable
from memory.state.journal import Entry
from memory.state.retention import Keep, Retention
from tests.agent.context.test_compression import is_summary_request
from tests.agent.mind import Start, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

LIMITS = ContextLimits(history_messages=6, history_tokens=400, compress_above_tokens=1_200, summary_tokens=100)
REPLY = ("reply", '{"text": "Yes."}')
AT_ONCE = Start(patience=ThoughtLimits(first_pause=0.001))
"""A model that broke off is asked again without the half second of real life."""


class Whim(ScriptedModel):
    """Replies, thinks on, compresses or breaks off, by the dice; keeps what it was sent."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        super().__init__(*[self.respond] * 500)
        self.broken = 0

    def respond(self, messages: Sequence[Message]) -> Message:
        prefix = f"c{len(self.requests)}"
        if is_summary_request(messages):
            return Message("assistant", "Much was said.")
        kind = self.dice.choice(["reply", "reply", "look", "compress", "break"])
        if kind == "break" and self.broken < 1:
            self.broken += 1
            raise StreamBroken("broke off", Message("assistant"))
        self.broken = 0
        if kind == "look":
            return calls(("check_mailbox", "{}"), prefix=prefix)
        if kind == "compress":
            return calls(("compress_context", '{"summary": "半对的 so far", "keep": ["4711"]}'), prefix=prefix)
        return calls(REPLY, prefix=prefix)


@pytest.mark.shows("D1")
@pytest.mark.parametrize("seed", range(5))
async def test_every_request_is_rebuilt_whatever_happened(tmp_path: Path, seed: int) -> None:
    model = Whim(seed)
    for start in range(6):  # each start finds what the one before left, as after a crash
        async with a_mind(tmp_path, [model], limits=LIMITS, start=AT_ONCE) as mind:
            for number in range(6):
                if model.dice.random() < 0.2:
                    mind.disk.full_at = model.dice.choice(["llm.results", "tools.requests", "context.message"])
                try:
                    await mind.handle(spoken(f"question {start}.{number} " + "and more " * 40))
                except StateUnusable:
                    break
            asked = await mind.journal.entries(topic="llm.requests")
            epochs = await mind.journal.entries(topic=EPOCH)
            rebuilt = [await rebuild(mind.journal, entry.id) for entry in asked]
    assert [each.messages for each in rebuilt] == model.requests
    assert all(each.is_proven for each in rebuilt)
    assert [each.tools for each in rebuilt] == model.tools
    assert len(epochs) > 1


@pytest.mark.shows("D1")
async def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    model = ScriptedModel(calls(REPLY))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("one"))
        [asked] = await mind.journal.entries(topic="llm.requests")
        [epoch] = await mind.journal.entries(topic=EPOCH)
        with pytest.raises(Gone, match="no model call"):
            await rebuild(mind.journal, "nothing")
        with pytest.raises(Gone, match="no model call"):
            await rebuild(mind.journal, epoch.id)
        await mind.journal.erase(epoch.id)
        with pytest.raises(Gone, match="erased"):
            await rebuild(mind.journal, asked.id)


@pytest.mark.shows("D1")
async def test_a_message_that_is_missing_is_noticed(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(calls(REPLY))]) as mind:
        await mind.handle(spoken("one"))
        [asked] = await mind.journal.entries(topic="llm.requests")
        false = {**asked.body, "digest": "0" * 64}
        await mind.journal.append(
            Entry("llm.requests", false, asked.event_id, "", asked.session_id, asked.owner_key, id="false")
        )
        assert not (await rebuild(mind.journal, "false")).is_proven


async def read(mind: TestMind, name: str, owner: str = "household", start: int = 0) -> str:
    call = Call("1", Event("user_text", owner_key=owner))
    return await run_tool(journal_read_tool(mind.journal), f'{{"id": "{name}", "start": {start}}}', call)


@pytest.mark.shows("D2")
async def test_trimmed_text_is_read_again_by_id(tmp_path: Path) -> None:
    compress = ("compress_context", '{"summary": "fruit"}')
    model = ScriptedModel(calls(REPLY, prefix="a"), calls(compress, prefix="b"), calls(REPLY, prefix="c"))
    async with a_mind(tmp_path, [model]) as mind:
        plums = spoken("plums " + "are blue " * 2_000)
        await mind.handle(plums)
        await mind.handle(spoken("tidy up"))
        first = (await mind.journal.entries(topic=EPOCH))[0]
        whole = await read(mind, first.id)
        by_event = await read(mind, plums.id)
        rest = await read(mind, first.id, start=6_000)
        foreign = await read(mind, first.id, owner="somebody")
        unknown = await read(mind, "nothing")
    assert "plums are blue" in whole
    assert "plums are blue" in by_event
    assert "plums are" not in rest
    assert "start" in whole, "how to read on"
    assert "blue" not in foreign
    assert foreign.replace(first.id, "nothing") == unknown


@pytest.mark.shows("D1")
async def test_a_call_whose_details_were_dropped_for_age_is_said_to_be_thinned(tmp_path: Path) -> None:
    model = ScriptedModel(calls(REPLY, prefix="a"), calls(REPLY, prefix="b"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("one", session_id="client"))
        retention = Retention(
            mind.journal.database, Keep(90), is_busy=lambda: False, now=lambda: datetime.now(UTC) + timedelta(days=91)
        )
        await retention.once()
        [asked] = await mind.journal.entries(topic="llm.requests")
        with pytest.raises(Gone, match="thinned"):
            await rebuild(mind.journal, asked.id)
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("two", session_id="client"))
    assert [message.role for message in model.requests[1]] == ["system", "user"], "begun anew, not wedged"
