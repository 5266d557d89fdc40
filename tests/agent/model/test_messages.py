"""Messages as the journal keeps them."""

import json

import pytest

from agent.model.messages import Message, ToolCall


@pytest.mark.shows("F11")
@pytest.mark.parametrize("key", ["role", "content", "tool_calls", "arguments"])
def test_a_message_of_which_a_bit_fell_over_is_none(key: str) -> None:
    written = json.dumps(Message("assistant", "hello", (ToolCall("1", "reply", "{}"),)).to_json())
    with pytest.raises(ValueError, match="no Message: "):
        Message.from_json(json.loads(written.replace(f'"{key}"', f'"{chr(ord(key[0]) ^ 1)}{key[1:]}"')))
