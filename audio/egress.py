"""What a voice, a recognizer or a model's download hands to another machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SendsTo:
    """Something that an adapter sends. One that sends nothing declares an empty tuple."""

    what: str
    """A noun phrase for people: "what nakari says"."""
    to: str
    """The host, with its port where it has one, or the name of a service that everybody knows. It may be this machine:
    who gathers what leaves the house leaves those out."""
    is_certain: bool = True
    """False for a program on this machine, which may send on what it is given; only it knows."""
