"""What a context costs: within 10 % of what OpenAI documents, offline, and counted as it grows.

No recorded usage of a provider is at hand in a sandbox without network. The reference is OpenAI's own published way to
compute the usage of a chat request (cookbook, "How to count tokens with tiktoken", gpt-4o family): tiktoken's o200k
counts, 3 tokens a message, 3 for the answer's beginning, and its constants for tools.
"""

import json
import os
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import tiktoken

from agent.context.block import Block, render
from agent.context.tokens import MOST_EXACT, TokenCounter, is_whole
from agent.model.messages import Message, ToolCall, ToolSpec
from agent.prompts import compose
from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import tool
from tests.agent.mind import NOON

ENGLISH = (
    "Where did I put my keys? I think they were on the kitchen table yesterday, next to the blue bowl.",
    "Remind me at a quarter past seven to take the bread out of the oven, and tell me what the weather does tomorrow.",
    "My sister's name is Annabelle; she moved from Lisbon to 12 Harbour Street in 2019 and works as a nurse.",
)
CHINESE = (
    "我今天心情不太好，工作上的项目快到截止日期了，晚上也睡不着。",
    "明天早上七点一刻提醒我给妈妈打电话，顺便告诉我北京会不会下雨。",
    "上次你也提到过工作压力的事，我们说好周末一起去爬山，你还记得吗？",
)
MIXED = ("帮我把 ComfyUI 的 workflow 存到 notes 里，标题写 'SDXL test 3'。", "Say 你好 to my neighbour 王先生, please.")
CORPUS = {"english": ENGLISH, "chinese": CHINESE, "mixed": MIXED, "all": ENGLISH + CHINESE + MIXED}


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    counter = TokenCounter()
    counter.load()
    assert counter.count("a house that listens") == 4, "from the copy that litellm ships, without network"
    return counter


@pytest.mark.parametrize("times", [150, 2_000])
def test_of_a_long_text_a_part_is_counted(counter: TokenCounter, times: int) -> None:
    """Counted whole, 100 kB held everybody up for 90 ms, and three million letters without a blank for seconds."""
    text = " ".join(ENGLISH) * times + "".join(CHINESE) * 4 * times
    began = process_time()
    tokens = counter.count(text)
    counted = process_time()
    pieces = [text[start : start + MOST_EXACT] for start in range(0, len(text), MOST_EXACT)]
    assert tokens == pytest.approx(sum(map(counter.count, pieces)), rel=0.05)
    assert (counted - began) * 3 < process_time() - counted


def test_a_vocabulary_with_a_changed_byte_is_not_loaded(counter: TokenCounter, tmp_path: Path) -> None:
    shipped = Path(os.environ["TIKTOKEN_CACHE_DIR"]) / "fb374d419588a4632f3f557e76b4b70aebbca790"
    damaged = bytearray(shipped.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "copy").write_bytes(damaged)
    assert is_whole(shipped)
    assert not is_whole(tmp_path / "copy")
    assert not is_whole(tmp_path / "missing")


@pytest.mark.shows("H9")
def test_the_vocabulary_is_kept_once() -> None:
    """25 MB: what the encoder was made from is let go; its own copy is in the library's memory, not Python's."""
    counter = TokenCounter()
    tracemalloc.start()
    counter.load()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 5_000_000
    assert [counter.count(text) for text in ENGLISH] == [23, 26, 27]


def talk(words: Sequence[str]) -> list[Message]:
    """Return a context as the loop makes it."""
    messages = [Message("system", compose())]
    for number, said in enumerate(words):
        seen = Block(f"{number:032x}", "asr_transcript", "mic", said, True, 10, NOON, {"Timezone": "Asia/Shanghai"})
        reply = ToolCall(f"call_{number:024x}", "reply", json.dumps({"text": said[::-1]}, ensure_ascii=False))
        messages += [
            Message("user", render(seen)),
            Message("assistant", tool_calls=(reply,)),
            Message("tool", "delivered", tool_call_id=reply.id),
        ]
    return messages


def documented(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """Return what OpenAI's cookbook says that such a request uses as its prompt."""
    encode = tiktoken.get_encoding("o200k_base").encode_ordinary
    total = 3
    for message in messages:
        total += 3 + len(encode(message.role)) + len(encode(message.content))
        total += sum(3 + len(encode(call.name)) + len(encode(call.arguments)) for call in message.tool_calls)
    return total + sum(_documented_tool(spec, encode) for spec in tools) + (12 if tools else 0)


def _documented_tool(spec: ToolSpec, encode: Any) -> int:
    properties: Mapping[str, Any] = spec.parameters.get("properties", {})  # type: ignore[assignment]
    total = 7 + len(encode(f"{spec.name}:{spec.description.rstrip('.')}")) + (3 if properties else 0)
    for name, field in properties.items():
        line = f"{name}:{field.get('type', 'object')}:{field.get('description', '').rstrip('.')}"
        total += 3 + len(encode(line))
        if "enum" in field:
            total += -3 + sum(3 + len(encode(str(item))) for item in field["enum"])
    return total


@pytest.mark.shows("D5")
@pytest.mark.parametrize("which", CORPUS)
def test_a_context_is_counted_within_ten_percent(counter: TokenCounter, which: str) -> None:
    messages = talk(CORPUS[which] * 6)
    for request in (messages, messages[1:]):  # with the prompt, and the talk alone
        counted = sum(map(counter.of_message, request))
        assert counted == pytest.approx(documented(request, ()), rel=0.1)


def _tools() -> tuple[ToolSpec, ...]:
    async def reply(text: str) -> str:
        """Say something to whoever the event came from; spoken in the room, written to a text client."""
        return text

    async def set_timer(seconds: float, name: str = "", repeats: bool = False) -> str:
        """Ring after so many seconds, and say the name; it rings by itself, also while you do something else."""
        return f"{seconds}{name}{repeats}"

    return ToolRegistry([tool(reply), tool(set_timer)]).specs_for("")


@pytest.mark.shows("D5")
def test_a_whole_request_with_tools_is_counted_within_ten_percent(counter: TokenCounter) -> None:
    messages, tools = talk(CORPUS["all"]), _tools()
    counted = sum(map(counter.of_message, messages)) + counter.of_tools(tools)
    assert counted == pytest.approx(documented(messages, tools), rel=0.1)


@pytest.mark.shows("D5")
@pytest.mark.parametrize("which", CORPUS)
def test_until_the_vocabulary_is_there_the_estimate_is_near(counter: TokenCounter, which: str) -> None:
    messages = talk(CORPUS[which] * 6)
    exact, estimated = (sum(map(way.of_message, messages)) for way in (counter, TokenCounter()))
    assert estimated == pytest.approx(exact, rel=0.2)


def test_a_providers_own_fields_travel_back_and_cost(counter: TokenCounter) -> None:
    plain = Message("assistant", "Yes.")
    thinking = Message("assistant", "Yes.", extra={"reasoning_content": "hm, " * 100})
    assert counter.of_message(thinking) > counter.of_message(plain) + 100


def test_half_a_character_is_counted_and_cut(counter: TokenCounter) -> None:
    for way in (counter, TokenCounter()):
        assert way.count("a\ud83d") > 0
        assert way.count(way.cut("word " * 500, 20)) <= 20
        assert way.cut("短", 5) == "短"
