"""Watches what a program and its children connect to, native code included; or takes the network away from it."""

import ipaddress
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

CALLS = "connect,sendto,sendmsg,sendmmsg"
LOCAL_FAMILIES = {"AF_UNIX", "AF_NETLINK", "AF_UNSPEC"}
FAMILY = re.compile(r"sa_family=(\w+)")
ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"')
KEPT_VARIABLES = ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH")


class NothingWatched(Exception):
    """The trace is empty: strace did not run, so that it shows nothing."""


def clean_environment(**more: str) -> dict[str, str]:
    """Return the environment a program is started in: CI unset, none of the variables that a test process sets."""
    return {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ} | more


def watched(command: Sequence[str], trace: Path) -> list[str]:
    """Return the command under strace, which writes to `trace` and ends with the command's own status.

    strace blocks the signals sent to itself: start it in a session of its own and signal the group.
    """
    what = ["-e", f"trace=execve,{CALLS}", "-e", "abbrev=none", "-e", "signal=none", "-s", "0"]
    return ["strace", "-f", "-qq", "--seccomp-bpf", *what, "-o", str(trace), *command]


def unplugged(command: Sequence[str]) -> list[str]:
    """Return the command in a network namespace that has a loopback and nothing else."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *as_root, "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]


def beyond_loopback(trace: Path) -> list[str]:
    """Return each destination in a trace that is not this machine, as `call address port`, without repeats, in order.

    What cannot be read is reported whole rather than let pass. Raises `NothingWatched`.
    """
    lines = trace.read_text(encoding="utf-8", errors="replace").splitlines() if trace.exists() else []
    if not any(" execve(" in line for line in lines):
        raise NothingWatched(f"{trace} holds no process: strace could not trace here")
    return list(dict.fromkeys(found for line in lines for found in _destinations(line)))


def watch(
    command: Sequence[str], trace: Path, environment: Mapping[str, str], timeout: float = 60.0
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end under strace, at most `timeout` seconds; `beyond_loopback(trace)` tells the rest."""
    return subprocess.run(
        watched(command, trace),
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def _destinations(line: str) -> Iterator[str]:
    call = re.match(rf"\d+ +({CALLS.replace(',', '|')})\(", line)
    if not call:
        return
    for part in line.split("{sa_family=")[1:]:
        named = f"sa_family={part}"
        family, address = FAMILY.match(named), ADDRESS.search(named)
        if family and family[1] in LOCAL_FAMILIES:
            continue
        if not address:
            yield line
        elif not _is_loopback(address[2]):
            yield f"{call[1]} {address[2]} {address[1]}"


def _is_loopback(text: str) -> bool:
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
