"""What the memory tiers tell the first block of an epoch, on a real journal with real tiers."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.context.block import ROLES, message_of, parse
from agent.context.carried import ContextLimits
from agent.context.recollection import RECENT
from agent.context.tokens import TokenCounter
from agent.event import SELF_CREATED, Event
from agent.model.messages import Message
from agent.record import step
from tests.agent.mind import NOON, RECENT_TOKENS, TestMind, a_mind, spoken, typed
from tests.fakes import ScriptedModel, calls

REPLY = ("reply", '{"text": "Yes."}')
KEY = "Remember that the boiler key hangs behind the piano."
TRIMS = ContextLimits(history_messages=4)


def scripted(count: int, name: str = "scripted") -> ScriptedModel:
    return ScriptedModel(*(calls(REPLY, prefix=f"{name}{n}") for n in range(count)), name=name)


def told(messages: list[Message]) -> list[str]:
    """Return the lines that the newest block tells out of the tiers."""
    newest = next(message for message in reversed(messages) if message.role == "user")
    seen = parse(newest.content)
    assert seen is not None
    return seen.situation.get(RECENT, "").splitlines()


async def publish(mind: TestMind, *envelopes: Event) -> None:
    await mind.mind.bus.publish(*envelopes)
    await mind.tiers.fill()


def heard(words: str, **fields: object) -> Event:
    """Return the step with which a run takes up what a person said."""
    event = replace(spoken(words), **fields)
    return step("runs.new", event, "run", {"source": event.source, "content": ""}, event.content)


@pytest.mark.shows("E12", "E13", "D19")
async def test_the_first_block_of_an_epoch_tells_what_mattered_and_left_the_context(tmp_path: Path) -> None:
    before, after = scripted(8), scripted(3, "another")
    async with a_mind(tmp_path, [before], limits=TRIMS) as mind:
        await mind.handle(spoken(KEY))
        for number in range(7):
            await mind.handle(spoken(f"And what is {number} and {number}?"))
        await mind.tiers.fill()
    async with a_mind(tmp_path, [after], limits=TRIMS) as mind:  # another model: a new epoch
        await mind.handle(spoken("Where is the key?"))
        await publish(mind, Event("node.message", "Remember the cellar.", importance=0.9))
        await mind.handle(spoken("And is it still there?"))
    assert [told(request) for request in before.requests] == [[]] * 8
    first, second = after.requests
    assert [line for line in told(first) if KEY in line] == [f"{told(first)[0].partition(', ')[0]}, mic: {KEY}"]
    carried = "".join(message.content for message in first[1:-1])
    assert "what is 6 and 6" in carried
    assert all("6 and 6" not in line for line in told(first)), "nothing that the epoch has is told twice"
    assert told(second) == [], "in the first block only"
    assert second[: len(first)] == first, "and what was told once stays, byte for byte"
    assert RECENT not in first[0].content


@pytest.mark.shows("D20", "F12")
async def test_nothing_of_another_session_or_owner_is_told(tmp_path: Path) -> None:
    model = scripted(3)
    async with a_mind(tmp_path, [model]) as mind:
        await publish(
            mind,
            heard("Remember the plum."),
            heard("Remember the pear.", session_id="client"),
            heard("Remember the fig.", owner_key="their key"),
        )
        await mind.handle(spoken("room?"))
        await mind.handle(typed("client?"))
        await mind.handle(spoken("theirs?", owner_key="their key"))
    for request, fruit in zip(model.requests, ("plum", "pear", "fig"), strict=True):
        [line] = told(request)
        assert line.endswith(f"Remember the {fruit}.")
        assert sum(f"the {other}" in str(request) for other in ("plum", "pear", "fig")) == 1


@pytest.mark.shows("E12", "E13", "D21")
async def test_it_keeps_to_its_budget_and_takes_what_matters_first(tmp_path: Path) -> None:
    model = scripted(1)
    async with a_mind(tmp_path, [model]) as mind:
        story = "It went on and on, as such stories do, and nobody knew why. " * 20
        await publish(
            mind, heard(f"{KEY} {story}"), *(heard(f"Number {n} is of no interest to the house.") for n in range(45))
        )
        await mind.handle(spoken("Where is it?"))
    lines = told(model.requests[0])
    assert TokenCounter().count("\n".join(lines)) <= RECENT_TOKENS
    assert len(lines) > 10
    assert f"mic: {KEY}" in lines[0]
    assert len(lines[0]) < 250, "a long one by its summary"
    assert "Number 44" in lines[-1], "the newest ones, the oldest first"
    assert "Number 0 " not in str(lines)


@pytest.mark.shows("E17", "D22")
async def test_what_was_merely_published_is_told_by_its_action_and_an_unknown_one_skipped(tmp_path: Path) -> None:
    model = scripted(1)
    async with a_mind(tmp_path, [model]) as mind:
        await publish(
            mind,
            Event("node.message", "The washing machine is done.", source="cellar"),
            Event("node.thinking", "It may rain.", source="garden"),
            Event("cellar.temperature", "21.5", source="cellar", importance=0.9),
            heard("Thank you."),
            step("runs.new", Event(SELF_CREATED, source="self"), "run", {"source": "self", "content": "tidy up"}),
        )
        await mind.handle(spoken("Is anything new?"))
    assert [line.partition(", ")[2] for line in told(model.requests[0])] == [
        "cellar: The washing machine is done.",
        "you: It may rain.",
    ]


@pytest.mark.shows("D22")
@pytest.mark.parametrize(
    ("action", "role"),
    [
        ("execute", "user"),
        ("runs.new", "user"),
        ("thinking", "assistant"),
        ("node.thinking", "assistant"),
        ("llm.results", "assistant"),
        ("tools.results", "tool"),
        ("an.action.nobody.knows", None),
        ("", None),
    ],
)
def test_one_table_says_which_message_an_action_becomes(action: str, role: str | None) -> None:
    assert ROLES.get(action) == role
    assert message_of(action, "words") == (None if role is None else Message(role, "words"))


@pytest.mark.shows("E13")
async def test_the_importance_an_event_states_is_the_tiers_until_the_agent_says_another(tmp_path: Path) -> None:
    done = calls(REPLY, ("complete_event", '{"summary": "s", "importance": 0.1, "reason": "old"}'), prefix="b")
    async with a_mind(tmp_path, [ScriptedModel(calls(REPLY, prefix="a"), done)]) as mind:
        await mind.handle(spoken("The sky is grey.", importance=0.9))
        await mind.handle(spoken("The sea is grey.", importance=0.9))
        await mind.tiers.fill()
        [grey] = (await mind.tiers.views("household")).important
        recent = (await mind.tiers.views("household")).recent
    assert (grey.words, grey.importance, grey.marked_by) == ("The sky is grey.", 0.9, "sender")
    assert [(each.importance, each.marked_by) for each in recent] == [(0.9, "sender"), (0.1, "agent")]
    assert grey.at >= NOON
