"""Questions that no service answers: this process does, by a box without ears that is opened for them."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import TypeAlias

from agent.event import HOUSEHOLD, new_id
from appliance.api.client import GivenFile, stopped_where_cancelled
from appliance.api.outcome import Outcome
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.service import serve
from appliance.wiring.box import Box, open_box

Ask: TypeAlias = Callable[[str, Sequence[GivenFile]], AsyncGenerator[str | Outcome, None]]
"""Yields the answer to a line of text and the files that it is about; see `Household.ask`."""


async def ask_once(config: Config, text: str, files: Sequence[GivenFile] = ()) -> AsyncGenerator[str | Outcome, None]:
    """Yield the answer to one line of text, from a box without ears that is opened for it."""
    async with asking(config, "cli") as ask, aclosing(ask(text, files)) as answer:
        async for piece in answer:
            yield piece


@asynccontextmanager
async def asking(config: Config, session: str) -> AsyncIterator[Ask]:
    """Open a box without ears for a conversation in writing; gives what answers."""
    over = asyncio.Event()
    async with open_box(config, RunOptions(deaf=True, brief=True)) as box, asyncio.TaskGroup() as group:
        running = group.create_task(serve(box, over.wait), name="the box")
        try:
            yield lambda text, files: _asked(box, text, session, files)
        except GeneratorExit:  # nobody listens any more; a group would take that for a failure
            running.cancel()
        finally:
            over.set()


async def _asked(box: Box, text: str, session: str, files: Sequence[GivenFile]) -> AsyncGenerator[str | Outcome, None]:
    """Yield the answer to a line; cancelled, it is stopped."""
    for file in files:
        await box.household.attaching.keep(HOUSEHOLD, file.id, file.name, file.content)
    event_id = new_id()
    asked = box.household.ask(text, session, attached=[file.id for file in files], event_id=event_id)
    async with _stopped_where_cancelled(box, event_id), aclosing(asked) as answer:
        async for piece in answer:
            yield piece


def _stopped_where_cancelled(box: Box, event_id: str) -> AbstractAsyncContextManager[None]:
    """Have the answer to an event of the household's end where the block is cancelled; else it would come back."""

    async def stop() -> None:
        await box.household.stop_answer(event_id)
        await box.household.mailbox.until_idle()

    return stopped_where_cancelled(stop)
