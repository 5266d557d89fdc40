"""Lets programs in by Wyoming, so many at a time, and those only that may come."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import itemgetter
from time import monotonic
from typing import Final, NoReturn

import structlog
from msgspec import Struct
from wyoming.asr import Transcript
from wyoming.audio import AudioChunk, AudioStart
from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.handle import NotHandled
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStopped, SynthesizeVoice

from appliance.api.register import WENT_WRONG
from appliance.errors import problem_of
from appliance.http.listening.addresses import BREATH_SECONDS
from appliance.remote.ears import Recognizing
from appliance.wyoming.asr import Recording, form_of, transcribed
from appliance.wyoming.guests import Guests
from appliance.wyoming.handle import Conversation
from appliance.wyoming.info import Abilities, language_of
from appliance.wyoming.tts import MOST_CHARACTERS, Speaking
from appliance.wyoming.wire import MOST_LINE_BYTES, USUAL, ClientGone, EventStream, Malformed, Patience, parsed, text_of
from memory.json_value import Json

MOST_REQUESTS: Final = 4
"""Of one connection that may wait; nobody sends the next before the answer to the last."""

LARGE_BYTES: Final = 64_000
"""Of sound in one event, from which on it is converted beside the loop."""


class Services(Struct, frozen=True):
    """What can be asked of the box."""

    abilities: Abilities
    recognizing: Recognizing
    speaking: Speaking
    conversation: Conversation


class _Request(Struct, frozen=True):
    work: Callable[[], Awaitable[None]]
    failed: Callable[[str], Eventable] = Error
    """Makes what is sent, with a sentence, where it could not be answered."""


class Connection:
    """Reads what is asked, and answers it beside."""

    def __init__(self, services: Services, stream: EventStream) -> None:
        self._services = services
        self._stream = stream
        self._requests: asyncio.Queue[_Request] = asyncio.Queue(MOST_REQUESTS)
        self._recording: Recording | None = None
        self._text: _Text | None = None
        """What is said while it still comes."""
        self._is_here = True
        self._is_recognizing = False
        self._works = 0
        """What is done for it at this moment."""
        self.used_at = monotonic()
        """When it asked or was answered last; seconds of a clock that nobody sets."""
        self._problem = ""
        self._reactions: dict[str, Callable[[Event], Awaitable[None]]] = {
            "describe": self._describe,
            "ping": self._ping,
            "transcribe": self._transcribe,
            "audio-start": self._begin_sound,
            "audio-chunk": self._more_sound,
            "audio-stop": self._end_sound,
            "synthesize": self._synthesize,
            "synthesize-start": self._begin_text,
            "synthesize-chunk": self._more_text,
            "synthesize-stop": self._end_text,
            "transcript": self._handle,
        }

    async def run(self) -> str:
        """Answer until the program has left or is sent away; return what was wrong with it, "" for nothing."""
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(self._read(), name="wyoming: what a program asks")
            answering = group.create_task(self._answer(), name="wyoming: what it is answered")
            await asyncio.wait([reading, answering], return_when=asyncio.FIRST_COMPLETED)
            self._is_here = False
            reading.cancel()
            if not self._is_recognizing:  # else its thread goes on, beside the next one's
                answering.cancel()
        return self._problem

    async def _read(self) -> None:
        try:
            while (event := await self._stream.read(is_amid=self._is_amid)) is not None:
                if (react := self._reactions.get(event.type)) is not None:  # the protocol grows
                    with self._working():
                        await react(event)
        except Malformed as problem:
            self._problem = str(problem)
        except TimeoutError:
            self._problem = "nothing more, in the middle of something" if self._is_amid else ""
        except ClientGone:
            pass

    @property
    def _is_amid(self) -> bool:
        return self._recording is not None or self._text is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is done for it, nor waits, nor is in the middle of coming."""
        return not (self._works or self._requests.qsize() or self._is_amid)

    def cut(self) -> None:
        """End it at once."""
        self._stream.cut()

    @contextmanager
    def _working(self) -> Iterator[None]:
        self._works += 1
        try:
            yield
        finally:
            self._works -= 1
            self.used_at = monotonic()

    async def _answer(self) -> None:
        while self._is_here:
            request = await self._requests.get()
            try:
                with self._working():
                    await request.work()
            except ClientGone:
                return
            except Exception as error:  # noqa: BLE001  told to the program in its protocol; the others are answered on
                with suppress(ClientGone):
                    await self._stream.write(request.failed(_sentence(error)))
                return

    def _ask(self, request: _Request) -> None:
        if self._requests.full():
            raise Malformed(f"more than {MOST_REQUESTS} requests at once")
        self._requests.put_nowait(request)

    async def _describe(self, event: Event) -> None:
        await self._stream.write(await asyncio.to_thread(self._services.abilities.info))

    async def _ping(self, event: Event) -> None:
        await self._stream.write(Pong(parsed(Ping, event).text))

    async def _transcribe(self, event: Event) -> None:
        """Take that sound comes; in which language is the recognizer's to find out, as the house has set it."""
        self._recording = Recording()

    async def _begin_sound(self, event: Event) -> None:
        form_of(parsed(AudioStart, event))
        self._recording = Recording()

    async def _more_sound(self, event: Event) -> None:
        if self._recording is None:
            raise Malformed("sound before its start")
        chunk = parsed(AudioChunk, event)
        if len(chunk.audio) > LARGE_BYTES:
            await asyncio.to_thread(self._recording.feed, chunk)
        else:
            self._recording.feed(chunk)

    async def _end_sound(self, event: Event) -> None:
        recording, self._recording = self._recording, None
        if recording is not None:
            self._ask(_Request(partial(self._recognize, recording)))

    async def _recognize(self, recording: Recording) -> None:
        def is_wanted() -> bool:
            """Say so when its turn has come: from here on it ends by itself."""
            self._is_recognizing = self._is_here
            return self._is_here

        try:
            heard = await transcribed(self._services.recognizing, recording.end(), is_wanted)
        finally:
            self._is_recognizing = False
        await self._stream.write(Transcript(heard.text, language=heard.language or None))

    async def _synthesize(self, event: Event) -> None:
        if self._text is not None:
            return  # all that came in pieces once more, for who does not know pieces
        asked = parsed(Synthesize, event)
        text = _Text()
        text.add(asked.text)
        text.end()
        self._ask(_Request(partial(self._say, text, _language(asked.voice), is_streamed=False)))

    async def _begin_text(self, event: Event) -> None:
        if self._text is not None:
            raise Malformed("a text in the middle of another")
        self._text = _Text()
        voice = parsed(SynthesizeStart, event).voice
        self._ask(_Request(partial(self._say, self._text, _language(voice), is_streamed=True)))

    async def _more_text(self, event: Event) -> None:
        if self._text is not None:
            self._text.add(parsed(SynthesizeChunk, event).text)

    async def _end_text(self, event: Event) -> None:
        if self._text is not None:
            self._text.end()
            self._text = None

    async def _say(self, text: "_Text", language: str, *, is_streamed: bool) -> None:
        async with aclosing(text.pieces()) as pieces:
            await self._services.speaking.say(pieces, language, self._stream)
        if is_streamed:
            await self._stream.write(SynthesizeStopped())

    async def _handle(self, event: Event) -> None:
        asked = parsed(Transcript, event)
        text, context = text_of(asked.text, "words"), asked.context if isinstance(asked.context, dict) else {}
        work = partial(self._services.conversation.answer, text, context, self._stream)
        self._ask(_Request(work, NotHandled))


class _Text:
    """A text that comes in pieces."""

    def __init__(self) -> None:
        self._characters = 0
        self._pieces: asyncio.Queue[str] = asyncio.Queue(MOST_CHARACTERS + 1)

    def add(self, piece: object) -> None:
        """Take some of it. Raises `Malformed` where it is no text, or too long."""
        words = text_of(piece, "a piece of text")
        self._characters += len(words)
        if self._characters > MOST_CHARACTERS:
            raise Malformed(f"a text of more than {MOST_CHARACTERS} characters")
        if words:
            self._pieces.put_nowait(words)

    def end(self) -> None:
        """Take that this was all."""
        self._pieces.put_nowait("")

    async def pieces(self) -> AsyncGenerator[str, None]:
        """Yield it as it comes, to its end."""
        while piece := await self._pieces.get():
            yield piece


def _language(voice: SynthesizeVoice | None) -> str:
    """Return the language that a program wants, "" where it names none."""
    if voice is None:
        return ""
    name, language = (text_of(each or "", "a voice") for each in (voice.name, voice.language))
    return language_of(name) or language


def _sentence(error: Exception) -> str:
    if (problem := problem_of(error)) is not None:
        return problem.sentence
    log.error("wyoming_request_failed", exc_info=error)
    return WENT_WRONG


FULL: Final = "more connections than [wyoming] connections allows"
CROWDED: Final = "more connections from there than half of what [wyoming] connections allows"

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class _Seat:
    """One of the connections that may be open at a time."""

    host: str
    connection: Connection | None = None
    """None while it is found out whether it may come in."""


class WyomingServer:
    """Answers whoever may come. Nothing runs while nobody asks; a connection harms no other one.

    One address has half of the connections at most. Where there is no room, the one that has been idle for longest
    gives way to who comes.
    """

    def __init__(
        self, services: Services, guests: Guests, most: int, now: Callable[[], datetime], patience: Patience = USUAL
    ) -> None:
        """`most` connections may be open at a time; `now` is aware."""
        self._services = services
        self._guests = guests
        self._most = most
        self._now = now
        self._patience = patience
        self._seats: list[_Seat] = []
        self._last: datetime | None = None
        self._told = ("", "")
        """Whom the log told of last, and why: who keeps coming is told once."""

    def describe(self) -> dict[str, Json]:
        """Say for the status how many are connected, and when somebody came last."""
        return {"connections": len(self._seats), "last": self._last.isoformat() if self._last else ""}

    async def serve(self, listener: socket.socket) -> NoReturn:
        """Answer whoever comes by a listening socket, until cancelled, which ends all connections at once."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    connection, peer = await loop.sock_accept(listener)
                except OSError:  # it left before it was let in, or there is no descriptor left
                    await asyncio.sleep(BREATH_SECONDS)
                    continue
                if lacking := self._lacking(peer[0]):
                    connection.close()
                    self._tell(peer[0], lacking)
                else:
                    self._seats.append(seat := _Seat(peer[0]))
                    group.create_task(self._let_in(connection, peer[:2], seat), name="wyoming: a program")
                await asyncio.sleep(0)  # where many wait, the accept did not

    def _lacking(self, host: str) -> str:
        """Make room for one from an address; return why there is none, "" where there is."""
        own = [seat for seat in self._seats if seat.host == host]
        is_crowded = len(own) >= max(1, self._most // 2)
        if not is_crowded and len(self._seats) < self._most:
            return ""
        among = own if is_crowded else self._seats
        idle = [(one.used_at, seat, one) for seat in among if (one := seat.connection) and one.is_idle]
        if not idle:
            return CROWDED if is_crowded else FULL
        _, seat, connection = min(idle, key=itemgetter(0))
        self._seats.remove(seat)
        connection.cut()
        return ""

    async def _let_in(self, connection: socket.socket, peer: tuple[str, int], seat: _Seat) -> None:
        try:
            here = connection.getsockname()[:2]
            if reason := await asyncio.to_thread(self._guests.refusal, peer, here):
                self._tell(peer[0], reason)
                return
            self._last = self._now()
            reader, writer = await asyncio.open_connection(sock=connection, limit=MOST_LINE_BYTES)
            stream = EventStream(reader, writer, self._patience)
            try:
                seat.connection = Connection(self._services, stream)
                problem = await seat.connection.run()
                await stream.close()
            finally:
                stream.cut()
            self._tell(peer[0], f"it sent {problem}" if problem else "")
        except OSError:  # it left
            pass
        except Exception:
            log.exception("wyoming_connection_failed", address=peer[0])
        finally:
            with suppress(OSError):
                connection.close()
            if seat in self._seats:
                self._seats.remove(seat)

    def _tell(self, host: str, reason: str) -> None:
        if reason and (host, reason) != self._told:
            self._told = (host, reason)
            log.warning("wyoming_connection_refused", address=host, reason=reason)
