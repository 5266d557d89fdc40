"""Another model in the real loop: it thinks from the next event on, in an epoch of its own."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from agent.context.epochs import EPOCH
from agent.model.chain import Chain, Guarded
from agent.model.messages import Message
from agent.prompts import Prompts, Self
from agent.tools.tool import Tool, tool
from memory.json_value import Json
from memory.state.journal import Stored
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

REPLY = ("reply", '{"text": "Yes."}')
SWITCH = ("switch", "{}")


def chain_of(*models: ScriptedModel) -> Chain:
    return Chain([Guarded(model.name, model) for model in models])


def prompts_of(chain: Chain) -> Prompts:
    """Return prompts that name who thinks, as those of the box do."""
    return Prompts(about=lambda: Self(chain.settle(), "", "", (), 10))


def switching(chain: Chain, alias: str) -> Tool:
    async def switch() -> Json:
        """Do what `nakari model use` does, while an event is in hand."""
        chain.use(alias)
        return "done"

    return tool(switch)


async def epochs(mind: TestMind) -> Sequence[Stored]:
    return await mind.journal.entries(topic=EPOCH)


@pytest.mark.shows("F3", "F2")
async def test_a_switch_opens_an_epoch_at_the_next_event_and_not_within_one(tmp_path: Path) -> None:
    one = ScriptedModel(calls(REPLY, prefix="a"), calls(SWITCH, prefix="b"), calls(REPLY, prefix="c"), name="one")
    two = ScriptedModel(calls(REPLY, prefix="d"), calls(REPLY, prefix="e"), name="two")
    chain = chain_of(one, two, ScriptedModel(name="offline"))
    async with a_mind(tmp_path, chain, [switching(chain, "two")], system=prompts_of(chain)) as mind:
        await mind.handle(spoken("plums"))
        await mind.handle(spoken("let the other one think"))
        assert (len(one.requests), len(two.requests)) == (3, 0), "the event in hand is ended by who began it"
        assert len(await epochs(mind)) == 1
        await mind.handle(spoken("and now?"))
        await mind.handle(spoken("still you?"))
        opened = await epochs(mind)
        asked = await mind.journal.entries(topic="llm.requests")
    assert [entry.body["model"] for entry in opened] == ["one", "two"]
    assert [entry.body["model"] for entry in asked] == ["one"] * 3 + ["two"] * 2
    assert {str(entry.body["epoch"]) for entry in asked[3:]} == {str(opened[1].body["epoch"])}
    for earlier, later in (*pairwise(one.requests), *pairwise(two.requests)):
        assert later[: len(earlier)] == earlier
    assert "You think with one." in one.requests[0][0].content
    assert "You think with two." in two.requests[0][0].content
    assert two.requests[0][1 : len(one.requests[2])] == one.requests[2][1:], "what was said is taken along"


@pytest.mark.shows("F3")
async def test_a_model_chosen_again_before_the_next_event_changes_nothing(tmp_path: Path) -> None:
    one = ScriptedModel(calls(REPLY, prefix="a"), calls(REPLY, prefix="b"), name="one")
    chain = chain_of(one, ScriptedModel(name="two"), ScriptedModel(name="offline"))
    async with a_mind(tmp_path, chain, system=prompts_of(chain)) as mind:
        await mind.handle(spoken("plums"))
        chain.use("two")
        chain.use("one")
        await mind.handle(spoken("and pears"))
        assert len(await epochs(mind)) == 1
    assert one.requests[1][: len(one.requests[0])] == one.requests[0]


@pytest.mark.shows("F3")
async def test_what_only_the_old_provider_understands_is_not_sent_to_the_new_one(tmp_path: Path) -> None:
    sealed = Message("assistant", "Yes.", extra={"reasoning_details": [{"signature": "sealed"}]})
    one = ScriptedModel(sealed, name="one")
    two = ScriptedModel(calls(REPLY, prefix="b"), name="two")
    chain = chain_of(one, two, ScriptedModel(name="offline"))
    async with a_mind(tmp_path, chain, system=prompts_of(chain)) as mind:
        await mind.handle(spoken("plums"))
        assert mind.loop_epoch.messages[-1].extra
        chain.use("two")
        await mind.handle(spoken("and pears"))
    assert [message.content for message in two.requests[0]][2] == "Yes."
    assert not any(message.extra for message in two.requests[0])
