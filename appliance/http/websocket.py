"""The WebSocket: the messages of the stream one way, a person's words, requests and sound the other."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Annotated, Any, Final, Protocol

import structlog
from fastapi import APIRouter, Query
from msgspec import Struct, field
from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from agent.event import utc_now
from appliance.api.caller import Caller
from appliance.api.register import Answer, BadRequest, Entry, Gone, Register, failure_of, sentence_of, understood
from appliance.errors import Problem
from appliance.http.caller import Asks
from appliance.http.streams import HEARTBEAT_SECONDS, LAST_PLACE
from appliance.live.audio import AudioSession, OpensSound
from appliance.live.from_client import (
    FROM_CLIENT,
    AudioEndMessage,
    AudioStartMessage,
    ClientMessage,
    RequestMessage,
    StopMessage,
    UserMessage,
    UserWords,
)
from appliance.live.live import Live
from appliance.live.messages import AnswerMessage, ErrorMessage, Failure, Message, Progress, ProgressMessage, as_text
from appliance.live.readers import SEND_SECONDS, Reader
from appliance.remote.outbox import PlaceGone
from audio.loops import first_of
from memory.json_value import Json

MOST_TEXT: Final = 500_000
"""Characters of a frame of text: 100 000 of a message, each of which may be written as `\\uXXXX`, and more."""

MOST_SOUND: Final = 64_000
"""Bytes of a frame of sound: two seconds."""

FRAMES_PER_SECOND: Final = 100.0
MOST_FRAMES_AT_ONCE: Final = 300
"""A microphone that sends each 20 ms takes 50; what was held up on the way comes at once."""

AT_A_TIME: Final = 8
"""Requests of one client that are worked on; as many more may wait as answers may."""

MOST_ANSWERS: Final = 256
"""Answers that wait for a client; one that is further behind gets no more of that request."""

POLICY, TRY_LATER = 1008, 1013
"""Codes by which it is closed (RFC 6455, and the IANA's register)."""

log = structlog.get_logger()


class Words(Protocol):
    """Takes what a person writes, and their wish for silence."""

    async def write(self, words: UserWords, caller: Caller, marks: Mapping[str, Json]) -> Mapping[str, Json]:
        """Put it into the mailbox; return the event's id once it is durable, or what was done at once.

        `marks` are laid beside it. Raises `Problem` and what the mailbox raises.
        """

    async def stop(self, caller: Caller) -> None:
        """Stop the answer that is being given to this owner."""


class Behind(Struct, frozen=True):
    """What a WebSocket is a way to."""

    live: Live
    register: Register
    words: Words
    audio: OpensSound | None
    """None where no sound is taken."""
    clock: Callable[[], float] = monotonic
    """Seconds."""


def router(behind: Behind) -> APIRouter:
    """Return the route of the WebSocket."""
    routes = APIRouter()

    @routes.websocket("/ws")
    async def talk(
        socket: WebSocket,
        caller: Asks,
        after: Annotated[int | None, Query(ge=0, le=LAST_PLACE)] = None,
        levels: bool = True,
    ) -> None:
        await socket.accept()
        client = Client(socket, caller, behind)
        try:
            async with behind.live.reading(caller.owner_key, after, levels=levels) as reader:
                await client.serve(reader)
        except Problem as refused:
            with suppress(PlaceGone):
                await client.send(_error(str(refused)))
            await client.close(TRY_LATER, "too many look on")

    return routes


class Client(Struct):
    """One WebSocket: what it is told goes out in order, and what it asks is answered by id."""

    socket: WebSocket
    caller: Caller
    behind: Behind
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    _answers: asyncio.Queue[Message] = field(default_factory=lambda: asyncio.Queue(MOST_ANSWERS))
    _at_work: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_A_TIME))
    _requests: dict[asyncio.Task[None], Entry[Any]] = {}
    _audio: AudioSession | None = None
    _is_gone: bool = False
    _allowance: float = MOST_FRAMES_AT_ONCE
    _allowed_at: float = 0.0

    async def send(self, what: bytes | str | Message) -> None:
        """Send a message, or its text, or a frame of sound; waits while the client is behind. Raises `PlaceGone`."""
        text = what if isinstance(what, bytes | str) else as_text(what)
        try:
            async with self._sending, asyncio.timeout(SEND_SECONDS):
                await (self.socket.send_bytes(text) if isinstance(text, bytes) else self.socket.send_text(text))
        except (TimeoutError, RuntimeError, WebSocketDisconnect) as gone:
            raise PlaceGone from gone

    async def serve(self, reader: Reader) -> None:
        """Talk until the client goes. What it asked for by then is done, unless it only tells."""
        self._allowed_at = self.behind.clock()
        if self.behind.audio is not None:
            self._audio = self.behind.audio(self.caller.owner_key, self.send)
        async with asyncio.TaskGroup() as requests:
            try:
                await first_of(self._tell_all(reader), self._answer_all(), self._hear_all(requests))
            finally:
                self._is_gone = True
                for task, entry in self._requests.items():
                    if entry.only_tells:
                        task.cancel()
                if self._audio is not None:
                    self._audio.close()

    async def close(self, code: int, reason: str) -> None:
        """Close it, with a code and a reason."""
        with suppress(RuntimeError, TimeoutError, WebSocketDisconnect):
            async with asyncio.timeout(SEND_SECONDS):
                await self.socket.close(code, reason)

    async def _tell_all(self, reader: Reader) -> None:
        try:
            while True:
                for packet in await reader.take(HEARTBEAT_SECONDS):
                    await self.send(packet.json)
        except PlaceGone as gone:
            if isinstance(gone.__cause__, TimeoutError):
                self.behind.live.readers.leave(reader)

    async def _answer_all(self) -> None:
        with suppress(PlaceGone):
            while True:
                await self.send(await self._answers.get())

    async def _hear_all(self, requests: asyncio.TaskGroup) -> None:
        """Take frame after frame, until the client goes or is sent away."""
        while True:
            frame = await self.socket.receive()
            if frame["type"] == "websocket.disconnect":
                return
            if not self._may_send():
                log.warning("websocket_closed", reason="too many frames")
                await self.close(POLICY, "too many frames a second")
                return
            try:
                if (sound := frame.get("bytes")) is not None:
                    await self._hear(sound)
                else:
                    await self._take(_understood(frame.get("text") or ""), requests)
            except Exception as error:  # noqa: BLE001  told to the one who sent it; the others are not concerned
                await self._fail(error)

    def _may_send(self) -> bool:
        now = self.behind.clock()
        earned = (now - self._allowed_at) * FRAMES_PER_SECOND
        self._allowance, self._allowed_at = min(MOST_FRAMES_AT_ONCE, self._allowance + earned) - 1, now
        return self._allowance >= 0

    async def _hear(self, sound: bytes) -> None:
        ears = self._ears()
        if len(sound) > MOST_SOUND or len(sound) % 2:
            raise BadRequest(f"a frame of sound is int16 mono of 16 kHz, {MOST_SOUND} bytes at most")
        ears.feed(sound)

    def _ears(self) -> AudioSession:
        if self._audio is None:
            raise BadRequest("no sound is taken here: write, or speak in the room")
        return self._audio

    async def _take(self, message: ClientMessage, requests: asyncio.TaskGroup) -> None:
        match message:
            case UserMessage():
                await self._write(message)
            case RequestMessage():
                self._ask(message, requests)
            case StopMessage():
                if self._audio is not None:
                    self._audio.stop()
                await self.behind.words.stop(self.caller)
            case AudioStartMessage():
                await self._ears().begin(self.caller.session(message.payload.session), message.payload.mode)
            case AudioEndMessage():
                self._ears().end()

    async def _write(self, message: UserMessage) -> None:
        marks = self._audio.marks() if message.payload.speak and self._audio is not None else {}
        written = await self.behind.words.write(message.payload, self.caller, marks)
        if message.id is not None:
            await self._answers.put(_answer(message.id, written, is_last=True))

    def _ask(self, message: RequestMessage, requests: asyncio.TaskGroup) -> None:
        """Begin a request; its answers come beside whatever else is said."""
        if len(self._requests) >= MOST_ANSWERS:
            raise BadRequest(f"{MOST_ANSWERS} requests wait already: wait for an answer")
        try:
            entry = self.behind.register.find(str(message.payload.get("do")))
            asked = understood(entry.model, message.payload)
        except BadRequest as error:
            self._tell(_error(str(error), message.id))
            return

        def tell(answer: Answer) -> None:
            self._tell(_answer(message.id, answer, is_last=False))

        async def work() -> None:
            with suppress(Gone):
                async with self._at_work:
                    last = await self.behind.register.answer(entry, asked, self.caller, tell)
                is_failure = "error" in last and "event" not in last
                self._tell(_failed(last, message.id) if is_failure else _answer(message.id, last, is_last=True))

        task = requests.create_task(work(), name=f"websocket: {entry.do}")
        self._requests[task] = entry
        task.add_done_callback(self._requests.pop)

    def _tell(self, message: Message) -> None:
        """Take an answer, without waiting. Raises `Gone` where the client does not read, or is not there."""
        if self._is_gone or self._answers.full():
            raise Gone
        self._answers.put_nowait(message)

    async def _fail(self, error: Exception) -> None:
        told = _error(str(error)) if isinstance(error, BadRequest) else _failed(failure_of(error), None)
        with suppress(Gone):
            self._tell(told)


def _understood(text: str) -> ClientMessage:
    """Return what a frame of text says. Raises `BadRequest`."""
    if len(text) > MOST_TEXT:
        raise BadRequest(f"a frame of more than {MOST_TEXT} characters is refused; send less at a time")
    try:
        return FROM_CLIENT.validate_json(text)
    except ValidationError as error:
        raise BadRequest(sentence_of(error, "message")) from error


def _answer(request_id: str, answer: Answer, *, is_last: bool) -> Message:
    match answer:
        case {"progress": [int() | float() as done, int() | float() as of]}:
            return ProgressMessage(at=utc_now(), id=request_id, payload=Progress(done=done, of=of))
    return AnswerMessage(at=utc_now(), id=request_id, is_last=is_last, payload=dict(answer))


def _failed(answer: Answer, request_id: str | None) -> ErrorMessage:
    code = answer.get("code")
    return _error(str(answer["error"]), request_id, code if isinstance(code, int) else None)


def _error(sentence: str, request_id: str | None = None, code: int | None = None) -> ErrorMessage:
    return ErrorMessage(at=utc_now(), id=request_id, payload=Failure(sentence=sentence, code=code))
