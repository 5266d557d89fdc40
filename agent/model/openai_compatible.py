"""The thin adapter: chat completions over httpx, for llama.cpp, vLLM, DeepSeek, OpenRouter and OpenAI."""

import asyncio
from collections.abc import Mapping

from agent.model.server_model import ServerModel
from agent.model.sight import sees_by_props, sees_listed
from agent.model.window import (
    LOADED,
    Window,
    sees_in_table,
    window_in_table,
    window_listed,
    window_of_loaded,
    window_of_props,
)
from agent.model.wire.profile import CLOUDS, Profile, profile_for
from agent.model.wire.requests import Slot
from memory.json_value import Json

_DEFAULTS: Mapping[str, Json] = {"stream": True, "stream_options": {"include_usage": True}}


class OpenAiCompatibleModel(ServerModel):
    """A model behind any server that speaks OpenAI's chat completions.

    Its root ends before `/chat/completions`, e.g. `http://127.0.0.1:8080/v1`. `params` of the profile that are None are
    left out of a request, `stream_options` too; its `context_tokens` are the window, 0 where only its server knows.
    """

    path = "/chat/completions"
    _has_looked = False

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
        if self._profile.name in CLOUDS:  # what they do not list of a window, a table knows
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

    def _usual_profile(self, root: str) -> Profile:
        return profile_for(root)

    def _body(self, slot: Slot, *, is_ahead: bool = False) -> bytes:
        fields = {"model": self._model, **_DEFAULTS, **self._profile.params, **slot.fields}
        if is_ahead:
            fields |= {"stream": False, "stream_options": None, "max_tokens": 1}
        left_out = self._dialect.refused
        head: dict[str, Json] = {k: value for k, value in fields.items() if value is not None and k not in left_out}
        return self._requests.body(head, slot, is_ahead=is_ahead)
