"""Who may come in: programs of the household on this machine, and whoever comes from a network that was named."""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

from msgspec import Struct

from appliance.http.access.peer import Address, is_of_household, plain, user_of
from audio.egress import SendsTo


class Guests(Struct, frozen=True):
    """Judges by the address at the other end; the protocol knows nothing else to judge by."""

    networks: tuple[IPv4Network | IPv6Network, ...]
    user: Callable[[Address, Address], int | None] = user_of
    """Returns the user behind the other end of a loopback connection, None where that is not to be found."""
    is_member: Callable[[int], bool] = is_of_household

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What whoever may come from other machines can ask for."""
        what = "the agent's answers, and what is recognized and said for them, to whoever asks by Wyoming"
        return tuple(SendsTo(what, str(each)) for each in self.networks if not each.is_loopback)

    def refusal(self, peer: Address, here: Address) -> str:
        """Return why a connection is not let in, with the fix; "" lets it in. Blocking, for a millisecond."""
        host = plain(peer[0])
        if any(host in network for network in self.networks):
            return ""
        if not host.is_loopback:
            return f"{host} is not named in [wyoming] networks"
        uid = self.user(peer, here)
        if uid is not None and self.is_member(uid):
            return ""
        who = "a program that was gone at once" if uid is None else f"user {uid} of this machine"
        return f'{who} is not of the household: put the user into the group nakari, or "{host}" into [wyoming] networks'


def guests_of(networks: Sequence[str]) -> Guests:
    """Return who may come from networks, as the configuration names them."""
    return Guests(tuple(ip_network(each) for each in networks))
