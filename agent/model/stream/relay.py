"""Chunks of any provider become our stream, under two deadlines; a stream that fails says how far it came."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Final

from msgspec import Struct

from agent.errors import ModelError, StreamBroken
from agent.model.faults import broken, ended_in_error
from agent.model.interface import StreamItem, ThinkingStarted
from agent.model.stream.accumulate import Accumulator
from memory.json_value import Json

Chunk = Mapping[str, Json]

HELD_BACK: Final = 1_200
"""Characters, some 300 tokens, of a call that Ollama and others hold back until it is whole, behind words they gave."""

SLOW_WAITS: Final = 2
"""How many times longer than others a slow model is waited for at most."""

MOST_OF_AN_ANSWER: Final = 500_000
"""Characters, calls and all: what goes on past it has lost itself, and would hold up everybody else."""


class Patience(Struct, frozen=True):
    """How long to wait for a model, in seconds."""

    connect: float = 3.0
    """Until the connection stands: a server that is there takes a tenth of that, and a person waits meanwhile."""
    first: float = 120.0
    """Until anything of it has come: a small machine may read a long prompt for a minute."""
    between: float = 30.0
    """Until there is more of an answer that began; what only keeps the connection alive, comment or chunk, is none.

    A slow model gets the time that it takes for `HELD_BACK` at its own pace, within `SLOW_WAITS`."""
    last: float = 2.0
    """Behind the finish_reason, for the usage: some servers then neither say [DONE] nor close."""


async def relay(
    chunks: AsyncIterator[Chunk], accumulator: Accumulator, name: str, patience: Patience
) -> AsyncGenerator[StreamItem, None]:
    """Yield the items of one answer, `Answer` last.

    `chunks` raises `ModelError` when it fails, and ends only when the answer is whole. What fails before the first item
    is raised as it is, what fails after it as `StreamBroken` with what had come.
    """
    has_begun = thinks = False
    waiting = _Waiting(chunks, accumulator, name, patience)
    try:
        while (chunk := await waiting.next(has_begun=has_begun)) is not None:
            for item in accumulator.feed(chunk):
                has_begun = True
                yield item
            if accumulator.length > MOST_OF_AN_ANSWER:
                raise broken(name, f"went on past {MOST_OF_AN_ANSWER} characters", is_of_answer=True)
            if accumulator.is_over or accumulator.cut_if_endless():
                break  # the model plays others' parts, or has lost itself, for as long as it is let
            if accumulator.has_thought and not (has_begun or thinks):
                thinks = True
                yield ThinkingStarted()
        _check_end(accumulator, name)
    except ModelError as error:
        if not has_begun:
            raise
        raise StreamBroken(str(error), accumulator.message(), is_of_answer=error.is_of_answer) from error
    for item in accumulator.finish():
        yield item


def _check_end(accumulator: Accumulator, name: str) -> None:
    """Raise `ModelError` for an answer that is at its end and is an error."""
    if accumulator.finish_reason == "error":  # OpenRouter's word for a provider that failed behind it
        raise broken(name, "ended in an error")
    if complaint := accumulator.complaint:
        raise ended_in_error(name, complaint)


class _Waiting(Struct):
    """Waits for chunks. Only the waiting counts, not what is done with a chunk: a mouth may hold it up for minutes."""

    chunks: AsyncIterator[Chunk]
    accumulator: Accumulator
    name: str
    patience: Patience
    _came: tuple[int, str] = (0, "")
    """How much has come, and the finish_reason."""
    _waited: float = 0.0
    """Seconds since more came."""
    _took: float = 0.0
    """Seconds from the first of the answer to the newest."""

    async def next(self, *, has_begun: bool) -> Chunk | None:
        """Return the next chunk, None after the last. Raises `ModelError` where no more of the answer comes in time."""
        came = (self.accumulator.size, self.accumulator.finish_reason)
        if came != self._came:
            self._took += self._waited if self._came[0] else 0.0
            self._came, self._waited = came, 0.0
        seconds = self._between() if has_begun else self.patience.first
        if self.accumulator.finish_reason:
            seconds = min(seconds, self.patience.last)
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(seconds - self._waited):
                return await anext(self.chunks, None)
        except TimeoutError as error:
            if self.accumulator.finish_reason:
                return None
            how = f"stopped for {seconds:g} s" if has_begun else f"did not begin within {seconds:g} s"
            raise broken(self.name, how) from error
        finally:
            self._waited += clock() - began

    def _between(self) -> float:
        """Return how many seconds more of the answer is waited for, by the pace it had so far."""
        held_back = self._took * HELD_BACK / max(1, self.accumulator.size)
        return self.patience.between * min(SLOW_WAITS, max(1.0, held_back / self.patience.between))
