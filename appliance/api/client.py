"""How `nakari` itself comes to the door of a running service; every failure is a sentence."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from msgspec import Struct, field

from appliance.admin.exchange import is_used
from appliance.api.outcome import Outcome, outcome_from
from appliance.config.load import Config
from appliance.errors import Exit, Problem, ServiceNotRunning
from appliance.http.socket import GROUP, is_shared
from appliance.machines.standby.following import whom_it_follows
from memory.identity import sign
from memory.json_value import Json
from memory.progress import Progress, silently
from memory.state.database import StateInUse

if TYPE_CHECKING:
    import httpx

KEY_BYTES = 10_000
"""The longest key file; an Ed25519 key has 119."""
ANSWER_BYTES = 16_000_000
"""The longest line a service may answer; `status` grows with what it has lived."""
MOST_BYTES: Final = 20_000_000
"""Of a file; the service says whether it takes so much of its kind."""
CONNECT_SECONDS: Final = 5.0
"""Within which a living service is connected to: the kernel does that."""
PATIENCE: Final = 30.0
"""Seconds within which a living service answers: a small box takes some to load the server when one first comes."""
STOP_SECONDS: Final = 2.0
"""Within which a service stops an answer; whoever pressed Ctrl-C waits no longer."""


class GivenFile(Struct, frozen=True):
    """A file that a question is about."""

    name: str
    content: bytes
    id: str = field(default_factory=lambda: uuid4().hex)
    """Its name where this process keeps it; a service gives it another."""


def given_files(paths: Iterable[Path]) -> list[GivenFile]:
    """Read the files of a question. Raises `Problem` for one that is none or too large, OSError."""
    return [GivenFile(path.name, _content(path)) for path in paths]


def _content(path: Path) -> bytes:
    size = path.stat().st_size
    if not path.is_file():
        raise Problem(f"{path} is no file: attach an image or a document", Exit.NO_INPUT)
    if size > MOST_BYTES:
        raise Problem(f"{path} has {size / 1e6:.0f} MB; at most {MOST_BYTES / 1e6:.0f} can be attached", Exit.NO_INPUT)
    with path.open("rb") as file:
        return file.read(MOST_BYTES)


def find_service(sockets: Iterable[Path]) -> Path:
    """Return the first socket at which somebody answers.

    Raises `ServiceNotRunning` when there is none, `Problem` when the one there is belongs to another user.
    """
    tried = []
    for path in sockets:
        tried.append(str(path))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
            caller.settimeout(CONNECT_SECONDS)
            try:
                caller.connect(str(path))
            except PermissionError as error:
                raise Problem(_not_let_in(path), Exit.UNAVAILABLE) from error
            except OSError:  # not there, not listening any more, no socket, or a path too long to be one
                continue
            return path
    raise ServiceNotRunning(
        f"no nakari is running ({', '.join(tried)}); start it with `nakari run` or `systemctl start nakari`"
    )


def _not_let_in(path: Path) -> str:
    if not is_shared(path.parent):
        return f"the nakari at {path} belongs to another user; run this as that user, or with sudo"
    return (
        f"the nakari at {path} is for members of the group {GROUP}; "
        f"add yourself: sudo usermod -aG {GROUP} $USER, then log in again"
    )


def read_key(file: Path) -> bytes:
    """Return a private key out of its file. Raises `Problem` when there is none that can be signed with."""
    try:
        with file.open("rb") as opened:
            key = opened.read(KEY_BYTES)
        sign(key, "")
    except OSError as error:
        raise Problem(f"the key {file} cannot be read: {error.strerror}", Exit.NO_INPUT) from error
    except ValueError as error:
        raise Problem(f"{file}: {error}; `nakari identity create NAME` makes one", Exit.NO_INPUT) from error
    return key


class Question(Struct, frozen=True):
    """What is asked in writing."""

    text: str
    session: str = "cli"
    speak: bool = False
    """Whether the answer is said in the room too."""
    files: Sequence[GivenFile] = ()
    """They go there before it."""
    id: str = field(default_factory=lambda: uuid4().hex)
    """The event's that it becomes, by which its answer can be stopped."""


async def answer_to(path: Path, question: Question, key: bytes = b"") -> AsyncGenerator[str | Outcome, None]:
    """Yield the answer of the service at `path` as it is written; to whoever has this private key, where there is one.

    Last comes the outcome, unless it was completed. Cancelled, it has the service stop that answer; where it is closed,
    or its process ends, the answer goes on.

    Raises `ServiceNotRunning` when nobody is there, `Problem` when the answer fails or breaks off.
    """
    request: dict[str, Json] = {
        "do": "ask",
        "text": question.text,
        "session": question.session,
        "speak": question.speak,
        "id": question.id,
    }
    ended: dict[str, Json] = {}
    async with (
        stopped_where_cancelled(lambda: tell(path, {"do": "ask.stop", "id": question.id}, key=key)),
        aclosing(_answers(path, request, key, question.files)) as answers,
    ):
        async for answer in answers:
            if answer.get("event") == "text_chunk":
                yield str(answer.get("chunk", ""))
            else:
                ended = answer
    if "error" in ended:
        raise _refused(ended)
    if ended.get("event") != "run_finished":
        raise _broken_off(path)
    if outcome := outcome_from(ended.get("status"), ended.get("id", ""), ended.get("reason", "")):
        yield outcome


async def is_waiting(path: Path, event_id: str, key: bytes = b"") -> bool:
    """Whether a question of this id has not been begun, as the service answers something else."""
    try:
        filed = await tell(path, {"do": "events.one", "id": event_id}, key=key)
    except Problem:  # a command, which is no event; or a service that is just ending
        return False
    return filed.get("state") == "pending" and not filed.get("waits_for")


@asynccontextmanager
async def stopped_where_cancelled(stop: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Have an answer stopped where the block is cancelled: whoever asked does not want it any more."""
    try:
        yield
    except asyncio.CancelledError:
        from anyio import move_on_after  # a plain task, or one of a portal, which is cancelled at each wait

        with move_on_after(STOP_SECONDS, shield=True), suppress(Problem):
            await stop()
        raise


async def tell(path: Path, request: dict[str, Json], patience: float = PATIENCE, key: bytes = b"") -> dict[str, Json]:
    """Send a request that has one answer, and return that; as whoever has this private key, where there is one.

    Raises `ServiceNotRunning`, or `Problem` when it fails or does not answer within `patience` seconds.
    """
    try:
        async with asyncio.timeout(patience), _service_at(path, key) as client:
            return await _told(client.post(f"/requests/{request['do']}", json=request))
    except TimeoutError as error:
        raise Problem(
            f"the nakari at {path} does not answer; `journalctl -u nakari` may say why", Exit.UNAVAILABLE
        ) from error


async def follow(path: Path, request: dict[str, Json], told: Progress = silently, key: bytes = b"") -> Json:
    """Send a request that may take long, and return its result; `told` hears how far it has come.

    It is sent as whoever has this private key, where there is one.

    Raises `ServiceNotRunning`, `Problem` when it fails or breaks off.
    """
    last: dict[str, Json] | None = None
    async with aclosing(_answers(path, request, key)) as answers:
        async for answer in answers:
            match answer:
                case {"progress": [int() as done, int() as of]}:
                    told(done, of)
                case _:
                    last = answer
    if last is None:
        raise _broken_off(path)
    if "error" in last:
        raise _refused(last)
    return last.get("result", last.get("tools"))


def _refused(answer: dict[str, Json]) -> Problem:
    return Problem(str(answer.get("error", "the answer failed")), Exit(int(str(answer.get("code", Exit.UNAVAILABLE)))))


async def _answers(
    path: Path, request: dict[str, Json], key: bytes = b"", files: Sequence[GivenFile] = ()
) -> AsyncGenerator[dict[str, Json], None]:
    """Send one request, a proof of the key and files before it, and yield the answers, the last one last."""
    async with _service_at(path, key) as client:
        if files:
            request = request | {"attachments": [await _attached(client, file) for file in files]}
        sent = client.stream("POST", f"/requests/{request['do']}", json=request)
        async with sent as response, aclosing(lines_of(response)) as lines:
            async for line in lines:
                yield json.loads(line)


@asynccontextmanager
async def _service_at(path: Path, key: bytes) -> "AsyncIterator[httpx.AsyncClient]":
    """Give a client of the service there, which speaks for whoever has this private key, where there is one."""
    import httpx

    # A socket of this machine speaks no TLS: reading the certificates of all authorities takes 20 ms.
    transport = httpx.AsyncHTTPTransport(uds=str(path), verify=False)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://nakari", timeout=None) as client:
            if key:
                client.headers["Authorization"] = f"Bearer {await _proven(client, key)}"
            yield client
    except httpx.ConnectError as error:
        raise ServiceNotRunning(f"no nakari is running at {path}; start it with `nakari run`") from error
    except TimeoutError:
        raise
    except (httpx.TransportError, OSError, ValueError) as error:
        raise _broken_off(path) from error


async def lines_of(response: "httpx.Response") -> AsyncGenerator[bytes]:
    """Yield the lines of an answer; a letter that ends a line for people, such as U+2028, ends none here.

    Raises `ValueError` for one that is longer than any service sends.
    """
    begun = b""
    async for piece in response.aiter_bytes():
        *whole, begun = (begun + piece).split(b"\n")
        for line in whole:
            yield line
        if len(begun) > ANSWER_BYTES:
            raise ValueError("too long")
    if begun:
        yield begun


async def _proven(client: "httpx.AsyncClient", key: bytes) -> str:
    """Return the token of whoever has this key. Raises `Problem` when the service does not believe it."""
    challenge = str((await _told(client.post("/requests/challenge")))["challenge"])
    owner_key, signature = sign(key, challenge)
    proof = {"owner_key": owner_key, "challenge": challenge, "signature": signature}
    return str((await _told(client.post("/requests/prove", json=proof)))["token"])


async def _attached(client: "httpx.AsyncClient", file: GivenFile) -> str:
    """Hand a file over and return the id it has there. Raises `Problem` when the service does not take it."""
    return str((await _told(client.post("/attachments", params={"name": file.name}, content=file.content)))["id"])


async def _told(sent: "Awaitable[httpx.Response]") -> dict[str, Json]:
    answer = (await sent).json()
    if "error" in answer:
        raise _refused(answer)
    return dict(answer)


def _broken_off(path: Path) -> Problem:
    return Problem(
        f"the nakari at {path} went away in mid-answer; `journalctl -u nakari` may say why", Exit.UNAVAILABLE
    )


STARTING_SECONDS: Final = 15.0
"""Seconds that one may take from opening the state to answering, on a slow board, or to end."""

PAUSE: Final = 0.1
"""Seconds between two looks."""


async def service_of(config: Config, patience: float = STARTING_SECONDS) -> Path:
    """Return the socket at which the service answers; one that starts is waited for, until cancelled.

    Raises `ServiceNotRunning` when there is none: then nobody has the state either, or somebody who did not begin to
    answer in time, or who only follows. Raises `Problem` when the one there belongs to another user.
    """
    until = time.monotonic() + patience
    while True:
        try:
            return find_service(config.sockets)
        except ServiceNotRunning:
            if time.monotonic() > until or not is_used(config.state_folder):
                raise
            if whom_it_follows(config.machines, config.state_folder):
                raise
        await asyncio.sleep(PAUSE)


async def service_that_came(config: Config, in_use: StateInUse) -> Path:
    """Return the socket of a service that took the state while a command was about to.

    Raises `in_use` where it is no service that has it.
    """
    try:
        return await service_of(config)
    except ServiceNotRunning:
        raise in_use from None
