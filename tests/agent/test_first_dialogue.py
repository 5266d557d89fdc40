"""The example dialogue of the first nakari document, end to end: scripted model, real loop, mouth and graph."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent import mailbox as mailbox_module
from agent.bus import Bus
from agent.context.carried import ContextLimits
from agent.context.epochs import Contexts
from agent.context.recollection import Recent
from agent.context.tokens import TokenCounter
from agent.loop import Loop, Mind
from agent.mailbox import Mailbox
from agent.model.chain import Chain
from agent.model.messages import Message
from agent.prompts import Prompts
from agent.record import Recorder
from agent.replies import SENTENCE_STARTED
from agent.run.attention import Attention
from agent.run.budget import RunLimits
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.run.thinking.think import Thinker
from agent.tools.events import event_tools
from agent.tools.memory import memory_tools
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import reply_tool
from appliance.output.voice import FIRST_SOUND, VoiceReplySink
from audio.playback.speech_output import SpeechOutput
from memory.graph.graph import Graph
from memory.history.audit import AuditLog
from memory.history.snapshot import Snapshots
from memory.history.writer import Writer
from memory.recall import index as recall_module
from memory.state import journal as journal_module
from memory.state import tiers as tiers_module
from memory.state.database import Database
from memory.state.journal import Journal
from memory.state.tiers import Tiers
from memory.vectors.embedding import Handles, NoEmbedder
from tests.agent.mind import recalled_over, spoken
from tests.audio.mouth_fakes import ScriptedPlayer, ScriptedVoice
from tests.fakes import ScriptedModel, calls
from tests.loops import together
from tests.memory.graph_looks import SESSION

pytest_plugins = ["tests.memory.graph_fixtures"]

GRAPH_BEFORE = """
CREATE (u:User {id: $userId}), (c:Conversation {id: $convId, timestamp: datetime(), summary: $summary,
  emotional_tone: "negative"}), (t:Topic {name: $topic, detail: $detail}),
  (u)-[:HAD_CONVERSATION]->(c), (c)-[:DISCUSSED]->(t)
"""
"""What it had written itself the week before."""

LOOK_FOR_MOODS = """MATCH (u:User {id: $userId})-[:HAD_CONVERSATION]->(c)
WHERE c.emotional_tone = 'negative'
RETURN c.id, c.summary ORDER BY c.timestamp DESC LIMIT 5"""

LOOK_AT_TOPIC = """MATCH (c:Conversation {id: $convId})-[:DISCUSSED]->(t)
RETURN t.name, t.detail"""

RECORD = """MATCH (u:User {id: $userId})
CREATE (c:Conversation {
  id: $convId, timestamp: datetime(),
  summary: "用户再次表达低落情绪",
  emotional_tone: "negative"
})
CREATE (u)-[:HAD_CONVERSATION]->(c)
WITH c
MATCH (prev:Conversation {id: $prevConvId})
CREATE (c)-[:RELATED_TO {reason: "相似的情绪状态"}]->(prev)"""
"""The first dialogue's own statement, word for word."""

USER = {"userId": "user-001"}
SAID = "上次你也提到过工作压力的事。今天也是因为项目的截止日期吗？"


def cypher(statement: str, **params: str) -> str:
    return json.dumps({"cypher": statement, "params": params}, ensure_ascii=False)


def script() -> ScriptedModel:
    record = cypher(RECORD, **USER, convId="conv-20260207", prevConvId="conv-20260201")
    return ScriptedModel(
        calls(("memory_query", cypher(LOOK_FOR_MOODS, **USER)), prefix="moods"),
        calls(("memory_query", cypher(LOOK_AT_TOPIC, convId="conv-20260201")), prefix="topic"),
        calls(
            ("reply", json.dumps({"text": SAID}, ensure_ascii=False)),
            ("memory_write", record),
            ("complete_event", '{"summary": "安慰了用户"}'),
            prefix="answer",
        ),
    )


class Scene:
    """What the test looks at afterwards."""

    def __init__(self, journal: Journal, mailbox: Mailbox, loop: Loop, bus: Bus) -> None:
        self.journal, self.mailbox, self.loop, self.bus = journal, mailbox, loop, bus


@asynccontextmanager
async def scene(folder: Path, graph: Graph, model: ScriptedModel) -> AsyncIterator[Scene]:
    """Put a whole mind with a mouth on a real graph."""
    database = Database(folder / "nakari.db")
    await database.open(journal_module.SCHEMA, mailbox_module.SCHEMA, tiers_module.SCHEMA, recall_module.SCHEMA)
    journal, mailbox = Journal(database), Mailbox(database, lambda: datetime.now(UTC))
    bus, run_state = Bus(Recorder(journal)), RunState()
    mouth = SpeechOutput(ScriptedVoice(), ScriptedPlayer())
    outlet = VoiceReplySink(mouth, bus, "zh")
    audit = AuditLog(folder / "audit")
    tools = memory_tools(Writer(graph, audit, Snapshots(folder / "snapshots", audit)), Handles(NoEmbedder()))
    contexts = Contexts(journal, bus, ContextLimits, TokenCounter())
    events = event_tools(mailbox, run_state, contexts, RunLimits())
    registry = ToolRegistry([*events, reply_tool(run_state, outlet), *tools])
    recent = Recent(Tiers(database, journal, lambda: datetime.now(UTC)), TokenCounter(), 400)
    replies = SystemReplies(outlet, run_state, sign_after=0.0)
    thinker = Thinker(Chain.of([model]), bus, contexts, replies, mailbox)
    mind = Mind(mailbox, journal, bus, contexts, registry, run_state, thinker, [recent], recalled_over(journal))
    attention = Attention(mailbox, journal, replies, outlet.stop_speaking)
    loop = Loop(mind, attention, Prompts(), [], lambda: datetime.now(UTC), RunLimits())
    try:
        async with asyncio.TaskGroup() as group:
            speaking = group.create_task(together(mouth.loops()))
            yield Scene(journal, mailbox, loop, bus)
            speaking.cancel()
    finally:
        await database.close()


@pytest.mark.shows("B25", "B26", "C1")
@SESSION
async def test_it_speaks_before_it_writes_it_down_and_writes_one_node_and_two_relations(
    tmp_path: Path, embedded: Graph
) -> None:
    before = {
        "convId": "conv-20260201",
        "summary": "压力大，和工作有关",
        "topic": "工作",
        "detail": "项目 deadline 的压力",
    }
    await embedded.write(GRAPH_BEFORE, USER | before)
    model = script()
    model.hold[2] = asyncio.Event()
    async with asyncio.timeout(120), scene(tmp_path, embedded, model) as at:
        sounds = at.bus.observe(FIRST_SOUND)
        event = spoken("我今天心情不太好")
        await at.mailbox.enqueue(event)
        async with asyncio.TaskGroup() as group:
            group.create_task(at.loop.handle(await at.mailbox.take()))
            async for _ in sounds:
                break
            written = (await embedded.read("MATCH (c:Conversation) RETURN count(c) AS n")).records
            model.hold[2].set()  # the model has not even finished its answer
        steps = await at.journal.entries(event_id=event.id)
        filed = await at.mailbox.find(event.id)
    assert written == [{"n": 1}]
    first_sound = next(step.seq for step in steps if step.topic == SENTENCE_STARTED)
    began = next(step.seq for step in steps if step.body.get("tool_name") == "memory_write")
    assert first_sound < began
    assert [str(step.body["words"]) for step in steps if step.topic == SENTENCE_STARTED] == SAID.replace(
        "。", "。\n"
    ).splitlines()
    results = _results(model.requests[2]) | _written(steps)
    assert "压力大，和工作有关" in results["moods_0"]
    assert "项目 deadline 的压力" in results["topic_0"]
    stats = json.loads(results["answer_1"])["stats"]
    assert (stats["nodesCreated"], stats["relationshipsCreated"]) == (1, 2)
    assert filed is not None
    assert filed.state == "completed"
    assert filed.progress.model_calls == 3
    related = await embedded.read("MATCH (:User)-[:HAD_CONVERSATION]->(c)-[r:RELATED_TO]->(p) RETURN r.reason, p.id")
    assert related.records == [{"r.reason": "相似的情绪状态", "p.id": "conv-20260201"}]


def _results(messages: list[Message]) -> dict[str, str]:
    return {message.tool_call_id: message.content for message in messages if message.role == "tool"}


def _written(steps: list[journal_module.Stored]) -> dict[str, str]:
    messages = [Message.from_json(dict(step.body["message"])) for step in steps if step.topic == "context.message"]  # type: ignore[arg-type]
    return _results(messages)
