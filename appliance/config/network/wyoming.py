"""What the configuration may say of Wyoming: where it is answered, and from where others may come."""

from ipaddress import ip_network

from msgspec import Struct

from appliance.config.meaning import setting
from appliance.config.network.http import host_and_port, is_loopback


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


def wrong_network(value: str) -> str:
    """Return what is wrong with one of several networks, as the rest of the sentence; "" when nothing is."""
    try:
        ip_network(value)
    except ValueError:
        return f'should be addresses such as 192.168.1.5 or 192.168.1.0/24; one is "{value}"'
    return ""
