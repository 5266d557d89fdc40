"""Labelled clips in a folder of anybody's, and the three parts that they are split into for good."""

import csv
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from audio.capture.recording import read_recording
from audio.pcm import Samples

Split: TypeAlias = Literal["fit", "choose", "report"]
"""What a rule is fitted on, what its threshold is chosen on, and what its figures are told of."""

SHARES: Final[Mapping[Split, float]] = {"fit": 0.5, "choose": 0.2, "report": 0.3}

TABLES: Final = ("clips.tsv", "transcripts.tsv")
"""Where a folder tells of its clips, tab separated, with a header; the first that is there."""

SOUND_FILES: Final = frozenset({".flac", ".mp3", ".oga", ".ogg", ".wav"})
"""What counts as a clip where no table names any."""

TRANSCRIPT_COLUMNS: Final = {"language": "lang", "text": "transcript", "source": "repo"}
"""What the columns of clips.tsv are called in the project's own small table."""


class Clip(Struct, frozen=True):
    """One recording and what is known of it; "" for what is not."""

    file: Path
    is_speech: bool
    """Else a noise in which nobody says a word."""
    language: str = ""
    """ISO 639-1."""
    speaker: str = ""
    text: str = ""
    source: str = ""

    @property
    def split(self) -> Split:
        """By who speaks, so that no voice is on both sides; where nobody knows, by the file's name."""
        return split_of(self.speaker or self.file.name)

    @property
    def split_of_text(self) -> Split:
        """By what is said: a rule about words asks that both splits are the one it works on."""
        return split_of(" ".join(self.text.casefold().split()) or self.file.name)

    def samples(self) -> Samples:
        """Return its sound: int16, shape (n,), 16 kHz. Raises `BadRecording`."""
        return read_recording(self.file)


def split_of(key: str) -> Split:
    """Return the split of a speaker, a text or a file: the same on every machine and for ever."""
    place = int.from_bytes(sha256(key.encode()).digest()[:8]) / 2**64
    edge = 0.0
    for split, share in SHARES.items():
        edge += share
        if place < edge:
            return split
    return "report"


def read_corpus(folder: Path) -> list[Clip]:
    """Return the clips of a folder, in the order of its table; without one its sound files and its folders, by name.

    In clips.tsv `kind` is speech or noise. Of a folder without a table what lies in a folder named noise is noise, and
    all else is speech of unknown words. Raises FileNotFoundError for a folder that holds none.
    """
    clips = list(_within(folder))
    if not clips:
        raise FileNotFoundError(f"{folder} holds no clips: no {' or '.join(TABLES)}, and no sound files")
    return clips


def _within(folder: Path, *, is_noise: bool = False) -> Iterator[Clip]:
    if table := next((folder / name for name in TABLES if (folder / name).is_file()), None):
        yield from _listed(table)
        return
    for each in sorted(folder.iterdir()):
        if each.is_dir():
            yield from _within(each, is_noise=is_noise or each.name == "noise")
        elif each.suffix.lower() in SOUND_FILES:
            yield Clip(each, is_speech=not is_noise)


def _listed(table: Path) -> Iterator[Clip]:
    with table.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
            told = {name: (row.get(name) or row.get(TRANSCRIPT_COLUMNS.get(name, name)) or "") for name in COLUMNS}
            yield Clip(table.parent / row["file"], row["kind"] != "noise", **told)


COLUMNS: Final = ("language", "speaker", "text", "source")
