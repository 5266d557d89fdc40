"""Listens in a process of its own, by what holds Python's lock for as long as it works (docs/decisions/0162).

Here nothing else would run meanwhile: nothing would be taken from the microphone, or given to the loudspeaker.
"""

import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from types import NoneType
from typing import IO, TYPE_CHECKING, BinaryIO, Final, Literal, TypeVar, cast
from weakref import finalize

import msgspec

from audio.errors import RecognitionFailed
from audio.recognizer.keyword_decoder import Keyword

if TYPE_CHECKING:  # nothing that is run apart needs numpy, which takes 18 MB
    from audio.pcm import Samples

ROOT: Final = Path(__file__).resolve().parents[2]
"""Where a Python of its own finds this package."""

LENGTH_BYTES: Final = 4
"""Before each frame, big-endian: how long it is."""

Answer = TypeVar("Answer")


class Told(msgspec.Struct):
    """What came of one sound."""

    found: msgspec.Raw = msgspec.Raw(msgspec.msgpack.encode(None))
    """As MessagePack."""
    failed: str = ""
    """Why nothing came of it."""


class ApartKeywords:
    """A keyword search (`audio.recognizer.keyword_decoder`), apart."""

    def __init__(self, phrases: Collection[str]) -> None:
        self._apart = Apart("keywords", list(phrases))

    def warm(self) -> None:
        """Load the model. Blocking. Raises `RecognitionFailed` where it is not installed, or broken."""
        self._apart.ask()
        self._apart.answer(NoneType)

    def find(self, samples: "Samples") -> list[Keyword]:
        """Return the phrases in a sound, in order. Blocking. Raises `RecognitionFailed`."""
        self._apart.ask(samples)
        return self._apart.answer(list[Keyword])


class Apart:
    """A part of `audio.recognizer.apart_program`, started when it is needed. One thread at a time.

    Its process ends with this one, however that ends: its standard input is closed. Where it has ended by itself, what
    is asked next starts another one.
    """

    def __init__(self, part: Literal["commands", "speech", "keywords"], given: object = None) -> None:
        """`given` is what the part is made of, as `PARTS` there has it."""
        self._part = part
        self._given = msgspec.msgpack.encode(given)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_asked = False

    def ask(self, samples: "Samples | None" = None) -> None:
        """Hand it a sound (int16, shape (n,), 16 kHz); None has it load what it needs. Raises `RecognitionFailed`."""
        if self._is_asked:  # who asked before has failed by another part, and left the answer
            self._read()
        try:
            process = self._process = self._process or self._start()
            write_frame(_open(process.stdin), b"" if samples is None else samples.tobytes())
        except OSError as error:
            raise self._gone(error.strerror or "its pipe broke") from error
        self._is_asked = True

    def answer(self, kind: type[Answer]) -> Answer:
        """Return what it makes of the sound. Blocking. Raises `RecognitionFailed`, also for what failed there."""
        told = self._read()
        if told.failed:
            raise RecognitionFailed(told.failed)
        return msgspec.msgpack.decode(told.found, type=kind)

    def _read(self) -> Told:
        assert self._process is not None, "it was asked"
        self._is_asked = False
        try:
            answer = read_frame(_open(self._process.stdout))
        except OSError as error:
            raise self._gone(error.strerror or "its pipe broke") from error
        if answer is None:
            raise self._gone("it ended")
        return msgspec.msgpack.decode(answer, type=Told)

    def _start(self) -> "subprocess.Popen[bytes]":
        """Start the process, in a session of its own: Ctrl-C is for this one to act on."""
        process = subprocess.Popen(
            [sys.executable, "-m", "audio.recognizer.apart_program", self._part],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        finalize(self, end, process)
        write_frame(_open(process.stdin), self._given)
        return process

    def _gone(self, why: str) -> RecognitionFailed:
        process, self._process = self._process, None
        code = f", exit code {end(process)}" if process else ""
        return RecognitionFailed(
            f"the process that listens for {self._part} is gone ({why}{code}); another one is started"
        )


def end(process: "subprocess.Popen[bytes]") -> int:
    """End a process that keeps nothing, if it still runs; return its exit code."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what it did not read any more
            _open(pipe).close()
    return process.wait()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next frame; None where the stream ends, in the middle of a frame too. Blocking."""
    length = int.from_bytes(head) if len(head := stream.read(LENGTH_BYTES)) == LENGTH_BYTES else -1
    return frame if length >= 0 and len(frame := stream.read(length)) == length else None


def write_frame(stream: BinaryIO, frame: bytes) -> None:
    """Write a frame. Blocking."""
    stream.write(len(frame).to_bytes(LENGTH_BYTES))
    stream.write(frame)
    stream.flush()


def _open(stream: IO[bytes] | None) -> BinaryIO:
    assert stream is not None, "it was asked for"
    return cast(BinaryIO, stream)
