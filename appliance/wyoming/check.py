"""What the doctor looks at of Wyoming: where it is answered, and who may come in without a password."""

from collections.abc import Sequence
from ipaddress import ip_network

from appliance.config.load import Config
from appliance.config.network.http import is_loopback
from appliance.doctor.examine import Check, Line, Verdict, told_by_service


def wyoming(config: Config) -> Line:
    """Look where Wyoming is answered, for whom, and who is there."""
    settings = config.wyoming
    if not settings.listen:
        return Line("wyoming", Verdict.OK, "off")
    running = told_by_service(config.sockets, "wyoming")
    where = str(running.get("address", settings.listen))
    what = f"speech-to-text, voice and agent at {where}; {who_comes(settings.listen, settings.networks)}"
    if announced := running.get("announced"):
        what += f"; announced as {announced}"
    if running:
        last = f", the last came {running['last']}" if running["last"] else ""
        what += f"; {running['connections']} connected{last}"
    if problem := running.get("problem"):
        return Line("wyoming", Verdict.FAULT, f"{what}; {problem}", "stop what has it, or set another [wyoming] listen")
    if wide := [each for each in settings.networks if ip_network(each).is_global or not ip_network(each).prefixlen]:
        return Line("wyoming", Verdict.WARNING, what, f"{', '.join(wide)} is more than a house: name its own addresses")
    return Line("wyoming", Verdict.OK, what)


def who_comes(listen: str, networks: Sequence[str]) -> str:
    """Return in words who may come in."""
    if is_loopback(listen) and not networks:
        return "only programs of the household on this machine come in"
    whoever = f"whoever comes from {', '.join(networks)} speaks for the household"
    return f"{whoever}, without a password, and what is said goes unencrypted"


CHECKS: tuple[Check, ...] = (wyoming,)
