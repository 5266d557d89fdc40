"""nakari in an arm64 Debian under emulation: every module loads, it hears, its memory is written, and it answers.

usage: python -m tests.service.arm64 UV     (`scripts/check-arm64 --emulate` runs it)
Needs root, mmdebstrap, arch-test and QEMU's user mode emulation with its entry in binfmt_misc, which it installs and
makes. The tree is kept in the test cache; what runs in it reaches nothing.
"""

import fcntl
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.service.bare_debian import GIT, ROOT, BareDebian

CACHE = Path(os.environ.get("NAKARI_TEST_CACHE", "/var/cache/nakari-test"))
PACKAGES = ("python3", "libportaudio2", "espeak-ng", "flite", "ca-certificates", "git", "iproute2")
ESSENTIAL = ("base-files", "base-passwd", "coreutils", "dash", "libc-bin", "mount", "sed", "util-linux")
"""What a Debian has anyway, as far as it is wanted here: the tree is only unpacked, so nobody else asks for it."""
TOOLS = ("mmdebstrap", "arch-test", "qemu-user-static")
FORMATS = Path("/proc/sys/fs/binfmt_misc")
ENTRY = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
"""How the kernel tells a program for arm64, and what runs it: from Debian's package of the emulator."""

PYTHON = "3.11"
"""The tree's."""

# With /sys of another processor in sight onnxruntime dies on import, in cpuinfo: so it is taken away.
ENTERED = "umount -l /sys && env PYTHONPATH=/srv/nakari:/srv/site OMP_NUM_THREADS=1 "
STEPS = {
    "it is a Raspberry Pi's processor": "python3 -c 'import platform; assert platform.machine() == \"aarch64\"'",
    "every module loads": "python3 -m appliance.selfcheck",
    "Silero finds speech, Whisper understands it": "python3 -m tests.service.arm64_parts hear",
    "the memory is written, and read by a second start": "python3 -m tests.service.arm64_parts remember",
    "a question is heard and answered": "python3 -m appliance demo",
}
"""What is run, in this order, by what it shows."""


def tree() -> Path:
    """Return the cached arm64 Debian, made first where there is none.

    Its packages are unpacked by this machine's own processor: their scripts, emulated, took forty times as long.
    """
    made = CACHE / "bookworm-arm64"
    with (CACHE / "bookworm-arm64.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            new = made.with_name("bookworm-arm64.new")
            for mounted in ("dev/pts", "dev/shm", "dev", "sys", "proc"):  # by one that was killed
                subprocess.run(["umount", "--lazy", "--quiet", new / mounted], check=False)
            subprocess.run(["rm", "-rf", "--one-file-system", new], check=True)
            wanted = ["--variant=extract", "--architectures=arm64", f"--include={','.join(PACKAGES + ESSENTIAL)}"]
            merged = "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"
            subprocess.run(["mmdebstrap", "--quiet", *wanted, merged, "bookworm", new], check=True)
            _furnish(new)
            new.rename(made)
    return made


def _furnish(new: Path) -> None:
    """Do what the packages' scripts would have done, as far as it is wanted here."""
    for name in ("proc", "sys", "dev", "root", "run", "srv", "tmp", "home"):
        (new / name).mkdir(exist_ok=True)
    for name in ("passwd", "group"):
        shutil.copyfile(new / f"usr/share/base-passwd/{name}.master", new / "etc" / name)
    BareDebian(new).must("ldconfig")


def emulated() -> None:
    """Have this machine run programs for arm64. Raises CalledProcessError or OSError where it may not."""
    if not ENTRY.exists() or subprocess.run(["dpkg", "-s", *TOOLS], capture_output=True, check=False).returncode:
        subprocess.run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", *TOOLS], check=True)
    if not (FORMATS / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "none", FORMATS], check=True)
    if not (FORMATS / "qemu-aarch64").exists():
        (FORMATS / "register").write_text(ENTRY.read_text())


def processor_seconds() -> float:
    """Return the seconds of the processor that this program's children used, those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_here(folders: Sequence[Path]) -> bool:
    """Compile Python's files on this machine, for which bytecode is the same; return whether there is such a Python.

    Emulated it took most of the time. What was not compiled is by the first step that loads it, beside its source.
    """
    named = sys.executable if sys.version_info[:2] == (3, 11) else shutil.which(f"python{PYTHON}")
    if named is None:
        return False
    words = [named, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", *map(str, folders)]
    return subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode in (0, 1)  # 1: a file is no Python


def main() -> int:
    """Run the steps; return 1 when one fails."""
    if os.geteuid() != 0:
        sys.stderr.write("nakari: emulating another machine needs root: sudo scripts/check-arm64 --emulate\n")
        return 77
    emulated()
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nakari-arm64-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "tree"
        subprocess.run(["cp", "-a", tree(), copy], check=True)
        (copy / "srv/nakari").mkdir(parents=True)
        packed = subprocess.run([*GIT, "archive", "HEAD"], capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", copy / "srv/nakari"], input=packed.stdout, check=True)
        wheels = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(copy / "srv/site")]
        wanted = ["--python-version", PYTHON, "--python-platform", "aarch64-manylinux_2_36"]
        locked = ["--requirements", str(ROOT / "requirements/test.txt")]
        subprocess.run([sys.argv[1], "pip", "install", "--quiet", *wheels, *wanted, *locked], check=True)
        compile_here([copy / "srv/site", copy / "srv/nakari", copy / f"usr/lib/python{PYTHON}"])
        debian = BareDebian(copy)
        for shown, command in STEPS.items():
            began, used = time.monotonic(), processor_seconds()
            status, _ = debian.run(ENTERED + command, folder="/srv/nakari", offline=True)
            took = f"{time.monotonic() - began:.0f} s, {processor_seconds() - used:.0f} of the processor"
            sys.stdout.write(f"{'yes' if status == 0 else 'NO '} {shown} ({took})\n")
            sys.stdout.flush()
            if status:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
