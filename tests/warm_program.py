"""A process that has imported `nakari` and does nothing with it: each request makes a fork of it, which runs a command.

Started by `tests.warm`, which has the other end of the socket that is its one argument. It takes no more into memory
than modules and the sentences of the offline model: no thread, no connection, nothing that is read from an environment
or a file of a household.
"""

import asyncio
import atexit
import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import termios
import time
from pathlib import Path
from typing import Any, Final

from agent.intents.model import OfflineModel

MODULES: Final = (
    "appliance.cli.main",
    "appliance.service",
    "appliance.wiring.box",
    "appliance.logs.configure",
    "appliance.http.app",
    "appliance.http.server",
    "appliance.live.from_client",
)
"""With all that these import: what most commands need."""

LIBRARIES: Final = ("fastapi", "uvicorn", "httpx", "tqdm.auto", "filelock", "yaml", "snowballstemmer")
"""What others need, as far as it looks at nothing when it is imported."""

NEVER: Final = ("sounddevice", "huggingface_hub", "litellm", "onnxruntime", "ctranslate2", "pocketsphinx", "livekit")
"""What looks at the environment or at the sound server when it is imported, or is large: left to who needs it."""

LONGEST: Final = 200_000
"""Bytes of a request."""

ROOT: Final = Path(__file__).parents[1]


def load() -> None:
    """Import what a command needs, with the sentences of the offline model, and let the forks share its memory."""
    for name in (*MODULES, *LIBRARIES):
        importlib.import_module(name)
    asyncio.run(OfflineModel().warm())
    found = [name for name in NEVER if name in sys.modules]
    assert not found, f"{', '.join(found)}: who imports it now does so before a command's own environment is there"
    gc.collect()
    gc.freeze()


def serve(link: socket.socket) -> None:
    """Answer each request with a fork's process id; return in the fork, which is to run the command."""
    waited_for: dict[int, int] = {}
    woken, wake = os.pipe()
    watched: list[Any] = [link, woken]
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    while True:
        ready, _, _ = select.select(watched, [], [])
        if woken in ready:
            os.read(woken, 512)
            tell_ends(waited_for)
        if link in ready:
            message, (*streams, status), _, _ = socket.recv_fds(link, LONGEST, 4)
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                link.close()
                for held in (woken, wake, status, *waited_for.values()):
                    os.close(held)
                become(json.loads(message), streams)
                return
            waited_for[pid] = status
            for stream in streams:
                os.close(stream)
            link.send(str(pid).encode())


def tell_ends(waited_for: dict[int, int]) -> None:
    """Write the status of each fork that has ended to whoever waits for it."""
    while waited_for:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        told = waited_for.pop(pid)
        os.write(told, str(status).encode())
        os.close(told)


def become(request: dict[str, object], streams: list[int]) -> None:
    """Take the folder, the environment and the streams that a command was to be started with."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    folder, environment, arguments = request["folder"], request["environment"], request["arguments"]
    assert isinstance(folder, str)
    assert isinstance(environment, dict)
    assert isinstance(arguments, list)
    if request.get("terminal"):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.path[0] = folder
    sys.argv[1:] = arguments
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), "utf-8")
    sys.stdout = _writer(1, "strict")
    sys.stderr = _writer(2, "backslashreplace", is_lined=True)


def _writer(number: int, errors: str, *, is_lined: bool = False) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    return io.TextIOWrapper(raw, "utf-8", errors, line_buffering=is_lined or os.isatty(number))


def run() -> None:
    """Run the command, to an end that does not take modules apart: they are shared memory, and each would be copied.

    All that a program sees of its end comes before: threads are waited for, and what it registered is called.
    """
    try:
        runpy.run_module("appliance", run_name="__main__", alter_sys=True)
    except SystemExit as done:
        if isinstance(done.code, int):
            codes.append(done.code)
        raise


codes: Final[list[int]] = []
"""The exit code, once a command has returned one."""


def leave() -> None:
    """End the process, where it has an exit code; anything else that it ends by is left to Python."""
    if codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(codes[0])


if __name__ == "__main__":
    atexit.register(leave)  # the first to be registered is the last to be called
    load()
    serve(socket.socket(fileno=int(sys.argv[1])))
    run()
