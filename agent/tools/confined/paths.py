"""Opens what lies below an allowed folder: name by name from its descriptor, no link followed, nothing blocking."""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final

from agent.errors import ToolFailed

MOST_LOOKED_THROUGH: Final = 200_000
"""Entries of one folder that are looked at; a listing says so where there are more."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""Without O_NONBLOCK a FIFO that takes a file's place at the last moment would hold the thread for ever."""


def shown(name: str) -> str:
    r"""Return a name as a model may say it: composed (NFC), and bytes that are no UTF-8 as \xe9."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "backslashreplace"))


def is_hidden(name: str) -> bool:
    """Whether a name is one of those that programs keep for themselves: .ssh, .bashrc, .git."""
    return name.startswith(".")


def parts_of(path: str) -> tuple[str, ...]:
    """Return the names of a path as the model writes it. Raises `ToolFailed` for one that could lead elsewhere."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith(("/", "~")):
        raise ToolFailed("a path begins with the name of an allowed folder, not with / or ~; list_files tells them")
    if ".." in parts:
        raise ToolFailed("a path may not hold ..; name the file from its allowed folder on")
    if any(map(is_hidden, parts)):
        raise ToolFailed("hidden files and folders, whose names begin with a dot, are left alone")
    if any(unicodedata.category(each) == "Cc" for each in path) or any(len(os.fsencode(part)) > 255 for part in parts):
        raise ToolFailed("a name is too long, or holds a character that cannot be seen")
    return parts


@contextmanager
def opened_folder(root: str, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
    """Give the descriptor of a folder below a root, made where it is missing and `make` says so.

    Each name is opened in the folder before it with O_NOFOLLOW, so that what is exchanged meanwhile for a link is
    refused by the kernel; no path is looked up twice. Raises `ToolFailed` with what is in the way.
    """
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            name = found(at, part)
            try:
                is_new = make and _make(at, name)
                inner = os.open(name, _FOLDER, dir_fd=at)
            except OSError as error:
                raise ToolFailed(_why(error, at, name)) from error
            if is_new:
                os.fchmod(inner, stat.S_IMODE(os.fstat(at).st_mode))
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


@contextmanager
def opened_file(folder: int, part: str) -> Iterator[int]:
    """Give the descriptor of a regular file in an open folder, for reading.

    Raises `ToolFailed` for what is missing or no file: a link, a folder, a pipe, a device. Nor is a file opened that
    has a second name, which may lie anywhere: who made a hard link to it could show what is nobody else's.
    """
    name = found(folder, part)
    try:
        _check(os.stat(name, dir_fd=folder, follow_symlinks=False), part)  # a device is not even opened
        file = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        raise ToolFailed(_why(error, folder, name)) from error
    try:
        _check(os.fstat(file), part)
        yield file
    finally:
        os.close(file)


def found(folder: int, part: str) -> str:
    """Return the name on the disk for one that a model said; the same where there is none."""
    try:
        os.stat(part, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        wanted = unicodedata.normalize("NFC", part)
        with os.scandir(folder) as entries:
            names = (entry.name for entry in islice(entries, MOST_LOOKED_THROUGH))
            return next((name for name in names if shown(name) == wanted), part)
    except OSError:
        pass
    return part


def kind_of(mode: int) -> str:
    """Return what a file is, in a word."""
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFIFO: "pipe"}
    return kinds.get(stat.S_IFMT(mode), "device")


def _check(told: os.stat_result, part: str) -> None:
    if not stat.S_ISREG(told.st_mode):
        raise ToolFailed(_no_file(part, kind_of(told.st_mode)))
    if told.st_nlink != 1:
        raise ToolFailed(f"{part} has a second name (a hard link), which may lie elsewhere: it is left alone")


def _no_file(part: str, kind: str) -> str:
    also = {"link": ", and links are not followed", "folder": "; list_files tells what is in it"}
    return f"{part} is no file but a {kind}{also.get(kind, '')}"


def _make(folder: int, name: str) -> bool:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return False
    return True


def _why(error: OSError, folder: int, name: str) -> str:
    """Return a sentence for what the system said."""
    told = shown(name)
    match error.errno:
        case errno.ENOENT:
            return f"there is no {told}; list_files tells what there is"
        case errno.ELOOP | errno.ENOTDIR:
            try:
                kind = kind_of(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            except OSError:
                kind = "file"
            return f"{told} is a link, and links are not followed" if kind == "link" else f"{told} is no folder"
        case errno.EACCES | errno.EPERM:
            return f"nakari may not open {told}; `nakari doctor` tells how it is let in"
        case errno.EROFS:
            return "this folder can only be read; `nakari doctor` tells how writing is allowed"
    return f"{told}: {(error.strerror or 'it cannot be opened').lower()}"
