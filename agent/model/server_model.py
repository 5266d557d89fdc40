"""What the adapters to model servers share: one call at a time over one connection, and a list read ahead."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import ClassVar

from agent.errors import IllegalMessages
from agent.model.connection import Connection
from agent.model.dialects.dialect import Dialect
from agent.model.interface import MODEL_INPUT, CachedPrefix, StreamItem
from agent.model.messages import Message, ToolSpec
from agent.model.sight import Sight, look_ahead
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.relay import Chunk, Patience, relay
from agent.model.window import WindowRecord
from agent.model.wire.openai import Entry
from agent.model.wire.profile import Profile
from agent.model.wire.requests import Requests, Slot, Slots
from memory.egress import SendsTo, host_of


class ServerModel(ABC):
    """A `ChatModel` behind a server; an adapter adds the body of a request and how the answer to it is read."""

    path: ClassVar[str]
    """Where a chat is posted, behind the root."""

    def __init__(
        self,
        root: str,
        model: str,
        api_key: str,
        profile: Profile,
        *,
        patience: Patience | None = None,
        room: CachedPrefix | None = None,
    ) -> None:
        """`room` finds the conversation that is likely to go on; for the rest see the adapters."""
        self.name = f"{root.partition('//')[2].partition('/')[0] or root}/{model}"
        self.sends_to = (SendsTo(MODEL_INPUT, host_of(root)),)
        self.window = WindowRecord(profile.context_tokens)
        self.sight = Sight(profile.vision, profile.images)
        self._key = api_key
        self._model = model
        self._profile = profile
        self._patience = patience or Patience()
        self._dialect = Dialect(profile, model, self.sight)
        slots = Slots(profile, self._form(), self.sight)
        self._requests = Requests(slots, partial(self._dialect.wire_form, is_whole=False), room)
        self._is_asked = False
        self._connection = Connection(self.name, root, api_key, self._patience.connect)

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer as it arrives (see `ChatModel.stream`)."""
        return self._dialect.asked(self._ask, messages, tools)

    async def prefill(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Let a local server read a list that somebody is about to add to, while that person still speaks.

        Asks for one token, which is thrown away. Never raises; does nothing where that would be billed, or while the
        model answers.
        """
        if not self._profile.prefills or self._is_asked:
            return
        await self._ready()
        try:
            body = self._body(self._requests.take_ahead(messages, tools), is_ahead=True)
        except IllegalMessages:
            return
        await self._connection.spend(self.path, body, self._patience.first)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._connection.aclose()

    async def _ask(
        self, messages: Sequence[Message], told: Sequence[ToolSpec], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[StreamItem, None]:
        await self._ready()
        await look_ahead(self, messages)
        slot = self._requests.take(messages, told)
        accumulator = Accumulator(slot.list.call_ids, tools, self._dialect)
        self._is_asked = True
        try:
            async with aclosing(self._chunks(self._body(slot), accumulator)) as chunks:
                items = relay(chunks, accumulator, self.name, self._patience)
                async with aclosing(self.window.learning(self.name, messages, items, told)) as learning:
                    async for item in learning:
                        yield item
        finally:
            self._is_asked = False

    @abstractmethod
    async def learn_sight(self) -> None:
        """Ask the server whether the model sees (see `HasSight`)."""

    def _form(self) -> Callable[[Entry], Entry] | None:
        """Return what turns an entry of OpenAI's form into the server's; None where it is that form."""
        return None

    async def _ready(self) -> None:
        """Learn what a body cannot be made without; nothing more than what is configured."""
        return

    @abstractmethod
    def _body(self, slot: Slot, *, is_ahead: bool = False) -> bytes:
        """Return the body for the list in a slot; `is_ahead`: it is only to be read, for one token."""

    @abstractmethod
    def _chunks(self, body: bytes, accumulator: Accumulator) -> AsyncGenerator[Chunk, None]:
        """Yield the answer in OpenAI's form. Raises what `ChatModel.stream` raises."""
