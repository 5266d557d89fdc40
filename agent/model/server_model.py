"""What the adapters to model servers share: one call at a time over one connection, its answer, a list read ahead."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import ClassVar

import httpx

from agent.errors import IllegalMessages, ModelError
from agent.model.connection import MAX_ERROR_BODY, Connection, drain, parsed
from agent.model.dialects.dialect import Dialect
from agent.model.faults import broken, ended_in_error, is_page, page
from agent.model.interface import MODEL_INPUT, CachedPrefix, StreamItem
from agent.model.messages import Message, ToolSpec
from agent.model.sight import Sight, look_ahead
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.events import EventStream, in_openai_form, is_beat, is_complaint
from agent.model.stream.relay import Chunk, Patience, relay
from agent.model.window import WindowRecord
from agent.model.wire.openai import Entry
from agent.model.wire.profile import Profile
from agent.model.wire.requests import Requests, Slot
from memory.egress import SendsTo, host_of


class ServerModel(ABC):
    """A `ChatModel` behind a server, read in whatever form it answers; an adapter adds the body of a request."""

    path: ClassVar[str]
    """Where a chat is posted, behind the root."""
    sets_window: ClassVar[bool] = False
    """Whether the window that is configured is in force only once it is set."""

    def __init__(
        self,
        root: str,
        model: str,
        api_key: str = "",
        *,
        patience: Patience | None = None,
        profile: Profile | None = None,
        room: CachedPrefix | None = None,
    ) -> None:
        """`room` finds the conversation that is likely to go on; for the rest see the adapters.

        Where the profile knows of several slots, that conversation has the first to itself, so that no other list can
        put its prefix out of the server's cache.
        """
        profile = profile or self._usual_profile(root)
        self.name = f"{root.partition('//')[2].partition('/')[0] or root}/{model}"
        self.sends_to = (SendsTo(MODEL_INPUT, host_of(root)),)
        self.window = WindowRecord(0 if self.sets_window else profile.context_tokens)
        self.sight = Sight(profile.vision, profile.images)
        self._key = api_key
        self._model = model
        self._profile = profile
        self._patience = patience or Patience()
        self._dialect = Dialect(profile, model, self.sight)
        wire_form = partial(self._dialect.wire_form, is_whole=False)
        self._requests = Requests(profile, self._form(), self.sight, wire_form, room)
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
    def _usual_profile(self, root: str) -> Profile:
        """Return the profile of a server at this address where none is named."""

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

    async def _chunks(self, body: bytes, accumulator: Accumulator) -> AsyncGenerator[Chunk, None]:
        """Yield the answer in OpenAI's form. Raises what `ChatModel.stream` raises."""
        response, is_done, calls = await self._connection.post(self.path, body), False, 0
        try:
            async with aclosing(self._events(response)) as events:
                async for sent in events:
                    data = sent.removeprefix("data:").strip(' "')  # gateways set it twice, or in quotes
                    is_done = data == "[DONE]"
                    if not (is_done or is_beat(data)):
                        said = parsed(self.name, data)
                        if is_complaint(said):
                            raise ended_in_error(self.name, data, self._key)
                        chunk, calls = in_openai_form(said, calls)
                        yield chunk
                        is_done = "done" in said and bool(accumulator.finish_reason)  # Ollama's last line
                    if is_done:
                        await drain(events)
                        break
        except ModelError:
            if accumulator.finish_reason in {"", "error"}:
                raise
            # What breaks behind the finish_reason takes nothing from the answer.
        finally:
            await response.aclose()
        # Some servers give no reason: their last word is one, where there was any other before.
        is_whole = accumulator.is_plausible or (is_done and accumulator.has_no_open_call)
        if not (accumulator.finish_reason or is_whole):
            raise broken(self.name, "broke off", is_of_answer=True)

    async def _events(self, response: httpx.Response) -> AsyncGenerator[str, None]:
        events, begun, count = EventStream(), bytearray(), 0
        async with aclosing(self._connection.pieces(response)) as pieces:
            try:
                async for piece in pieces:
                    if not count and len(begun) < MAX_ERROR_BODY:
                        begun += piece
                    for data in events.feed(piece):
                        count += 1
                        yield data
            except ValueError as error:
                raise broken(self.name, "is not an event stream") from error
        for data in events.finish():
            count += 1
            yield data
        if not count and is_page(text := begun.decode("utf-8", "replace")):
            raise page(self.name, text)
