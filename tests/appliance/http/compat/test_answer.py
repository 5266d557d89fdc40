"""An answer on its way to a program, in virtual time: signs of life, patience, and readers that stop."""

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from appliance.api.program_questions import Figures, Item
from appliance.http.answering import HEADERS_WITHIN, PATIENCE
from appliance.http.compat.answer import BEAT_SECONDS, PATIENCE_SECONDS, Answer
from appliance.http.compat.ollama import Streamed, refusal
from tests.room.virtual_time import passed, run_virtually

pytestmark = pytest.mark.shows("X13", "F25")


@dataclass
class Reader:
    """A program at the other end."""

    reads: int = 1_000_000
    """Messages that it takes before it stops."""
    leaves: asyncio.Event = field(default_factory=asyncio.Event)
    sent: list[bytes] = field(default_factory=list)
    began_after: float = 0.0
    """Seconds."""

    async def receive(self) -> MutableMapping[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if len(self.sent) >= self.reads:
            await asyncio.Event().wait()
        if message["type"] == "http.response.start":
            self.began_after = asyncio.get_running_loop().time()
        self.sent.append(message.get("body", b""))

    @property
    def text(self) -> str:
        return b"".join(self.sent).decode()


@dataclass
class Thinking:
    """An answer that takes its time."""

    seconds: float
    words: str = "It is three."
    is_closed: bool = False

    async def pieces(self) -> AsyncGenerator[Item, None]:
        try:
            await passed(self.seconds)
            yield self.words
            yield Figures()
        finally:
            self.is_closed = True


def seconds_of(thinking: Thinking, reader: Reader, words: str = "what time is it") -> float:
    """Let it answer, and return how long that took."""

    async def told() -> float:
        begun = asyncio.get_running_loop().time()
        await Answer(thinking.pieces(), Streamed("nakari"), refusal, words)({}, reader.receive, reader.send)
        reader.began_after -= begun
        return asyncio.get_running_loop().time() - begun

    return run_virtually(told())


def test_a_sign_of_life_comes_every_ten_seconds() -> None:
    reader = Reader()
    assert seconds_of(Thinking(35.0), reader) == pytest.approx(35.0)
    assert reader.began_after == HEADERS_WITHIN
    assert reader.text.count('"content": ""}, "done": false') == 4
    assert '"content": "It is three."' in reader.text


@pytest.mark.parametrize(("words", "said"), [("what is it", "That takes longer."), ("这是什么", "这需要更长时间")])
def test_what_takes_too_long_is_said_to_come_later(words: str, said: str) -> None:
    reader, thinking = Reader(), Thinking(86_400.0)
    assert seconds_of(thinking, reader, words) == pytest.approx(PATIENCE_SECONDS)
    assert said in reader.text
    assert '"done_reason": "length"' in reader.text
    assert thinking.is_closed


def test_a_reader_that_stops_is_let_go() -> None:
    reader, thinking = Reader(reads=3), Thinking(86_400.0)
    assert seconds_of(thinking, reader) == pytest.approx(HEADERS_WITHIN + BEAT_SECONDS + PATIENCE)
    assert thinking.is_closed


def test_who_leaves_before_anything_was_said_is_noticed_at_once() -> None:
    reader, thinking = Reader(), Thinking(86_400.0)
    reader.leaves.set()
    assert seconds_of(thinking, reader) == 0
    assert thinking.is_closed
    assert reader.sent == []


def test_silence_is_said_to_be_no_answer() -> None:
    reader = Reader()
    seconds_of(Thinking(0.0, words=" \n"), reader)
    assert "There is no answer to that." in reader.text
