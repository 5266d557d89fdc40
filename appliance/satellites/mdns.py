"""Announcements of devices on the network, by zeroconf, which is loaded when somebody looks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final

import structlog

from appliance.satellites.sightings import SERVICE, Sightings, sighting_of

if TYPE_CHECKING:
    from zeroconf import RecordUpdate, RecordUpdateListener, Zeroconf

_ADDRESSES: Final = (1, 28)
"""A and AAAA (RFC 1035, RFC 3596)."""

_POINTER: Final = 12
"""PTR (RFC 1035)."""

log = structlog.get_logger()


@asynccontextmanager
async def looking(sightings: Sightings, interfaces: Sequence[str] = ()) -> AsyncIterator[None]:
    """Ask for devices and tell of what is announced, until the end of the block; at once, and for as long as it takes.

    `interfaces` are addresses of this machine, all when none is given. Where mDNS cannot be had it is told in the log,
    and nothing is seen.
    """
    await asyncio.to_thread(import_module, "zeroconf.asyncio")
    from zeroconf import InterfaceChoice
    from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf

    try:
        zeroconf = AsyncZeroconf(interfaces=list(interfaces) or InterfaceChoice.All)
    except OSError as error:
        log.warning("mdns_unavailable", reason=str(error))
        yield
        return
    listener = records_into(sightings)
    try:
        zeroconf.zeroconf.async_add_listener(listener, None)
        browser = AsyncServiceBrowser(zeroconf.zeroconf, SERVICE, handlers=[_asks_only])
        yield
        await browser.async_cancel()
        zeroconf.zeroconf.async_remove_listener(listener)
    finally:
        await zeroconf.async_close()


def _asks_only(**_: object) -> None:
    """Take what the browser finds: the listener is told of it, and of what is announced again."""


def records_into(sightings: Sightings) -> "RecordUpdateListener":
    """Return what turns records into sightings; a browser alone would not tell of a device that is back."""
    from zeroconf import RecordUpdateListener
    from zeroconf.asyncio import AsyncServiceInfo

    class Records(RecordUpdateListener):
        def async_update_records(self, zc: "Zeroconf", now: float, records: "list[RecordUpdate]") -> None:
            self._zeroconf = zc
            self._names: set[str] = set()
            for update in records:
                name, is_over = _told(update, now)
                if name and is_over:
                    sightings.lost(name)
                elif name:
                    self._names.add(name)

        def async_update_records_complete(self) -> None:
            for name in self._names:
                info = AsyncServiceInfo(SERVICE, f"{name}.{SERVICE}")
                if info.load_from_cache(self._zeroconf) and info.port:
                    told = {key: value or "" for key, value in info.decoded_properties.items()}
                    if sighting := sighting_of(name, info.parsed_scoped_addresses(), info.port, told):
                        sightings.saw(sighting)

    return Records()


def _told(update: "RecordUpdate", now: float) -> tuple[str, bool]:
    """Return the name of the device that a record is about, "" for none, and whether it says farewell."""
    record = update.new
    name = record.name
    if record.type in _ADDRESSES:
        return name.removesuffix(".local."), False  # a device's host has its name
    if record.type == _POINTER and name.lower() == SERVICE:
        name = getattr(record, "alias", "")
    if not name.lower().endswith(f".{SERVICE}"):
        return "", False
    return name[: -len(SERVICE) - 1], record.ttl <= 1 or record.is_expired(now)
