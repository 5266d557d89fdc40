"""What an adapter hands to another machine: one module under two names, for `audio` and for `memory`."""

from msgspec import Struct


class SendsTo(Struct, frozen=True):
    """Something that an adapter sends. One that sends nothing declares an empty tuple."""

    what: str
    """A noun phrase for people: "what nakari says", "the graph"."""
    to: str
    """The host, with its port where it has one, or the name of a service that everybody knows. It may be this machine:
    who gathers what leaves the house leaves those out."""
    is_certain: bool = True
    """False for a program on this machine, which may send on what it is given; only it knows."""


def host_of(url: str) -> str:
    """Return the host of an address, with its port and without a login; "" where there is none."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2] or url.partition("/")[0].rpartition("@")[2]
