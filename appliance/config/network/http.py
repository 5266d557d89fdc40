"""What the configuration may say of HTTP and of Wyoming: where each is answered, under which names, how much of it."""

import re
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from appliance.config.meaning import setting

USUAL: Final = "127.0.0.1:8420"

OPEN_TO_OTHERS: Final = (
    "lets other machines in: give it a certificate and a key, or name the proxy before it in behind_proxy"
)


class HttpSettings(Struct, frozen=True):
    """HTTP, for browsers and other programs. Programs of the household on this machine need nothing, others a token."""

    enabled: bool = setting(True, "Whether it is answered at all; the Unix socket of [door] is there all the same.")
    addresses: tuple[str, ...] = setting(
        (USUAL,),
        'Where it is answered, address and port: "127.0.0.1:8420", "[::1]:8420"; "0.0.0.0:8420" is all of this '
        "machine's, and needs a certificate or a proxy. What systemd hands over is answered instead.",
    )
    names: tuple[str, ...] = setting(
        (),
        'Under which names this machine is called, e.g. ["nakari.home"]; its addresses and localhost need not be '
        "listed, and a request for any other name is refused.",
    )
    certificate: str = setting(
        "", 'For https: a PEM file with the certificate and those above it; "" is http. It may be renewed.'
    )
    key: str = setting("", "The PEM file of its private key, without a password.")
    behind_proxy: tuple[str, ...] = setting(
        (),
        'From which addresses a proxy comes that speaks https to the others, e.g. ["127.0.0.1"]: whom it says it '
        "asks for is believed, and everybody who comes from there needs a token.",
    )
    requests_per_minute: int = setting(600, "How much each token, or who has none, may ask.", between=(10, 1_000_000))
    failures_per_minute: int = setting(
        10, "How often somebody may show a wrong token, before they have to wait.", between=(1, 10_000)
    )
    connections: int = setting(
        500,
        "How many may be open at a time, half of them from one address; one more is closed at once.",
        between=(1, 60_000),
    )


def wrong_http(settings: HttpSettings) -> tuple[str, str]:
    """Return the key that is wrong beside the others, and what is wrong with it; else two ""."""
    if bool(settings.certificate) != bool(settings.key):
        alone, missing = ("certificate", "key") if settings.certificate else ("key", "certificate")
        return alone, f"has no {missing} beside it: they come together"
    is_open = next((each for each in settings.addresses if not is_loopback(each)), "")
    if is_open and settings.enabled and not (settings.certificate or settings.behind_proxy):
        return "addresses", f'holds "{is_open}", which {OPEN_TO_OTHERS}'
    return "", ""


def _is_name(value: str) -> bool:
    is_host = bool(value) and urlsplit(f"//{value}").hostname == value
    return is_host and not value.endswith(".") and not re.search(r"\s", value)


_EXAMPLES: Final = {
    "addresses": "127.0.0.1:8420 or [::1]:8420",
    "behind_proxy": "127.0.0.1 or 192.168.1.0/24",
    "networks": "192.168.1.5 or 192.168.1.0/24",
}


def wrong_part(key: str, value: str) -> str:
    """Return what is wrong with one of several values of a key, as the rest of the sentence; "" when nothing is."""
    try:
        if key == "addresses":
            host_and_port(value)
        elif key in _EXAMPLES:
            ip_network(value)
        elif key == "names" and not _is_name(value):
            return (
                f'should be names in small letters, without https:// and port, such as "nakari.home"; one is "{value}"'
            )
    except ValueError:
        return f'should be addresses such as {_EXAMPLES[key]}; one is "{value}"'
    return ""


def host_and_port(address: str) -> tuple[str, int]:
    """Return the IP address and the port of an address with both. Raises ValueError for anything else."""
    parts = urlsplit(f"//{address}")
    if parts.hostname is None or parts.port is None or parts.netloc != address or "@" in address:
        raise ValueError(address)
    return str(ip_address(parts.hostname)), parts.port


def is_loopback(address: str) -> bool:
    """Whether nobody but programs of this machine reaches an address with a port."""
    return ip_address(host_and_port(address)[0]).is_loopback


class WyomingSettings(Struct, frozen=True):
    """Wyoming's server: Home Assistant may use the box as speech-to-text, as text-to-speech and as conversation agent.

    The protocol knows no password and no encryption.
    """

    listen: str = setting(
        "",
        'Where it is answered, address and port: "127.0.0.1:10300", or "0.0.0.0:10300" for all of this machine\'s '
        'addresses, which needs networks; "" is nowhere.',
    )
    networks: tuple[str, ...] = setting(
        (),
        'From which addresses others may come, e.g. ["192.168.1.5"] or ["192.168.1.0/24"]: whoever comes from there '
        "speaks for the household, without a password. Programs of the household on this machine need not be named.",
    )
    connections: int = setting(
        16,
        "How many may be open at a time, from one address half of them; one more takes the place of the one that has "
        "been idle for longest, and is closed at once where all are busy.",
        between=(1, 1000),
    )


def wrong_wyoming(settings: WyomingSettings) -> tuple[str, str]:
    """Return the key that is wrong beside the others, and what is wrong with it; else two ""."""
    if settings.listen and not is_loopback(settings.listen) and not settings.networks:
        return "listen", (
            f'is "{settings.listen}", which lets other machines in, and Wyoming knows no password: name those that may '
            "come in networks"
        )
    return "", ""


def wrong_listen(value: str) -> str:
    """Return what is wrong with the address, as the rest of the sentence; "" when nothing is."""
    try:
        host_and_port(value)
    except ValueError:
        return f'should be an address with a port such as 127.0.0.1:10300 or [::1]:10300; it is "{value}"'
    return ""
