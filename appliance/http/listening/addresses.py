"""Addresses over TCP at which it is answered: one that is taken, or has no certificate yet, is tried again."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

import structlog
from msgspec import Struct

from appliance.config.network.http import OPEN_TO_OTHERS, HttpSettings, host_and_port, is_loopback
from appliance.errors import ConfigError, Problem
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.http.listening.tls import Certificate

AGAIN_SECONDS: Final = 10.0
"""Between two tries at an address."""

BREATH_SECONDS: Final = 1.0
"""Pause when the system has no descriptor left for another connection."""

BACKLOG: Final = 128
"""Programs that may wait to be let in (listen(2)); who comes then is told to come again by the kernel."""

log = structlog.get_logger()


class Address(Struct):
    """One address and port, and the socket that listens there."""

    name: str
    settings: HttpSettings = HttpSettings()
    """What makes it https, if anything does."""
    listener: socket.socket | None = None
    """None until it listens; one that systemd handed over does."""
    protocol: str = "http"
    """What is spoken there, for the log."""
    certificate: "Certificate | None" = None
    problem: str = ""
    """Why it does not listen, in a sentence."""

    @property
    def tls(self) -> ssl.SSLContext | None:
        """What makes it https, None for http."""
        return self.certificate.context if self.certificate else None

    def open(self) -> bool:
        """Listen, if it does not yet; return whether it does. What is in the way is told once."""
        if self.listener is not None and not self._wants_certificate:
            return True
        try:
            if self._wants_certificate:
                from appliance.http.listening.tls import Certificate

                key = Path(self.settings.key).expanduser()
                self.certificate = Certificate(Path(self.settings.certificate).expanduser(), key, monotonic)
            self.listener = self.listener or listening(self.name)
            self.name = name_of(self.listener)  # where any free port was wanted, that is one now
        except OSError as error:
            self._tell(f"nothing can be answered at {self.name}: {error.strerror}; it is tried again")
        except Problem as problem:
            self._tell(problem.sentence)
        else:
            self.problem = ""
            event = f"{self.protocol}_listens"
            log.info(event, address=self.name, https=self.tls is not None)
        return not self.problem

    async def until_open(self, pause: Callable[[float], Awaitable[None]]) -> socket.socket:
        """Return its listening socket, once there is one."""
        while not self.open():
            await pause(AGAIN_SECONDS)
        assert self.listener is not None
        return self.listener

    def close(self) -> None:
        """Listen no more."""
        if self.listener is not None:
            self.listener.close()
            self.listener = None

    @property
    def _wants_certificate(self) -> bool:
        return bool(self.settings.certificate) and self.certificate is None

    def _tell(self, problem: str) -> None:
        if problem != self.problem:
            self.problem, event = problem, f"{self.protocol}_address_unavailable"
            log.warning(event, address=self.name, reason=problem)


class Addresses(Struct):
    """All of them."""

    all: list[Address] = []
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    def open(self) -> None:
        """Listen wherever that can be."""
        for address in self.all:
            address.open()

    def close(self) -> None:
        """Listen nowhere."""
        for address in self.all:
            address.close()

    def describe(self) -> dict[str, Json]:
        """Say for the status where it is answered, and why not elsewhere."""
        return {
            "addresses": [
                {"address": each.name, "https": bool(each.settings.certificate), "problem": each.problem}
                for each in self.all
            ]
        }


def addresses_of(settings: HttpSettings, handed_over: Sequence[int]) -> Addresses:
    """Return where it is to be answered: at the sockets that systemd handed over, else where the configuration says.

    Raises `ConfigError` for a handed over one that lets other machines in, where nothing protects what they send.
    """
    if not settings.enabled:
        return Addresses()
    taken_over = [socket.socket(fileno=descriptor) for descriptor in handed_over]
    listening = [each for each in taken_over if each.family in (socket.AF_INET, socket.AF_INET6)]
    if not listening:
        return Addresses([Address(name, settings) for name in settings.addresses])
    found = []
    for listener in listening:
        listener.setblocking(False)
        listener.set_inheritable(False)
        name = name_of(listener)
        if not (is_loopback(name) or settings.certificate or settings.behind_proxy):
            for each in taken_over:
                each.close()
            raise ConfigError(f"systemd hands over {name}, which {OPEN_TO_OTHERS}")
        found.append(Address(name, settings, listener))
    return Addresses(found)


def listening(name: str) -> socket.socket:
    """Return a socket that listens there. Raises OSError."""
    host, port = host_and_port(name)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def name_of(listener: socket.socket) -> str:
    """Return the address and the port at which a socket listens."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if listener.family == socket.AF_INET6 else f"{host}:{port}"
