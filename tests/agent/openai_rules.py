"""What OpenAI's servers demand of a request, written down apart from the product's own validator."""

import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


def complaint(body: Mapping[str, Any]) -> str | None:
    """Return why the request is wrong, None when it is right."""
    if not isinstance(body.get("model"), str):
        return "model: missing"
    if "tools" in body and not body["tools"]:
        return "tools: must not be empty"
    for tool in body.get("tools", ()):
        if not _NAME.match(tool["function"]["name"]):
            return f"tools: bad name {tool['function']['name']!r}"
    return _complaint_of_messages(body.get("messages") or [])


def _complaint_of_messages(messages: Sequence[Mapping[str, Any]]) -> str | None:
    if not messages:
        return "messages: must not be empty"
    roles = [message.get("role") for message in messages]
    if "system" in roles[1:]:
        return "messages: system must be first"
    speaking = [role for role in roles if role != "system"]
    if not speaking or speaking[0] != "user":
        return "messages: the first after system must be of user"
    if roles[-1] not in {"user", "tool"}:
        return "messages: the last must be of user or tool"
    for position, message in enumerate(messages):
        if wrong := _complaint_of_message(message) or _complaint_of_pairing(messages, position):
            return f"messages[{position}]: {wrong}"
    return None


def _complaint_of_message(message: Mapping[str, Any]) -> str | None:
    role, content = message["role"], message.get("content")
    if role not in {"system", "user", "assistant", "tool"}:
        return f"unknown role {role!r}"
    if role == "user" and isinstance(content, list):
        return next(filter(None, map(_complaint_of_part, content)), None if content else "empty content")
    if role in {"system", "user"} and not (isinstance(content, str) and content.strip()):
        return "empty content"
    made = message.get("tool_calls") or ()
    if role == "assistant" and not content and not made:
        return "neither content nor tool_calls"
    return next(filter(None, (_complaint_of_function(one["function"]) for one in made)), None)


def _complaint_of_part(part: Mapping[str, Any]) -> str | None:
    if part.get("type") == "text":
        return None if part["text"].strip() else "an empty text part"
    if part.get("type") != "image_url":
        return f"unknown part {part.get('type')!r}"
    found = re.fullmatch(r"data:(image/(?:png|jpeg|webp|gif));base64,(.+)", part["image_url"]["url"])
    return None if found and b64decode(found[2], validate=True) else "an image that is no data URL"


def _complaint_of_function(function: Mapping[str, Any]) -> str | None:
    if not _NAME.match(function["name"]):
        return f"bad function name {function['name']!r}"
    try:
        is_object = isinstance(json.loads(function["arguments"]), dict)
    except ValueError:
        is_object = False
    return None if is_object else f"arguments are no JSON object: {function['arguments']!r}"


def _complaint_of_pairing(messages: Sequence[Mapping[str, Any]], position: int) -> str | None:
    """Each answer's calls are followed by exactly their results, in order; no other result stands anywhere."""
    message = messages[position]
    if message["role"] == "assistant":
        asked = [made["id"] for made in message.get("tool_calls") or ()]
        following = messages[position + 1 : position + 1 + len(asked)]
        answered = [after.get("tool_call_id") for after in following if after.get("role") == "tool"]
        return None if asked == answered else f"calls {asked} are answered by {answered}"
    if message["role"] == "tool":
        start = position
        while start and messages[start]["role"] == "tool":
            start -= 1
        asked = [made["id"] for made in messages[start].get("tool_calls") or ()]
        return None if message.get("tool_call_id") in asked else f"orphan result {message.get('tool_call_id')!r}"
    return None
