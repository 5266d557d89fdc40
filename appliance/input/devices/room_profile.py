"""The room's profile as a small file in the state folder: written whole or not at all, and never believed blindly."""

import io
import zipfile
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from audio.echo.duplex import Mode
from audio.echo.profile import RoomProfile
from memory.durable import replace_durably

log = structlog.get_logger()

NAME: Final = "room.npz"
VERSION: Final = 1
"""Of what the file holds; another one is not read."""

LARGEST: Final = 1 << 20
"""Bytes; the file has some 30 kB."""


class RoomProfileFile:
    """A `ProfileStore` in one file. Of a crash while it is written the profile before is left."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> RoomProfile | None:
        """Return the profile in the file; None without a file, and, told in the log, where it cannot be read."""
        try:
            return _read(self._file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            log.warning(
                "room_profile_ignored", file=str(self._file), reason=str(error), fix="none needed: it is learned"
            )
            return None

    def save(self, profile: RoomProfile) -> None:
        """Put the profile in the place of the one before."""
        packed = io.BytesIO()
        numbers = [VERSION, profile.echo_delay, profile.raw_floor, profile.left_floor]
        names = np.array([profile.devices, profile.mode.value])
        np.savez(packed, names=names, numbers=np.array(numbers), path=profile.path, expected=profile.expected)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            replace_durably(self._file, [packed.getvalue()])
        except OSError as error:
            log.warning("room_profile_not_kept", reason=str(error))


def _read(file: Path) -> RoomProfile:
    """Return the profile in a file. Raises OSError, ValueError, KeyError, EOFError, BadZipFile for one that is none."""
    if file.stat().st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as packed:
        devices, mode = (str(name) for name in packed["names"])
        version, delay, raw, left = (float(number) for number in packed["numbers"])
        path, expected = packed["path"].astype(np.float32), packed["expected"].astype(np.float64)
    if version != VERSION:
        raise ValueError(f"it is of version {version:g}, not {VERSION}")
    if path.ndim != 1 or expected.ndim != 2 or not all(np.all(np.isfinite(each)) for each in (path, expected)):
        raise ValueError("it holds no echo path")
    if not all(np.isfinite((delay, raw, left))):
        raise ValueError("it holds no numbers")
    return RoomProfile(devices, Mode(mode), delay, raw, left, path, expected)
