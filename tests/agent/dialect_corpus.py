"""What models wrote, out of public test suites, and whether it is read right."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent.model.dialects.dialect import Dialect
from agent.model.interface import Answer, ArgumentsDelta, StreamItem, TextDelta, ToolCallStarted
from agent.model.messages import ToolSpec
from agent.model.sight import Sight
from agent.model.stream.accumulate import Accumulator
from agent.model.stream.arguments import unwrapped
from agent.model.wire.profile import GENERIC, INLINE

FOLDER = Path(__file__).parents[1] / "data" / "tool_calls"
_STRAY = "\"'{}[]<>\\\n()`"
TOLD = "said"
"""A note with this word leaves the words open."""


@dataclass(frozen=True)
class Case:
    """One output of a model."""

    file: str
    share: str
    format: str
    what: str
    text: str
    tools: Sequence[ToolSpec] = field(repr=False)
    calls: Sequence[tuple[str, Any]] = ()
    says: str = ""
    thinks: str = ""
    model: str = "m"
    note: str = ""
    wrong: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.format}, {self.what}"


def cases() -> list[Case]:
    """Return the whole corpus."""
    return [case for path in sorted(FOLDER.glob("*.json")) for case in _cases(path)]


def read(case: Case, pieces: Sequence[str]) -> list[StreamItem]:
    """Return what is made of a text that comes in these pieces."""
    accumulator = Accumulator(frozenset(), case.tools, Dialect(GENERIC, case.model, Sight()))
    items: list[StreamItem] = []
    for piece in pieces:
        items += accumulator.feed({"choices": [{"delta": {"content": piece}}]})
    items += accumulator.feed({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    return [*items, *accumulator.finish()]


def outcome(items: Sequence[StreamItem]) -> tuple[str, list[tuple[str, str]], str]:
    """Return the words, the calls and the thinking of an answer; what was streamed must be the same."""
    answer = items[-1]
    assert isinstance(answer, Answer)
    message = answer.message
    started = [item for item in items if isinstance(item, ToolCallStarted)]
    streamed = [(each.name, "".join(_arguments(items, each.index))) for each in started]
    assert [name for name, _ in streamed] == [call.name for call in message.tool_calls]
    for (_, told), call in zip(streamed, message.tool_calls, strict=True):
        assert unwrapped(told) == call.arguments
    assert "".join(item.text for item in items if isinstance(item, TextDelta)).endswith(message.content)
    return (
        message.content,
        [(call.name, call.arguments) for call in message.tool_calls],
        str(message.extra.get(INLINE, "")),
    )


def is_right(case: Case, read_as: tuple[str, list[tuple[str, str]], str]) -> bool:
    """Whether a text was read as it was meant: the calls, and then the words and the thinking but for blanks."""
    says, calls, thinks = read_as
    if [(name, _json(arguments)) for name, arguments in calls] != [*case.calls]:
        return False
    if TOLD in case.note:
        return True
    return says.split() == case.says.split() and (not case.thinks or thinks.split() == case.thinks.split())


def splits(text: str, count: int, seed: int) -> Iterator[list[str]]:
    """Yield a text cut at random places, so many times."""
    chance = random.Random(seed)
    for _ in range(count):
        cuts = sorted(chance.sample(range(len(text) + 1), min(len(text), chance.randrange(1, 20))))
        yield [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def damaged(corpus: Sequence[Case], count: int, seed: int) -> Iterator[Case]:
    """Yield so many cases with a piece missing, repeated, of another case, or a stray character in their texts."""
    chance = random.Random(seed)
    for _ in range(count):
        case = chance.choice(corpus)
        text = case.text
        for _ in range(chance.randrange(1, 4)):
            start = chance.randrange(len(text) + 1)
            end = min(len(text), start + chance.randrange(1, 15))
            other = chance.choice(corpus).text[start : end + 15]
            text = chance.choice(
                (
                    text[:start] + text[end:],
                    text[:end] + text[start:],
                    text[:start] + other + text[start:],
                    text[:start] + chance.choice(_STRAY) + text[start:],
                )
            )
        yield replace(case, text=text)


def _arguments(items: Sequence[StreamItem], index: int) -> Iterator[str]:
    return (item.text for item in items if isinstance(item, ArgumentsDelta) and item.index == index)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _cases(path: Path) -> Iterator[Case]:
    body = json.loads(path.read_text(encoding="utf-8"))
    tools = [
        ToolSpec(name, "What it does.", {"type": "object", "properties": properties})
        for name, properties in body["tools"].items()
    ]
    for fields in body["cases"]:
        calls = [(name, arguments) for name, arguments in fields.pop("calls")]
        yield Case(path.stem, body["share"], tools=tools, calls=calls, **fields)
