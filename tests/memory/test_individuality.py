"""Two minds, fed different histories, answer the same question differently, each out of its own graph."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.context import block
from agent.model.messages import Message
from agent.tools.memory import memory_tools
from memory.graph.embedded.store import EmbeddedStore
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.vectors.embedding import Handles, NoEmbedder
from tests.agent.mind import TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

QUESTION = "What shall we do on Sunday?"
NOTHING = "I do not know yet what you like."

WROTE = "MERGE (p:Person {name: $who}) MERGE (t:Thing {name: $what}) MERGE (p)-[l:LIKES]->(t) SET l.told = $told"
LOOKED = (
    "MATCH (p:Person)-[l:LIKES]->(t:Thing) WITH t, count(p) AS people, collect(p.name) AS names "
    "RETURN t.name AS what, people, names, elementId(t) AS id ORDER BY people DESC, what LIMIT 1"
)

HISTORIES = {
    "the sailors": ["Ada likes sailing", "Ben likes sailing", "Ben likes tea"],
    "the readers": ["Cleo likes novels", "Dan likes novels", "Cleo likes cats"],
}


def mind_of_its_own(messages: Sequence[Message]) -> Message:
    """Return what a mind without any knowledge does: write down what it is told, and answer from what it looks up."""
    last = messages[-1]
    if last.role == "tool":
        return _after(last.content, messages)
    seen = block.parse(last.content)
    assert seen is not None
    turn = f"turn{len(messages)}"
    if seen.words == QUESTION:
        return calls(("memory_query", json.dumps({"cypher": LOOKED})), prefix=turn)
    who, _, what = seen.words.partition(" likes ")
    params = {"who": who, "what": what, "told": seen.event_id}
    return calls(("memory_write", json.dumps({"cypher": WROTE, "params": params})), prefix=turn)


def _after(observation: str, messages: Sequence[Message]) -> Message:
    told: dict[str, Any] = json.loads(observation)
    turn = f"turn{len(messages)}"
    if "stats" in told:
        return calls(("complete_event", "{}"), prefix=turn)
    text = NOTHING
    for found in told["records"]:
        text = f"{found['what']}, as {' and '.join(sorted(found['names']))} like it [{found['id']}]."
    return calls(("reply", json.dumps({"text": text})), prefix=turn)


class One:
    """A state, a store and a mind."""

    def __init__(self, mind: TestMind, graph: Graph) -> None:
        self.mind = mind
        self.graph = graph

    async def lives(self, history: Sequence[str]) -> None:
        for told in history:
            await self.mind.handle(spoken(told))

    async def answer(self) -> str:
        before = len(self.mind.outlet.said)
        await self.mind.handle(spoken(QUESTION))
        return " ".join(self.mind.outlet.said[before:])


@asynccontextmanager
async def one_mind(folder: Path) -> AsyncIterator[One]:
    async with EmbeddedStore(folder / "graph") as store:
        graph, audit = Graph(store), AuditLog(folder / "audit")
        tools = memory_tools(Writer(graph, audit, Snapshots(folder / "snapshots", audit)), Handles(NoEmbedder()))
        model = ScriptedModel(*[mind_of_its_own] * 20)
        try:
            async with a_mind(folder, [model], tools) as mind:
                yield One(mind, graph)
        finally:
            audit.close()
            await graph.close()


@pytest.mark.shows("C16")
async def test_the_same_question_after_different_lives(tmp_path: Path) -> None:
    answers = {}
    async with one_mind(tmp_path / "one") as one, one_mind(tmp_path / "other") as other:
        both = dict(zip(HISTORIES, (one, other), strict=True))
        assert {await each.answer() for each in both.values()} == {NOTHING}, "they begin alike"
        for name, each in both.items():
            await each.lives(HISTORIES[name])
            answers[name] = await each.answer()
        assert answers["the sailors"].startswith("sailing, as Ada and Ben like it [")
        assert answers["the readers"].startswith("novels, as Cleo and Dan like it [")
        for name, each in both.items():
            await cites_its_own(each, answers[name], HISTORIES[name])


async def cites_its_own(one: One, answer: str, history: Sequence[str]) -> None:
    """Check that the node an answer cites is in this graph, and that the events behind it are in this journal."""
    cited = answer.partition("[")[2].removesuffix("].")
    statement = "MATCH (:Person)-[l:LIKES]->(t) WHERE elementId(t) = $id RETURN t.name AS what, collect(l.told) AS told"
    [found] = (await one.graph.read(statement, {"id": cited})).records
    assert answer.startswith(str(found["what"]))
    told = found["told"]
    assert isinstance(told, list)
    heard = []
    for event_id in told:
        filed = await one.mind.mailbox.find(str(event_id))
        assert filed is not None
        heard.append(filed.event.content)
    assert sorted(heard) == sorted(line for line in history if line.endswith(str(found["what"])))
