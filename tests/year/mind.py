"""The language model of the year: it answers each thing once, by its number, and is away now and then."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import count
from typing import Final

from agent.context import block
from agent.context.summary import REQUEST
from agent.model.interface import StreamItem
from agent.model.messages import Message, ToolSpec
from tests.fakes import ScriptedModel, UnreachableModel, calls

ITEM: Final = re.compile(r"[Ii]tem ([a-z]+)")
"""What a person asks begins with it, and so does the answer; a timer of it is called so."""

SYLLABLES: Final = ("ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du")

TIMER: Final = re.compile(r"a timer of (\d+) seconds")
GET_UP: Final = "Wake me every day at seven."
LABEL: Final = "get up"
GOOD_MORNING: Final = "Good morning, it is seven."
DONE: Final = "I will."
UNKNOWN: Final = "Nobody asked for that."
SMALL_TALK: Final = "it has been a quiet day in the house, and the washing is dry"


def name_of(number: int) -> str:
    """Return a word for a number, one that no voice reads otherwise than it is written."""
    return "".join(SYLLABLES[int(digit)] for digit in f"{number:04}")


class YearModel(ScriptedModel):
    """Answers "Item bababa: how was the day?" by "Item bababa: …", sets what timers it is asked for, and sums up."""

    def __init__(self) -> None:
        super().__init__(name="of the year", piece=40)
        self.is_away = False
        self.set_timer: Callable[[str, int], None] = lambda name, seconds: None
        """Told of each timer that it sets."""
        self._calls = count()

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        self.requests.clear()
        self.tools.clear()
        if self.is_away:
            async for item in UnreachableModel(name=self.name).stream(messages, tools):
                yield item
        else:
            self.script.append(self._answer(messages))
            async for item in super().stream(messages, tools):
                yield item

    def _answer(self, messages: Sequence[Message]) -> Message:
        if messages[-1].content == REQUEST.content:
            return Message("assistant", "The house is well, and its people ask after many things.")
        asked = next(message for message in reversed(messages) if message.role == "user")
        seen = block.parse(asked.content)
        words, item = (seen.words if seen else asked.content), ITEM.search(seen.words if seen else asked.content)
        is_new = messages[-1].role == "user"
        if is_new and item and (timer := TIMER.search(words)):
            self.set_timer(item[1], int(timer[1]))
            return self._call("set_timer", seconds=int(timer[1]), label=f"item {item[1]}")
        if is_new and GET_UP in words:
            return self._call("set_alarm", at="07:00", label=LABEL, repeat="FREQ=DAILY")
        if item and " is due" in words:
            return self._call("reply", text=f"Due was {item[1]}.")
        if item:
            return self._call("reply", text=f"Item {item[1]}: {SMALL_TALK}.")
        return self._call("reply", text=GOOD_MORNING if LABEL in words else DONE if GET_UP in words else UNKNOWN)

    def _call(self, name: str, **arguments: object) -> Message:
        return calls((name, json.dumps(arguments)), prefix=f"call{next(self._calls)}")
