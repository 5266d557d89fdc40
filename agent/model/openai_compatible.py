"""The thin adapter: chat completions over httpx, for llama.cpp, vLLM, DeepSeek, OpenRouter and OpenAI."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Final

import httpx

from agent.errors import ModelError
from agent.model.connection import MAX_ERROR_BODY, drain, is_beat, parsed
from agent.model.faults import broken, ended_in_error, is_page, page
from agent.model.interface import CachedPrefix
from agent.model.server_model import ServerModel
from agent.model.sight import sees_by_props, sees_listed
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.relay import Chunk, Patience
from agent.model.window import (
    LOADED,
    Window,
    sees_in_table,
    window_in_table,
    window_listed,
    window_of_loaded,
    window_of_props,
)
from agent.model.wire.profile import Profile, profile_for
from agent.model.wire.requests import Slot
from memory.json_value import Json

MAX_EVENT = 4 * 1024 * 1024
"""Bytes of one event; a chat stream's are a few hundred."""


BOM = b"\xef\xbb\xbf"
"""May stand before the first line, which is then not part of it."""


CLOUDS: Final = frozenset({"openai", "deepseek", "openrouter", "gemini", "anthropic"})
"""Profiles of providers: what they do not list of a window, a table knows."""

_DEFAULTS: Mapping[str, Json] = {"stream": True, "stream_options": {"include_usage": True}}


class EventStream:
    """The part of the event-stream format that model servers use: data, comments, any line ending, any cut.

    Lines are split at the bytes the format names and nowhere else: `str.splitlines` would also cut at U+2028 and
    U+0085, which JSON may hold unescaped.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_first = True

    def feed(self, piece: bytes) -> Iterator[str]:
        """Yield the data of each event that this piece completes. Raises ValueError for one without end."""
        is_waiting = self._rest.endswith(b"\r")
        self._rest += piece
        if self._is_first and len(self._rest) >= len(BOM):
            self._is_first = False
            self._rest = self._rest.removeprefix(BOM)
        if is_waiting or b"\n" in piece or b"\r" in piece:
            for line in self._whole_lines():
                yield from self._take(line)
        if len(self._rest) + self._size > MAX_EVENT:
            raise ValueError(f"an event of more than {MAX_EVENT} bytes")

    def finish(self) -> Iterator[str]:
        """Yield the data of a last event that was not closed by an empty line."""
        for line in (bytes(self._rest.rstrip(b"\r")), b""):
            yield from self._take(line)
        self._rest.clear()

    def _whole_lines(self) -> list[bytes]:
        # A carriage return at the very end may be the first half of a line ending.
        held = b"\r" if self._rest.endswith(b"\r") else b""
        ended = bytes(self._rest.removesuffix(held)).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *whole, rest = ended.split(b"\n")
        self._rest = bytearray(rest + held)
        return whole

    def _take(self, line: bytes) -> Iterator[str]:
        if not line:
            if self._data:
                yield b"\n".join(self._data).decode("utf-8", "replace")  # so says the format
            self._data, self._size = [], 0
        elif line.startswith(b"{"):  # an object a line, as some servers send in place of events
            yield line.decode("utf-8", "replace")
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._size += len(line) + 1  # an empty line of data takes room too


class OpenAiCompatibleModel(ServerModel):
    """A model behind any server that speaks OpenAI's chat completions."""

    path = "/chat/completions"

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str = "",
        *,
        patience: Patience | None = None,
        profile: Profile | None = None,
        room: CachedPrefix | None = None,
    ) -> None:
        """`base_url` ends before `/chat/completions`, e.g. `http://127.0.0.1:8080/v1`.

        `params` of the profile that are None are left out of a request, `stream_options` too. Where the profile knows
        of several slots, the conversation that `room` finds has the first to itself, so that no other list can put its
        prefix out of the server's cache. Its `context_tokens` are the window, 0 where only its server knows.
        """
        super().__init__(base_url, model, api_key, profile or profile_for(base_url), patience=patience, room=room)
        self._head = {"model": model, **_DEFAULTS, **self._profile.params}
        self._has_looked = False

    async def warm(self) -> None:
        """Open the connection, so that the first call need not, and learn what the model reads.

        Asks for what costs nothing: the list of models, and what else the server says of itself.
        """
        await self.learn_window()

    async def is_reachable(self) -> bool:
        """Look at the list of models: whether a server is there that takes requests."""
        return await self._connection.is_reachable(f"{self._connection.root}/models")

    async def learn_window(self) -> None:
        """Ask the server what the model reads (see `HasWindow`)."""
        listed = await self._connection.look(f"{self._connection.root}/models")
        self.sight.told(sees_listed(listed, self._model))
        if listed is not None and not self.window.is_told:
            self.window.told(window_listed(listed, self._model))
            if not self.window.is_told and not self._has_looked:
                self._has_looked = True  # what it does not say now it will not say at the next words either
                self.window.told(await self._told_beside())

    async def learn_sight(self) -> None:
        """Ask the server whether the model sees."""
        if not self.sight.is_known:
            self.sight.told(sees_listed(await self._connection.look(f"{self._connection.root}/models"), self._model))
        if not self.sight.is_known:
            await self._told_beside()

    async def _told_beside(self) -> Window:
        """Return what the server says beside its list: llama.cpp, LM Studio, and Ollama spoken to in OpenAI's words.

        Of some also whether the model sees.
        """
        if self._profile.name in CLOUDS:
            name = f"{self._profile.name}/{self._model}"
            self.sight.told(await asyncio.to_thread(sees_in_table, name))
            return await asyncio.to_thread(window_in_table, name)
        root, look = self._connection.root.removesuffix("/v1"), self._connection.look
        props = await look(f"{root}/props")
        self.sight.told(sees_by_props(props))
        if (window := window_of_props(props)).tokens:
            return window
        listed = await look(f"{root}/api/v0/models")
        self.sight.told(sees_listed(listed, self._model))
        if (window := window_listed(listed, self._model, "/api/v0/models", LOADED)).tokens:
            return window
        return window_of_loaded(await look(f"{root}/api/ps"), self._model)

    def _body(self, slot: Slot, *, is_ahead: bool = False) -> bytes:
        fields = {**self._head, **slot.fields}
        if is_ahead:
            fields |= {"stream": False, "stream_options": None, "max_tokens": 1}
        head: dict[str, Json] = {key: value for key, value in fields.items() if value is not None}
        return self._requests.body(head, slot, is_ahead=is_ahead)

    async def _chunks(self, body: bytes, accumulator: Accumulator) -> AsyncGenerator[Chunk, None]:
        response, is_done = await self._connection.post(self.path, body), False
        try:
            async with aclosing(self._events(response)) as events:
                async for sent in events:
                    data = sent.removeprefix("data:").strip(' "')  # gateways set it twice, or in quotes
                    if is_done := data == "[DONE]":
                        await drain(events)
                        break
                    if not is_beat(data):
                        yield self._chunk(data)
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
        is_whole = "json" in response.headers.get("content-type", "")  # it does not stream: one chunk is all
        events, whole, count = EventStream(), bytearray(), 0
        async with aclosing(self._connection.pieces(response)) as pieces:
            try:
                async for piece in pieces:
                    if is_whole or (not count and len(whole) < MAX_ERROR_BODY):
                        whole += piece
                    if is_whole:
                        continue
                    for data in events.feed(piece):
                        count += 1
                        yield data
            except ValueError as error:
                raise broken(self.name, "is not an event stream") from error
        if is_whole:
            yield whole.decode("utf-8", "replace")
        for data in events.finish():
            count += 1
            yield data
        if not count and is_page(text := whole.decode("utf-8", "replace")):
            raise page(self.name, text)

    def _chunk(self, data: str) -> Chunk:
        chunk = parsed(self.name, data)
        if chunk.get("error") or _is_complaint(chunk):
            raise ended_in_error(self.name, data, self._key)
        return chunk


def _is_complaint(chunk: Chunk) -> bool:
    """Whether a chunk is an error in a form of its own, as of vLLM's older streams and of gateways over FastAPI."""
    said = chunk.get("message") or chunk.get("detail")
    return isinstance(said, str) and bool(said.strip()) and not chunk.keys() & {"choices", "usage"}
