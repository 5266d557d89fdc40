"""What a marked test needs of the machine, and the sentence that says so where it is missing."""

import ctypes.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from tests.engine_servers import NATS_SCRIPT, nats_program, redis_program
from tests.home import home_assistant as real_home
from tests.service.privacy import unplugged

NEO4J_SCRIPT = Path(__file__).parents[1] / "scripts" / "neo4j"


def reason_to_skip(marker: str) -> str | None:
    """Return why tests with this marker cannot run here; None when they can, or when the marker needs nothing."""
    check = NEEDS.get(marker)
    return check() if check else None


def hidden_in_ci(markers: Iterable[str]) -> str:
    """Return which of these marks a run of CI (CI=true) must not skip, whatever the reason; "" when it may."""
    return next((marker for marker in markers if marker in NEEDED_IN_CI and os.environ.get("CI")), "")


def missing_programs(*names: str) -> str | None:
    """Return a sentence naming the programs that are not installed; None when all are."""
    missing = [name for name in names if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)} (scripts/setup --test installs them)" if missing else None


@cache
def sound() -> str | None:
    """A virtual sound card: PulseAudio, its ALSA plug-in and PortAudio."""
    if reason := missing_programs("pulseaudio", "pactl", "paplay", "parec", "setpriv"):
        return reason
    if ctypes.util.find_library("portaudio") is None:
        return "not installed: libportaudio2 (scripts/setup installs it)"
    if not any(Path("/usr/lib").glob("*/alsa-lib/libasound_module_pcm_pulse.so")):
        return "not installed: libasound2-plugins (scripts/setup --test installs it)"
    return None


@cache
def network() -> str | None:
    """Watching what a process connects to, or unplugging it: strace, and leave to trace and to make namespaces."""
    if reason := missing_programs("strace", "unshare", "ip"):
        return reason
    if subprocess.run(unplugged(["true"]), capture_output=True, check=False).returncode:
        return "this machine forbids network namespaces"
    tried = subprocess.run(
        ["strace", "-qq", "-o", os.devnull, sys.executable, "-c", ""], capture_output=True, check=False
    )
    return None if tried.returncode == 0 else "strace may not trace here (ptrace is forbidden)"


@cache
def systemd() -> str | None:
    """Booting a real systemd on a Debian tree: root, namespaces and debootstrap."""
    if os.geteuid() != 0:
        return "needs root, to make namespaces and a Debian tree"
    if reason := missing_programs("debootstrap", "unshare"):
        return reason
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "this machine forbids mount and pid namespaces"


@cache
def debian() -> str | None:
    """A bare Debian tree to clone into: what systemd needs, and programs that set it up."""
    return systemd() or missing_programs("git", "setpriv", "ip")


@cache
def neo4j() -> str | None:
    """A real Neo4j server: the one NAKARI_TEST_NEO4J_URI names, else Maven's, which is fetched once."""
    if named_server():
        return None
    fetched = subprocess.run([NEO4J_SCRIPT, "fetch"], capture_output=True, text=True, check=False)
    if fetched.returncode == 0:
        return None
    return f"no Neo4j server: {fetched.stderr.strip().splitlines()[-1]} (or name one in NAKARI_TEST_NEO4J_URI)"


@cache
def nats() -> str | None:
    """A real NATS server, fetched once; an old one of the system will do, which cannot sync before it acknowledges."""
    fetched = subprocess.run([NATS_SCRIPT, "fetch"], capture_output=True, text=True, check=False)
    if fetched.returncode == 0 or nats_program():
        return None
    return f"no NATS server: {fetched.stderr.strip().splitlines()[-1]}"


@cache
def redis() -> str | None:
    """A real Redis server."""
    return None if redis_program() else "not installed: redis-server (scripts/setup --test installs it)"


def named_server() -> str:
    """Return the URI of the Neo4j server that somebody named for the tests; "" when nobody did."""
    return os.environ.get("NAKARI_TEST_NEO4J_URI", "")


@cache
def browser() -> str | None:
    """A real headless Chromium."""
    return missing_programs("chromium")


NEEDS: Mapping[str, Callable[[], str | None]] = {
    "sound": sound,
    "network": network,
    "systemd": systemd,
    "debian": debian,
    "neo4j": neo4j,
    "nats": nats,
    "redis": redis,
    "browser": browser,
    "home_assistant": real_home.why_not,
}

NEEDED_IN_CI = ("neo4j",)
"""Marks of tests that a green run is taken to have run: two stores are promised, and one alone shows half of it."""
