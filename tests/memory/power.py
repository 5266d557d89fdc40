"""A power cut: what a process wrote and synced, recorded by strace, and files as they are when the unsynced is gone."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]

_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?")
_PLACE = re.compile(r"^(-?\w+)<([^>]*)>")
_DATA = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_TRACED = "openat,write,pwrite64,ftruncate,fsync,fdatasync,/^rename"


@dataclass(slots=True)
class _File:
    content: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    """The content at its last sync."""
    is_named: bool = False
    """Whether its folder was synced since it was made: else a cut may leave no file of that name."""
    replaces: "_File | None" = None
    """What had its name before, and may have it again after a cut, until its folder is synced."""


@dataclass(slots=True)
class Disk:
    """The files of a folder, between the program and the disk."""

    folder: Path
    files: dict[str, _File] = field(default_factory=dict)

    def after_a_cut(self, into: Path, keep: float = 0.0, *, renames: bool = True, early: str = "-") -> None:
        """Write the files as a cut leaves them: what was synced, and a share of what was appended since.

        `renames` says whether those are on the disk that nobody has synced, `early` how the names begin of files that
        are there whole: the disk may write either before the rest.
        """
        into.mkdir(parents=True)
        for name, there in self.files.items():
            file = there.replaces if there.replaces and not renames else there
            if name.startswith(early):
                (into / name).write_bytes(file.content)
            elif file.is_named:
                late = bytes(file.content[len(file.synced) :])
                (into / name).write_bytes(file.synced + late[: int(keep * len(late))])

    def follow(self, call: str, arguments: str) -> None:
        """Do what a system call did."""
        if call.startswith("rename"):
            self._rename(*(Path(_text(path)) for path in _DATA.findall(arguments)))
            return
        place = _PLACE.match(arguments)
        if place is None:
            return
        path = Path(place[2])
        if path == self.folder and call in ("fsync", "fdatasync"):
            for file in self.files.values():
                file.is_named, file.replaces = True, None
        if path.parent != self.folder:
            return
        file = self.files.setdefault(path.name, _File())
        data = bytes.fromhex("".join(_DATA.findall(arguments)[:1]).replace("\\x", ""))
        numbers = [int(number) for number in re.findall(r"(?<=, )\d+", arguments)]
        match call:
            case "write":  # the audit log appends
                file.content += data
            case "pwrite64":
                end = numbers[-1] + len(data)
                file.content.extend(bytes(max(0, end - len(file.content))))
                file.content[numbers[-1] : end] = data
            case "ftruncate":
                del file.content[numbers[-1] :]
            case "fsync" | "fdatasync":
                file.synced = bytes(file.content)

    def _rename(self, path: Path, becomes: Path) -> None:
        if path.parent == becomes.parent == self.folder:
            file, before = self.files.pop(path.name), self.files.get(becomes.name)
            self.files[becomes.name] = file
            if before is not None and before.is_named:
                file.is_named, file.replaces = True, before


def recorded(program: str, folder: Path, trace: Path) -> None:
    """Run a Python program with its folder as argument, its system calls written down."""
    command = ["strace", "-f", "-y", "-xx", "-s", "1000000", "-e", f"trace={_TRACED}", "-o", str(trace)]
    subprocess.run([*command, sys.executable, "-c", program, str(folder)], cwd=ROOT, check=True, capture_output=True)


def moments(trace: Path, folder: Path) -> Iterator[tuple[Disk, list[str]]]:
    """Yield the disk after each call, with the lines that the program has said so far; always the same disk."""
    disk, said = Disk(folder), list[str]()
    unfinished: dict[str, str] = {}
    for line in trace.read_text(encoding="ascii").splitlines():
        thread, _, rest = line.partition(" ")
        if "<unfinished ...>" in rest:
            unfinished[thread] = rest.replace("<unfinished ...>", "").strip()
            continue
        if resumed := re.match(r" *<\.\.\. \w+ resumed>(.*)", rest):
            rest = unfinished.pop(thread) + resumed[1].strip()
        found = _CALL.match(rest.strip())
        if found is None or int(found[3]) < 0:
            continue
        call, arguments = found[1], found[2]
        arguments = re.sub(r"<((?:\\x[0-9a-f]{2})+)>", lambda path: f"<{_text(path[1])}>", arguments)
        if call == "write" and arguments.startswith("1<"):
            said += _text("".join(_DATA.findall(arguments)[:1])).splitlines()
        else:
            disk.follow(call, arguments)
        yield disk, said


def _text(escaped: str) -> str:
    return bytes.fromhex(escaped.replace("\\x", "")).decode()
