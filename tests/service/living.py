"""The whole box in this process on its real store, with a scripted mind that knows only what its graph returns."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from msgspec.structs import replace

from agent.context import block
from agent.model.interface import CachedPrefix, ChatModel, StreamItem
from agent.model.messages import Message, ToolSpec
from appliance.api.client import Question, answer_to
from appliance.config.load import Config, load
from appliance.config.options import RunOptions
from appliance.model.catalog import ModelCatalog
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import REAL
from memory.graph.embedded.store import EmbeddedStore, State
from tests.fakes import ScriptedModel, calls
from tests.service.process import Household

DEAF = RunOptions(deaf=True)
KEEP, KNOWN = "keep ", "what do you know"
"""What it is asked to do: write a text into its graph, and say all that is in it. Anything else is small talk."""


CALLS = count()
"""Numbers of its calls: a mind that starts again, in the same process, repeats none."""


class Keeping(ScriptedModel):
    """A mind that answers from what its tools return, and chats without them."""

    def __init__(self) -> None:
        super().__init__(name="keeping", piece=40)
        self.observed: list[str] = []
        """What each tool returned."""

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        name, arguments = self._decided(messages[-1])
        self.script.append(calls((name, json.dumps(arguments)), prefix=f"call{next(CALLS)}"))
        async for item in super().stream(messages, tools):
            yield item

    def _decided(self, last: Message) -> tuple[str, dict[str, Any]]:
        seen = block.parse(last.content) if last.role == "user" else None
        words = seen.words if seen else ""
        if words.startswith(KEEP):
            statement = "MERGE (f:Fact {text: $text}) RETURN f.text AS text"
            return "memory_write", {"cypher": statement, "params": {"text": words.removeprefix(KEEP)}}
        if words.startswith(KNOWN):
            return "memory_query", {"cypher": "MATCH (f:Fact) RETURN f.text AS text ORDER BY text"}
        if last.role == "tool":
            self.observed.append(last.content)
        return "reply", {"text": "There you are." if last.role == "tool" else "Very well, thank you."}


@dataclass
class Living:
    """A box that runs, and its people."""

    box: Box
    config: Config
    model: Keeping
    kept: list[str] = field(default_factory=list)
    """What was acknowledged."""

    @property
    def store(self) -> EmbeddedStore:
        assert self.box.graph.store is not None
        return self.box.graph.store

    @property
    def pid(self) -> int:
        """Process id of the store's child."""
        assert self.store.pid is not None
        return self.store.pid

    async def ready(self) -> None:
        """Return when its store serves."""
        async with asyncio.timeout(120):
            await self.store.until(State.READY)

    async def asked(self, words: str, session: str = "test") -> str:
        """Type something; return the answer."""
        async with asyncio.timeout(120):
            return "".join(
                [str(piece) async for piece in answer_to(self.config.socket, Question(words, session))]
            ).strip()

    async def seconds_for_a_chat(self) -> float:
        """Return how long an answer takes that needs no memory."""
        began = time.monotonic()
        assert await self.asked("How are you?") == "Very well, thank you."
        return time.monotonic() - began

    async def keeps(self, text: str) -> str:
        """Have it write something down; return what the tool said."""
        assert await self.asked(f"{KEEP}{text}") == "There you are."
        told = self.model.observed[-1]
        if not told.startswith("error: "):
            self.kept.append(text)
        return told

    async def knows(self) -> list[str]:
        """Return what it can say it knows; fails with the tool's sentence."""
        assert await self.asked(f"{KNOWN}?") == "There you are."
        return [row["text"] for row in json.loads(self.model.observed[-1])["records"]]

    async def keeps_again(self, text: str) -> None:
        """Have it write something down as often as it takes, at most a minute."""
        async with asyncio.timeout(120):
            while (await self.keeps(text)).startswith("error: "):
                pass


@asynccontextmanager
async def living(home: Household, options: RunOptions = DEAF, **environment: str) -> AsyncIterator[Living]:
    """Open the box of a household and let all its loops run, without a microphone."""
    config, model = load(home.write(), {"HOME": str(home.folder), **environment}), Keeping()

    async def models(catalog: ModelCatalog, room: CachedPrefix) -> list[ChatModel]:
        return [model]

    source = REAL.source if options.input else lambda ears, options: None
    async with open_box(config, options, replace(REAL, models=models, source=source)) as box:
        over = asyncio.Event()

        async def until_over() -> None:
            await over.wait()

        async with asyncio.TaskGroup() as group:
            group.create_task(serve(box, until_over), name="the box")
            try:
                yield Living(box, config, model)
            finally:
                over.set()
