"""A Debian booted for real: systemd as the first process of its own namespaces, with what nakari needs installed.

The box has a loopback and no other network, and a sound card of software where one is given. What it writes stays in
memory and is gone with it. Its tree is made once for each lock, beside `bare_debian`'s: Debian's packages, and in
/opt/nakari the environment of an earlier nakari, so that `scripts/install` finds what an upgrade finds.
"""

import fcntl
import hashlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.service.bare_debian import ROOT, BareDebian, cached_tree, copy_registry_configuration

SUITE = "bookworm"
PACKAGES = "systemd systemd-sysv dbus libasound2-plugins python3 python3-venv libportaudio2 espeak-ng flite"
BOOT_SECONDS = 120.0
COMMAND_SECONDS = 900.0
LOOK_SECONDS = 0.3
"""After which somebody who waits looks again although the journal has nothing new."""
INSIDE = (
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "LANG=C.UTF-8",
    "TERM=dumb",
)
NAMESPACES = ("--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup")

BOOT = """
tree=$1 writes=$2 program=$3 card=$4
ip link set lo up
mkdir -p "$writes/upper" "$writes/work" "$writes/root"
mount -t overlay -o "lowerdir=$tree,upperdir=$writes/upper,workdir=$writes/work" overlay "$writes/root"
cd "$writes/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
    touch dev/$device
    mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mkdir -p srv/nakari srv/card .old
mount --bind -o ro "$program" srv/nakari
mount --bind "$card" srv/card
hostname box
pivot_root . .old
umount -l /.old
mount --make-rshared / # a unit's credentials want it
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
    /lib/systemd/systemd --system --unit=multi-user.target --log-target=journal --show-status=no
"""
"""Run in new namespaces, which vanish with all their mounts and processes."""

SOUND_BY_THE_CARD = """
pcm.!default { type pulse server "unix:/srv/card/run/native" hint { show on description "the card" } }
ctl.!default { type pulse server "unix:/srv/card/run/native" }
"""


TRY = """
mount -t tmpfs tmpfs /mnt
mkdir /mnt/lower /mnt/upper /mnt/work /mnt/root /mnt/groups
mount -t overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
mount -t cgroup2 cgroup2 /mnt/groups
"""


class NotBooted(Exception):
    """The box did not come up, or is off; what its console said is in the text."""


@dataclass
class Box:
    """A running machine with nakari's source in /srv/nakari."""

    command: Sequence[str]
    """What boots it."""
    console: Path
    slowness: float = 1.0
    """How many times longer than here everything may take."""
    _outer: subprocess.Popen[bytes] | None = None
    """`unshare`, whose only child is the machine's first process."""

    def switch_on(self) -> None:
        """Boot, and return when its units are up. Raises `NotBooted`."""
        with self.console.open("wb") as written:
            self._outer = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + BOOT_SECONDS * self.slowness
        while time.monotonic() < deadline and self._outer.poll() is None:
            try:
                state = self.run("systemctl", "is-system-running", "--wait").stdout.strip()
            except NotBooted:
                continue
            if state in {"running", "degraded"}:
                return
            with suppress(subprocess.TimeoutExpired):
                self._outer.wait(LOOK_SECONDS)
        told = self.console.read_text(encoding="utf-8", errors="replace")
        raise NotBooted(f"no systemd within {BOOT_SECONDS * self.slowness} s: {told}")

    def reboot(self) -> None:
        """Shut down in order, as `poweroff` does, and boot again from what is on its disk."""
        assert self._outer is not None
        self.run("systemctl", "poweroff")
        self._outer.wait(COMMAND_SECONDS)
        self.switch_on()

    def run(self, *command: str, text: str = "", seconds: float = COMMAND_SECONDS) -> subprocess.CompletedProcess[str]:
        """Run a command inside, as root, with `text` as its input. Raises TimeoutExpired."""
        return subprocess.run(
            self.inside("env", "-i", *INSIDE, *command),
            input=text,
            capture_output=True,
            text=True,
            timeout=seconds * self.slowness,
            check=False,
        )

    def must(self, *command: str, text: str = "", seconds: float = COMMAND_SECONDS) -> str:
        """Run a command that has to go well, and return what it printed. Raises TimeoutExpired."""
        done = self.run(*command, text=text, seconds=seconds)
        assert done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command inside and go on; what it says is dropped."""
        entered = self.inside("env", "-i", *INSIDE, *command)
        return subprocess.Popen(entered, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def write(self, file: str, text: str) -> None:
        """Write a file inside, and the folders above it."""
        self.must("sh", "-euc", 'mkdir -p "$(dirname "$1")" && cat >"$1"', "sh", file, text=text)

    def show(self, name: str) -> str:
        """Return what systemd knows of nakari.service under this name."""
        return self.must("systemctl", "show", "nakari.service", "--value", f"--property={name}").strip()

    def journal(self, *more: str) -> list[dict[str, str]]:
        """Return what nakari.service, and systemd about it, wrote to the journal: fields by name, oldest first."""
        lines = self.must("journalctl", "--unit=nakari.service", "--output=json", "--no-pager", *more).splitlines()
        return [{name: str(value) for name, value in json.loads(line).items()} for line in lines]

    def until(self, what: str, condition: Callable[[], bool], seconds: float) -> None:
        """Wait for something inside to be true; fails with the end of the journal when it is not within `seconds`.

        It looks when the journal has something new: looking all the time slows down what is waited for.
        """
        deadline = time.monotonic() + seconds * self.slowness
        with self._journal_to_come() as news:
            while not condition():
                if time.monotonic() > deadline:
                    said = "\n".join(line["MESSAGE"] for line in self.journal("--lines=40"))
                    raise AssertionError(f"{what}: not within {seconds} s\n{said}")
                if select.select([news], [], [], LOOK_SECONDS)[0]:
                    os.read(news, 1 << 16)

    def pull_the_plug(self) -> None:
        """End the machine: its first process takes all others with it, and `unshare` ends after that."""
        with suppress(NotBooted, ProcessLookupError):
            os.kill(self._first_process(), signal.SIGKILL)
        if self._outer is not None:
            self._outer.wait(COMMAND_SECONDS)

    @contextmanager
    def _journal_to_come(self) -> Iterator[int]:
        """Give a descriptor that can be read when something is written to the journal."""
        follow = self.inside("journalctl", "--follow", "--lines=0", "--output=cat")
        with subprocess.Popen(follow, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as following:
            assert following.stdout is not None
            try:
                yield following.stdout.fileno()
            finally:
                following.terminate()  # `nsenter`; what it started ends when it next has something to say

    def inside(self, *command: str) -> list[str]:
        """Return the words that run a command inside, from here. Raises `NotBooted`."""
        return ["nsenter", "--target", str(self._first_process()), *NAMESPACES, "--", *command]

    def _first_process(self) -> int:
        try:
            assert self._outer is not None
            children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text(encoding="ascii")
            return int(children.split()[0])
        except (OSError, IndexError) as error:
            raise NotBooted("the box is off") from error


def cannot_boot() -> str | None:
    """Return why no box can be booted on this machine, though it has namespaces; None when one can."""
    try:
        with own_cgroup(f"nakari-try-{os.getpid()}"):
            tried = ["unshare", *NAMESPACES, "--fork", "sh", "-euc", TRY]
            done = subprocess.run(tried, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"no control group can be made here: {error.strerror}"
    return f"this machine forbids the mounts of a box: {done.stderr.strip()}" if done.returncode else None


@contextmanager
def booted(tree: Path, card: Path) -> Iterator[Box]:
    """Boot a box on this tree, with this folder of a `VirtualSound` as its sound card; it is off at the end.

    Raises `NotBooted`.
    """
    with (
        tempfile.TemporaryDirectory(prefix="nakari-box-") as folder,
        own_cgroup(Path(folder).name) as cgroup,
        _disk(Path(folder) / "writes") as writes,
    ):
        boot = ["sh", "-euc", BOOT, "sh", str(tree), str(writes), str(ROOT), str(card)]
        joined = ["sh", "-euc", 'echo $$ >"$0/init/cgroup.procs"; exec "$@"', str(cgroup)]
        unshared = ["unshare", *NAMESPACES, "--fork", "--kill-child=KILL", "--propagation", "private"]
        box = Box([*joined, *unshared, *boot], Path(folder) / "console")
        try:
            box.switch_on()
            box.write("/etc/asound.conf", SOUND_BY_THE_CARD)
            yield box
        finally:
            box.pull_the_plug()


@contextmanager
def _disk(place: Path) -> Iterator[Path]:
    """Give a folder that outlives a reboot of the box: memory, mounted here, and not in the box's own namespace."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@contextmanager
def own_cgroup(name: str) -> Iterator[Path]:
    """Give a control group that becomes the root of the box's."""
    top = Path("/sys/fs/cgroup")
    group = (top / "unified" if (top / "unified").is_dir() else top) / name
    (group / "init").mkdir(parents=True)
    try:
        yield group
    finally:
        for folder, _, _ in os.walk(group, topdown=False):
            Path(folder).rmdir()


def tree_of_this_lock() -> Path:
    """Return a tree with Debian's packages and the environment of this lock, made at the first call and kept.

    One of an earlier lock is brought up to this one, as an upgrade would.
    """
    made_from = [*sorted((ROOT / "requirements").glob("*.txt")), ROOT / "pyproject.toml", ROOT / "scripts/setup"]
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in made_from) + PACKAGES.encode()).hexdigest()
    bare = cached_tree(SUITE)
    tree = bare.with_name(f"{SUITE}-service-{digest[:12]}")
    unfinished = bare.with_name(f"{SUITE}-service-unfinished")
    with bare.with_name(f"{SUITE}-service.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tree.exists():
            earlier = next(bare.parent.glob(f"{SUITE}-service-*/"), None)
            if earlier is None:
                copy = bare.with_name(f"{SUITE}.copy")
                shutil.rmtree(copy, ignore_errors=True)
                subprocess.run(["cp", "--archive", "--reflink=auto", bare, copy], check=True)
                copy.rename(unfinished)
            elif earlier != unfinished:
                earlier.rename(unfinished)
            _furnish(unfinished)
            unfinished.rename(tree)
    return tree


def _furnish(tree: Path) -> None:
    """Install Debian's packages, and an environment in /opt/nakari as `scripts/install` makes it."""
    copy_registry_configuration(tree, SUITE)
    debian = BareDebian(tree)
    debian.must(
        "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && "
        f"apt-get install -qq -y --no-install-recommends {PACKAGES} >/dev/null && apt-get clean"
    )
    home = tree / "opt/nakari"
    for name in ("appliance", "agent", "audio", "memory", "requirements", "scripts"):
        shutil.copytree(ROOT / name, home / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, home)
    debian.must("/opt/nakari/scripts/setup --service")
