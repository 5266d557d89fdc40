"""The paired devices as they are kept: one small file for its owner's eyes, replaced whole and durably."""

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from appliance.satellites.errors import SatellitesDamaged
from audio.egress import SendsTo
from memory.durable import replace_durably
from memory.json_value import read_json

FILE: Final = "satellites.json"
"""In the state folder: a backup takes it along, keys included, and a restore brings it back."""

MOST_BYTES: Final = 1_000_000
"""Of the file; a device takes 300."""


class Paired(Struct, frozen=True):
    """A device that a person let in."""

    id: str
    """Its MAC address in small letters with colons."""
    name: str
    """On the network, as it says itself."""
    room: str = ""
    address: str = ""
    """An IP address, or a name that a name server knows; where it was last."""
    port: int = 6053
    key: str = ""
    """Of its encryption: 32 bytes in base64; "" for a device that was let in without."""

    def __repr__(self) -> str:
        """Return it without its key."""
        return f"Paired({self.id!r})"

    @property
    def place(self) -> str:
        """The room, else its own name."""
        return self.room or self.name

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """Replies and announcements, to the device."""
        return (SendsTo(f"what is said in the {self.place}, and its state", host_and_port(self.address, self.port)),)


def host_and_port(host: str, port: int) -> str:
    """Return an address with its port."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class _Kept(Struct, frozen=True):
    satellites: tuple[Paired, ...]


class PairedList:
    """The file of paired devices. Blocking."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the state folder, which need not be there."""
        self._file = folder / FILE

    def read(self) -> tuple[Paired, ...]:
        """Return the devices in the order in which they were paired. Raises SatellitesDamaged."""
        try:
            with self._file.open("rb") as file:
                return read_json(file.read(MOST_BYTES), _Kept).satellites
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is damaged"
            fix = "restore it from a backup, or remove it and pair the satellites again"
            raise SatellitesDamaged(f"{self._file} cannot be read: {reason}; {fix}") from None  # no key into a log

    def write(self, devices: tuple[Paired, ...]) -> None:
        """Let these be the paired devices, on the disk on return. Raises SatellitesDamaged."""
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_durably(self._file, [msgspec.json.format(msgspec.json.encode(_Kept(devices)), indent=1)])
        except OSError as error:
            raise SatellitesDamaged(f"{self._file} cannot be written: {error.strerror}; make room for it") from None
