"""Spoken questions answered beside 500 streams that nobody reads, and without them: what they cost the voice."""

import asyncio
import select
import socket
import sys
import tempfile
from pathlib import Path

from benchmarks.appliance.speech_to_sound import converse
from benchmarks.figure import Figure, milliseconds, run
from benchmarks.model_server import model_server
from benchmarks.processes import line_of, module, speaking
from tests.service.process import Household

SHOWS = ("E21", "F25", "H9")

READERS = 500
"""More than are let in: 256 look on at most, the rest is refused or closed."""

NEVER_READ = b"GET /stream HTTP/1.1\r\nHost: nakari\r\n\r\n"


def measure(*, quick: bool = False) -> Figure:
    """Hold the same conversation twice, in real time: alone, then beside the streams."""
    count = 1 if quick else 10
    spent = {}
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name, model_server() as url:
        for kind in ("alone", "beside"):
            folder = Path(name) / kind
            home = Household(folder, {"model": {"provider": "openai", "base_url": url, "name": "m"}})
            if kind == "alone":
                turns = asyncio.run(converse(home, count))
            else:
                readers = module(__name__ if __name__ != "__main__" else "benchmarks.http.voice_beside_readers")
                with speaking([*readers, "--read", str(folder / "door.sock"), str(5 if quick else READERS)]) as them:
                    line_of(them)  # on a busy machine it may start later than a short conversation ends
                    turns = asyncio.run(converse(home, count))
                    assert them.stdin is not None
                    them.stdin.close()
                    told = line_of(them)
            spent[kind] = turns
    what = "from the end of the turn, the words known, to the first sound"
    ours = milliseconds(f"{what}, beside streams that nobody reads", [turn["answer"] for turn in spent["beside"]])
    floor = milliseconds("the same without them", [turn["answer"] for turn in spent["alone"]])
    ends = {kind: milliseconds("", [turn["silence"] for turn in spent[kind]]) for kind in spent}
    notes = (
        f"the end of speech to the end of turn: {ends['beside']} beside them, {ends['alone']} without",
        f"{told} of them were let in; the others were refused, and all of them are another process on the same cores",
    )
    return Figure("A spoken answer beside 500 streams that nobody reads", ours, floor, notes)


def read_nothing(path: Path, count: int) -> None:
    """Open so many streams once there is a box, tell how many were let in, read none; end with standard input."""
    inside: list[socket.socket] = []
    print("waiting", flush=True)
    while len(inside) < count:
        stream = socket.socket(socket.AF_UNIX)
        try:
            stream.connect(str(path))
            stream.sendall(NEVER_READ)
        except (FileNotFoundError, ConnectionRefusedError):  # it is not there yet
            stream.close()
            if select.select([sys.stdin], [], [], 0.05)[0]:  # the conversation is over, and there is no box any more
                break
            continue
        except OSError:  # refused, or closed at once
            stream.close()
            count -= 1
            continue
        inside.append(stream)
    heads = [_head(stream) for stream in inside]
    print(sum(head.startswith(b"HTTP/1.1 200") for head in heads), flush=True)
    sys.stdin.read()


def _head(stream: socket.socket) -> bytes:
    try:
        return stream.recv(100)
    except OSError:
        return b""


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read_nothing(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        run(measure)
