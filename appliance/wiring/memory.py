"""What happened, kept by age, importance and meaning: the tiers and their vectors, filled beside the mind."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from agent.event import Event, utc_now
from agent.tools.journal import recall_tool
from agent.tools.tool import Tool
from appliance.config.load import Config
from appliance.model.sentence import keep_fetching
from appliance.wiring.state import State
from memory.json_value import Json
from memory.state.recall import Recall, keep_filled
from memory.state.retention import Keep, Retention
from memory.state.tiers import Tiers
from memory.vectors.embedding import Embedder


@dataclass(frozen=True, slots=True)
class MemorySide:
    """What the rest of the box sees of the tiers."""

    tiers: Tiers
    recall: Recall
    tools: list[Tool]
    run: Callable[[], Coroutine[None, None, None]]
    """Fills the tiers, makes their vectors and fetches the model for them, until cancelled."""
    embedder: Embedder
    retention: Retention

    def describe(self) -> dict[str, Json]:
        """Say who makes the vectors."""
        return {"embeddings": self.embedder.name}


def memory_side(config: Config, state: State, embedder: Embedder, *, fetches: bool) -> MemorySide:
    """Put the tiers over the state database; nothing is read yet. `fetches` lets the sentence model come."""
    tiers = Tiers(state.journal.database, state.journal, utc_now)
    recall = Recall(state.journal.database, embedder)

    keep = Keep(config.state.keep_details_days, config.state.keep_words_days)
    retention = Retention(state.journal.database, keep)

    async def run() -> None:
        async def look(envelope: Event) -> None:
            if envelope.metadata.get("event") == "run_finished":
                tiers.changed.set()

        async with asyncio.TaskGroup() as group:
            group.create_task(keep_filled(tiers, recall), name="memory: the journal into tiers, and vectors")
            group.create_task(state.bus.attend("ui.events", look), name="memory: sees that a run is over")
            group.create_task(retention.run(), name="memory: what is too old, while nobody speaks")
            if fetches:
                group.create_task(keep_fetching(config, tiers.changed.set), name="memory: the sentence model, once")

    return MemorySide(tiers, recall, [recall_tool(recall)], run, embedder, retention)
