"""A stand-in for nakari inside a small package: what dpkg does with the files and the service can be tried quickly.

It is started as `nakari` is: it runs as a service with a state, makes a backup, tells its version. `FAULT` beside it
says what is wrong with this version: "loading", "starting" or nothing.
"""

import os
import shutil
import signal
import socket
import sys
from pathlib import Path

VERSION = Path(__file__).with_name("VERSION").read_text(encoding="ascii")
FAULT = Path(__file__).with_name("FAULT").read_text(encoding="ascii")


def run() -> int:
    """Write this version to the state, say READY and wait for the end."""
    if FAULT == "starting":
        return 1
    with (Path(os.environ["STATE_DIRECTORY"]) / "nakari.db").open("a", encoding="ascii") as state:
        state.write(f"{VERSION}\n")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
        while signal.sigtimedwait({signal.SIGTERM}, 5.0) is None:
            notify.sendto(b"WATCHDOG=1", os.environ["NOTIFY_SOCKET"])
    return 0


def selfcheck() -> int:
    """Say what is wrong with this version when it is loaded."""
    if FAULT == "loading":
        sys.stderr.write("nakari: audio.torn does not load\n")
        return 1
    return 0


def main() -> int:
    """Do what the command line asks for."""
    match sys.argv[1:]:
        case ["run"]:
            return run()
        case ["selfcheck"]:
            return selfcheck()
        case ["backup", file]:
            shutil.copyfile(Path(os.environ["STATE_DIRECTORY"]) / "nakari.db", file)
        case ["config", "reload"]:
            (Path(os.environ["STATE_DIRECTORY"]) / "reloaded").touch()
        case ["version"]:
            sys.stdout.write(f"nakari {VERSION}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
