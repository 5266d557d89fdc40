"""Searches names and texts below a folder, for a bounded time and through a bounded number of bytes."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from time import monotonic
from typing import Final

from msgspec import Struct

from agent.errors import ToolFailed
from agent.tools.confined.folders import Folders
from agent.tools.confined.paths import is_hidden, opened_file, shown
from agent.tools.confined.text import SAMPLE, decoded, encoding_of

SECONDS: Final = 8.0
"""After which a search tells what it found so far."""

MOST_BYTES: Final = 2_000_000
"""Of one file; what comes behind them is not searched."""

MOST_DEPTH: Final = 24
"""Folders inside of folders."""

MOST_MATCHES: Final = 40
MOST_OF_FILE: Final = 3
EXCERPT: Final = 160
"""Characters of a line."""


class Match(Struct, frozen=True):
    """Where the words stand."""

    path: str
    line: int = 0
    """From 1; 0 where they are in the name."""
    text: str = ""


class Found(Struct):
    """What a search found, and how far it came."""

    matches: list[Match] = []
    files: int = 0
    """Looked at."""
    is_whole: bool = True
    """False where time or room ended it, or where it left out the end of a large file."""


def search(folders: Folders, words: str, path: str = "", clock: Callable[[], float] = monotonic) -> Found:
    """Find files whose name or one of whose lines holds all these words, in any case. Raises `ToolFailed`."""
    wanted = words.casefold().split()
    if not wanted:
        raise ToolFailed("say the words to look for")
    found, until = Found(), clock() + SECONDS
    for start in [path] if path else sorted(folders.names):
        for place, name, folder in _files(folders, start):
            if clock() > until or len(found.matches) >= MOST_MATCHES:
                found.is_whole = False
                return found
            found.files += 1
            told = str(PurePosixPath(place, shown(name)))
            if all(word in told.casefold() for word in wanted):
                found.matches.append(Match(told))
            _search_text(folder, name, told, wanted, found)
    return found


def _files(folders: Folders, start: str) -> Iterator[tuple[str, str, int]]:
    """Yield each file below a folder: its folder's path, its name, and its folder's descriptor."""
    with folders.folder(start) as top:
        for below, inner, files, folder in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            place = PurePosixPath(start, *map(shown, PurePosixPath(below).parts))
            is_deep = len(place.parts) >= MOST_DEPTH
            inner[:] = [] if is_deep else sorted(name for name in inner if not is_hidden(name))
            for name in sorted(name for name in files if not is_hidden(name)):
                yield str(place), name, folder


def _search_text(folder: int, name: str, told: str, wanted: list[str], found: Found) -> None:
    try:
        with opened_file(folder, name) as file:
            size, raw = os.fstat(file).st_size, os.pread(file, MOST_BYTES, 0)
    except (ToolFailed, OSError):  # a pipe, a link, or nothing that may be read
        return
    encoding = encoding_of(raw[:SAMPLE])
    if not encoding.name:
        return
    found.is_whole &= size <= len(raw)
    text, _ = decoded(raw[encoding.mark :], encoding, is_end=True)
    if not all(word in text.casefold() for word in wanted):
        return
    here = [
        Match(told, number, _excerpt(line, wanted[0]))
        for number, line in enumerate(text.splitlines(), 1)
        if all(word in line.casefold() for word in wanted)
    ]
    found.matches.extend(here[: min(MOST_OF_FILE, MOST_MATCHES - len(found.matches))])


def _excerpt(line: str, word: str) -> str:
    at = re.search(re.escape(word), line, re.IGNORECASE)
    begin = max(0, (at.start() if at else 0) - EXCERPT // 2)
    return line[begin : begin + EXCERPT].strip()
