"""The HTTP client's connections to addresses that the guard let through; loaded with the first fetch, as `httpx` is."""

import ssl
from typing import Final

import httpx

from agent.web.guard import Guard
from memory.trust import trusted

MOST_ADDRESSES: Final = 3
"""Of one name that are tried."""


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends a request to an address that the guard let through, under the name that it was meant for.

    No proxy of the environment is used. A connection is not used twice: it is kept by address, and the certificate was
    checked for one name only.
    """

    def __init__(self, guard: Guard | None, tls: ssl.SSLContext | None = None) -> None:
        """Without a guard the name is connected to as it is: for a service that the owner has configured.

        `tls` tells which authorities are trusted; None trusts those that this machine does.
        """
        once = httpx.Limits(max_keepalive_connections=0)
        self._guard = guard
        self._inner = httpx.AsyncHTTPTransport(verify=tls or trusted(), trust_env=False, limits=once)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it. Raises `ToolFailed` for what the guard refuses, and `httpx.TransportError`."""
        url = request.url
        if self._guard is None:
            return await self._inner.handle_async_request(request)
        addresses = await self._guard.addresses(_name(url), url.port or (443 if url.scheme == "https" else 80))
        *others, last = addresses[:MOST_ADDRESSES]
        for address in others:
            try:
                return await self._inner.handle_async_request(_to(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_to(request, last))


def _to(request: httpx.Request, address: str) -> httpx.Request:
    """Return the request as it goes to an address; the Host header and what TLS checks stay the name's."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": _name(request.url)},
    )


def _name(url: httpx.URL) -> str:
    """Return the host as name servers and certificates have it: of other letters than Latin ones in IDNA's."""
    return url.raw_host.decode("ascii")
