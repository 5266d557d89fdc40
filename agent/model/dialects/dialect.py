"""What is known of how one model writes: learnt from its answers and refusals, kept by its adapter while it runs."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Final, TypeAlias

from agent.errors import ContextTooLong, ModelError, StreamBroken
from agent.model.dialects.marks import THINKERS
from agent.model.dialects.reader import TextReader
from agent.model.dialects.text_tools import told_in_text
from agent.model.interface import StreamItem
from agent.model.messages import Message, ToolSpec
from agent.model.sight import Sight
from agent.model.wire.openai import GrowingList
from agent.model.wire.profile import Profile

_TAKES_NO_TOOLS: Final = re.compile(
    r"not support\w* (the )?(tool|function)|(tool|function)[\w `'\"-]*(is|are) not (supported|enabled)"
    r"|support tool use|--enable-auto-tool-choice|tools param requires",
    re.IGNORECASE,
)
"""Refusals of Ollama, Groq, OpenRouter, vLLM and llama.cpp, as they are worded."""

_TAKES_NO_IMAGES: Final = re.compile(
    r"(not|no endpoints found that) support (vision|images?\b(?! (format|type|size)))|not a (multimodal|vision) model"
    r"|(images|image (input|content|url)s?) (is|are) not supported|unknown variant .?image_url"
    r"|missing data required for image|mmproj",
    re.IGNORECASE,
)
"""Refusals of llama.cpp, Ollama, vLLM, OpenRouter and DeepSeek, as they are worded."""

_IS_ABOUT_AN_IMAGE: Final = re.compile(r"image|picture|base64|pixel", re.IGNORECASE)
"""Of another refusal: an image that this server cannot decode would have it refuse each list that shows it."""

MOST_LEARNT: Final = 3
"""Things that one question may teach: that no tools are taken, no images, or not this one."""

Ask: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec], Sequence[ToolSpec]], AsyncGenerator[StreamItem, None]]
"""Asks with a list and tools as they are sent; the last are the tools there are, wherever they are told."""


class Dialect:
    """One model's. What it learns is true from the next request on."""

    def __init__(self, profile: Profile, model: str, sight: Sight | None = None) -> None:
        """`sight` is the model's; None is what the profile says of it."""
        self._reads = profile.thinks_inline
        self._may_learn = profile.tools == "auto"
        self.tells_tools = profile.tools == "text"
        """Whether the tools are told in the prompt, and their calls and results as text."""
        self.begins_thinking = self._reads and bool(THINKERS.search(model))
        """Whether its text may begin within its thinking: then it is held until that is known."""
        self.has_called = False
        """Whether a call of it came as one over the wire: then its server knows it, and words are words."""
        self._rules = GrowingList()
        self._sight = sight or Sight(profile.vision, profile.images)

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
        """Yield what is answered; where the server takes no tools, or no images, it is asked again with words."""
        for _ in range(MOST_LEARNT):
            try:
                async with aclosing(ask(*self.wire_form(messages, tools), tools)) as items:
                    async for item in items:
                        yield item
            except ModelError as error:
                if not (self._learns_from(error, tools) or self._loses_sight(error, messages)):
                    raise
            else:
                self._sight.took(image for message in messages for image in message.images)
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

    def _loses_sight(self, error: ModelError, messages: Sequence[Message]) -> bool:
        """Whether a failure says that the server takes no images, or not the newest, which is then known."""
        images = [image for message in messages for image in message.images]
        if not (images and self._sight.sees) or isinstance(error, StreamBroken | ContextTooLong):
            return False
        if _TAKES_NO_IMAGES.search(str(error)):
            self._sight.refused()
            return True
        return bool(_IS_ABOUT_AN_IMAGE.search(str(error))) and self._sight.refused_new(images)
