"""The thin adapter: chat completions over httpx, for Ollama, llama.cpp, vLLM, DeepSeek, OpenRouter and OpenAI."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress

import httpx

from agent.errors import IllegalMessages, ModelError
from agent.model.dialects.dialect import Dialect
from agent.model.faults import broken, refused, too_long, unreachable, words_of
from agent.model.interface import MODEL_INPUT, CachedPrefix, StreamItem
from agent.model.messages import Message, ToolSpec
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.relay import Chunk, Patience, relay
from agent.model.stream.sse import EventStream
from agent.model.wire.openai import GrowingTools, Slot, Slots, encode
from agent.model.wire.profile import Profile, profile_for
from memory.egress import SendsTo, host_of
from memory.json_value import Json

KEEP_ALIVE = 120.0
"""Seconds an idle connection is kept; longer and a router on the way may have forgotten it."""

LAST_BYTES = 0.2
"""Seconds to wait after an answer for the end of its body; it usually comes in the same packet."""

MAX_ERROR_BODY = 64 * 1024
"""Bytes of an error's body that are read."""

MAX_ANSWER = 32 * 1024 * 1024
"""Bytes of an answer, thinking and keep-alives included; the longest that a model gives come to a few MB."""

NEXT_WORDS: dict[str, Json] = {"role": "user", "content": "-"}
"""Stands for what a person is about to say when a list is read ahead; the prefix before it is what counts."""

_DEFAULTS: Mapping[str, Json] = {"stream": True, "stream_options": {"include_usage": True}}


class OpenAiCompatibleModel:
    """A model behind any server that speaks OpenAI's chat completions."""

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
        """`base_url` ends before `/chat/completions`, e.g. `http://127.0.0.1:11434/v1`.

        `params` of the profile that are None are left out of a request, `stream_options` too. Where the profile knows
        of several slots, the conversation that `room` finds has the first to itself, so that no other list can put its
        prefix out of the server's cache.
        """
        self.name = f"{base_url.partition('//')[2].partition('/')[0] or base_url}/{model}"
        self.sends_to = (SendsTo(MODEL_INPUT, host_of(base_url)),)
        self._url = base_url.rstrip("/")
        self._key = api_key
        self._profile = profile or profile_for(base_url)
        self._head = {"model": model, **_DEFAULTS, **self._profile.params}
        self._patience = patience or Patience()
        self._dialect = Dialect(self._profile, model)
        self._slots = Slots(self._profile)
        self._room = room
        self._is_asked = False
        self._tools = GrowingTools()
        self._client: httpx.AsyncClient | None = None

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer as it arrives (see `ChatModel.stream`)."""
        async with aclosing(self._dialect.asked(self._ask, messages, tools)) as items:
            async for item in items:
                yield item

    async def _ask(
        self, messages: Sequence[Message], told: Sequence[ToolSpec], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[StreamItem, None]:
        slot = self._slots.of(messages, self._room_messages())
        slot.list.update(messages)
        self._tools.update(told)
        accumulator = Accumulator(slot.list.call_ids, tools, self._dialect)
        self._is_asked = True
        try:
            async with (
                aclosing(self._chunks(self._body(slot), accumulator)) as chunks,
                aclosing(relay(chunks, accumulator, self.name, self._patience)) as items,
            ):
                async for item in items:
                    yield item
        finally:
            self._is_asked = False

    async def warm(self) -> None:
        """Open the connection, so that the first call need not; asks for the list of models, which costs nothing."""
        with suppress(httpx.HTTPError, httpx.InvalidURL):
            await self._connected().get(f"{self._url}/models", timeout=self._patience.connect)

    async def prefill(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Let a local server read a list that somebody is about to add to, while that person still speaks.

        Asks for one token, which is thrown away. Never raises; does nothing where that would be billed, or while the
        model answers.
        """
        if not self._profile.prefills or self._is_asked:
            return
        try:
            messages, tools = self._dialect.wire_form(messages, tools, is_whole=False)
            slot = self._slots.of(messages, self._room_messages())
            slot.list.update(messages, is_whole=False)
            self._tools.update(tools)
            body = self._body(slot, one_token=True)
            await self._connected().post(f"{self._url}/chat/completions", content=body, timeout=self._patience.first)
        except (httpx.HTTPError, httpx.InvalidURL, IllegalMessages):
            return

    async def aclose(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _room_messages(self) -> Sequence[Message]:
        known = self._room() if self._room is not None else None
        return self._dialect.wire_form(*known, is_whole=False)[0] if known else ()

    def _body(self, slot: Slot, *, one_token: bool = False) -> bytes:
        fields = {**self._head, **slot.fields}
        listed = slot.list.encoded
        if one_token:
            fields |= {"stream": False, "stream_options": None, "max_tokens": 1}
            listed = b"%b,%b]" % (listed[:-1], encode(NEXT_WORDS))
        head = encode({key: value for key, value in fields.items() if value is not None})
        tools = b'"tools":%b,' % self._tools.encoded if self._tools.entries else b""
        # The messages come last, so that the whole body grows at its end only.
        return b'%b,%b"messages":%b}' % (head[:-1], tools, listed)

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx.AsyncClient(
                headers={"Content-Type": "application/json", "Accept": "text/event-stream", **headers},
                timeout=httpx.Timeout(None, connect=self._patience.connect),
                limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE),
                # Certificates take 20 ms to load, which a server at home without them need not cost.
                verify=self._url.startswith("https:"),
                # What the environment says of proxies must not send the words of a local configuration elsewhere.
                trust_env=False,
            )
        return self._client

    async def _chunks(self, body: bytes, accumulator: Accumulator) -> AsyncGenerator[Chunk, None]:
        response = await self._open(body)
        try:
            async with aclosing(self._events(response)) as events:
                async for data in events:
                    if data == "[DONE]":
                        await _drain(events)
                        break
                    yield self._chunk(data)
        finally:
            await response.aclose()
        if not accumulator.finish_reason and not accumulator.is_plausible:
            raise broken(self.name, "broke off")

    async def _open(self, body: bytes) -> httpx.Response:
        response = await self._send(body)
        if response.status_code == 200:
            return response
        body, retry_after = await _error_body(response), response.headers.get("retry-after", "")
        raise refused(self.name, response.status_code, body, retry_after, self._key)

    async def _send(self, body: bytes) -> httpx.Response:
        client, url = self._connected(), f"{self._url}/chat/completions"
        try:
            try:
                return await client.send(client.build_request("POST", url, content=body), stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                # A kept connection that the server closed at this moment; a new one shows whether it is more.
                return await client.send(client.build_request("POST", url, content=body), stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise unreachable(self.name, self._url) from error

    async def _events(self, response: httpx.Response) -> AsyncGenerator[str, None]:
        if "json" in response.headers.get("content-type", ""):  # it does not stream: the whole answer is one chunk
            yield (await self._whole(response)).decode("utf-8", "replace")
            return
        events, length = EventStream(), 0
        pieces = response.aiter_bytes()
        try:
            async for piece in pieces:
                if (length := length + len(piece)) > MAX_ANSWER:
                    raise broken(self.name, "does not end")
                for data in events.feed(piece):
                    yield data
        except httpx.HTTPError as error:
            raise broken(self.name, "broke off") from error
        except ValueError as error:
            raise broken(self.name, "is not an event stream") from error
        finally:
            await _end(response, pieces)
        for data in events.finish():
            yield data

    async def _whole(self, response: httpx.Response) -> bytes:
        body, pieces = bytearray(), response.aiter_bytes()
        try:
            async for piece in pieces:
                body += piece
                if len(body) > MAX_ANSWER:
                    raise broken(self.name, "does not end")
        except httpx.HTTPError as error:
            raise broken(self.name, "broke off") from error
        finally:
            await _end(response, pieces)
        return bytes(body)

    def _chunk(self, data: str) -> Chunk:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise broken(self.name, "is not the stream of a chat") from error
        if not isinstance(chunk, dict):
            raise broken(self.name, "is not the stream of a chat")
        if chunk.get("error"):
            raise self._error_in_stream(data)
        return chunk

    def _error_in_stream(self, data: str) -> ModelError:
        return too_long(self.name, data) or broken(self.name, f"ended in an error ({words_of(data, self._key)})")


async def _error_body(response: httpx.Response) -> bytes:
    """Return the beginning of an error's body, as much of it as came."""
    body = b""
    pieces = response.aiter_bytes()
    with suppress(httpx.HTTPError):
        async for piece in pieces:
            body += piece
            if len(body) > MAX_ERROR_BODY:
                break
    await _end(response, pieces)
    return body


async def _drain(events: AsyncIterator[str]) -> None:
    """Read the body to its end, without which the connection could not carry the next call."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(LAST_BYTES):
            async for _ in events:
                pass


async def _end(response: httpx.Response, pieces: AsyncIterator[bytes]) -> None:
    """Close the response, then read on until that shows.

    httpx reads through several generators; one that is dropped half way is ended later, by a task nobody waits for.
    """
    await response.aclose()
    with suppress(httpx.HTTPError):
        async for _ in pieces:
            pass
