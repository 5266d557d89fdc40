"""What mDNS tells of devices: hints, bounded, believed by nobody until the device has proved who it is."""

from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from typing import Final

from msgspec import Struct

SERVICE: Final = "_esphomelib._tcp.local."

MOST: Final = 64
"""Devices remembered; one more takes the place of the one that was seen longest ago."""

MOST_ADDRESSES: Final = 4
"""Of one name; whoever is announced at more is not believed in the others."""

LONGEST: Final = 64
"""Characters of a word in an announcement."""

HEARS: Final = ("", "ESP32", "HOST")
"""Platforms whose firmware can have a voice assistant; "" is one that does not say."""


class Sighting(Struct, frozen=True):
    """An announcement of a device."""

    name: str
    addresses: tuple[str, ...]
    """IP addresses, private ones only: a device of the house is not in the Internet."""
    port: int
    mac: str = ""
    """In small letters with colons; "" when it does not say."""
    label: str = ""
    """Its name for people, and its make."""
    platform: str = ""
    firmware: str = ""
    is_encrypted: bool | None = None
    """None when it does not say."""

    @property
    def may_hear(self) -> bool:
        """Whether it may be a voice assistant, as far as an announcement tells."""
        return self.platform.upper() in HEARS


def sighting_of(name: str, addresses: Iterable[str], port: int, told: Mapping[str, str]) -> Sighting | None:
    """Return an announcement as far as it can be used; None where it names no place. `told` is its TXT record."""
    usable = tuple(dict.fromkeys(each for each in addresses if _is_of_house(each)))[:MOST_ADDRESSES]
    label = " ".join(filter(None, (_word(told, "friendly_name"), _word(told, "project_name"))))
    clean = printable(name)
    if not usable or not clean or not 0 < port < 65536:
        return None
    encryption = "api_encryption" in told or None
    version = _word(told, "project_version") or _word(told, "version")
    return Sighting(
        clean, usable, port, mac_of(_word(told, "mac")), label, _word(told, "platform"), version, encryption
    )


def mac_of(text: str) -> str:
    """Return a MAC address in small letters with colons; "" for what is none."""
    digits = text.replace(":", "").replace("-", "").lower()
    is_mac = len(digits) == 12 and all(each in "0123456789abcdef" for each in digits)
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2)) if is_mac else ""


def printable(text: str) -> str:
    """Return a word of a stranger as it may be shown: one short line."""
    return "".join(each for each in text[:LONGEST] if each.isprintable()).strip()


def _word(told: Mapping[str, str], name: str) -> str:
    return printable(told.get(name, ""))


def _is_of_house(address: str) -> bool:
    try:
        return not ip_address(address.partition("%")[0]).is_global
    except ValueError:
        return False


class Sightings:
    """The devices that were announced, the one seen last at the end."""

    def __init__(self, seen: Callable[[Sighting], None]) -> None:
        """`seen` is told each announcement at once, a repeated one too; it must not wait."""
        self._seen = seen
        self._by_name: dict[str, Sighting] = {}

    def saw(self, sighting: Sighting) -> None:
        """Take an announcement."""
        name = sighting.name.lower()
        self._by_name.pop(name, None)
        self._by_name[name] = sighting
        if len(self._by_name) > MOST:
            del self._by_name[next(iter(self._by_name))]
        self._seen(sighting)

    def lost(self, name: str) -> None:
        """Take a farewell (a record with TTL 0) or the end of an announcement's time."""
        self._by_name.pop(name.lower(), None)

    def all(self) -> tuple[Sighting, ...]:
        """Return them, by name."""
        return tuple(self._by_name[name] for name in sorted(self._by_name))
