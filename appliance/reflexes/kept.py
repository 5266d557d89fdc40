"""What reflexes changed and a restart must not undo: mute, and how loud it is."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import structlog
from msgspec import Struct
from msgspec.structs import asdict, replace

from memory.durable import replace_durably

log = structlog.get_logger()


class Kept(Struct, frozen=True):
    """The state of the switches."""

    muted: bool = False
    muted_until: datetime | None = None
    """When that ends by itself, aware; None for never, or where nobody knows."""
    volume: int | None = None
    """Percent; None where nobody changed it."""
    volume_configured: int = 100
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
            found = json.loads(self._file.read_text(encoding="utf-8"))
            until = datetime.fromisoformat(found["muted_until"]).astimezone(UTC) if found.get("muted_until") else None
            return Kept(bool(found["muted"]), until, found["volume"], int(found["volume_configured"]))
        except FileNotFoundError:
            return Kept()
        except (OSError, ValueError, KeyError, TypeError) as error:
            # Nobody knows what was wanted: a microphone that stays off is the error that harms least.
            log.warning("switches_unreadable", reason=str(error), file=str(self._file))
            return Kept(muted=True)

    def _write(self, kept: Kept) -> None:
        replace_durably(self._file, [json.dumps(asdict(kept), default=datetime.isoformat).encode()])
