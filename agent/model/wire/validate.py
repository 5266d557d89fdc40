"""The strict rules of a wire profile: a list that a provider would reject is found before it is sent."""

from collections.abc import Mapping, Sequence

import jiter

from agent.errors import IllegalMessages
from agent.model.messages import ToolSpec
from agent.model.wire.profile import GENERIC, NAME, Profile
from memory.json_value import Json


def validate_tools(tools: Sequence[ToolSpec]) -> None:
    """Check the tools: names by rule and unique, a description, parameters of type object. Raises `IllegalMessages`."""
    names = [tool.name for tool in tools]
    for tool in tools:
        if not NAME.fullmatch(tool.name):
            raise IllegalMessages(f"the tool name {tool.name!r} is not made of 1 to 64 letters, digits, _ and -")
        if names.count(tool.name) > 1:
            raise IllegalMessages(f"two tools are named {tool.name}")
        if not tool.description:
            raise IllegalMessages(f"the tool {tool.name} has no description")
        if tool.parameters.get("type") != "object":
            raise IllegalMessages(f"the parameters of the tool {tool.name} are not a schema of type object")


class OpenAiRules:
    """The rules as a state machine, fed entry by entry, so that a growing list is checked once.

    One system message at most, first; then a user's; results follow their calls at once, one each and in the order of
    the calls; ids unique within the list; arguments are a JSON object; no empty content but in a tool's result;
    strict UTF-8; the list ends where the model is to speak; and what the profile of the provider says besides.
    """

    def __init__(self, profile: Profile = GENERIC) -> None:
        self._profile = profile
        self._count = 0
        self._last_role = ""
        self._waiting: list[str] = []
        self._ids: set[str] = set()

    @property
    def call_ids(self) -> frozenset[str]:
        """The ids of the calls so far."""
        return frozenset(self._ids)

    @property
    def is_waiting(self) -> bool:
        """Whether a call has no result yet."""
        return bool(self._waiting)

    def accept(self, entry: Mapping[str, Json]) -> None:
        """Check the next entry. Raises `IllegalMessages`; the object is of no use then."""
        role = entry.get("role")
        if self._waiting and role != "tool":
            raise self._error(f"a message of {role} where the result of call {self._waiting[0]} must stand")
        if role == "system":
            self._accept_system(entry)
        elif role == "user":
            self._text(entry)
        elif role == "assistant":
            self._accept_assistant(entry)
        elif role == "tool":
            self._accept_result(entry)
        else:
            raise self._error(f"an unknown role {role!r}")
        self._count += 1
        self._last_role = str(role)

    def finish(self) -> None:
        """Check that the list may end here. Raises `IllegalMessages`; further entries may still follow."""
        if self._waiting:
            raise IllegalMessages(f"the list ends without the result of call {self._waiting[0]}")
        if self._last_role not in {"user", "tool"}:
            raise IllegalMessages("the list ends with nothing to answer: its last message must be a user's or a tool's")

    def _error(self, what: str) -> IllegalMessages:
        return IllegalMessages(f"message {self._count}: {what}")

    def _accept_system(self, entry: Mapping[str, Json]) -> None:
        if self._count:
            raise self._error("a system message that is not the first")
        self._text(entry)

    def _accept_assistant(self, entry: Mapping[str, Json]) -> None:
        if self._last_role in {"", "system"}:
            raise self._error("an answer before any user's message")
        calls = entry.get("tool_calls")
        if calls is None or entry.get("content") is not None:
            self._text(entry)
        if calls is not None:
            if not isinstance(calls, list) or not calls:
                raise self._error("tool_calls that are no list with a call in it")
            for call in calls:
                self._accept_call(call)
        if wrong := self._profile.complaint(entry):
            raise self._error(f"{wrong}, which {self._profile.name} does not take")

    def _accept_call(self, call: Json) -> None:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict) or call.get("type") != "function":
            raise self._error("a tool call that is no function call")
        identifier = call.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise self._error("a tool call without id")
        if identifier in self._ids:
            raise self._error(f"the call id {identifier} a second time")
        name = function.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise self._error(f"a call of {name!r}, which cannot be a function's name")
        self._arguments(name, function.get("arguments"))
        self._ids.add(identifier)
        self._waiting.append(identifier)

    def _arguments(self, name: str, arguments: Json) -> None:
        if not isinstance(arguments, str):
            raise self._error(f"arguments of {name} that are no text")
        try:
            value = jiter.from_json(self._utf8(arguments), allow_inf_nan=False)
        except ValueError as error:
            raise self._error(f"arguments of {name} that are no JSON ({error})") from error
        if not isinstance(value, dict):
            raise self._error(f"arguments of {name} that are no JSON object")

    def _accept_result(self, entry: Mapping[str, Json]) -> None:
        identifier = entry.get("tool_call_id")
        if not self._waiting:
            raise self._error(f"a result of {identifier!r} that no call waits for")
        if identifier != self._waiting[0]:
            raise self._error(f"a result of {identifier!r} where that of {self._waiting[0]} must stand")
        content = entry.get("content")
        if not isinstance(content, str):
            raise self._error("a result that is no text")
        self._utf8(content)
        self._waiting.pop(0)

    def _text(self, entry: Mapping[str, Json]) -> None:
        content = entry.get("content")
        if isinstance(content, list) and entry.get("role") == "user":
            self._images(content[1:])
            first = content[0] if content else None
            content = first.get("text") if isinstance(first, dict) else None
        if not isinstance(content, str) or not content.strip():
            raise self._error(f"a message of {entry.get('role')} without text")
        self._utf8(content)

    def _images(self, parts: Sequence[Json]) -> None:
        for part in parts:
            if not isinstance(part, dict) or not {"text", "image_url"} & part.keys():
                raise self._error("a part that is neither text nor an image")

    def _utf8(self, text: str) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise self._error("text with half a character (a lone surrogate)") from error
