"""What the doctor looks at of access: who may read what is kept, who may use the sound card, who has the ports."""

import grp
import os
import socket
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from appliance.config.load import Config
from appliance.doctor.examine import PART_SECONDS, Check, Line, Verdict, line_of, told_by_service
from appliance.logs.configure import Redaction, redaction_of

SOUND_DEVICES: Final = Path("/dev/snd")

LISTENS: Final = "0A"
"""The state of a listening socket in /proc/net/tcp (TCP_LISTEN of include/net/tcp_states.h)."""

PEER: Final = struct.Struct("3i")
"""What SO_PEERCRED gives (unix(7)): process, user, group."""

SECONDS: Final = 2.0
"""How long whoever has the door's socket may take to let somebody in."""


def access(config: Config) -> Line:
    """Look who else may read what is kept and configured, and whether the sound card may be used."""
    cards = {card: os.access(card, os.R_OK | os.W_OK) for card in SOUND_DEVICES.glob("pcm*")}
    wrong = [*open_to_others(config.state_folder, config.file, redaction_of(config)), *closed_card(cards)]
    well = (Verdict.OK, "nobody else may read what is kept", "")
    return line_of("access", [(Verdict.WARNING, *each) for each in wrong] or [well])


def open_to_others(folder: Path, file: Path | None, redaction: Redaction) -> Iterator[tuple[str, str]]:
    """Yield what other users of this machine may read of state folder and configuration, each with the fix."""
    if folder.is_dir() and folder.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield f"other users may look into {folder}, where all that was said is kept", f"chmod 700 {folder}"
    if file is not None and file.is_file() and file.stat().st_mode & stat.S_IROTH:
        text = file.read_text(encoding="utf-8", errors="replace")
        if redaction.clean(text) != text:
            yield f"every user may read the key or password in {file}", f"chmod 600 {file}, or keep it out of the file"


def closed_card(cards: Mapping[Path, bool]) -> Iterator[tuple[str, str]]:
    """Yield that the sound card is closed to this user, with the fix; `cards` are its devices, and which is usable."""
    if cards and not any(cards.values()):
        group = next(iter(cards)).stat().st_gid
        with suppress(KeyError):
            name = grp.getgrgid(group).gr_name
            yield f"the sound card is for the group {name}", f"sudo usermod -aG {name} $USER, then log in again"


def ports(config: Config) -> Line:
    """Look whether somebody else has the door's socket or the store's port, and who."""
    port = config.memory.bolt_port if config.memory.enabled and not config.memory.uri else 0
    taken = [*taken_socket(config.socket), *(taken_port(config.sockets, port) if port else ())]
    store = f"; the store's port {port} on loopback" if port else ""
    well = (Verdict.OK, f"the door {config.socket}{store}", "")
    return line_of("ports", [(Verdict.FAULT, *each) for each in taken] or [well])


def taken_socket(path: Path, seconds: float = PART_SECONDS) -> Iterator[tuple[str, str]]:
    """Yield who has the path of the door and is no nakari, which answers within so many seconds, with the fix."""
    if not path.exists():
        return
    if not path.is_socket():
        yield f"{path} is there and is no socket", "move it away, or set [door] socket"
        return
    # What cannot be reached is a dead process's, or another user's.
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller, suppress(OSError):
        caller.settimeout(SECONDS)
        caller.connect(str(path))
        process, *_ = PEER.unpack(caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size))
        if not told_by_service([path], "state", seconds):
            yield (
                f"{path} is served by {named(process)}, which does not answer as nakari",
                "stop it, or set [door] socket",
            )


def taken_port(sockets: Sequence[Path], port: int) -> Iterator[tuple[str, str]]:
    """Yield who listens at the store's port and is not the store of the running service, with the fix."""
    inode = listener_at(port)
    if inode and not told_by_service(sockets, "graph"):
        owner = owner_of(inode)
        who = named(owner) if owner else "a program of another user"
        fix = "stop it, or set [memory] bolt_port to another one, or to 0 for any free one"
        yield f"port {port} of [memory] bolt_port is taken by {who}", fix


def listener_at(port: int) -> str:
    """Return the inode of the socket that listens at a TCP port of this machine, "" where none does (proc_net(5))."""
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for fields in (line.split() for line in table.read_text(encoding="ascii").splitlines()[1:]):
            if fields[3] == LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                return fields[9]
    return ""


def owner_of(inode: str) -> int:
    """Return the process that holds a socket, 0 where it is not to be seen: only root sees other users'."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(link.readlink()) == f"socket:[{inode}]":
                return int(link.parts[2])
    return 0


def named(process: int) -> str:
    """Return a process for people."""
    try:
        name = Path(f"/proc/{process}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return f"process {process}"
    return f"{name} (process {process})"


CHECKS: tuple[Check, ...] = (access, ports)
