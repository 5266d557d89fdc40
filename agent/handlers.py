"""What answers requests on the bus: each handler with an inbox of its own, so that a slow one delays no other."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

from agent.event import Event, new_id, utc_now

Handler: TypeAlias = Callable[[Event], Awaitable[Event]]
"""Takes a request and returns its answer: an envelope whose status and result it has set."""

INBOX_CAPACITY: Final = 64
"""Requests that may wait for one handler; one more is answered at once as failed."""

FAILED: Final = "failed"


class Request:
    """A request on its way: several handlers may answer, one answer counts."""

    def __init__(self, event: Event, handlers: int) -> None:
        self.event = event
        self.waiting = handlers
        """Handlers that have it and did not answer yet."""
        self._answer: Event | None = None
        self._answered = asyncio.Event()

    def take(self, answer: Event) -> None:
        """Take one handler's answer: the first that is neither failed nor the request itself counts, else the last."""
        self.waiting -= 1
        if self._answered.is_set():
            return
        self._answer = answer
        if self.waiting == 0 or not (answer.status == FAILED or answer is self.event):
            self._answered.set()

    async def answer(self) -> Event:
        """Return the answer that counts, once there is one."""
        await self._answered.wait()
        return self._answer or self.event


class Inbox:
    """The requests of one handler. Order: as delivered. Loss: none; what finds no room is answered FAILED at once."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.refused = 0
        self._waiting: asyncio.Queue[Request] = asyncio.Queue(INBOX_CAPACITY)
        self._at_work: Request | None = None

    def offer(self, request: Request) -> None:
        """Take a request without waiting."""
        try:
            self._waiting.put_nowait(request)
        except asyncio.QueueFull:
            self.refused += 1
            request.take(failed(request.event, f"the handler of {self.pattern} has too much to do"))

    async def work(self, handler: Handler) -> None:
        """Answer what comes, until cancelled."""
        while True:
            self._at_work = await self._waiting.get()
            answer = await answered(handler, self._at_work.event)
            self._at_work.take(answer)
            self._at_work = None

    def close(self) -> None:
        """Answer what is left: the handler has gone."""
        left = [self._at_work] if self._at_work is not None else []
        while not self._waiting.empty():
            left.append(self._waiting.get_nowait())
        for request in left:
            request.take(failed(request.event, f"the handler of {self.pattern} has gone"))


async def answered(handler: Handler, event: Event) -> Event:
    """Return a handler's answer; an exception, or anything that is no Event, is a new FAILED envelope."""
    try:
        answer: object = await handler(event)
    except Exception as error:  # noqa: BLE001  it travels on to whoever asked
        return failed(event, f"{type(error).__name__}: {error}")
    if not isinstance(answer, Event):
        return failed(event, f"the handler answered with {type(answer).__name__}, which is no Event")
    if answer.id == event.id and answer is not event:
        return replace(answer, id=new_id(), parent_id=event.id)  # the journal knows an entry by its id
    return answer


def failed(event: Event, error: str) -> Event:
    """Return a new envelope that answers `event` with a failure."""
    return replace(event, id=new_id(), parent_id=event.id, status=FAILED, error=error, created_at=utc_now())
