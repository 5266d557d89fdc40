"""The adapter to every provider litellm knows."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from copy import deepcopy
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from agent.errors import ModelError, ModelRefused
from agent.model.connection import Connection
from agent.model.dialects.dialect import Dialect
from agent.model.faults import broken, insecure, refused, too_long, unreachable, unread, words_of
from agent.model.interface import MODEL_INPUT, StreamItem
from agent.model.litellm_thread import CallFailed, LiteLlmThread
from agent.model.messages import Message, ToolSpec
from agent.model.probe import connects
from agent.model.sight import Sight, look_ahead, sees_listed
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.relay import Chunk, Patience, relay
from agent.model.window import WindowRecord, sees_in_table, window_in_table, window_listed
from agent.model.wire.openai import GrowingList, GrowingTools
from agent.model.wire.profile import CLOUDS, Profile, profile_for
from memory.egress import SendsTo, host_of
from memory.json_value import Json
from memory.trust import causes

TOO_LONG: Final = "ContextWindowExceededError"
"""What litellm calls the error of a list that is too long, whatever the provider called it."""

_OWN_NAMES: Final = re.compile(r"\A(?:litellm\.\w+: *|\w+(?:Error|Exception)(?:: *| - *))+")
"""What litellm puts before the provider's words: `litellm.X: X: YException - words`, `litellm.X: ZError - words`."""


async def can_connect(url: str, seconds: float) -> bool:
    """Whether a connection to the host of an address stands within so many seconds; True behind a proxy, unlooked at.

    litellm passes a limit for connecting alone on to few providers; for the others the whole first wait would pass.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)
    if not host or (parts.scheme in getproxies() and not proxy_bypass(host)):
        return True
    return await connects(host, port, seconds)


def is_installed() -> bool:
    """Say whether litellm can be asked: it is an extra. Imports nothing."""
    return find_spec("litellm") is not None


class LiteLlmModel:
    """A model behind any provider; names are litellm's, e.g. `anthropic/claude-sonnet-4-5`, `openrouter/qwen/qwen3`."""

    def __init__(
        self,
        model: str,
        api_key: str = "",
        api_base: str = "",
        params: Mapping[str, Json] | None = None,
        patience: Patience | None = None,
        profile: Profile | None = None,
    ) -> None:
        """`params` are further arguments of `litellm.acompletion` (temperature, max_tokens …).

        `context_tokens` of the profile are the window, 0 where its own server or litellm's table knows it.
        """
        self.name = model
        provider = f"the provider {model.partition('/')[0]}"
        self.sends_to = (SendsTo(MODEL_INPUT, host_of(api_base) or provider),)
        self._key = api_key
        self._where = api_base or "the address of its provider"
        self._patience = patience or Patience()
        self._profile = profile or profile_for(api_base, model)
        self.window = WindowRecord(self._profile.context_tokens)
        self._fixed: dict[str, Any] = {
            "model": model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": httpx.Timeout(self._patience.first, connect=self._patience.connect),
            "num_retries": 0,
            "max_retries": 0,
            # With tools litellm 1.106 imports its MCP gateway, which needs a package that it does not depend on.
            "_skip_mcp_handler": True,
            **({"api_key": api_key} if api_key else {}),
            **({"api_base": api_base} if api_base else {}),
            **self._profile.params,
            **(params or {}),
        }
        self.sight = Sight(self._profile.vision, self._profile.images)
        self._dialect = Dialect(self._profile, model, self.sight)
        self._list = GrowingList(self._profile, sight=self.sight)
        self._tools = GrowingTools()
        self._thread = LiteLlmThread()
        self._own_server = "" if self._profile.name in {"anthropic", "gemini"} else api_base
        self._url = api_base or f"https://{CLOUDS.get(model.partition('/')[0], '')}"
        self._was_reached = False
        """Whether the last call began to be answered: then the next one looks no further."""

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer as it arrives (see `ChatModel.stream`)."""
        return self._dialect.asked(self._ask, messages, tools)

    async def _ask(
        self, messages: Sequence[Message], told: Sequence[ToolSpec], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[StreamItem, None]:
        await look_ahead(self, messages)
        self._list.update(messages)
        self._tools.update(told)
        accumulator = Accumulator(self._list.call_ids, tools, self._dialect)
        async with aclosing(self._chunks(self._request(), accumulator)) as chunks:
            items = relay(chunks, accumulator, self.name, self._patience)
            async with aclosing(self.window.learning(self.name, messages, items, told)) as learning:
                async for item in learning:
                    yield item

    async def warm(self) -> None:
        """Import litellm in its thread, which takes seconds, and what the first call needs besides.

        Learns what the model reads, meanwhile and from nobody but its own server.
        """
        await self.learn_window()
        with suppress(ModelError):
            await self._start()
            await self._thread.warm(self.name)

    async def learn_window(self) -> None:
        """Ask its own server for the window where it has one, else litellm's table. Never raises."""
        if not self.sight.is_known:
            self.sight.told(await asyncio.to_thread(sees_in_table, self.name))
        if self.window.is_told:
            return
        if self._own_server:
            connection = Connection(self.name, self._own_server, self._key, self._patience.connect)
            listed = await connection.look(f"{connection.root}/models")
            await connection.aclose()
            self.window.told(window_listed(listed, self.name.partition("/")[2]))
            self.sight.told(sees_listed(listed, self.name.partition("/")[2]))
        else:
            self.window.told(await asyncio.to_thread(window_in_table, self.name))

    async def learn_sight(self) -> None:
        """Look whether the model sees (see `HasSight`)."""
        if not self.sight.is_known:
            await self.learn_window()

    async def is_reachable(self) -> bool:
        """Whether a connection to its provider stands."""
        return await can_connect(self._url, self._patience.connect)

    async def aclose(self) -> None:
        """Close the connections and end the thread."""
        await self._thread.stop()

    def _request(self) -> dict[str, Any]:
        """Return the arguments; lists of their own, because litellm changes what it is given."""
        request = {**self._fixed, "messages": [_copied(entry) for entry in self._list.entries]}
        if self._tools.entries:
            request["tools"] = json.loads(self._tools.encoded)
        return request

    async def _reach(self) -> None:
        """Start the thread, and see meanwhile that the provider can be connected to. Raises `ModelError`."""
        if self._was_reached:
            await self._start()
            return
        looking = can_connect(self._url, self._patience.connect)
        started, is_there = await asyncio.gather(self._start(), looking, return_exceptions=True)
        if isinstance(started, BaseException):
            raise started
        if is_there is not True:
            raise unreachable(self.name, self._where, is_absent=True)

    async def _start(self) -> None:
        try:
            await self._thread.start()
        except ImportError as error:
            told = f"litellm, the extra cloud, which {self.name} needs, cannot be loaded ({error}): run scripts/setup"
            raise ModelRefused(told, excuse="no_model_working") from error  # no server was asked

    async def _chunks(self, request: Mapping[str, Any], accumulator: Accumulator) -> AsyncGenerator[Chunk, None]:
        await self._reach()
        call = self._thread.call(request, self._patience.last)
        has_begun = self._was_reached = False
        try:
            while (chunk := await call.next()) is not None:
                has_begun = self._was_reached = True
                yield chunk
        except CallFailed as failure:
            raise self._classified(failure.error, has_begun=has_begun) from failure.error
        finally:
            await call.close()
        if not call.is_whole and not accumulator.is_plausible:
            # litellm passes over a web page without a word.
            has_come = accumulator.length or accumulator.has_thought
            why = (
                "" if has_come else " before it began (is a login page in between, or another program at its address?)"
            )
            raise broken(self.name, f"broke off{why}", is_of_answer=True)

    def _classified(self, error: Exception, *, has_begun: bool) -> ModelError:
        """Name an error by what happened; litellm words a dead port as a fault inside the server."""
        text = _OWN_NAMES.sub("", str(getattr(error, "message", error)))
        if illegible := unread(self.name, error):
            return illegible
        if has_begun:
            return broken(self.name, f"broke off ({words_of(text, self._key)})")
        if length := too_long(self.name, text, is_certain=type(error).__name__ == TOO_LONG):
            return length
        if unsafe := insecure(self.name, self._where, error):
            return unsafe
        if any(isinstance(cause, OSError | httpx.TransportError) for cause in causes(error)):
            return unreachable(self.name, self._where)
        status = getattr(error, "status_code", None)
        headers = getattr(error, "litellm_response_headers", None) or {}
        retry_after = str(headers.get("retry-after", ""))
        return refused(self.name, status if isinstance(status, int) else 500, text, retry_after, self._key)


def _copied(entry: Mapping[str, Json]) -> dict[str, Json]:
    """Return a copy of a message that can be changed without changing it; most hold nothing but texts."""
    return {key: deepcopy(value) if isinstance(value, list | dict) else value for key, value in entry.items()}
