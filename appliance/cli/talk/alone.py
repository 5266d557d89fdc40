"""Questions that no service answers: this process does, by a box without ears that is opened for them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

from agent.event import HOUSEHOLD, new_id
from appliance.api.client import GivenFile, stopped_where_cancelled
from appliance.api.outcome import Outcome
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import Box, open_box


async def ask_once(config: Config, text: str, files: Sequence[GivenFile] = ()) -> AsyncGenerator[str | Outcome, None]:
    """Yield the answer to one line of text, from a box without ears that is opened for it; see `Household.ask`."""
    pieces: asyncio.Queue[str | Outcome | None] = asyncio.Queue(1)
    event_id = new_id()

    async def think(box: Box) -> None:
        for file in files:
            await box.household.attaching.keep(HOUSEHOLD, file.id, file.name, file.content)
        names = [file.id for file in files]
        async with aclosing(box.household.ask(text, "cli", attached=names, event_id=event_id)) as answer:
            async for piece in answer:
                await pieces.put(piece)
        await pieces.put(None)

    async with open_box(config, RunOptions(deaf=True, brief=True)) as box, asyncio.TaskGroup() as group:
        running = group.create_task(serve(box, lambda: think(box)), name="the box")
        try:
            async with _stopped_where_cancelled(box, event_id):
                while (piece := await pieces.get()) is not None:
                    yield piece
        except GeneratorExit:  # nobody listens any more; a group would take that for a failure
            running.cancel()


@asynccontextmanager
async def asking(config: Config, session: str) -> AsyncIterator[Callable[[str], AsyncGenerator[str | Outcome, None]]]:
    """Open a box without ears for a conversation in writing; gives what yields the answer to a line."""
    over = asyncio.Event()
    async with open_box(config, RunOptions(deaf=True, brief=True)) as box, asyncio.TaskGroup() as group:
        group.create_task(serve(box, over.wait), name="the box")
        try:
            yield lambda text: _asked(box, text, session)
        finally:
            over.set()


async def _asked(box: Box, text: str, session: str) -> AsyncGenerator[str | Outcome, None]:
    """Yield the answer to a line; cancelled, it is stopped."""
    event_id = new_id()
    asked = box.household.ask(text, session, event_id=event_id)
    async with _stopped_where_cancelled(box, event_id), aclosing(asked) as answer:
        async for piece in answer:
            yield piece


def _stopped_where_cancelled(box: Box, event_id: str) -> AbstractAsyncContextManager[None]:
    """Have the answer to an event of the household's end where the block is cancelled; else it would come back."""

    async def stop() -> None:
        await box.household.stop_answer(event_id)
        await box.household.mailbox.until_idle()

    return stopped_where_cancelled(stop)
