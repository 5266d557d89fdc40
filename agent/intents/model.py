"""The offline model as a `ChatModel`: the same loop and the same tools, with rules in the place of thought."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from typing import TYPE_CHECKING

from agent.intents.dialog_state import Action, reachable, read_dialog
from agent.intents.intent import Language
from agent.model.interface import OFFLINE, Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import Message, ToolCall, ToolSpec

if TYPE_CHECKING:
    from agent.intents.decide import Rules


class OfflineModel:
    """Answers with what rules can do. Deterministic; never fails on any message list; opens no connection."""

    name = OFFLINE
    sends_to = ()

    def __init__(self, language: Language = "en") -> None:
        """`language` is spoken where no person's words say which."""
        self._language = language
        self._rules: Rules | None = None
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

    async def _loaded(self) -> "Rules":
        async with self._loading:
            if self._rules is None:
                self._rules = await asyncio.to_thread(_load)
            return self._rules


def _load() -> "Rules":
    # hassil costs 0.3 s, and no start waits for it or for the rules.
    from agent.intents.decide import Rules

    return Rules()


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
