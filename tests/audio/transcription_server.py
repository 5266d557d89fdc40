"""A local server that speaks OpenAI's transcription interface, and misbehaves on demand. In a thread of its own."""

import io
import json
import re
import threading
import wave
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, TypeAlias

import numpy as np
from msgspec import Struct

from audio.pcm import Samples

JSON = "application/json"
HTML = "text/html; charset=utf-8"
PATH = "/v1/audio/transcriptions"


class Answer(Struct, frozen=True):
    """What the server sends."""

    body: bytes = b""
    status: int = 200
    type_: str = JSON
    headers: Mapping[str, str] = {}
    cut_at: int = -1
    """The connection ends after so many bytes of the body, which had been promised whole."""
    is_endless: bool = False
    """The body is sent again and again."""
    waits: bool = False
    """Nothing is sent before `TranscriptionServer.go_on`."""


class Asked(Struct, frozen=True):
    """A request for words."""

    path: str
    fields: Mapping[str, str]
    samples: Samples
    """int16, mono, at `rate`."""
    rate: int
    authorization: str


Script: TypeAlias = Callable[[Asked], Answer]


def verbose(text: str, language: str = "english", /, **figures: object) -> Answer:
    """Return an answer as of whisper-1, with one segment; `figures` beside those of good speech."""
    told: dict[str, Any] = {"avg_logprob": -0.2, "no_speech_prob": 0.01, "compression_ratio": 0.9, **figures}
    segments = [{"id": 0, "start": 0.0, "end": 1.0, "text": text, "tokens": [1], **told}]
    return as_json({"task": "transcribe", "language": language, "duration": 1.0, "text": text, "segments": segments})


def as_json(told: object, status: int = 200) -> Answer:
    return Answer(json.dumps(told).encode(), status)


def refusal(status: int, message: str) -> Answer:
    """Return an error as OpenAI words it."""
    return as_json({"error": {"message": message, "type": "invalid_request_error", "code": None}}, status)


@dataclass
class TranscriptionServer:
    """The running server: what it answers, and what it was asked."""

    script: Script
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    gets: list[str] = field(default_factory=list)
    """Paths of requests for anything else."""
    connections: int = 0
    go_on: threading.Event = field(default_factory=threading.Event)
    has_begun: threading.Event = field(default_factory=threading.Event)
    """Set once an answer waits."""
    open_now: list[Any] = field(default_factory=list)
    """Sockets."""
    is_dead: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def die(self) -> None:
        """End every connection, as the kernel does for a server that is killed, and each new one at once."""
        self.is_dead = True
        for each in self.open_now:
            with suppress(OSError):
                each.shutdown(2)
        self.go_on.set()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    served: ClassVar[TranscriptionServer]
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.served.connections += 1
        self.served.open_now.append(self.connection)

    def do_GET(self) -> None:
        self.served.gets.append(self.path)
        self.send(as_json({"data": []}))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        asked = _asked(self.path, self.headers["content-type"], body, self.headers.get("authorization", ""))
        self.served.asked.append(asked)
        self.send(self.served.script(asked))

    def send(self, answer: Answer) -> None:
        if answer.waits:
            self.served.has_begun.set()
            self.served.go_on.wait(30)
            self.close_connection = self.served.is_dead
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.type_)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.is_endless:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        while answer.is_endless and not self.served.go_on.is_set():
            self.wfile.write(answer.body)
        self.wfile.write(answer.body if answer.cut_at < 0 else answer.body[: answer.cut_at])
        self.close_connection = answer.is_endless or answer.cut_at >= 0

    def handle(self) -> None:
        with suppress(OSError):  # who asked went away
            if not self.served.is_dead:
                super().handle()

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def transcribing(script: Script | Answer) -> Iterator[TranscriptionServer]:
    """Run a server on a free port of this machine."""
    served = TranscriptionServer(script if not isinstance(script, Answer) else lambda _: script)

    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Serving", (Handler,), {"served": served}))
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.die()
        server.shutdown()
        server.server_close()
        thread.join()


def _asked(path: str, type_: str, body: bytes, authorization: str) -> Asked:
    """Return what a multipart body says; the file has to be a WAV."""
    boundary = re.search(r'boundary="?([^";]+)', type_)
    assert boundary, type_
    fields: dict[str, bytes] = {}
    for part in body.split(b"--" + boundary[1].encode())[1:-1]:
        head = part.partition(b"\r\n\r\n")[0]
        name = re.search(rb'name="([^"]+)"', head)
        assert name, head
        # The sound's own last bytes may look like the end of a line.
        fields[name[1].decode()] = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
    with wave.open(io.BytesIO(fields.pop("file"))) as sound:
        assert (sound.getnchannels(), sound.getsampwidth()) == (1, 2)
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
        rate = sound.getframerate()
    return Asked(path, {name: value.decode() for name, value in fields.items()}, samples, rate, authorization)
