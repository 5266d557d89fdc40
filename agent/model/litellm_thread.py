"""litellm in a thread and an event loop of its own: it imports for seconds, works long, and leaves tasks behind."""

import asyncio
import importlib
import logging
import os
import sys
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from inspect import isawaitable
from typing import Any, Protocol, Self

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from agent.model.stream.events import is_beat
from agent.model.stream.relay import Chunk
from memory.clock import within
from memory.trust import trusted

OPENAI_CALLS = "openai.resources.chat.completions.completions"
"""The part of OpenAI's client (2.54) that litellm calls for every provider of its protocol."""

CHUNKS_AHEAD = 64
"""Chunks that may wait between the two loops; when they do, the provider is not read on."""

LETTING_GO = 2.0
"""Seconds a cancelled call is given to close its connection."""

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "CRITICAL",
}
"""litellm reads these at import: its tables come from the wheel and not from the network, and no `.env` is read."""


class LiteLlmThread:
    """The thread. One for each model; what one model's connections do cannot hold up another's."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None

    async def start(self) -> None:
        """Start the thread and import litellm in it; later calls do nothing. Raises ImportError."""
        if self._portal is None:
            self._portal = self._stack.enter_context(start_blocking_portal(name="litellm"))
        await asyncio.wrap_future(self._portal.start_task_soon(_load))

    async def warm(self, model: str) -> None:
        """Load what the first call of this model would, without speaking to anybody."""
        assert self._portal is not None, "start() comes first"
        await asyncio.wrap_future(self._portal.start_task_soon(_rehearse, model))

    async def stop(self) -> None:
        """Cancel its calls, close its connections and end it."""
        portal, self._portal = self._portal, None
        if portal is not None:
            await asyncio.wrap_future(portal.start_task_soon(_close_clients))
            portal.start_task_soon(portal.stop, True)
            await asyncio.to_thread(self._stack.close)

    def call(self, request: Mapping[str, Any], last_wait: float) -> "ThreadedCall":
        """Begin a streaming call with these arguments of `litellm.acompletion`. To be used in a running event loop.

        `last_wait` are the seconds to wait for more behind the finish_reason (see `Patience.last`).
        """
        assert self._portal is not None, "start() comes first"
        call = ThreadedCall(last_wait)
        call.task = self._portal.start_task_soon(call.run, request)
        return call


class CallFailed(Exception):
    """A call ended in an error, of whatever kind litellm and its providers have."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class ThreadedCall:
    """One call; made and read in the caller's loop, run in the thread's. Chunks keep their order and none is lost."""

    task: "Future[None]"

    def __init__(self, last_wait: float) -> None:
        self._last_wait = last_wait
        self._here = asyncio.get_running_loop()
        self._there: asyncio.AbstractEventLoop | None = None
        self._waiting: asyncio.Queue[Chunk | CallFailed | None] = asyncio.Queue(CHUNKS_AHEAD + 2)
        self._credits = asyncio.Semaphore(CHUNKS_AHEAD)
        self._ended = asyncio.Event()
        self.is_whole = False
        """Whether the provider itself said that the answer is at its end; known after the last chunk."""

    async def next(self) -> Chunk | None:
        """Return the next chunk, None after the last. Raises `CallFailed`."""
        item = await self._waiting.get()
        if isinstance(item, CallFailed):
            raise item
        if item is not None and self._there is not None:
            with suppress(RuntimeError):  # the thread may have ended, with chunks still waiting here
                self._there.call_soon_threadsafe(self._credits.release)
        return item

    async def close(self) -> None:
        """Cancel the call if it is still under way, and wait until its connection is let go."""
        self.task.cancel()
        await within(LETTING_GO, self._ended)

    async def run(self, request: Mapping[str, Any]) -> None:
        """Stream the answer over; runs in the thread's loop."""
        try:
            self._there = asyncio.get_running_loop()
            await self._stream(request)
        except Exception as error:  # noqa: BLE001  raised again by next(), in the loop that asked
            self._hand_over(CallFailed(error))
        finally:
            self._hand_over(None)
            self._here.call_soon_threadsafe(self._ended.set)

    async def _stream(self, request: Mapping[str, Any]) -> None:
        litellm: Any = importlib.import_module("litellm")
        _send_as_it_is()
        stream = await litellm.acompletion(**request, **_client_of(request["model"]))
        _leave_beats_out(stream.completion_stream)
        _keep_details(stream.completion_stream)
        _end_at_reason(stream, self._last_wait)
        try:
            async for chunk in stream:
                await self._credits.acquire()
                self._hand_over(chunk.model_dump(exclude_none=True))
            # litellm says "stop" in place of a server that was cut off; here it keeps what the server said itself.
            # Gemini's reason comes with its last words, which litellm keeps apart.
            said = stream.received_finish_reason or stream.intermittent_finish_reason
            self.is_whole = said is not None
        finally:
            with anyio.CancelScope(shield=True):
                await stream.aclose()

    def _hand_over(self, item: Chunk | CallFailed | None) -> None:
        self._here.call_soon_threadsafe(self._waiting.put_nowait, item)


class _Wrapper(Protocol):
    """What is used here of litellm's `CustomStreamWrapper`."""

    completion_stream: AsyncIterable[object] | None
    """The provider's chunks; None where `make_call` is to give them."""
    make_call: Callable[..., Awaitable[AsyncIterable[object]]] | None
    received_finish_reason: str | None


class _UntilFinished:
    """A provider's stream that ends where nothing follows its finish_reason: litellm would wait for its closing."""

    def __init__(self, stream: _Wrapper, source: AsyncIterable[object], last_wait: float) -> None:
        self._stream = stream
        self._source = source
        self._chunks = aiter(source)
        self._last_wait = last_wait

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> object:
        is_finished = self._stream.received_finish_reason is not None
        try:
            async with asyncio.timeout(self._last_wait if is_finished else None):
                return await anext(self._chunks)
        except StopAsyncIteration:
            raise
        except Exception:  # whatever breaks behind the finish_reason, the answer is whole
            if not is_finished:
                raise
            raise StopAsyncIteration from None

    def __getattr__(self, name: str) -> object:
        """Return what else litellm asks its provider's stream for: how to close it."""
        found: object = getattr(self._source, name)
        return found


def _end_at_reason(stream: _Wrapper, last_wait: float) -> None:
    """Set `_UntilFinished` around the provider's stream, which some providers are asked for at the first chunk."""
    if stream.completion_stream is not None:
        stream.completion_stream = _UntilFinished(stream, stream.completion_stream, last_wait)
    elif (make_call := stream.make_call) is not None:

        async def wrapped(**named: object) -> _UntilFinished:
            return _UntilFinished(stream, await make_call(**named), last_wait)

        stream.make_call = wrapped


def _load() -> None:
    """Import litellm with everything switched off that speaks to anybody but the provider."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = litellm.drop_params = True
    # It prices each answer before its first word, a millisecond here; what a call costs, the chain knows, and nobody
    # here reads what else that sets.
    importlib.import_module("litellm.utils").update_response_metadata = lambda *_, **__: None  # type: ignore[attr-defined]
    # Its own clients know certifi's authorities only, or SSL_CERT_FILE's only.
    clients: Any = importlib.import_module("litellm.llms.custom_httpx.http_handler")
    clients._create_ssl_context = lambda *_, **__: trusted()
    clients._ssl_context_cache.clear()  # those that it made for its import
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).disabled = True


async def _rehearse(model: str) -> None:
    """Run a call whose answer litellm makes up itself, and import the client of OpenAI's protocol where it is used."""
    litellm: Any = importlib.import_module("litellm")
    with suppress(Exception):  # what is wrong with the model's name or key, the first real call will say
        _, provider, _, _ = litellm.get_llm_provider(model)
        if provider in {"openai", *litellm.openai_compatible_providers}:
            importlib.import_module("openai.resources.chat")
        made_up = await litellm.acompletion(
            model=model, api_key="-", messages=[{"role": "user", "content": "-"}], stream=True, mock_response="-"
        )
        async for _ in made_up:
            pass


def _send_as_it_is() -> None:
    """Let OpenAI's client send the list it is given, once that client is there.

    It walks every field of every message in search of its own types, 16 to 50 ms for 200 messages; what litellm hands
    over are plain dictionaries in the wire's form, of which it changes nothing.
    """
    if (client := sys.modules.get(OPENAI_CALLS)) is not None:
        client.async_maybe_transform = as_it_is  # type: ignore[attr-defined]


async def as_it_is(data: object, expected_type: object) -> object:
    """Return the first of the two: in place of `openai._utils.async_maybe_transform`."""
    return data


def _leave_beats_out(chunks: Any) -> None:
    """Keep events that are no chunk from OpenAI's client, which reads each as JSON and ends the stream at another."""
    events = getattr(chunks, "_iter_events", None)
    if events is not None:
        chunks._iter_events = lambda: _without_beats(events())


async def _without_beats(events: AsyncIterable[Any]) -> AsyncIterator[Any]:
    async for event in events:
        if not is_beat(event.data):
            yield event


def _keep_details(chunks: Any) -> None:
    """Let pieces of OpenRouter's reasoning through that have no text: litellm drops them, and with them signatures."""
    parse = getattr(chunks, "chunk_parser", None)
    if parse is not None:
        chunks.chunk_parser = lambda chunk: parse(_with_text(chunk))


def _with_text(chunk: Any) -> Any:
    if not isinstance(chunk, dict):
        return chunk
    chunk["choices"] = chunk.get("choices") or []
    for choice in chunk["choices"]:
        delta = choice.get("delta") or {}
        if delta.get("reasoning_details") and delta.get("reasoning") is None:
            delta["reasoning"] = ""
    return chunk


def _client_of(model: str) -> dict[str, Any]:
    """Return the connection to pass where litellm would use one for all loops: it opens anew in each, unclosed."""
    if not model.startswith("anthropic/"):
        return {}
    handler: Any = importlib.import_module("litellm.llms.custom_httpx.http_handler")
    return {"client": handler.get_async_httpx_client(llm_provider="anthropic")}


async def _close_clients() -> None:
    """Close this loop's connections, which litellm keeps in a cache under keys that end with the loop's id."""
    litellm: Any = sys.modules.get("litellm")
    cache = litellm.in_memory_llm_clients_cache.cache_dict if litellm else {}
    mine = f"-{id(asyncio.get_running_loop())}"
    for key in [key for key in cache if key.endswith(mine)]:
        client = cache.pop(key)
        closing = getattr(client, "aclose", None) or client.close
        closed = closing()
        if isawaitable(closed):
            await closed
    await asyncio.sleep(0)  # a socket is let go in the loop's next round
