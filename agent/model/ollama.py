"""The adapter to Ollama by its own protocol, the only one in which the window can be set."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from agent.model.server_model import ServerModel
from agent.model.sight import sees_by_show
from agent.model.window import Window, window_of_loaded
from agent.model.wire.openai import Entry
from agent.model.wire.profile import PROFILES, Profile
from agent.model.wire.requests import Slot
from memory.json_value import Json, fields

USUAL_WINDOW: Final = 16_384
"""Tokens that are set where nobody says otherwise, if the model reads as many: four times what prompt and tools take,
and 2.3 GB of memory with a model of 4 billion parameters (36 layers of 8 heads of 128, 16 bits), where its own maximum
of 40,960 would be 5.8 GB."""

KEPT_LOADED: Final = "24h"
"""How long the model stays in memory: who speaks to it is not to wait for its loading, and what nobody asks for a day
makes room."""

_OPTIONS: Final = {"max_tokens": "num_predict"}
"""Parameters that have another name among Ollama's options."""

_NUM_CTX: Final = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)
"""In the `parameters` of /api/show, which are lines of a Modelfile."""


class OllamaModel(ServerModel):
    """A model behind Ollama's /api/chat; it loads the model when it is first asked, also to read ahead.

    Its root is without path, e.g. `http://127.0.0.1:11434`. `context_tokens` of the profile are the window to set; 0
    sets what the model's own file says, else what it is loaded with if that is more than usual, else the usual. It
    stays the same for as long as this lives: another one would have Ollama load the model anew.
    """

    path = "/api/chat"
    sets_window = True
    _num_ctx = 0
    """0 until the model's maximum is known."""

    async def warm(self) -> None:
        """Open the connection and learn what the model reads; loads nothing, and never raises."""
        if self._num_ctx:
            await self.is_reachable()
        await self.learn_window()

    async def is_reachable(self) -> bool:
        """Look whether Ollama is there."""
        return await self._connection.is_reachable(f"{self._connection.root}/api/version")

    async def learn_window(self) -> None:
        """Learn once how large a window to set; what cannot be learnt now is asked again at the next call."""
        if self._num_ctx:
            return
        root, look = self._connection.root, self._connection.look
        shown, running = await asyncio.gather(look(f"{root}/api/show", {"model": self._model}), look(f"{root}/api/ps"))
        if isinstance(shown, dict):
            window = size_for(shown, window_of_loaded(running, self._model).tokens, self._profile.context_tokens)
            self._num_ctx = window.tokens
            self.window.told(window)
            self.sight.told(sees_by_show(shown))

    async def learn_sight(self) -> None:
        """Ask Ollama whether the model sees; it says so with the window."""
        await self.learn_window()

    def _usual_profile(self, root: str) -> Profile:
        return PROFILES["ollama"]

    def _form(self) -> "NativeForm":
        return NativeForm()

    async def _ready(self) -> None:
        await self.learn_window()

    def _body(self, slot: Slot, *, is_ahead: bool = False) -> bytes:
        params = {_OPTIONS.get(key, key): value for key, value in self._profile.params.items() if value is not None}
        options: dict[str, Json] = {**params, "num_ctx": self._num_ctx or self._profile.context_tokens or USUAL_WINDOW}
        if is_ahead:
            options |= {"num_predict": 1}
        head: dict[str, Json] = {
            "model": self._model,
            "stream": not is_ahead,
            "keep_alive": KEPT_LOADED,
            # A list that is too long is refused, and neither cut at its beginning nor shifted out while it answers.
            "truncate": False,
            "shift": False,
            "options": options,
        }
        return self._requests.body(head, slot, is_ahead=is_ahead)


def size_for(shown: Mapping[str, Json], loaded: int, wanted: int) -> Window:
    """Return the window to set, at most the model's own maximum, and whose wish it is.

    `shown` is the answer of /api/show, `loaded` what the model is loaded with now (0: it is not), `wanted` what the
    configuration says. What the owner of the server has set for it is kept, so that it need not be loaded anew.
    """
    info = fields(shown.get("model_info"))
    length = info.get(f"{info.get('general.architecture')}.context_length")
    most = length if isinstance(length, int) and length > 0 else 0
    found = _NUM_CTX.search(str(shown.get("parameters") or ""))
    in_file = int(found[1]) if found else 0
    if wanted:
        size, source = wanted, "configuration, set as num_ctx"
    elif in_file:
        size, source = in_file, "num_ctx of its Modelfile"
    elif loaded > USUAL_WINDOW:
        size, source = loaded, "/api/ps, as it was loaded"
    else:
        size, source = USUAL_WINDOW, "set as num_ctx"
    return Window(most, "/api/show") if 0 < most < size else Window(size, source)


class NativeForm:
    """Turns entries of OpenAI's form into Ollama's: arguments as an object, results with their tool's name."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        """Of the tools that were called, by the call's id; a list tells them before their results."""

    def __call__(self, entry: Entry) -> Entry:
        """Return what is sent in place of the entry."""
        content = entry.get("content") or ""
        sent: Entry = {"role": entry["role"], "content": content}
        if isinstance(content, list):
            sent |= _parted(content)
        if entry.get("reasoning"):
            sent["thinking"] = entry["reasoning"]
        calls = entry.get("tool_calls")
        if isinstance(calls, list):
            sent["tool_calls"] = [self._call(call) for call in calls if isinstance(call, dict)]
        if entry["role"] == "tool":
            identifier = str(entry["tool_call_id"])
            sent |= {"tool_name": self._names.get(identifier, ""), "tool_call_id": identifier}
        return sent

    def _call(self, call: Mapping[str, Json]) -> Json:
        function = call["function"]
        assert isinstance(function, dict), "the rules of the list have seen to it"
        name, identifier = str(function["name"]), str(call["id"])
        self._names[identifier] = name
        return {"id": identifier, "function": {"name": name, "arguments": json.loads(str(function["arguments"]))}}


def _parted(content: Sequence[Json]) -> Entry:
    """Return a content of parts as Ollama takes it: the text, and the images without their heads."""
    parts = [part for part in content if isinstance(part, dict)]
    urls = [url["url"] for part in parts if isinstance(url := part.get("image_url"), dict)]
    images: list[Json] = [str(url).partition(",")[2] for url in urls]
    text = "\n".join(str(part["text"]) for part in parts if "text" in part)
    return {"content": text, **({"images": images} if images else {})}
