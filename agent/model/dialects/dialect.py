"""What is known of how one model writes: learnt from its answers and refusals, kept by its adapter while it runs."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Final, TypeAlias

from agent.errors import ModelError, StreamBroken
from agent.model.dialects.marks import THINKERS
from agent.model.dialects.reader import TextReader
from agent.model.dialects.text_tools import told_in_text
from agent.model.interface import StreamItem
from agent.model.messages import Message, ToolSpec
from agent.model.wire.openai import GrowingList
from agent.model.wire.profile import Profile

_TAKES_NO_TOOLS: Final = re.compile(
    r"not support\w* (the )?(tool|function)|(tool|function)[\w `'\"-]*(is|are) not (supported|enabled)"
    r"|support tool use|--enable-auto-tool-choice|tools param requires",
    re.IGNORECASE,
)
"""Refusals of Ollama, Groq, OpenRouter, vLLM and llama.cpp, as they are worded."""

Ask: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec], Sequence[ToolSpec]], AsyncGenerator[StreamItem, None]]
"""Asks with a list and tools as they are sent; the last are the tools there are, wherever they are told."""


class Dialect:
    """One model's. What it learns is true from the next request on."""

    def __init__(self, profile: Profile, model: str) -> None:
        self._reads = profile.thinks_inline
        self._may_learn = profile.tools == "auto"
        self.tells_tools = profile.tools == "text"
        """Whether the tools are told in the prompt, and their calls and results as text."""
        self.begins_thinking = self._reads and bool(THINKERS.search(model))
        """Whether its text may begin within its thinking: then it is held until that is known."""
        self.has_called = False
        """Whether a call of it came as one over the wire: then its server knows it, and words are words."""
        self._rules = GrowingList()

    def reader(self, tools: Sequence[ToolSpec]) -> TextReader | None:
        """Return what parts the text of the next answer, None where the server does that by itself."""
        if not self._reads and not self.tells_tools:
            return None
        is_known = self.has_called and not self.tells_tools
        return TextReader(tools, begins_thinking=self.begins_thinking, reads_bare_calls=not is_known)

    def wire_form(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, is_whole: bool = True
    ) -> tuple[Sequence[Message], Sequence[ToolSpec]]:
        """Return the list and the tools as this model is given them. Raises `IllegalMessages`."""
        if not self.tells_tools:
            return messages, tools
        self._rules.update(messages, is_whole=is_whole)
        return told_in_text(messages, tools), ()

    async def asked(
        self, ask: Ask, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[StreamItem, None]:
        """Yield what is answered; where the server takes no tools, it is asked again with them in the prompt."""
        try:
            async with aclosing(ask(*self.wire_form(messages, tools), tools)) as items:
                async for item in items:
                    yield item
        except ModelError as error:
            if not self._learns_from(error, tools):
                raise
        else:
            return
        async with aclosing(ask(*self.wire_form(messages, tools), tools)) as items:
            async for item in items:
                yield item

    def _learns_from(self, error: ModelError, tools: Sequence[ToolSpec]) -> bool:
        """Whether a failure says that the server takes no tools, which is then known."""
        takes_none = bool(tools) and not isinstance(error, StreamBroken) and _TAKES_NO_TOOLS.search(str(error))
        if not takes_none or self.tells_tools or not self._may_learn:
            return False
        self.tells_tools = True
        return True
