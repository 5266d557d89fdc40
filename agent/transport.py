"""The bus between machines: its envelopes over an engine's topics, at most once, numbered so that loss is seen."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

import structlog

from agent.bus import FAILED, Bus, failed, first_good
from agent.event import Event, from_json, new_id, to_json
from memory.backoff import Backoff
from memory.engine.interface import Request, Subscription, Topics
from memory.errors import EngineFailure, EngineUnreachable, NobodyServes
from memory.json_value import Json, parse_json

log = structlog.get_logger()

VERSION: Final = 1
"""Of the messages; one that is newer is refused."""

EVENTS: Final = "bus.events"
"""Topic of what is shown. One for all, whatever an envelope's type: it shows each machine's order and its gaps."""

REQUESTS: Final = "bus.requests"
"""Topic of what is asked; each machine but the asking one answers that it has it, and then what its handlers say."""

WAITING: Final = 1024
"""Envelopes that may wait for the engine; of more, the oldest are lost."""

HEARD_OF: Final = 64
"""Starts of other machines that are told apart, and ..."""

REQUESTS_KNOWN: Final = 1024
"""... requests that are known as answered already."""

RECEIPT_SECONDS: Final = 1.0
"""How long a request waits for machines to say that they have it, where no answer succeeded before."""

_SAID: Final = "another nakari sent what this one cannot read; update this machine"


class EngineTransport:
    """A `Transport` over an engine. `run` carries, until cancelled; before and between, what is shown waits.

    Never doubled: of one start of one machine, only rising numbers are let through. Loss: what finds no room here while
    the engine is away, what the engine did not deliver, what the reader's machine was too slow for; each is a gap in
    the numbers, which `Observer.lost` counts, but for what came before a machine was first heard.
    """

    def __init__(self, topics: Topics, machine: str, *, receipt_seconds: float = RECEIPT_SECONDS) -> None:
        """`machine` is what this one is called by the others."""
        self._topics = topics
        self._machine = machine
        self._receipt_seconds = receipt_seconds
        self._start = new_id()
        """Tells this bus from all others, also of the same name, and from the ones before."""
        self._out = _Outgoing()
        self._asks = asyncio.Lock()
        self._in = _Incoming(self._start)

    def describe(self) -> dict[str, Json]:
        """Return how many envelopes wait, went out and came in, and how many were lost either way, for the status."""
        return {**self._out.describe(), **self._in.describe()}

    def show(self, event: Event) -> None:
        """Take an envelope that the other machines are to see; nothing is waited for."""
        self._out.put(event)

    async def run(self, bus: Bus) -> None:
        """Carry what is shown to other machines, what they show to `bus`, and their requests to its handlers."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._send())
            group.create_task(self._again(lambda: self._receive(bus)))
            group.create_task(self._again(lambda: self._serve(bus)))

    async def request(self, event: Event) -> Event | None:
        """Ask the handlers elsewhere; see `Transport`. An engine that is away is a failed answer."""
        request = self._message({"id": new_id(), "event": to_json(event)})
        try:
            async with AsyncExitStack() as asking:
                async with self._asks:  # one after the other, so that a handler sees them in their order
                    answers = await asking.enter_async_context(self._topics.ask(REQUESTS, request))
                return await self._first_good(event, answers)
        except NobodyServes:
            return None
        except EngineFailure as error:
            return failed(event, f"the other machines cannot be asked: {error}")

    def _message(self, body: Mapping[str, Json]) -> bytes:
        whole = {"v": VERSION, "machine": self._machine, "start": self._start, **body}
        return json.dumps(whole, separators=(",", ":")).encode()

    async def _again(self, part: Callable[[], Awaitable[None]]) -> None:
        """Run a part whenever it ended, which it does where the engine cannot be had."""
        rests = Backoff(1.0, 30.0, steady=60.0)
        while True:
            try:
                await part()
            except* EngineFailure as errors:
                log.debug("bus_not_connected", reason=str(errors.exceptions[0]))
            await asyncio.sleep(rests.failed())

    async def _send(self) -> None:
        rests, told, lost = Backoff(0.1, 5.0), "", 0
        while True:
            number, event = await self._out.next()
            try:
                await self._topics.publish(EVENTS, self._message({"number": number, "event": to_json(event)}))
            except EngineUnreachable as error:
                told = told or _tell(event, error)
                self._out.back(number, event)
                await asyncio.sleep(rests.failed())
            except (EngineFailure, TypeError, ValueError) as error:  # too large, refused, or a bug of who publishes
                told = told or _tell(event, error)
                self._out.lose()
            else:
                rests.worked()
                self._out.sent += 1
                if told:
                    log.info("bus_sends_again", lost=self._out.lost - lost)
                    told, lost = "", self._out.lost

    async def _receive(self, bus: Bus) -> None:
        async with self._topics.subscribe(EVENTS) as messages:
            async for message in messages:
                if (body := self._in.read(message.data)) is None:
                    continue
                missed = self._in.missed(str(body["start"]), body.get("number"))
                if missed is not None and (event := self._in.envelope(body)) is not None:
                    bus.arrived(str(body["machine"]), event, missed)

    async def _serve(self, bus: Bus) -> None:
        async with self._topics.serve(REQUESTS) as requests, asyncio.TaskGroup() as group:
            async for request in requests:
                body = self._in.read(request.data)
                if body is None or self._in.knows(str(body.get("id"))):
                    continue
                if (event := self._in.envelope(body)) is not None:
                    answers = bus.deliver(event)  # at once: in their order
                    group.create_task(self._reply(request, event, answers))

    async def _reply(self, request: Request, event: Event, answers: "asyncio.Queue[Event]") -> None:
        try:
            await request.answer(self._message({"taken": True}))
            answer = await first_good(event, answers)
            said = None if answer is None or answer is event else to_json(answer)
            await request.answer(self._message({"event": said}))
        except (EngineFailure, TypeError, ValueError) as error:
            log.warning("bus_answer_lost", topic=event.type, reason=str(error))
            if isinstance(error, EngineUnreachable):
                return
            problem = to_json(failed(event, f"the answer of {self._machine} could not be sent: {error}"))
            try:
                await request.answer(self._message({"event": problem}))
            except EngineFailure:
                return

    async def _first_good(self, event: Event, answers: Subscription) -> Event | None:
        """Return the first good answer of any machine, else the last failure; None where none has a handler.

        Waits for those that said in time that they have it.
        """
        clock = asyncio.get_running_loop().time
        until, busy, last = clock() + self._receipt_seconds, set[str](), None
        try:
            async with asyncio.timeout_at(until) as limit:
                async for message in answers:
                    if (body := self._in.read(message.data)) is None:
                        continue
                    if body.get("taken"):
                        busy.add(str(body["start"]))
                    else:
                        busy.discard(str(body["start"]))
                        last = self._in.envelope(body) or last
                        if last is not None and last.status != FAILED:
                            return last
                    limit.reschedule(None if busy else max(until, clock()))
        except TimeoutError:
            if not limit.expired():
                raise
        return last


def _tell(event: Event, error: Exception) -> str:
    reason = str(error)
    log.warning("bus_does_not_send", topic=event.type, reason=reason)
    return reason or "no reason"


class _Outgoing:
    """What waits for the engine, numbered as it came."""

    def __init__(self) -> None:
        self.sent = 0
        self.lost = 0
        self._number = 0
        self._waiting: deque[tuple[int, Event]] = deque()
        self._arrived = asyncio.Event()

    def describe(self) -> dict[str, Json]:
        return {"waiting": len(self._waiting), "sent": self.sent, "lost": self.lost}

    def put(self, event: Event) -> None:
        self._number += 1
        if len(self._waiting) == WAITING:
            self._waiting.popleft()
            self.lose()
        self._waiting.append((self._number, event))
        self._arrived.set()

    def back(self, number: int, event: Event) -> None:
        """Put the one that was not sent before all others, unless there is no room for it any more."""
        if len(self._waiting) == WAITING:
            self.lose()
        else:
            self._waiting.appendleft((number, event))

    def lose(self) -> None:
        self.lost += 1

    async def next(self) -> tuple[int, Event]:
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.popleft()


class _Incoming:
    """What is known of the messages of others."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._numbers: dict[str, int] = {}
        """The highest number of each start; whoever was heard last is last."""
        self._asked: dict[str, None] = {}
        self._refused: set[str] = set()
        """Starts whose messages cannot be read, and that this was told of."""
        self._counts = {"came": 0, "missed": 0, "refused": 0}

    def describe(self) -> dict[str, Json]:
        return {**self._counts}

    def read(self, data: bytes) -> dict[str, Json] | None:
        """Return what a message of another bus says; None for one's own, and for what is refused and told once."""
        start = ""
        try:
            body: Any = parse_json(data)
            start = str(body["start"])
            if body["v"] == VERSION:
                return body if start != self._own else None
            reason = f"a message of version {body['v']}, where this one knows {VERSION}"
        except (ValueError, TypeError, KeyError) as error:
            reason = f"no message of a nakari: {type(error).__name__}"
        self._refuse(start, reason)
        return None

    def envelope(self, body: Mapping[str, Json]) -> Event | None:
        """Return the envelope of a message; None where it has none, or one that is refused."""
        text = body.get("event")
        if text is None:
            return None
        try:
            return from_json(str(text))
        except ValueError as error:
            self._refuse(str(body["start"]), f"no envelope: {type(error).__name__}")
            return None

    def missed(self, start: str, number: Json) -> int | None:
        """Return how many were lost before a number of a start; None where it came before."""
        if not isinstance(number, int):
            self._refuse(start, "an envelope without a number")
            return None
        last = self._numbers.pop(start, number - 1)
        self._numbers[start] = max(last, number)
        if len(self._numbers) > HEARD_OF:
            del self._numbers[next(iter(self._numbers))]
        if number <= last:
            return None
        self._counts["came"] += 1
        self._counts["missed"] += number - last - 1
        return number - last - 1

    def knows(self, request_id: str) -> bool:
        """Whether a request came before; from now on it has."""
        came_before = request_id in self._asked
        self._asked[request_id] = None
        if len(self._asked) > REQUESTS_KNOWN:
            del self._asked[next(iter(self._asked))]
        return came_before

    def _refuse(self, start: str, reason: str) -> None:
        self._counts["refused"] += 1
        if start in self._refused:
            return
        if len(self._refused) == HEARD_OF:
            self._refused.clear()
        self._refused.add(start)
        log.warning("bus_message_refused", reason=f"{_SAID} ({reason})")
