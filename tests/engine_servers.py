"""Real servers of NATS and Redis on free ports of this machine, to be killed, frozen and filled."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_READY = (b"Server is ready", b"Ready to accept connections")

NATS_SCRIPT = Path(__file__).parents[1] / "scripts" / "nats"


def free_port() -> int:
    """Return a port of the loopback interface that nobody listened on a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """One server's process, with its store in a folder that outlives it."""

    def __init__(self, program: str, folder: Path, arguments: Sequence[str], port: int) -> None:
        name = Path(arguments[0]).name
        self._program = program
        self.folder = folder
        self.port = port
        self.url = f"{name.removesuffix('-server')}://127.0.0.1:{port}"
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it says that it is ready, with all that it had kept."""
        written = self.folder / "server.log"
        self._log = written.open("ab")
        before = written.stat().st_size
        self._process = subprocess.Popen(
            self._arguments, executable=self._program, stdout=self._log, stderr=self._log, cwd=self.folder
        )
        while self._process.poll() is None:
            if any(word in written.read_bytes()[before:] for word in _READY):
                return
            with suppress(subprocess.TimeoutExpired):  # whoever looks without a pause takes the server its core
                self._process.wait(0.01)
        raise AssertionError(written.read_text()[-2000:])

    def secure(self, certificate: Path, key: Path) -> None:
        """Let a Redis server speak TLS alone."""
        files = [
            "--tls-cert-file",
            str(certificate),
            "--tls-key-file",
            str(key),
            "--tls-ca-cert-file",
            str(certificate),
        ]
        self._arguments = [*self._arguments, "--tls-port", str(self.port), "--port", "0", *files]
        self.url = self.url.replace("redis", "rediss")

    def kill(self) -> None:
        """End it at once, as kill -9 does; not running is fine."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._log is not None:
            self._log.close()
            self._log = None

    @property
    def pid(self) -> int:
        """Of the process, which runs."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def freeze(self) -> None:
        """Stop all of its threads, which a busy machine takes a while for; the kernel still takes what is sent."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


def nats_program() -> str | None:
    """Return the newest nats-server of this machine: the fetched one, else the system's, of any age."""
    found = subprocess.run([str(NATS_SCRIPT), "which"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or shutil.which("nats-server") or shutil.which("/usr/sbin/nats-server")


def redis_program() -> str | None:
    """Return a Redis server; None without one. Debian's redis-tools has it by another name, without a service."""
    return shutil.which("redis-server") or shutil.which("redis-check-rdb")


def nats_server(folder: Path, *options: str, sync: bool = True) -> Server:
    """Return a NATS server with JetStream; `options` are further lines of its configuration."""
    port = free_port()
    folder.mkdir(exist_ok=True)
    program = nats_program()
    assert program is not None
    always = "sync_interval: always" if sync and knows_sync(program) else ""
    lines = [
        f'listen: "127.0.0.1:{port}"',
        f'jetstream {{ store_dir: "{folder / "store"}", {always} }}',
        *options,
    ]
    configuration = folder / "nats.conf"
    configuration.write_text("\n".join(lines) + "\n")
    return Server(program, folder, ["nats-server", "--config", str(configuration)], port)


def knows_sync(program: str) -> bool:
    """Whether this nats-server is new enough for `sync_interval: always` (2.10)."""
    words = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = words.strip().rpartition("v")[2].split(".")[:2]
    return (int(major), int(minor)) >= (2, 10)


def redis_server(folder: Path, *options: str) -> Server:
    """Return a Redis server that syncs before it answers; `options` are further ones of its command line."""
    port = free_port()
    folder.mkdir(exist_ok=True)
    program = redis_program()
    assert program is not None
    arguments = [
        "redis-server",
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        str(folder),
        "--appendonly",
        "yes",
    ]
    arguments += ["--appendfsync", "always", "--maxmemory-policy", "noeviction", "--save", "", *options]
    return Server(program, folder, arguments, port)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Give a folder a disk of its own that is soon full; needs root and mounts."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    subprocess.run(mount, check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def grow(folder: Path, megabytes: int) -> None:
    """Give a small disk more room."""
    subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(folder)], check=True, capture_output=True)


def can_mount() -> bool:
    """Whether this process may mount a small disk."""
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0
