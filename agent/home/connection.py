"""The one adapter to Home Assistant's WebSocket: questions with their answers, and what it tells unasked."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Final, NoReturn

import aiohttp

from agent.errors import HomeLost, HomeRefused, TokenRefused
from agent.tools.mcp.schema import plain
from memory.json_value import Json, fields, read_whole
from memory.trust import tls_fault, trusted

CONNECT_SECONDS: Final = 10.0
"""Until it has let us in."""

CLOSE_SECONDS: Final = 1.0
"""For its goodbye."""

ANSWER_SECONDS: Final = 10.0
"""For the answer to a question."""

HEARTBEAT_SECONDS: Final = 30.0
"""Between two signs of life; half as long without an answer to one ends the connection."""

MOST_BYTES: Final = 64_000_000
"""Of one message; the states of 5,000 entities are some 3 MB."""

BIG: Final = 100_000
"""Characters from which a message is parsed in a thread."""

_REASON: Final = 300
"""Characters of what it says about an error."""

Heard = Callable[[Mapping[str, Json]], None]
"""Given each event of a subscription, on the event loop; has to return at once."""


class Connection:
    """An open connection; to be used while `connected` has not ended. Questions may come from any task."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, answers: float = ANSWER_SECONDS) -> None:
        """`answers` is how long a question waits for its answer, in seconds."""
        self._socket = socket
        self._answers = answers
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._heard: dict[int, Heard] = {}

    async def ask(self, kind: str, **more: Json) -> Json:
        """Send a command and return its result.

        Raises `HomeRefused` for an error or no answer in time, `HomeLost` when the connection ends meanwhile.
        """
        return await self._ask(next(self._numbers), kind, more)

    async def subscribe(self, heard: Heard, kind: str, **more: Json) -> int:
        """Have each event of a subscription told, also those that come with its confirmation; return its number.

        Raises as `ask` does.
        """
        number = next(self._numbers)
        self._heard[number] = heard
        try:
            await self._ask(number, kind, more)
        except HomeRefused:
            del self._heard[number]
            raise
        return number

    async def unsubscribe(self, number: int) -> None:
        """End a subscription; what was sent before is still told. Raises as `ask` does."""
        await self.ask("unsubscribe_events", subscription=number)
        self._heard.pop(number, None)

    async def read(self) -> NoReturn:
        """Hand on what comes, until the connection ends: raises `HomeLost` then, also in whoever still waits."""
        reason = "it went away"
        try:
            async for message in self._socket:
                if message.type is not aiohttp.WSMsgType.TEXT:
                    is_silent = isinstance(message.data, TimeoutError)
                    reason = "it went silent" if is_silent else "it breaks the protocol"
                    break
                self._take(await parsed(message.data))
        except HomeLost as lost:
            reason = str(lost)
        finally:
            if self._socket.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG:
                reason = f"it sent more than {MOST_BYTES // 1_000_000} MB at once"
            for asked in self._asked.values():
                if not asked.done():
                    asked.set_exception(HomeLost(reason))
        raise HomeLost(reason)

    async def _ask(self, number: int, kind: str, more: Mapping[str, Json]) -> Json:
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            async with asyncio.timeout(self._answers):
                await self._socket.send_json({"id": number, "type": kind, **more})
                return await answer
        except TimeoutError as error:
            raise HomeRefused(f"Home Assistant did not answer within {self._answers:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise HomeLost("it went away") from error
        finally:
            del self._asked[number]

    def _take(self, told: Json) -> None:
        for one in told if isinstance(told, list) else [told]:
            number = one.get("id") if isinstance(one, dict) else None
            if not isinstance(one, dict) or not isinstance(number, int):
                continue
            event, asked = one.get("event"), self._asked.get(number)
            if isinstance(event, dict) and number in self._heard:
                self._heard[number](event)
            elif one.get("type") == "result" and asked is not None and not asked.done():
                if one.get("success") is True:
                    asked.set_result(one.get("result"))
                else:
                    asked.set_exception(_refusal(one.get("error")))


@asynccontextmanager
async def connected(url: str, token: str, answers: float = ANSWER_SECONDS) -> AsyncIterator[Connection]:
    """Connect to Home Assistant at its address, e.g. http://192.168.1.5:8123; its `read` has to run inside.

    `answers` is how long a question waits for its answer, in seconds.

    Raises `HomeLost` where it cannot be reached or does not let us in; nothing else that a server can bring about.
    """
    timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS)
    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(_refuse_redirect)
    connector = aiohttp.TCPConnector(ssl=await asyncio.to_thread(trusted))  # it reads all authorities
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, trust_env=False, trace_configs=[trace]
    ) as http:
        socket = await _let_in(http, url, token)
        try:
            yield Connection(socket, answers)
        finally:
            await _close(socket)


async def _close(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Say goodbye, and wait a moment for theirs: what is broken or busy may owe it for ever."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await socket.close()


async def parsed(text: str) -> Json:
    """Return a message as JSON, a big one parsed in a thread. Raises `HomeLost` where it is none."""
    try:
        return await asyncio.to_thread(read_whole, text) if len(text) > BIG else read_whole(text)
    except ValueError as error:
        raise HomeLost("it breaks the protocol") from error


async def _let_in(http: aiohttp.ClientSession, url: str, token: str) -> aiohttp.ClientWebSocketResponse:
    where = f"{url.rstrip('/')}/api/websocket"
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            socket = await http.ws_connect(where, max_msg_size=MOST_BYTES, heartbeat=HEARTBEAT_SECONDS)
            try:
                await _log_in(socket, url, token)
            except BaseException:
                await _close(socket)
                raise
    except TimeoutError as error:
        raise HomeLost(f"nothing answered at {url} within {CONNECT_SECONDS:g} s") from error
    except aiohttp.WSServerHandshakeError as error:
        raise _not_opened(url, error.status) from error
    except (aiohttp.ClientError, OSError) as error:
        if fault := tls_fault(error):
            raise HomeLost(f"what answers at {url} {fault[0]}", fault[1]) from error
        raise HomeLost(f"nothing answers at {url} ({type(error).__name__})") from error
    except (ValueError, TypeError) as error:  # closed, or no text
        raise HomeLost(f"what answers at {url} is no Home Assistant") from error
    return socket


async def _log_in(socket: aiohttp.ClientWebSocketResponse, url: str, token: str) -> None:
    kind = await _told_type(socket)
    if kind == "auth_required":
        await socket.send_json({"type": "auth", "access_token": token})
        kind = await _told_type(socket)
    if kind == "auth_invalid":
        raise TokenRefused
    if kind != "auth_ok":
        raise HomeLost(f"what answers at {url} is no Home Assistant")


async def _told_type(socket: aiohttp.ClientWebSocketResponse) -> Json:
    """Return the type of the next message, None where it has none. Raises TypeError where none comes."""
    with suppress(HomeLost):
        return fields(await parsed(await socket.receive_str())).get("type")
    return None


async def _refuse_redirect(_: object, __: object, told: aiohttp.TraceRequestRedirectParams) -> None:
    told.response.close()
    raise HomeLost("it sends us to another address", "give that one in [home] url")


def _not_opened(url: str, status: int) -> HomeLost:
    if status == 403:
        return HomeLost("it has banned this machine", "take its address out of ip_bans.yaml there, and restart it")
    return HomeLost(f"what answers at {url} is no Home Assistant, or one that is starting (HTTP {status})")


def _refusal(error: Json) -> HomeRefused:
    told = fields(error)
    words = plain(told.get("message"), _REASON) or plain(told.get("code"), _REASON) or "no reason"
    return HomeRefused(f"Home Assistant refused: {words}")
