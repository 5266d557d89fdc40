"""The voices that people let nakari keep: one file of the state folder, which leaves it in no backup."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import structlog
from msgspec import Struct

from audio.speakers.encoder import Vector, unit
from memory.durable import replace_durably, sync_folder

log = structlog.get_logger()

FILE: Final = "voices.json"
"""In the state folder, 0600."""

MOST_OF_ONE: Final = 12
"""Utterances kept of one person; of more the oldest goes."""


class Sample(Struct, frozen=True):
    """One utterance of somebody, as a vector: no sound and no words."""

    event_id: str
    vector: Vector


class VoiceStore:
    """The voices by name. Reads the file again when another process changed it; a change is on the disk on return."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        self._read_at = (0, 0)
        self._samples: dict[str, tuple[Sample, ...]] = {}

    def known(self) -> Mapping[str, tuple[Sample, ...]]:
        """Return the samples of everybody, by name. An unreadable file counts as empty, and is told once."""
        try:
            found = self.file.stat()
        except OSError:
            self._read_at, self._samples = (0, 0), {}
            return self._samples
        if (found.st_mtime_ns, found.st_ino) != self._read_at:
            self._read_at = (found.st_mtime_ns, found.st_ino)
            self._samples = self._read()
        return self._samples

    def add(self, name: str, *samples: Sample) -> None:
        """Keep utterances of somebody; one that was another's is theirs now. Blocking. Raises OSError."""
        taken = {each.event_id for each in samples}
        left = self._without(taken)
        left[name] = (*left.get(name, ()), *samples)[-MOST_OF_ONE:]
        self._write(left)

    def drop(self, event_id: str) -> None:
        """Keep nothing more of an utterance. Blocking. Raises OSError."""
        if any(each.event_id == event_id for samples in self.known().values() for each in samples):
            self._write(self._without({event_id}))

    def forget(self, name: str) -> bool:
        """Keep nothing more of somebody; whether there was anything. Blocking. Raises OSError."""
        found = named(name, self.known())
        if found:
            self._write({each: samples for each, samples in self.known().items() if each != found})
        return bool(found)

    def _without(self, event_ids: set[str]) -> dict[str, tuple[Sample, ...]]:
        kept = {
            name: tuple(each for each in samples if each.event_id not in event_ids)
            for name, samples in self.known().items()
        }
        return {name: samples for name, samples in kept.items() if samples}

    def _read(self) -> dict[str, tuple[Sample, ...]]:
        try:
            told = json.loads(self.file.read_text(encoding="utf-8"))
            return {
                str(name): tuple(Sample(str(each["event"]), _vector(each["vector"])) for each in samples)
                for name, samples in told["voices"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            log.warning("voices_unreadable", file=str(self.file), reason=str(error), fix="remove it and enrol again")
            return {}

    def _write(self, samples: Mapping[str, tuple[Sample, ...]]) -> None:
        if not samples:
            self.file.unlink(missing_ok=True)
            sync_folder(self.file.parent)
            return
        told = {
            name: [
                {"event": each.event_id, "vector": base64.b64encode(each.vector.astype("<f2").tobytes()).decode()}
                for each in given
            ]
            for name, given in samples.items()
        }
        replace_durably(self.file, [json.dumps({"voices": told}, ensure_ascii=False).encode()])


def named(name: str, known: Mapping[str, object]) -> str:
    """Return the name under which somebody is known, whatever its case; "" where nobody is."""
    return next((each for each in known if each.casefold() == name.strip().casefold()), "")


def _vector(text: str) -> Vector:
    found = np.frombuffer(base64.b64decode(text, validate=True), "<f2").astype(np.float32)
    if found.shape != (256,) or not np.isfinite(found).all():
        raise ValueError("a voice in it is damaged")
    return unit(found)
