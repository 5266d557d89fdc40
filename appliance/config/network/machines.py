"""What the configuration may say of several machines: where their engine is, and what this one does."""

import re
import socket
from pathlib import Path
from typing import Final, Literal, get_args

from msgspec import Struct

from appliance.config.meaning import setting
from appliance.errors import ConfigError

Role = Literal["all", "ears", "mind"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

SCHEMES: Final = ("nats://", "tls://", "redis://", "rediss://")
"""How the engine's URL begins: NATS, NATS with TLS, Redis, Redis with TLS."""

ENCRYPTED: Final = ("tls://", "rediss://")

_HOUSEHOLD = re.compile(r"[a-z0-9][a-z0-9-]{0,31}\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}\Z")


class MachineSettings(Struct, frozen=True):
    """Several machines as one box: ears here, mind there, or one that takes over. `nakari join` gives the credentials.

    Else they are NAKARI_MACHINES_USER with NAKARI_MACHINES_PASSWORD, NAKARI_MACHINES_TOKEN, or the file that
    NAKARI_MACHINES_LOGIN names (.nk or .creds, of NATS).
    """

    url: str = setting(
        "",
        "The server between them: nats://, tls:// (NATS with TLS), redis:// or rediss:// (Redis with TLS), e.g. "
        '"tls://server.home:4222"; "" is none, and this machine is alone.',
    )
    role: Role = setting(
        "all", '"ears" hears and speaks, "mind" thinks and remembers, "all" does both; `nakari run --role` goes first.'
    )
    name: str = setting("", 'What this machine is called among them; "" is its host\'s name.')
    household: str = setting(
        "home", "Whose machines they are; small letters, digits and -. All of one household have the same."
    )
    ca: str = setting(
        "", "A PEM file with the authority that the server's certificate is signed by; \"\" is the system's own."
    )
    users: str = setting(
        "",
        "On the machine of the NATS server: the file with the household's machines, which its configuration "
        'includes and `nakari machines` writes; "" where somebody else looks after it.',
    )

    @property
    def own_name(self) -> str:
        """What this machine is called among the household's."""
        return self.name or name_of(socket.gethostname())

    @property
    def authority(self) -> Path | None:
        """The file of `ca`; None where the system's own authorities are meant."""
        return Path(self.ca).expanduser() if self.ca else None


def wrong_machines(settings: MachineSettings) -> tuple[str, str]:
    """Return the key that is wrong beside the others, and what is wrong with it; else two ""."""
    if not settings.url and settings.role != "all":
        return "role", needs_url(settings.role)
    if settings.ca and not settings.url.startswith(ENCRYPTED):
        return "ca", f'stands beside url = "{settings.url}", which has no TLS: write {" or ".join(ENCRYPTED)} there'
    return "", ""


def role_of(settings: MachineSettings, asked: Role | None) -> Role:
    """Return what this machine does: as `nakari run --role` asked, else as it is set.

    Raises `ConfigError` where it was asked for a part, and no server is named at which the other one can be met.
    """
    role = asked or settings.role
    if role != "all" and not settings.url:
        raise ConfigError(f"--role {needs_url(role)}".replace("url is", "[machines] url is"))
    return role


def needs_url(role: Role) -> str:
    """Return what is wrong with a role where there is no engine, as the rest of the sentence."""
    other = "mind" if role == "ears" else "ears"
    return f'is "{role}", and url is "": name the server where its {other} can be met, or write role = "all"'


def wrong_household(value: str) -> str:
    """Return what is wrong with a household's name, as the rest of the sentence; "" when nothing is."""
    if _HOUSEHOLD.match(value):
        return ""
    return f'should be of up to 32 small letters, digits and -, for it names what the server keeps; it is "{value}"'


def wrong_name(value: str) -> str:
    """Return what is wrong with a machine's name, as the rest of the sentence; "" when nothing is."""
    return "" if _NAME.match(value) else f'should be of up to 63 letters, digits and -; it is "{value}"'


def name_of(host: str) -> str:
    """Return a machine's name of its host's: up to the first dot, what no name has as "-"; "machine" of nothing."""
    return re.sub(r"[^A-Za-z0-9]+", "-", host.partition(".")[0]).strip("-")[:63].strip("-") or "machine"
