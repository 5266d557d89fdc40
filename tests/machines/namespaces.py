"""Two network namespaces of this machine, and a wire between them that is late, loses packets and can be cut.

The wire is a process of its own: packets of one namespace's tun device are written to the other's. It does what
`tc netem delay 40ms 10ms loss 2%` does on each side, on kernels without that module too.
"""

import asyncio
import ctypes
import fcntl
import os
import random
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Final

from msgspec import Struct

TUN: Final = Path("/dev/net/tun")
_SET_INTERFACE: Final = 0x400454CA
"""TUNSETIFF of linux/if_tun.h; below IFF_TUN | IFF_NO_PI."""
_LAYER_3: Final = 0x1001
PACKET: Final = 2048
_NETWORK: Final = 0x40000000
"""CLONE_NEWNET of linux/sched.h."""


@cache
def why_not() -> str | None:
    """Return why there can be no namespaces here; None where there can."""
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    try:
        with joined(seed=0):
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        return f"this machine forbids network namespaces with a tun device ({error})"


@dataclass
class Wire:
    """What lies between; driven by the event loop that called `run`."""

    ends: tuple[int, int]
    """Descriptors of the devices."""
    chance: random.Random
    delay: float = 0.0
    """Seconds in each direction, in the mean."""
    jitter: float = 0.0
    """Seconds more or less at most; packets may overtake each other."""
    loss: float = 0.0
    """Share of the packets."""
    is_cut: bool = False
    cut_off: int = 0
    """Packets that came while it was cut."""
    _cut_off: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def carrying(self) -> Iterator[None]:
        """Carry packets, on the running loop."""
        loop = asyncio.get_running_loop()
        for here, there in (self.ends, self.ends[::-1]):
            loop.add_reader(here, self._carry, here, there)
        try:
            yield
        finally:
            for end in self.ends:
                loop.remove_reader(end)

    async def until_cut_off(self, packets: int) -> None:
        """Return once so many more packets met the cut."""
        wanted = self.cut_off + packets
        while self.cut_off < wanted:
            self._cut_off.clear()
            await self._cut_off.wait()

    def _carry(self, here: int, there: int) -> None:
        packet = os.read(here, PACKET)
        if self.is_cut:
            self.cut_off += 1
            self._cut_off.set()
        elif self.chance.random() >= self.loss:
            late = self.delay + self.jitter * self.chance.uniform(-1.0, 1.0)
            asyncio.get_running_loop().call_later(late, partial(self._arrive, there, packet))

    def _arrive(self, there: int, packet: bytes) -> None:
        if not self.is_cut:
            with suppress(OSError):  # closed meanwhile
                os.write(there, packet)


class Places(Struct, frozen=True):
    """Two namespaces."""

    names: tuple[str, str]
    addresses: tuple[str, str]
    wire: Wire

    def inside(self, place: int, *command: str) -> list[str]:
        """Return a command that runs in one of them: 0 or 1."""
        return ["nsenter", f"--net=/run/netns/{self.names[place]}", "--", *command]

    @contextmanager
    def entered(self, place: int) -> Iterator[None]:
        """Have this thread make its sockets in one of them; they stay there. Raises OSError."""
        with Path("/proc/thread-self/ns/net").open() as back, Path("/run/netns", self.names[place]).open() as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(back.fileno())


@contextmanager
def joined(seed: int) -> Iterator[Places]:
    """Make two namespaces, joined by a wire that does nothing to packets yet. Raises OSError, CalledProcessError."""
    names = (f"nakari-{os.getpid()}-a", f"nakari-{os.getpid()}-b")
    addresses = ("10.77.0.1", "10.77.0.2")
    ends: list[int] = []
    made: list[str] = []
    try:
        for name, address in zip(names, addresses, strict=True):
            _ip("netns", "add", name)
            made.append(name)
            device = f"nk{len(made)}-{os.getpid()}"
            ends.append(os.open(TUN, os.O_RDWR | os.O_NONBLOCK))
            fcntl.ioctl(ends[-1], _SET_INTERFACE, struct.pack("16sH22x", device.encode(), _LAYER_3))
            _ip("link", "set", device, "netns", name)
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            for each in (device, "lo"):
                _ip("-n", name, "link", "set", each, "up")
        yield Places(names, addresses, Wire((ends[0], ends[1]), random.Random(seed)))
    finally:
        for end in ends:
            os.close(end)
        for name in made:
            _ip("netns", "del", name)


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _NETWORK):  # os.setns came with Python 3.12
        raise OSError(ctypes.get_errno(), "this process may not enter a network namespace")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
