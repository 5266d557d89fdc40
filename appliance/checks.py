"""What the doctor looks at: the machine first, then the parts that run on it."""

import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from appliance.config import Config
from appliance.doctor import Check, Line, Verdict
from appliance.errors import ServiceNotRunning

PACKAGES = (
    "arcadedb", "click", "edge_tts", "faster_whisper", "hassil", "home_assistant_intents", "httpx", "jiter", "litellm",
    "neo4j", "numpy", "onnxruntime", "pocketsphinx", "pydantic", "sounddevice", "structlog", "tiktoken",
)  # fmt: skip
"""Import names of pyproject's dependencies."""

LITTLE_SPACE = 1_000_000_000
"""Bytes: a Whisper model and a month of journal still fit."""
NO_SPACE = 200_000_000

BUILT = datetime(2026, 11, 1, tzinfo=UTC)
"""No clock that is right shows an earlier time."""

UNSYNCHRONISED = 5
"""What adjtimex(2) returns when nothing sets the clock (TIME_ERROR)."""
TIMEX_BYTES = 512
"""More than any architecture's struct timex."""


def program(config: Config) -> Line:
    """Look for the Python and the packages it needs."""
    del config
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        return Line("program", Verdict.FAULT, f"not installed: {', '.join(missing)}", "run scripts/setup again")
    return Line("program", Verdict.OK, f"Python {platform.python_version()} on {platform.machine()}, all packages")


def settings(config: Config) -> Line:
    """Tell which file is used, and whether the key it names is there."""
    name = config.model.api_key_env
    if name and name not in config.secrets:
        return Line(
            "settings",
            Verdict.FAULT,
            f"[model] api_key_env names {name}, and there is no such variable or credential",
            f"set it, e.g. with LoadCredential={name}:… in the unit",
        )
    return Line("settings", Verdict.OK, str(config.file) if config.file else "no file, all is default")


def state(config: Config) -> Line:
    """Write to the state folder, or find out whether it can be made."""
    folder = config.state_folder
    try:
        if not folder.exists():
            parent = _nearest(folder)
            if not (parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)):
                raise PermissionError(0, f"{parent} is not writable")
            return Line("state", Verdict.OK, f"{folder}, will be made")
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"?")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        what = f"{folder} cannot be written: {error.strerror}"
        return Line("state", Verdict.FAULT, what, "make it writable for this user, or set [state] folder")
    return Line("state", Verdict.OK, f"{folder}, writable")


def disk(config: Config) -> Line:
    """Look for free space where the state is kept."""
    free = shutil.disk_usage(_nearest(config.state_folder)).free
    what = f"{free / 1e9:.1f} GB free"
    if free < NO_SPACE:
        return Line("disk", Verdict.FAULT, what, "make room, or move [state] folder")
    if free < LITTLE_SPACE:
        return Line("disk", Verdict.WARNING, what, "make room soon")
    return Line("disk", Verdict.OK, what)


def clock(config: Config) -> Line:
    """Look whether the clock can be right and is kept right; timers and memories depend on it."""
    now = datetime.now(UTC)
    what = f"{now.astimezone(config.zone):%Y-%m-%d %H:%M}, {config.zone}"
    if now < BUILT:
        return Line("clock", Verdict.FAULT, f"{what} is in the past", "set the clock; a box without one needs NTP")
    if not _is_synchronised():
        return Line("clock", Verdict.WARNING, f"{what}, set by nobody", "switch NTP on: timedatectl set-ntp true")
    return Line("clock", Verdict.OK, what)


def voices(config: Config) -> Line:
    """Let the local voice speak, into nothing; it is the one that needs no network."""
    del config
    try:
        spoken = subprocess.run(["espeak-ng", "--stdout", "a"], capture_output=True, timeout=10, check=False)
    except FileNotFoundError:
        return Line("voices", Verdict.FAULT, "espeak-ng is not installed", "apt install espeak-ng")
    if not spoken.stdout.startswith(b"RIFF"):
        words = spoken.stderr.decode(errors="replace").strip() or f"ended with {spoken.returncode}"
        return Line("voices", Verdict.FAULT, f"espeak-ng makes no sound: {words}", "apt reinstall espeak-ng-data")
    if shutil.which("flite") is None:
        return Line("voices", Verdict.WARNING, "espeak-ng; no flite for the demo", "apt install flite")
    return Line("voices", Verdict.OK, "espeak-ng speaks; flite for the demo")


def network(config: Config) -> Line:
    """Tell what this configuration would reach beyond this machine, and whether there is a way out; nothing is sent."""
    used = list(leaves_the_house(config))
    if not used:
        return Line("network", Verdict.OK, "nothing leaves this machine")
    if _has_route():
        return Line("network", Verdict.OK, f"used for {', '.join(used)}")
    what = f"no way out, wanted for {', '.join(used)}"
    return Line("network", Verdict.WARNING, what, "she does without, with the local voice and what is here already")


def service(config: Config) -> Line:
    """Ask the running service how it is."""
    import asyncio

    from appliance.door_client import find_service, status_of

    try:
        path = find_service(config.sockets)
    except ServiceNotRunning:
        return Line("service", Verdict.OK, "not running")
    began = time.monotonic()
    asyncio.run(status_of(path))
    return Line("service", Verdict.OK, f"running, answers at {path} in {time.monotonic() - began:.3f} s")


def leaves_the_house(config: Config) -> Iterator[str]:
    """Yield what of this configuration would use the network, in words."""
    if config.voice.engine != "espeak" and not _is_here(config.voice.edge_url):
        yield "the edge voice (what she says)"
    keys = config.model.provider != "offline" and config.provider_keys
    if config.model.provider != "offline" and config.model.base_url:
        if not _is_here(config.model.base_url):
            yield f"the model at {config.model.base_url} (what is said)"
    elif config.model.provider == "litellm" or keys:
        yield "the model's provider (what is said)"
    if config.memory.enabled and config.memory.uri and not _is_here(config.memory.uri):
        yield "the graph (what she remembers)"
    if config.ears.download and not Path(config.ears.model).is_dir():
        yield "fetching the recognizer's model"


def _is_here(address: str) -> bool:
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _has_route() -> bool:
    """Whether the kernel knows a default route, IPv4 or IPv6, that is not a refusal (proc(5))."""
    for file, destination, flags in (("route", 1, 3), ("ipv6_route", 0, 8)):
        table = Path("/proc/net") / file
        rows = table.read_text(encoding="ascii").splitlines() if table.exists() else []
        for row in (line.split() for line in rows):
            is_default = set(row[destination]) == {"0"} and (file == "route" or row[1] == "00")
            if is_default and int(row[flags], 16) & 0x201 == 0x1:  # up, and not reject
                return True
    return False


def _is_synchronised() -> bool:
    found: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(TIMEX_BYTES))  # modes 0: only look
    return found != UNSYNCHRONISED


def _nearest(folder: Path) -> Path:
    """Return the folder, or its nearest ancestor that is there."""
    return next(place for place in (folder, *folder.parents) if place.exists())


CHECKS: tuple[Check, ...] = (program, settings, state, disk, clock, voices, network, service)
