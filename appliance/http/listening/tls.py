"""The certificate of https: read again when its files have changed, so that a renewed one needs no restart."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from appliance.errors import Exit, Problem

LOOK_SECONDS: Final = 10.0
"""Between two looks at the files; who comes in between is shown the certificate of before."""

log = structlog.get_logger()


class Certificate:
    """Gives each handshake the certificate that is there now; one that cannot be read leaves the one before."""

    def __init__(self, certificate: Path, key: Path, clock: Callable[[], float]) -> None:
        """Read it. `clock` is in seconds. Raises `Problem` when it cannot be used."""
        self._certificate = certificate
        self._key = key
        self._clock = clock
        self._looked = clock()
        self._seen = self._changed()
        self._current = self._read()
        self.context = _empty()
        """For whoever listens; it takes the current one for each handshake."""
        self.context.sni_callback = self._choose

    def _choose(self, handshake: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        if self._clock() - self._looked >= LOOK_SECONDS:
            self._looked = self._clock()
            self._renew()
        handshake.context = self._current

    def _renew(self) -> None:
        try:
            seen = self._changed()
            if seen == self._seen:
                return
            self._current, self._seen = self._read(), seen
        except Problem as problem:  # half of it is there: the other half follows
            log.warning("certificate_not_renewed", reason=problem.sentence)
        else:
            log.info("certificate_renewed", file=str(self._certificate))

    def _changed(self) -> tuple[int, ...]:
        """Return inodes and times of change of both files."""
        try:
            found = [file.stat() for file in (self._certificate, self._key)]
        except OSError as error:
            raise _unusable(error.filename, error.strerror or str(error)) from error
        return tuple(number for each in found for number in (each.st_ino, each.st_mtime_ns))

    def _read(self) -> ssl.SSLContext:
        context = _empty()

        def no_password() -> bytes:  # else OpenSSL would ask for it on the terminal
            raise _unusable(str(self._key), "it is behind a password")

        try:
            context.load_cert_chain(self._certificate, self._key, no_password)
        except OSError as error:  # which an SSLError is too
            raise _unusable(str(self._certificate), error.strerror or str(error)) from error
        return context


def _empty() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unusable(file: str, why: str) -> Problem:
    return Problem(f"the certificate of [http] cannot be used ({file}: {why}); correct it, or its key", Exit.CONFIG)
