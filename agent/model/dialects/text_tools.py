"""Tools for a model whose server knows none: told in the prompt, called in its text, answered in a user's message."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent.model.messages import Message, ToolCall, ToolSpec
from agent.model.wire.openai import legal_arguments
from memory.json_value import Json

_HOW: Final = """# Tools
You act by calling tools. Write each call exactly so, with the arguments as JSON:
<tool_call>
{"name": "NAME", "arguments": {"KEY": "VALUE"}}
</tool_call>
Write several calls one after the other. End your message after the last call: the results come in the next message,
each between <tool_response> and </tool_response>, in the order of the calls. Never write a result yourself.

"""
"""The notation of the Hermes models, which most open models have seen in training."""


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
            is_open = False
        elif message.role == "tool":
            _append(told, replace(message, content=_result(message, names)), is_open=is_open)
            is_open = True
        elif message.role == "user":
            _append(told, message, is_open=is_open)
            is_open = False
        else:
            told.append(message)
    return _with_tools(told, tools)


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
    properties = schema.get("properties")
    required = schema.get("required")
    demanded = required if isinstance(required, list) else []
    return ", ".join(
        f"{name}{'' if name in demanded else '?'}: {_type(value)}"
        for name, value in (properties if isinstance(properties, dict) else {}).items()
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
