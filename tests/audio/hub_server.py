"""A server that speaks the Hugging Face hub's protocol, as far as its real client asks, and misbehaves on demand.

As on the real one, a large file is a redirect to another host (`localhost` against 127.0.0.1) that knows ranges, and
its size and sha256 stand on the redirect; a small file is answered at once, named by git's blob hash.
"""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from msgspec import Struct

from audio.recognizer.models.catalog import PREPROCESSOR, WEIGHTS
from tests.audio.spoken import HOUSEHOLD_WHISPER

REVISION = "0123456789abcdef0123456789abcdef01234567"
LARGE = 1_000_000
"""Bytes from which a file lies with another host."""

OF_TINY = {path.name: path.read_bytes() for path in HOUSEHOLD_WHISPER.iterdir() if path.name != PREPROCESSOR}
"""The household's model as the hub has the older ones: without preprocessor_config.json, with files nobody wants."""


class Refusal(Struct, frozen=True):
    """An answer that is none."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""


@dataclass
class Hub:
    """What the hub has, how it misbehaves, and what it was asked."""

    repositories: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"Systran/faster-whisper-tiny": OF_TINY})
    port: int = 0
    cuts: list[int] = field(default_factory=list)
    """The next answers with weights end after so many bytes, without a word."""
    flipped: int = 0
    """So many answers with weights have a byte changed on the way."""
    knows_ranges: bool = True
    refusals: dict[str, list[Refusal]] = field(default_factory=dict)
    """What the next requests are told: by "info", "head" or "get"."""
    held_at: int = -1
    """Answers with weights stop after so many bytes until `release`."""
    held: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path, range."""
    authorized: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sent(self) -> list[tuple[str, str]]:
        """Return the file and the range of each request for a file's bytes; redirects are not counted."""
        return [
            (path.rsplit("/", 1)[1], asked_range)
            for method, path, asked_range in self.asked
            if method == "GET" and (path.startswith("/cdn/") or len(self.file(path)) < LARGE) and "/api/" not in path
        ]

    def file(self, path: str) -> bytes:
        before, _, after = path.partition("/resolve/")
        repository, name = "/".join(before.split("/")[-2:]), after.partition("/")[2]
        return self.repositories.get(repository, {}).get(name, b"")


def git_hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


class HubHandler(BaseHTTPRequestHandler):
    hub: ClassVar[Hub]

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path, asked_range = self.path.split("?")[0], self.headers.get("Range", "")
        self.hub.asked.append((self.command, path, asked_range))
        self.hub.authorized += [self.headers["Authorization"]] if "Authorization" in self.headers else []
        kind = "info" if path.startswith("/api/") else self.command.lower()
        if waiting := self.hub.refusals.get(kind):
            refusal = waiting.pop(0)
            self._send(refusal.status, refusal.body, refusal.headers)
        elif kind == "info":
            self._info(path.removeprefix("/api/models/"))
        else:
            self._file(path, asked_range)

    def _info(self, repository: str) -> None:
        files = self.hub.repositories.get(repository)
        if files is None:
            self._send(404, b'{"error":"Repository not found"}', {"X-Error-Code": "RepoNotFound"})
            return
        listed = [{"rfilename": name} for name in (".gitattributes", *sorted(files))]
        info = {"id": repository, "modelId": repository, "sha": REVISION, "siblings": listed}
        self._send(200, json.dumps(info).encode(), {"Content-Type": "application/json"})

    def _file(self, path: str, asked_range: str) -> None:
        content = self.hub.file(path)
        if not content:
            self._send(404, b"Entry not found", {"X-Error-Code": "EntryNotFound"})
        elif path.startswith("/cdn/"):
            self._weights(content, asked_range)
        elif len(content) < LARGE:
            self._send(200, content, {"ETag": f'W/"{git_hash(content)}"', "X-Repo-Commit": REVISION})
        else:
            sha256 = hashlib.sha256(content).hexdigest()
            linked = {"X-Linked-Size": str(len(content)), "X-Linked-ETag": f'"{sha256}"', "X-Repo-Commit": REVISION}
            self._send(302, b"Found", linked | {"Location": f"http://localhost:{self.hub.port}/cdn{path}"})

    def _weights(self, content: bytes, asked_range: str) -> None:
        start = int(asked_range.removeprefix("bytes=").rstrip("-")) if asked_range and self.hub.knows_ranges else 0
        body = content[start:]
        if self.hub.flipped:
            self.hub.flipped -= 1
            body = body[:-1] + bytes([body[-1] ^ 1])
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        cut = self.hub.cuts.pop(0) if self.hub.cuts else len(body)
        self._send(206 if start else 200, body, headers, cut)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if cut is not None and self.hub.held_at >= 0:
            self.wfile.write(body[: self.hub.held_at])
            self.hub.held.set()
            self.hub.release.wait(60)
            return
        self.wfile.write(body[:cut])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name upstream gave it
        return


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve on loopback for the length of the block."""
    server = QuietServer(("127.0.0.1", 0), type("Handler", (HubHandler,), {"hub": hub}))
    hub.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield hub
    finally:
        hub.release.set()
        server.shutdown()
        thread.join()
        server.server_close()


class QuietServer(ThreadingHTTPServer):
    """Does not complain of clients that went away: some are made to."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        return


WEIGHTS_BYTES = len(OF_TINY[WEIGHTS])
