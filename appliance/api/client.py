"""How `nakari` itself comes to the door of a running service; every failure is a sentence."""

import asyncio
import json
import socket
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from uuid import uuid4

from appliance.api.outcome import Outcome, outcome_from
from appliance.api.socket import GROUP, is_shared
from appliance.errors import Problem, ServiceNotRunning
from appliance.exits import Exit
from memory.identity import sign
from memory.json_value import Json

KEY_BYTES = 10_000
"""The longest key file; an Ed25519 key has 119."""
ANSWER_BYTES = 16_000_000
"""The longest line a service may answer; `status` grows with what it has lived."""
PIECE: Final = 700_000
"""Bytes of a file in one line; as base64 it is less than a line may have."""
MOST_BYTES: Final = 20_000_000
"""Of a file; the service says whether it takes so much of its kind."""
PATIENCE = 5.0
"""Seconds within which a living service connects and tells its status."""


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that a question is about."""

    name: str
    content: bytes
    id: str = field(default_factory=lambda: uuid4().hex)


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
            caller.settimeout(PATIENCE)
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


async def ask_running(
    path: Path,
    text: str,
    session: str = "cli",
    key: bytes = b"",
    *,
    speak: bool = False,
    files: Sequence[GivenFile] = (),
) -> AsyncGenerator[str | Outcome, None]:
    """Yield the answer of the service at `path` as it is written; to whoever has this private key, where there is one.

    `files` go there before the question. Last comes the outcome, unless it was completed.

    Raises `ServiceNotRunning` when nobody is there, `Problem` when the answer fails or breaks off.
    """
    ids: list[Json] = [file.id for file in files]
    request: dict[str, Json] = {"do": "ask", "text": text, "session": session, "speak": speak}
    request |= {"attachments": ids} if ids else {}
    async with aclosing(_answers(path, request, key, files)) as answers:
        async for answer in answers:
            if answer.get("event") == "text_chunk":
                yield str(answer.get("chunk", ""))
            elif answer.get("event") == "run_finished" and "error" not in answer:
                if outcome := outcome_from(answer.get("status"), answer.get("id", ""), answer.get("reason", "")):
                    yield outcome
                return
            else:
                raise _refused(answer)
    raise _broken_off(path)


async def status_of(path: Path, patience: float = PATIENCE) -> dict[str, Json]:
    """Return how the service at `path` is.

    Raises `ServiceNotRunning`, or `Problem` when it fails or does not answer within `patience` seconds.
    """
    return await tell(path, {"do": "status"}, patience)


async def tell(path: Path, request: dict[str, Json], patience: float = PATIENCE, key: bytes = b"") -> dict[str, Json]:
    """Send a request that has one answer, and return that; as whoever has this private key, where there is one.

    Raises `ServiceNotRunning`, or `Problem` when it fails or does not answer within `patience` seconds.
    """
    try:
        async with asyncio.timeout(patience), aclosing(_answers(path, request, key)) as answers:
            async for answer in answers:
                if "error" in answer:
                    raise _refused(answer)
                return answer
    except TimeoutError as error:
        raise Problem(
            f"the nakari at {path} does not answer; `journalctl -u nakari` may say why", Exit.UNAVAILABLE
        ) from error
    raise _broken_off(path)


async def follow(path: Path, request: dict[str, Json], told: Callable[[int, int], None], key: bytes = b"") -> Json:
    """Send a request that may take long, and return its result; `told` hears how far it has come.

    It is sent as whoever has this private key, where there is one.

    Raises `ServiceNotRunning`, `Problem` when it fails or breaks off.
    """
    async with aclosing(_answers(path, request, key)) as answers:
        async for answer in answers:
            match answer:
                case {"progress": [int() as done, int() as of]}:
                    told(done, of)
                case {"error": _}:
                    raise _refused(answer)
                case _:
                    return answer.get("result", answer.get("tools"))
    raise _broken_off(path)


def _refused(answer: dict[str, Json]) -> Problem:
    return Problem(str(answer.get("error", "the answer failed")), Exit(int(str(answer.get("code", Exit.UNAVAILABLE)))))


async def _answers(
    path: Path, request: dict[str, Json], key: bytes = b"", files: Sequence[GivenFile] = ()
) -> AsyncGenerator[dict[str, Json], None]:
    """Send one request, a proof of the key and files before it, and yield the answers until the service hangs up."""
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=ANSWER_BYTES)
    except OSError as error:
        raise ServiceNotRunning(f"no nakari is running at {path}; start it with `nakari run`") from error
    try:
        if key:
            await _prove(reader, writer, key)
        for file in files:
            await _attach(reader, writer, file)
        _send(writer, request)
        while line := await reader.readline():
            yield json.loads(line)
    except (OSError, ValueError) as error:
        raise _broken_off(path) from error
    finally:
        writer.close()


async def _prove(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: bytes) -> None:
    """Show whose words come next. Raises `Problem` when the service does not believe it."""
    _send(writer, {"do": "challenge"})
    given = json.loads(await reader.readline())
    if "error" in given:
        raise _refused(given)
    challenge = given.get("challenge", "")
    owner_key, signature = sign(key, challenge)
    _send(writer, {"do": "prove", "owner_key": owner_key, "challenge": challenge, "signature": signature})
    answer = json.loads(await reader.readline())
    if "error" in answer:
        raise _refused(answer)


async def _attach(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, file: GivenFile) -> None:
    """Hand a file over. Raises `Problem` when the service does not take it."""
    for place in range(0, max(1, len(file.content)), PIECE):
        piece = b64encode(file.content[place : place + PIECE]).decode()
        has_more = place + PIECE < len(file.content)
        _send(writer, {"do": "attach", "id": file.id, "name": file.name, "data": piece, "more": has_more})
        await writer.drain()
        answer = json.loads(await reader.readline())
        if "error" in answer:
            raise _refused(answer)


def _send(writer: asyncio.StreamWriter, request: dict[str, Json]) -> None:
    writer.write(json.dumps(request).encode() + b"\n")


def _broken_off(path: Path) -> Problem:
    return Problem(
        f"the nakari at {path} went away in mid-answer; `journalctl -u nakari` may say why", Exit.UNAVAILABLE
    )
