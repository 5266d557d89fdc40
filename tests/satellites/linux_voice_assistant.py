"""A real linux-voice-assistant on a virtual sound card; tests that want it are skipped where there is none.

It is no package: clone github.com/OHF-Voice/linux-voice-assistant into FOLDER/src, and install it with libmpv2 into a
virtual environment at FOLDER/venv. FOLDER is `linux-voice-assistant` in the cache of the tests (NAKARI_TEST_CACHE), or
NAKARI_TEST_LINUX_VOICE_ASSISTANT.
"""

import ctypes.util
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.needs import sound
from tests.room.virtual_sound import VirtualSound

PROGRAM: Final = Path(__file__).with_name("linux_voice_assistant_program.py")

STARTED: Final = "Server started"
"""What it logs when it answers."""

LONGEST: Final = "60"
"""Seconds that it may take to start."""

WAKE_WORD: Final = "alexa"
"""The wake word that human clips of tests say."""


class Running(Struct, frozen=True):
    """One that runs."""

    name: str
    mac: str
    port: int
    log: Path
    process: subprocess.Popen[bytes]

    def unplug(self) -> None:
        """End it at once, as a cut of its power does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def folder() -> Path:
    """Return where it is, or should be."""
    cache = os.environ.get("NAKARI_TEST_CACHE", "/var/cache/nakari-test")
    return Path(os.environ.get("NAKARI_TEST_LINUX_VOICE_ASSISTANT", f"{cache}/linux-voice-assistant"))


def why_not() -> str | None:
    """Return why there is none here, with what to do; None when there is."""
    if not (folder() / "venv/bin/python").exists() or not (folder() / "src/linux_voice_assistant").is_dir():
        return f"no linux-voice-assistant in {folder()} (its source in src, its virtual environment in venv)"
    if ctypes.util.find_library("mpv") is None:
        return "not installed: libmpv2, for linux-voice-assistant"
    return sound()


@contextmanager
def linux_voice_assistant(
    card: VirtualSound, name: str = "kitchen", mac: str = "02:00:00:00:00:01", port: int = 0
) -> Iterator[Running]:
    """Run one until the end of the block; on return it answers at 127.0.0.1. Raises RuntimeError when it ends.

    It hears the default source of the card, and plays to its default sink (`tests.room.virtual_sound`); a second one
    at the same time needs a card of its own, or shares the first one's sound.
    """
    port = port or _free_port()
    own = card.folder / f"voice-{name}"
    own.mkdir(exist_ok=True)
    log = own / "log"
    words = ["--name", name, "--host", "127.0.0.1", "--port", str(port), "--network-interface", "lo"]
    words += ["--audio-input-channels", "1", "--wake-model", WAKE_WORD, "--disable-peripheral-api"]
    words += ["--peripheral-startup-wait", "0"]
    words += ["--preferences-file", str(own / "preferences.json"), "--download-dir", str(own / "local")]
    python = str(folder() / "venv/bin/python")
    command: list[str] = ["setpriv", "--pdeathsig", "KILL", python, "-uP", str(PROGRAM), mac, *words]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder() / "src",
            env={**card.environment, "HOME": str(own), "PYTHONPATH": str(folder() / "src"), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    running = Running(name, mac, port, log, process)
    try:
        _wait_until_started(running)
        yield running
    finally:
        if process.poll() is None:
            running.unplug()


def _wait_until_started(running: Running) -> None:
    following = ["timeout", LONGEST, "tail", "-n", "+1", "-F", f"--pid={running.process.pid}", str(running.log)]
    with subprocess.Popen(following, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tail:
        assert tail.stdout is not None
        is_started = any(STARTED in line for line in tail.stdout)
        tail.terminate()
    if not is_started:
        raise RuntimeError(f"linux-voice-assistant did not start: {running.log.read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
