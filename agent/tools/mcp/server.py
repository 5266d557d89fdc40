"""The configuration of an MCP server, and a tool as the server describes it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from agent.tools.tool import DEFAULT_TIMEOUT, Effect
from memory.egress import SendsTo, host_of
from memory.json_value import Json

LAST_WORDS: Final = " / "
"""Stands before each line that a program said last, in the reason of its end."""


class Offered(Struct, frozen=True):
    """A tool as its server tells of it: nothing in it was checked."""

    name: str
    description: str
    schema: Mapping[str, object]
    """JSON Schema of the arguments."""
    only_reads: bool = False
    """Whether the server says that it changes nothing."""


AsksAbout: TypeAlias = Callable[[Offered, Mapping[str, Json]], Awaitable[str]]
"""`AsksFirst` of a call of one of a server's tools."""

Adds: TypeAlias = Callable[[str], Awaitable[str]]


class Server(Struct, frozen=True):
    """A server of tools, from the configuration."""

    name: str
    """Small letters, digits and -; the first part of its tools' names."""
    command: tuple[str, ...] = ()
    """A program on this machine and its arguments; empty for one that has an address."""
    environment: Mapping[str, str] = {}
    """All that the program sees of an environment; may hold secrets."""
    url: str = ""
    """Where it answers, over streamable HTTP."""
    key: str = ""
    """What it wants to be shown as a bearer token."""
    allowed: frozenset[str] = frozenset()
    """Its own names of the tools that may join; empty for all."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds a call may take."""
    believes_hints: bool = True
    """Whether a tool that it says only reads counts as pure."""
    pure: frozenset[str] = frozenset()
    reversible: frozenset[str] = frozenset()
    """Tools of which the owner of the box says so."""
    asks_first: AsksAbout | None = None
    """Tells of a call of one of its tools what needs a person's yes; None where none does."""
    adds: Adds | None = None
    """Returns what a tool's answer leaves out, from what it says; None where nothing is added."""
    key_fix: str = "correct the key that `api_key_env` names"
    """What to do where it does not take the key."""
    absent: str = ""
    """What to do where it answers that there is no such address; "" where nobody knows."""

    def __repr__(self) -> str:
        """Return it without key and environment."""
        return f"Server({self.name!r})"

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """The arguments of its tools: to its address, or to a program here, which may send them on."""
        what = f"what the tools of {self.name} are given"
        if self.url:
            return (SendsTo(what, host_of(self.url)),)
        return (SendsTo(what, f"whoever {self.name} sends it on to, a program of others", is_certain=False),)

    def effect_of(self, tool: Offered) -> Effect:
        """Return what breaking off a call of the tool leaves behind; the worst where nobody says.

        That a tool is "not destructive" means nothing here: a letter that was sent destroys nothing.
        """
        if tool.name in self.pure or (self.believes_hints and tool.only_reads):
            return "pure"
        return "reversible" if tool.name in self.reversible else "irreversible"


class Said(Struct, frozen=True):
    """What a server's tool said."""

    words: str
    images: tuple[bytes, ...] = ()
    """Files of formats that a model can be shown, in the order in which the words tell of them."""


READ_RESOURCE: Final = Offered(
    "read_resource",
    "Read one of the documents, data or images that this server has, by its address; without an address, list them.",
    {"type": "object", "properties": {"uri": {"type": "string", "description": "its address, as it was listed"}}},
    only_reads=True,
)
"""Offered where a server has resources, and no tool of this name."""
