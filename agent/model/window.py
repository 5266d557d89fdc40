"""The context window of a model: how many tokens it reads, and who said so."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import Final, Protocol, runtime_checkable

import structlog
from msgspec import Struct

from agent.context.tokens import BYTES_PER_TOKEN, bundled_with_litellm
from agent.errors import ContextTooLong
from agent.model.interface import Answer, StreamItem
from agent.model.messages import Message, ToolSpec
from memory.json_value import Json, fields, objects

log = structlog.get_logger()

LISTED: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What servers call it in their lists of models: vLLM and SGLang, OpenRouter and Together, Groq, Mistral."""

LOADED: Final = ("loaded_context_length",)
"""What LM Studio calls it in its own list; what else stands there is what the model could read, loaded otherwise."""

IN_OPENAI_WORDS: Final = "/api/ps"
"""The source where Ollama is not spoken to natively: then its window can be read and not set."""

LEAST: Final = 512
"""Tokens; no model that can be talked to reads fewer, so a smaller number is about something else."""

MOST: Final = 100_000_000

SMALL: Final = 10_000
"""Tokens up to which a window is a small one: 8k, and what lies so little above it that the long prompt and all tools
(4,200) would still take more than four tenths of it."""

MOST_CHARACTERS_PER_TOKEN: Final = 8.0
"""English has 4 to 5, any other language fewer; a list that is counted with more was not read whole."""

NOTICEABLE_GROWTH: Final = 2000
"""Characters by which a list must have grown before its count is held against it: less is in the noise of templates,
which drop what was thought before."""

SAFE_SHARE: Final = 0.8
"""Of a list that was refused without a number: so much of it is tried next."""

NAMED: Final = "a refusal"
GUESSED: Final = "a refusal without a number"
"""The sources of a bound."""

DOUBTED_AFTER: Final = 8
"""Answers, after which a bound that was guessed is tried again."""


class Window(Struct, frozen=True):
    """What a model reads at most: its prompt, the tools and its own answer together."""

    tokens: int = 0
    """0 while nobody knows."""
    source: str = ""
    """Who said so, for people: "configuration", "/props", "/v1/models", a refusal, …; "" while nobody did."""

    @property
    def is_small(self) -> bool:
        """Whether prompt and tools have to be short for it."""
        return 0 < self.tokens <= SMALL


class _Counted(Struct, frozen=True):
    """A list as its server first counted it."""

    messages: list[Message]
    characters: int
    tokens: int


class WindowRecord:
    """What is known of one model's window: what is configured, else what its server says; a refusal bounds either."""

    def __init__(self, configured: int = 0) -> None:
        self._configured = Window(configured, "configuration") if configured else Window()
        self._told = Window()
        self._bound = Window()
        self._named = 0
        """The largest number that a refusal said."""
        self._shortest_refused = 0.0
        self._accepted = 0
        """Lists since the bound was guessed."""
        self._first: _Counted | None = None
        self._most_counted = 0

    @property
    def in_force(self) -> Window:
        """The window to keep to; without tokens while nobody knows."""
        window = self._configured if self._configured.tokens else self._told
        bound = self._bound
        return bound if bound.tokens and (not window.tokens or bound.tokens < window.tokens) else window

    @property
    def is_told(self) -> bool:
        """Whether the server has said it."""
        return bool(self._told.tokens)

    def told(self, window: Window) -> None:
        """Take what the server says. Another number than before means another start: what it refused is forgotten."""
        if window.tokens and window != self._told:
            self._told, self._bound, self._named = window, Window(), 0

    def refused(self, error: ContextTooLong, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> None:
        """Learn from a refusal of these messages; one without a number says that so much was too much.

        That is a guess, and never less than a number that was said.
        """
        if error.window >= LEAST:
            self._named = max(self._named, error.window)
            self._bind(Window(error.window, NAMED))
            return
        sent = error.asked or _estimated(messages, tools)
        self._shortest_refused = min(sent, self._shortest_refused or sent)
        self._accepted = 0
        self._bind(Window(max(LEAST, self._named, int(SAFE_SHARE * sent)), GUESSED))

    def accepted(self, messages: Sequence[Message], tools: Sequence[ToolSpec], counted: int) -> None:
        """Take note that these messages were answered: a bound that they pass is none; `counted` is 0 where untold.

        One that was guessed is tried again after some answers.
        """
        bound = self._bound
        if bound.source == GUESSED:
            self._accepted += 1
            sent = max(counted, _estimated(messages, tools))
            if sent > bound.tokens or sent >= self._shortest_refused or self._accepted >= DOUBTED_AFTER:
                self._bound, self._shortest_refused = Window(self._named, NAMED) if self._named else Window(), 0.0
        elif bound.source == NAMED and counted > bound.tokens:
            self._bound, self._named = Window(), 0

    def counted(self, name: str, messages: Sequence[Message], tokens: int) -> None:
        """Take how many tokens the server counted of these messages; far too few mean that it cut them in silence.

        Either of the whole, or of what came to a list since it was first counted. Tools and what was thought before
        can only add to the count, by then as later.
        """
        if tokens < LEAST:
            return
        characters = sum(map(_characters, messages))
        self._most_counted = max(self._most_counted, tokens)
        first = self._first
        if first is None or list(messages[: len(first.messages)]) != first.messages:
            first = self._first = _Counted(list(messages), characters, tokens)
        grown = characters - first.characters
        is_short = tokens * MOST_CHARACTERS_PER_TOKEN < characters
        stands_still = grown >= NOTICEABLE_GROWTH and tokens < first.tokens + grown / MOST_CHARACTERS_PER_TOKEN
        if is_short or stands_still:
            log.warning("prompt_cut", model=name, counted=tokens, characters=characters)
            self._bind(Window(self._most_counted, "its server cuts what is longer"))

    async def learning(
        self,
        name: str,
        messages: Sequence[Message],
        items: AsyncGenerator[StreamItem, None],
        tools: Sequence[ToolSpec] = (),
    ) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer to these messages, and take what its count or its refusal tells."""
        try:
            async with aclosing(items):
                async for item in items:
                    if isinstance(item, Answer):
                        self.accepted(messages, tools, item.usage.prompt_tokens)
                        self.counted(name, messages, item.usage.prompt_tokens)
                    yield item
        except ContextTooLong as error:
            self.refused(error, messages, tools)
            raise

    def _bind(self, bound: Window) -> None:
        if not self._bound.tokens or bound.tokens < self._bound.tokens:
            self._bound = bound


@runtime_checkable
class HasWindow(Protocol):
    """A model whose window is, or can be, known."""

    @property
    def window(self) -> WindowRecord:
        """What is known of it."""

    async def learn_window(self) -> None:
        """Ask where it can be asked, once; asks nobody but the model's own server, bills nothing and never raises."""


class Windows:
    """The windows of the models that may think, for whoever keeps a context within them."""

    def __init__(self) -> None:
        self._may_think: Callable[[], Sequence[object]] = tuple

    def follow(self, may_think: Callable[[], Sequence[object]]) -> None:
        """Look at these models, asked for at each question since they change: the one that thinks comes first."""
        self._may_think = may_think

    @property
    def chosen(self) -> Window:
        """The window of the model that thinks; none while there is no model yet."""
        return next(map(window_of, self._may_think()), Window())

    @property
    def least(self) -> Window:
        """The smallest that is known among all of them."""
        known = [window for model in self._may_think() if (window := window_of(model)).tokens]
        return min(known, key=lambda each: each.tokens, default=Window())


def window_of(model: object) -> Window:
    """Return the window in force of a model; none for one that has none, as the offline model."""
    return model.window.in_force if isinstance(model, HasWindow) else Window()


async def learn_window(model: object) -> None:
    """Let a model ask its server for its window, where it has one (see `HasWindow`)."""
    if isinstance(model, HasWindow):
        await model.learn_window()


def window_listed(listed: Json, model: str, source: str = "/v1/models", keys: Sequence[str] = LISTED) -> Window:
    """Return what a server's list of models says of one, under the first of the keys that it has.

    Of the only one whatever it is called.
    """
    entries = objects(fields(listed).get("data"))
    named = [each for each in entries if each.get("id") == model] or (entries if len(entries) == 1 else [])
    found = [_tokens(each.get(key)) for each in named for key in keys]
    return next((Window(tokens, source) for tokens in found if tokens), Window())


def window_of_props(props: Json) -> Window:
    """Return what llama.cpp says of each of its slots, {"default_generation_settings": {"n_ctx": …}}."""
    tokens = _tokens(fields(fields(props).get("default_generation_settings")).get("n_ctx"))
    return Window(tokens, "/props") if tokens else Window()


def window_of_loaded(running: Json, model: str) -> Window:
    """Return what Ollama's /api/ps says of a model that is loaded now."""
    names = (model, f"{model}:latest")
    loaded = objects(fields(running).get("models"))
    mine = [each for each in loaded if each.get("name") in names or each.get("model") in names]
    tokens = _tokens(mine[0].get("context_length")) if mine else 0
    return Window(tokens, IN_OPENAI_WORDS) if tokens else Window()


def window_in_table(model: str) -> Window:
    """Return what the table that comes with litellm says of a model, by its name there. Blocking; reads a file once."""
    found = _in_table(model)
    return Window(found.window, "litellm's table") if found and found.window else Window()


def sees_in_table(model: str) -> bool | None:
    """Return whether a model sees images by the same table; None for one that is not in it. Blocking."""
    found = _in_table(model)
    return found.sees if found else None


class _Known(Struct, frozen=True):
    """What the table says of a model."""

    window: int
    sees: bool


def _in_table(model: str) -> _Known | None:
    table = _table()
    return table.get(model) or table.get(model.partition("/")[2])


@cache
def _table() -> Mapping[str, _Known]:
    """Return the table, without importing litellm; empty where it is not there."""
    found = bundled_with_litellm("model_prices_and_context_window_backup.json")
    try:
        entries = json.loads(found.read_text(encoding="utf-8")) if found else {}
    except (OSError, ValueError):
        return {}
    return {
        name: _Known(_tokens(entry.get("max_input_tokens")), entry.get("supports_vision") is True)
        for name, entry in entries.items()
    }


def _tokens(value: Json) -> int:
    """Return a number of tokens, 0 for what can be none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if LEAST <= value <= MOST else 0


def _estimated(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> float:
    """Return the tokens of a list and its tools, by their bytes."""
    sent = sum(len(message.content.encode("utf-8", "replace")) for message in messages)
    offered = sum(len(spec.name) + len(spec.description) + len(json.dumps(dict(spec.parameters))) for spec in tools)
    return (sent + offered) / BYTES_PER_TOKEN


def _characters(message: Message) -> int:
    return len(message.content) + sum(len(call.arguments) for call in message.tool_calls)
