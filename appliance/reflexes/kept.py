"""What reflexes changed and a restart must not undo: mute, and how loud it is."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
import structlog
from msgspec import Meta, Struct
from msgspec.structs import replace

from memory.clock import Moment
from memory.durable import replace_durably
from memory.json_value import read_json

log = structlog.get_logger()


Percent: TypeAlias = Annotated[int, Meta(ge=0, le=100)]


class Kept(Struct, frozen=True, forbid_unknown_fields=True):
    """The state of the switches."""

    muted: bool
    muted_until: Moment | None = None
    """When that ends by itself; None for never, or where nobody knows."""
    volume: Percent | None = None
    """None where nobody changed it."""
    volume_configured: Percent = 100
    """The configuration's percent when it was changed: once that says something else, it counts again."""


class KeptSwitches:
    """One small file in the state folder, replaced whole and fsynced; a crash leaves the old one or the new one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writing = asyncio.Lock()
        self.now = self._read()

    def volume_for(self, configured: int) -> int:
        """Return the percent to start with."""
        kept = self.now
        return configured if kept.volume is None or kept.volume_configured != configured else kept.volume

    async def keep(self, **changes: bool | int | datetime | None) -> bool:
        """Change what is kept; durable on return. False, said in the log, when the disk refuses."""
        self.now = replace(self.now, **changes)
        async with self._writing:
            try:
                await asyncio.to_thread(self._write, self.now)
            except OSError as error:
                log.warning("switches_not_kept", reason=str(error))
                return False
        return True

    def _read(self) -> Kept:
        try:
            return read_json(self._file.read_bytes(), Kept)
        except FileNotFoundError:
            return Kept(muted=False)
        except (OSError, ValueError) as error:
            # Nobody knows what was wanted: a microphone that stays off is the error that harms least.
            log.warning("switches_unreadable", reason=str(error), file=str(self._file))
            return Kept(muted=True)

    def _write(self, kept: Kept) -> None:
        replace_durably(self._file, [msgspec.json.encode(kept)])
