"""What is known of how one model writes, learnt from its answers; tools told in text where its server knows none."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Final, TypeAlias

from msgspec.structs import replace

from agent.errors import ContextTooLong, ModelError, StreamBroken
from agent.model.dialects.marks import THINKERS
from agent.model.dialects.reader import TextReader
from agent.model.interface import StreamItem
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.sight import Sight
from agent.model.wire.openai import GrowingList, legal_arguments
from agent.model.wire.profile import Profile
from memory.json_value import Json, fields, listed

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

_TAKES_NO_SYSTEM: Final = re.compile(
    r"system (role|message|prompt)s? (is |are )?not (supported|allowed)|only user( and|,) assistant( and tool)? roles"
    r"|roles must alternate",
    re.IGNORECASE,
)
"""Refusals by the chat templates of Gemma, Llama 2 and Mistral, which know two roles that take turns."""

_SPARED: Final = ("stream_options", "cache_prompt", "id_slot")
"""Fields of a request that an answer can do without."""

_IS_ABOUT_AN_IMAGE: Final = re.compile(r"image|picture|base64|pixel", re.IGNORECASE)
"""Of another refusal: an image that this server cannot decode would have it refuse each list that shows it."""

MOST_LEARNT: Final = 5
"""Things that one question may teach: that no tools are taken, no system's words, a field, no images, or not this."""

Ask: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec], Sequence[ToolSpec]], AsyncGenerator[StreamItem, None]]
"""Asks with a list and tools as they are sent; the last are the tools there are, wherever they are told."""


_HOW: Final = """# Tools
You act by calling tools. Write each call exactly so, with the arguments as JSON:
<tool_call>
{"name": "NAME", "arguments": {"KEY": "VALUE"}}
</tool_call>
Write several calls one after the other. End your message after the last call: the results come in the next message,
each between <tool_response> and </tool_response>, in the order of the calls. Never write a result yourself.

"""
"""The notation of the Hermes models, which most open models have seen in training."""


class Dialect:
    """One model's. What it learns is true from the next request on."""

    def __init__(self, profile: Profile, model: str, sight: Sight) -> None:
        self._reads = profile.thinks_inline
        self._may_learn = profile.tools == "auto"
        self.tells_tools = profile.tools == "text"
        """Whether the tools are told in the prompt, and their calls and results as text."""
        self.takes_system = True
        """Whether a list may begin with a system's words, and have two messages of the user's in a row."""
        self.refused: set[str] = set()
        """Fields that the server does not take."""
        self.begins_thinking = self._reads and bool(THINKERS.search(model))
        """Whether its text may begin within its thinking: then it is held until that is known."""
        self._rules = GrowingList()
        self._sight = sight

    def reader(self, tools: Sequence[ToolSpec]) -> TextReader | None:
        """Return what parts the text of the next answer, None where the server does that by itself."""
        if not self._reads and not self.tells_tools:
            return None
        return TextReader(tools, begins_thinking=self.begins_thinking)

    def wire_form(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, is_whole: bool = True
    ) -> tuple[Sequence[Message], Sequence[ToolSpec]]:
        """Return the list and the tools as this model is given them. Raises `IllegalMessages`."""
        if self.tells_tools:
            self._rules.update(messages, is_whole=is_whole)
            messages, tools = told_in_text(messages, tools), ()
        return (messages if self.takes_system else taking_turns(messages)), tools

    async def asked(
        self, ask: Ask, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[StreamItem, None]:
        """Yield what is answered; what the server does not take of the question is left out, or told in words."""
        for left in reversed(range(MOST_LEARNT + 1)):
            try:
                async with aclosing(ask(*self.wire_form(messages, tools), tools)) as items:
                    async for item in items:
                        yield item
            except ModelError as error:
                if not (left and self._learns_from(error, messages, tools)):
                    raise
            else:
                self._sight.took(image for message in messages for image in message.images)
                return

    def _learns_from(self, error: ModelError, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bool:
        """Whether a failure says what the server does not take, which is then known."""
        if isinstance(error, StreamBroken):
            return False
        if tools and self._may_learn and not self.tells_tools and _TAKES_NO_TOOLS.search(str(error)):
            self.tells_tools = True
            return True
        return self._is_spared(error) or self._loses_sight(error, messages)

    def _is_spared(self, error: ModelError) -> bool:
        """Whether a refusal says that a template takes no system's words, or a server not one of our fields."""
        if self.takes_system and _TAKES_NO_SYSTEM.search(str(error)):
            self.takes_system = False
            self.tells_tools = self.tells_tools or self._may_learn  # nor does it know of tools
            return True
        named = {field for field in _SPARED if field in str(error)} - self.refused
        self.refused |= named
        return bool(named)

    def _loses_sight(self, error: ModelError, messages: Sequence[Message]) -> bool:
        """Whether a failure says that the server takes no images, or not the newest, which is then known."""
        images = [image for message in messages for image in message.images]
        if not (images and self._sight.sees) or isinstance(error, ContextTooLong):
            return False
        if _TAKES_NO_IMAGES.search(str(error)):
            self._sight.refused()
            return True
        return bool(_IS_ABOUT_AN_IMAGE.search(str(error))) and self._sight.refused_new(images)


def told_in_text(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[Message]:
    """Return the list without calls, results and tools of its own kind; pure, so that a prefix stays a prefix.

    The results of one answer, and the words of the user right behind them, become one message of the user's: many chat
    templates demand that user and assistant take turns.
    """
    told: list[Message] = []
    names: dict[str, str] = {}
    is_open = False
    """Whether the last message is one of results, which goes on."""
    for message in messages:
        if message.role == "assistant":
            names.update({call.id: call.name for call in message.tool_calls})
            told.append(_answer(message))
        elif message.role == "system":
            told.append(message)
        else:
            is_result = message.role == "tool"
            _append(told, replace(message, content=_result(message, names)) if is_result else message, is_open=is_open)
        is_open = message.role == "tool"
    return _with_tools(told, tools)


def taking_turns(messages: Sequence[Message]) -> list[Message]:
    """Return the list with the system's words as the user's, and what the user says in a row as one message; pure."""
    told: list[Message] = []
    for message in messages:
        if message.role in {"system", "user"}:
            _append(told, message, is_open=bool(told) and told[-1].role == "user")
        else:
            told.append(message)
    return told


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the tools as a list for people and models: a line each, with the arguments and their types."""
    return "\n".join(f"- {tool.name}({_arguments(tool.parameters)}): {tool.description}" for tool in tools)


def _append(told: list[Message], said: Message, *, is_open: bool) -> None:
    if is_open:
        images = told[-1].images + said.images
        told[-1] = replace(told[-1], content=f"{told[-1].content}\n\n{said.content}", images=images)
    else:
        told.append(Message("user", said.content, images=said.images))


def _answer(message: Message) -> Message:
    parts = [message.content.strip(), *map(_call, message.tool_calls)]
    return Message("assistant", "\n".join(part for part in parts if part), extra=message.extra)


def _call(call: ToolCall) -> str:
    name = json.dumps(call.name, ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {legal_arguments(call.arguments)}}}\n</tool_call>'


def _result(message: Message, names: Mapping[str, str]) -> str:
    text = message.content.replace("</tool_response", "< /tool_response")
    return f"<tool_response>\n{names.get(message.tool_call_id, 'tool')}: {text}\n</tool_response>"


def _with_tools(told: list[Message], tools: Sequence[ToolSpec]) -> list[Message]:
    if not tools:
        return told
    text = _HOW + describe_tools(tools)
    if told and told[0].role == "system":
        return [replace(told[0], content=f"{told[0].content}\n\n{text}"), *told[1:]]
    return [Message("system", text), *told]


def _arguments(schema: Mapping[str, Json]) -> str:
    demanded = listed(schema.get("required"))
    return ", ".join(
        f"{name}{'' if name in demanded else '?'}: {_type(value)}"
        for name, value in fields(schema.get("properties")).items()
    )


def _type(schema: Json) -> str:
    """Return a type in short, with what is said of it."""
    if not isinstance(schema, dict):
        return "any"
    enum, options, items = schema.get("enum"), schema.get("anyOf"), schema.get("items")
    if isinstance(enum, list):
        kind = " | ".join(json.dumps(each, ensure_ascii=False) for each in enum)
    elif isinstance(options, list):
        kind = " | ".join(_type(each) for each in options)
    elif isinstance(items, dict):
        kind = f"{_type(items)}[]"
    else:
        kind = str(schema.get("type", "any"))
    said = schema.get("description")
    return f"{kind} ({said})" if said else kind
