"""The offline model as a `ChatModel`: the same loop and the same tools, with rules in the place of thought."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from hashlib import blake2b
from typing import Final, TypeAlias

from agent.intents.dialog_state import Action, DialogState, reachable, read_dialog
from agent.intents.intent import Language, Understand
from agent.model.interface import OFFLINE, Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolCall, ToolSpec

Decide: TypeAlias = Callable[[DialogState, Understand], list[Action]]
"""What to do next."""

Reckon: TypeAlias = Callable[[str], str]
"""The answer to a sum or a conversion, "" where words are neither."""

_ENDINGS: Final = frozenset({"complete_event", "suspend_event"})
"""Tools whose call ends an event, unless a person spoke over the reply before it."""

_REHEARSED = (
    *(
        "what time is it",
        "set a timer for five minutes",
        "set an alarm for six thirty",
        "volume to ten",
        "volume down by ten",
    ),
    *("现在几点了", "设置五分钟的计时器", "定一个七点十分的闹钟", "把音量调到百分之十"),
)
"""Understood while warming, because hassil makes its tables of numbers at the first sentence that needs them."""

_RECKONED: Final = "how many grams is an ounce"
"""Reckoned while warming, because pint takes 0.3 s to load with its units."""


class OfflineModel:
    """Answers with what rules can do. Deterministic; never fails on any message list; opens no connection."""

    name = OFFLINE
    sends_to = ()

    def __init__(self, language: Language = "en") -> None:
        """`language` is spoken where no person's words say which."""
        self._language = language
        self._rules: _Rules | None = None
        self._loading = asyncio.Lock()

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer, whole (see `ChatModel.stream`); thinks in a worker thread."""
        rules = await self._loaded()
        actions = await asyncio.to_thread(lambda: rules.decide(read_dialog(messages, tools, self._language)))
        for item in _as_stream(messages, actions, reachable(tools).keys()):
            yield item

    async def warm(self) -> None:
        """Load the rules and the sentences."""
        rules = await self._loaded()
        await asyncio.to_thread(rules.rehearse)

    async def aclose(self) -> None:
        """Nothing is open."""

    async def _loaded(self) -> "_Rules":
        async with self._loading:
            if self._rules is None:
                self._rules = await asyncio.to_thread(_load)
            return self._rules


class _Rules:
    """The rules, and the sentences of one event as they are understood: its steps read the same words again.

    No words stay when the event has ended: what is forgotten is kept nowhere.
    """

    def __init__(self, decide: Decide, understand: Understand, reckon: Reckon) -> None:
        self._decide = decide
        self._understand = cache(understand)
        self._reckon = reckon

    def decide(self, state: DialogState) -> list[Action]:
        """Return the calls of the next answer."""
        if not state.turn.results:  # another event, and the one before may have been broken off
            self._understand.cache_clear()
        actions = self._decide(state, self._understand)
        if any(action.tool in _ENDINGS for action in actions):
            self._understand.cache_clear()
        return actions

    def rehearse(self) -> None:
        """Understand what people often say, and reckon with measures, of which the first needs all units made."""
        for words in _REHEARSED:
            self._understand(words)
        self._understand.cache_clear()
        self._reckon(_RECKONED)


def _load() -> _Rules:
    # hassil costs 0.3 s, and no start waits for it or for the rules.
    from agent.intents.decide import decide
    from agent.intents.reading.understanding import load_understanding
    from agent.intents.subjects.sums.answer import answer_sum

    return _Rules(decide, load_understanding(), answer_sum)


def _as_stream(messages: Sequence[Message], actions: Sequence[Action], tools: AbstractSet[str]) -> Iterator[StreamItem]:
    """Yield the actions as an answer; where there is no reply tool, the words are bare text."""
    bare = " ".join(
        str(action.arguments["text"]) for action in actions if action.tool == "reply" and "reply" not in tools
    )
    if bare:
        yield TextDelta(bare)
    mark = _mark(messages)
    calls = []
    for index, action in enumerate(action for action in actions if action.tool in tools):
        call = ToolCall(f"offline_{mark}_{index}", action.tool, json.dumps(dict(action.arguments), ensure_ascii=False))
        calls.append(call)
        yield ToolCallStarted(index, call.id, call.name)
        yield ArgumentsDelta(index, call.arguments)
    needs_model = any(action.needs_model for action in actions)
    reason = "tool_calls" if calls else "stop"
    yield Answer(Message("assistant", bare, tuple(calls)), finish_reason=reason, needs_model=needs_model)


def _mark(messages: Sequence[Message]) -> str:
    """Return what makes the ids of this answer's calls unique in the conversation, yet the same when asked again."""
    digest = blake2b(str(len(messages)).encode(), digest_size=9)
    for message in messages[-8:]:
        digest.update(json.dumps(message.to_json(), ensure_ascii=True).encode())
    return digest.hexdigest()
