"""The folder of recordings: bounded in number, bytes and age, and emptied when something is to be forgotten."""

import os
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from agent.event import utc_now
from appliance.config.sections import RecorderSettings, StateSettings
from appliance.errors import Exit, Problem
from appliance.recorder.recording import Damaged, Recording
from memory.state.retention import Keep

log = structlog.get_logger()

FOLDER: Final = "recordings"
"""In the state folder; in no backup."""

_WHOLE: Final = ".npz"
_PART: Final = ".part"
LAST: Final = "last"
"""Names the newest recording."""


class Limits(Struct, frozen=True):
    """How much is kept."""

    turns: int
    most_bytes: int
    days: int = 0
    """0 is for ever."""


class Recordings:
    """Keeps recordings, a file each, readable by its owner alone. All calls block; one process writes.

    A crash may lose the newest, and never leaves half of one that counts: a file has its name only once it is whole.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        """`folder` is made, inside one that exists, with the first recording."""
        self._folder = folder
        self.limits = limits
        self._lock = threading.Lock()
        self.forgotten = 0
        """How often all was to be forgotten: what was heard before is kept no more."""

    def tidy(self) -> None:
        """Remove what is too much or too old, what a kill left half written, and all where nothing is to be kept."""
        for part in self._folder.glob(f"*{_PART}"):
            part.unlink(missing_ok=True)
        files, total = self._files(), 0
        for number, file in enumerate(files):
            size, at = _looked_at(file)
            total += size
            is_too_much = number >= self.limits.turns or total > self.limits.most_bytes
            if is_too_much or (self.limits.days and at < utc_now() - timedelta(days=self.limits.days)):
                file.unlink(missing_ok=True)

    def keep(self, recording: Recording, forgotten: int) -> bool:
        """Keep a recording, and no more than the limits let; False where all was forgotten since `forgotten`.

        Raises OSError.
        """
        data = recording.to_bytes()
        with self._lock:
            if forgotten != self.forgotten:
                return False
            self._write(recording.id, data)
            self.tidy()
        return True

    def _write(self, name: str, data: bytes) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        part = self._folder / f"{name}{_PART}"
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            part.replace(part.with_suffix(_WHOLE))
        except OSError:  # a full disk is not to be filled with halves
            part.unlink(missing_ok=True)
            raise

    def listed(self) -> list[Recording]:
        """Return all that is kept, the newest first; what is damaged is told in the log."""
        found = []
        for file in self._files():
            with suppress(OSError):
                try:
                    found.append(Recording.from_bytes(file.read_bytes()))
                except Damaged as error:
                    log.warning("recording_damaged", file=file.name, reason=str(error))
        return found

    def find(self, name: str) -> Recording:
        """Return a recording by its id or the beginning of that, `LAST` for the newest. Raises `Problem`."""
        try:
            files = self._files()
            fitting = files[:1] if name == LAST else [each for each in files if each.stem.startswith(name)]
            if len(fitting) == 1:
                return Recording.from_bytes(fitting[0].read_bytes())
        except PermissionError as error:
            sentence = f"{self._folder} cannot be read ({error.strerror}); run this as the user of the service"
            raise Problem(sentence, Exit.NOT_ALLOWED) from error
        except (OSError, Damaged) as error:
            raise Problem(f"the recording {name} cannot be read: {error}", Exit.NO_INPUT) from error
        if fitting:
            raise Problem(f"{len(fitting)} recordings begin with {name}; give more of the id", Exit.USAGE)
        what = f"there is no recording of {name!r}" if name != LAST else "nothing is recorded"
        how = "[recorder] turns = 20 has the next ones kept, `nakari replay` lists them"
        raise Problem(f"{what}; {how}", Exit.NO_INPUT)

    def measure(self) -> tuple[int, int]:
        """Return how many there are, and their bytes."""
        sizes = [_looked_at(file)[0] for file in self._files()]
        return len(sizes), sum(sizes)

    def forget(self) -> None:
        """Remove every recording: each also holds what was to be heard before and after its turn."""
        with self._lock:
            self.forgotten += 1
            for file in (*self._folder.glob(f"*{_WHOLE}"), *self._folder.glob(f"*{_PART}")):
                file.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        """Return the whole files, the newest first."""
        if not self._folder.exists():
            return []
        return sorted(self._folder.glob(f"*{_WHOLE}"), key=lambda file: _looked_at(file)[1], reverse=True)


def recordings_in(state_folder: Path, settings: RecorderSettings, state: StateSettings) -> Recordings:
    """Return the recordings of a state folder; nothing is looked at yet."""
    days = Keep(state.keep_details_days, state.keep_words_days).details
    return Recordings(state_folder / FOLDER, Limits(settings.turns, settings.megabytes * 1_000_000, days))


def _looked_at(file: Path) -> tuple[int, datetime]:
    """Return size and time of a file; of one that is gone nothing, and long ago."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return 0, datetime.min.replace(tzinfo=UTC)
    return found.st_size, datetime.fromtimestamp(found.st_mtime_ns / 1e9, UTC)
