"""An arm64 Debian on a whole emulated machine: its own kernel, a real systemd, the processor of a Raspberry Pi 4.

Needs root, and QEMU with what makes a tree of another architecture, which are installed where they are missing. The
machine has a disk, a stick, a loudspeaker that writes a file, and a network that ends at this one's loopback.
"""

import fcntl
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.service.arm64 import emulated
from tests.service.bare_debian import cached_tree
from tests.service.package_box import PYTHONS, depended_on
from tests.service.real_systemd import Box

TOOLS = {
    "qemu-system-arm": "qemu-system-aarch64",
    "qemu-utils": "qemu-img",
    "mmdebstrap": "mmdebstrap",
    "openssh-client": "ssh",
    "e2fsprogs": "mke2fs",
}
"""Packages, each with the program that is wanted of it."""
PACKAGES = "systemd systemd-sysv dbus udev openssh-server linux-image-arm64 iproute2"
PROCESSOR = "cortex-a72"
"""A Raspberry Pi 4's."""
MEMORY = "4G"
DISK = "8G"
SLOWNESS = 20.0
"""How many times longer what is waited for may take than on a machine that nobody emulates."""

NETWORK = "[Match]\\nName=e*\\n[Network]\\nAddress=10.0.2.15/24\\n"
FSTAB = "/dev/vda / ext4 defaults 0 1\\nLABEL=card /srv/card ext4 defaults,nofail 0 0\\n"
SLOW = "[Service]\\nTimeoutStartSec=infinity\\nTimeoutStopSec=600\\nWatchdogSec=0\\n"
"""A start that takes two seconds takes minutes here: no unit is given up for that."""

START = """
mkdir -p "$1/etc/initramfs-tools/conf.d"
printf 'MODULES=list\nCOMPRESS=gzip\n' >"$1/etc/initramfs-tools/conf.d/board"
printf 'virtio_pci\nvirtio_blk\next4\n' >"$1/etc/initramfs-tools/modules"
"""
"""What makes the kernel's first disk small: with all modules it took longer than all else."""

FURNISH = f"""
printf '{FSTAB}' >"$1/etc/fstab"
printf '{NETWORK}' >"$1/etc/systemd/network/board.network"
echo board >"$1/etc/hostname"
mkdir "$1/etc/systemd/system/service.d"
printf '{SLOW}' >"$1/etc/systemd/system/service.d/slow.conf"
mkdir -p "$1/srv/card" "$1/root/.ssh"
cp "$0/key.pub" "$1/root/.ssh/authorized_keys"
chroot "$1" systemctl enable --quiet systemd-networkd ssh
rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* "$1"/var/cache/apt/archives/*.deb
cp "$1"/boot/vmlinuz-* "$0/vmlinuz"
cp "$1"/boot/initrd.img-* "$0/initrd"
"""
"""What makes a tree ($1) a machine; its kernel, its key and its disk are kept in a folder ($0)."""


@dataclass
class Board(Box):
    """A running arm64 machine, entered by ssh."""

    key: Path = Path()
    port: int = 0

    def inside(self, *command: str) -> list[str]:
        """Return the words that run a command inside, from here."""
        options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "ConnectTimeout=60")
        given = [word for option in options for word in ("-o", option)]
        return ["ssh", *given, "-i", str(self.key), "-p", str(self.port), "root@127.0.0.1", shlex.join(command)]

    def pull_the_plug(self) -> None:
        """End the machine."""
        if self._outer is not None:
            self._outer.kill()
            self._outer.wait()


def board_image(suite: str) -> Path:
    """Return the folder of a machine with what nakari's package depends on, made at the first call and kept.

    Its packages are configured by emulation: some ten minutes. Raises CalledProcessError.
    """
    emulated()
    made = cached_tree(suite).with_name(f"{suite}-board")
    with made.with_name(f"{made.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        have_tools()
        if not made.exists():
            _make(suite, made)
    return made


def have_tools() -> None:
    """Install what makes and runs a machine, where a program of it is missing. Raises CalledProcessError."""
    missing = [package for package, program in TOOLS.items() if shutil.which(program) is None]
    if missing:
        subprocess.run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", *missing], check=True)


def _make(suite: str, made: Path) -> None:
    with TemporaryDirectory(prefix=f"{suite}-board-", dir=made.parent, ignore_cleanup_errors=True) as folder:
        new = Path(folder) / "new"
        new.mkdir()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", new / "key"], check=True)
        wanted = ",".join([*PACKAGES.split(), *depended_on(PYTHONS[suite])])
        tree = Path(folder) / "tree"
        made_by = ["mmdebstrap", "--quiet", "--architectures=arm64", "--variant=minbase", f"--include={wanted}"]
        made_by += [f"--essential-hook={START}"]
        subprocess.run([*made_by, suite, tree], check=True)
        subprocess.run(["sh", "-euc", FURNISH, new, tree], check=True)
        disk_of(tree, new / "disk", "root", DISK)
        new.rename(made)


def disk_of(tree: Path, disk: Path, label: str, size: str) -> None:
    """Write a disk with what is in a folder. Raises CalledProcessError."""
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-L", label, "-d", tree, disk, size], check=True)


@contextmanager
def board(suite: str, stick: Path, port: int, sound: Path | None = None) -> Iterator[Board]:
    """Start a machine with the files of a folder in /srv/card, entered at a port of the loopback; it is off at the end.

    What its loudspeaker plays comes into `sound`, a WAV file, where one is named. Raises `NotBooted`.
    """
    image = board_image(suite)
    with TemporaryDirectory(prefix="nakari-board-", dir=os.environ.get("NAKARI_TEST_CACHE")) as folder:
        disk, card = Path(folder) / "disk", Path(folder) / "card"
        based = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(image / "disk"), str(disk)]
        subprocess.run(based, check=True)
        disk_of(stick, card, "card", size_of(stick))
        starts = command(image, disk, card, port, sound)
        machine = Board(starts, Path(folder) / "console", SLOWNESS, key=image / "key", port=port)
        try:
            machine.switch_on()
            yield machine
        finally:
            machine.pull_the_plug()


def size_of(folder: Path) -> str:
    """Return a size of a disk on which the files of a folder have room."""
    return f"{sum(file.stat().st_size for file in folder.iterdir()) // 1_000_000 + 512}M"


def command(image: Path, disk: Path, card: Path, port: int, sound: Path | None) -> Sequence[str]:
    """Return what starts the machine."""
    drives = [f"file={disk},format=qcow2,if=virtio,cache=unsafe", f"file={card},format=raw,if=virtio"]
    heard = ["-audiodev", f"wav,id=heard,path={sound}" if sound else "none,id=heard"]
    return [
        "qemu-system-aarch64",
        *("-machine", "virt", "-cpu", PROCESSOR, "-smp", "2", "-m", MEMORY, "-nographic", "-no-reboot"),
        *("-kernel", str(image / "vmlinuz"), "-initrd", str(image / "initrd")),
        *("-append", "root=/dev/vda rw console=ttyAMA0"),
        *(word for drive in drives for word in ("-drive", drive)),
        *(
            "-netdev",
            f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
            "-device",
            "virtio-net-pci,netdev=net,romfile=",
        ),
        *(*heard, "-device", "qemu-xhci", "-device", "usb-audio,audiodev=heard"),
    ]
