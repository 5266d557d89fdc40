"""What left its context long ago, and what was never said: it answers from what its queries return, or not at all."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.context import block
from agent.context.carried import ContextLimits
from agent.errors import ModelError
from agent.mailbox import Lease
from agent.model.messages import Message
from agent.record import step
from agent.run.opening import block_of
from agent.tools.journal import recall_tool
from agent.tools.tool import Tool
from memory.recall import Recall
from memory.state.journal import Journal
from tests.agent.mind import NOON, Start, TestMind, a_mind, spoken
from tests.fakes import Scripted, ScriptedModel, calls
from tests.figures import figure
from tests.memory.tier_fixtures import WordEmbedder

SMALL = ContextLimits(history_messages=6, history_tokens=400, compress_above_tokens=2_000)
UNKNOWN = "I don't know."
EMBEDDER = WordEmbedder(words=("boiler", "number"))


def looking_up(tool: str, argument: str, words: Callable[[str], str]) -> Scripted:
    """Return a model's mind that knows nothing: it asks one tool, and says the first thing that comes back, or not."""

    def decide(messages: Sequence[Message]) -> Message:
        last = messages[-1]
        if last.role == "user" and (seen := block.parse(last.content)):
            return calls((tool, json.dumps({argument: words(seen.words)})), prefix=f"look_{len(messages)}")
        if last.role != "tool":
            raise ModelError("it sums nothing up")
        try:
            found = [line for line in json.loads(last.content)["hits"] if not line["words"].endswith("?")]
        except ValueError:
            found = []
        return calls(
            ("reply", json.dumps({"text": found[0]["words"] if found else UNKNOWN})), prefix=f"answer_{len(messages)}"
        )

    return decide


def tools(journal: Journal, _: object) -> list[Tool]:
    return [recall_tool(Recall(journal, EMBEDDER))]


async def turns(mind: TestMind, count: int) -> None:
    """Journal so many turns as the loop does, in one transaction: the disk is not what is shown here."""
    epoch, contexts = mind.loop_epoch, mind.mind.contexts
    envelopes = []
    for n in range(count):
        event = spoken(f"And number {n} is of no interest to anybody in this house.")
        told = Message("user", block.render(block_of(Lease(event), 10, NOON, {})))
        envelopes += [
            step("runs.new", event, "run", {"source": "mic", "attempt": 1, "content": ""}, event.content),
            contexts.envelope(epoch, event, "run", told),
            contexts.envelope(epoch, event, "run", Message("assistant", f"Indeed, {n}.")),
        ]
    await mind.mind.bus.publish(*envelopes)


@pytest.mark.shows("D4", "E15")
async def test_a_fact_of_500_turns_ago_is_answered_by_looking_it_up(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel(calls(("complete_event", "{}")))], tools, SMALL) as mind:
        await mind.handle(spoken("Remember that the boiler key hangs behind the piano."))
        await turns(mind, 500)
    model = ScriptedModel(*[looking_up("recall", "words", lambda _: "boiler key")] * 4)
    a_month_later = Start(today=datetime.now(UTC) + timedelta(days=30))  # the tiers tell no context of it any more
    async with a_mind(tmp_path, [model], tools, SMALL, start=a_month_later) as mind:
        await mind.handle(spoken("Where is the key of the boiler?"))
        assert all("piano" not in message.content for message in model.requests[0])  # it was trimmed
        assert mind.outlet.said == ["Remember that the boiler key hangs behind the piano."]


TOLD = {
    "Remember that Anna was born on May 3.": "When is the birthday of Anna?",
    "Remember that Boris is allergic to peanuts.": "What can Boris not eat?",
}
ABSENT = [
    f"What is the {thing} of {who}?"
    for thing in ("birthday", "number", "address", "favourite colour", "job")
    for who in ("Zoe", "Yuri")
]


@pytest.mark.shows("G3")
async def test_what_was_never_said_it_does_not_know(tmp_path: Path) -> None:
    def name_of(question: str) -> str:
        return next(name for name in ("Anna", "Boris", "Zoe", "Yuri") if name in question)

    model = ScriptedModel(*[calls(("complete_event", "{}"), prefix=f"done_{n}") for n in range(len(TOLD))])
    async with a_mind(tmp_path, [model], tools) as mind:
        for fact in TOLD:
            await mind.handle(spoken(fact))
        model.script += [looking_up("recall", "words", name_of)] * 2 * (len(TOLD) + len(ABSENT))
        for question in (*TOLD.values(), *ABSENT):
            await mind.handle(spoken(question))
    assert mind.outlet.said[: len(TOLD)] == list(TOLD)
    unknown = mind.outlet.said[len(TOLD) :]
    figure("facts that were never told, and that it says it does not know", f"{len(unknown)} of {len(ABSENT)}")
    assert unknown == [UNKNOWN] * len(ABSENT)
