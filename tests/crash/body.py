"""The scripted parts of a body: a model that answers, a voice whose sound can be read, and a loudspeaker's file."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from msgspec.structs import replace

from agent.errors import IllegalMessages, StreamBroken
from agent.model.dialects.dialect import Dialect
from agent.model.interface import Answer, StreamItem
from agent.model.messages import Message, ToolSpec, Usage
from agent.model.sight import Sight
from agent.model.stream.accumulate import Accumulator
from agent.model.wire.profile import GENERIC
from audio.interfaces import Synthesizer
from audio.speech import SpeechAudio
from memory.json_value import Json
from tests.agent.wire_form import wire_form
from tests.crash.deaths import Ledger, Steps
from tests.crash.script import Answering

RATE: Final = 16_000
"""Hz."""

BEGINS: Final = 1
"""The sample at which a sentence begins; the others are its letters."""


_PIECE: Final = 50
"""Characters that come at a time."""


class DyingModel:
    """A model whose stream has a boundary at its beginning, in its middle and at its end."""

    name = "scripted"
    sends_to = ()

    def __init__(self, answering: Answering, steps: Steps, ledger: Ledger) -> None:
        self._answering = answering
        self._steps = steps
        self._ledger = ledger

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Answer as the story says; what no provider would take is noted."""
        self._steps.boundary()
        try:
            wire_form(messages)
        except IllegalMessages as error:
            self._ledger.note("illegal", str(error))
        message, breaks = self._answering.answer(messages)
        accumulator = Accumulator(frozenset(), tools, Dialect(GENERIC, "scripted", Sight()))
        chunks = _chunks_of(message)
        for place, chunk in enumerate(chunks):
            if place == len(chunks) // 2:
                self._steps.boundary()
                if breaks:
                    raise StreamBroken("the connection was reset", Message("assistant"))
            await asyncio.sleep(0)
            for item in accumulator.feed(chunk):
                yield item
        self._steps.boundary()
        for item in accumulator.finish():
            yield replace(item, usage=Usage(100, 90, 10)) if isinstance(item, Answer) else item

    async def warm(self) -> None:
        """Nothing is to be warmed."""

    async def aclose(self) -> None:
        """Nothing is open."""


def _chunks_of(message: Message) -> list[dict[str, Json]]:
    """Return an answer as it comes over the wire, about two sentences a piece."""
    deltas: list[dict[str, Json]] = [{"content": part} for part in _cut(message.content)]
    for index, call in enumerate(message.tool_calls):
        deltas.append(_delta(index, id=call.id, function={"name": call.name, "arguments": ""}))
        deltas += [_delta(index, function={"arguments": part}) for part in _cut(call.arguments)]
    return [{"choices": [{"delta": delta}]} for delta in deltas]


def _delta(index: int, **fields: Json) -> dict[str, Json]:
    return {"tool_calls": [{"index": index, **fields}]}


def _cut(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


class ReadableVoice(Synthesizer):
    """A voice whose samples are the letters it was given: what sounded can be read off the sound."""

    name = "readable"
    sends_to = ()

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Give the sentence in two pieces, the first of which already tells it from every other."""
        letters = np.array([BEGINS, *sentence.encode("ascii", "replace")], np.int16)
        for piece in (letters[:-4], letters[-4:]):
            await asyncio.sleep(0)
            yield SpeechAudio(piece, RATE)


class DyingLoudspeaker:
    """A `Player` into a file that every life of the process goes on with; a boundary before and after each piece."""

    name = "file"
    busy_until = 0.0

    def __init__(self, path: Path, steps: Steps, flush: Callable[[], Awaitable[None]]) -> None:
        """`flush` is the database's: a piece takes longer than what was committed before it needs to the disk."""
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._steps = steps
        self._flush = flush
        self.pieces = 0
        """Played so far."""
        self.on_piece: Callable[[int], None] = lambda piece: None
        """Told the number of each piece that sounded."""

    async def start(self) -> None:
        """It is open."""

    async def play(self, audio: SpeechAudio) -> None:
        """Sound: from here on it was heard; where the power is cut, once it has lasted as long as the disk needs."""
        self._steps.boundary()
        if not self._steps.cut_power:
            os.write(self._file, audio.samples.tobytes())
        self.pieces += 1
        self.on_piece(self.pieces)
        self._steps.boundary()
        await self._flush()
        if self._steps.cut_power:
            os.write(self._file, audio.samples.tobytes())

    async def drain(self) -> None:
        """Everything has sounded already."""
        await asyncio.sleep(0)

    def stop(self) -> float:
        """Nothing is ahead that could be dropped."""
        return 0.0

    def pause(self) -> None:
        """No time passes in a file."""

    def resume(self) -> None:
        """No time passes in a file."""

    def set_gain(self, factor: float) -> None:
        """Letters are not made quieter."""

    async def aclose(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def sounded(path: Path) -> list[str]:
    """Return the sentences whose sound began, in order; of one that broke off, what sounded."""
    samples = np.fromfile(path, np.int16) if path.exists() else np.zeros(0, np.int16)
    return bytes(samples.astype(np.uint8)).decode().split(chr(BEGINS))[1:]
