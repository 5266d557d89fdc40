"""A bare Debian made by debootstrap, in which a person clones nakari into an empty folder; run as a module, it does so.

usage: python -m tests.service.bare_debian [--suite bookworm] [--as root|person] [COMMAND …]
Each COMMAND is one argument (`"scripts/run demo"`), run in the clone. Needs root. Reaches nothing but the registries
that this machine is configured for: their configuration is copied into the tree when it runs and stands nowhere here.
"""

import argparse
import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIT = ("git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT))
"""Git here, for root too, whose the clone of a person who typed sudo is not."""
HOMES = {"root": "/root", "person": "/home/person"}
REGISTRY_VARIABLES = re.compile(r"PIP_.*|.*_proxy|.*_PROXY|SSL_CERT_FILE|REQUESTS_CA_BUNDLE")
REGISTRY_FILES = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")
ENTER = """
mount --rbind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
[ "$2" = online ] || ip link set lo up
mkdir -p .old
pivot_root . .old
umount -l /.old
cd /
shift 2
exec "$@"
"""
"""Run in private mount and pid namespaces, which vanish with all their mounts and processes.

The tree becomes their root: in a mere chroot a person could not make namespaces, as they can on a real machine.
"""


@dataclass(frozen=True)
class BareDebian:
    """One tree to be spoiled: a Debian with git and nothing else, and the users root and person."""

    tree: Path

    def run(
        self, command: str, user: str = "root", folder: str | None = None, *, offline: bool = False
    ) -> tuple[int, str]:
        """Run a shell command as root or person, printing as it goes; return its exit status and all it said.

        `offline` leaves it nothing but a loopback of its own.
        """
        in_folder = f"cd {shlex.quote(folder or HOMES[user])} && {command}"
        said = []
        with subprocess.Popen(
            [*self.entered(offline=offline), *_as(user), "sh", "-c", in_folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                sys.stdout.write(line)
                sys.stdout.flush()
                said.append(line)
        return process.returncode, "".join(said)

    def must(self, command: str, user: str = "root") -> None:
        """Run a command that belongs to the preparation. Raises RuntimeError when it fails."""
        status, said = self.run(command, user)
        if status:
            raise RuntimeError(f"{command} failed in the tree: {said}")

    def clone(self, user: str) -> str:
        """Clone what is committed in this repository into a folder of this user; return the folder."""
        bundle = self.tree / "srv/nakari.bundle"
        subprocess.run([*GIT, "bundle", "create", "--quiet", bundle, "HEAD", "--all"], check=True)
        folder = f"{HOMES[user]}/nakari"
        self.must(f"git clone --quiet /srv/nakari.bundle {folder}", user)
        return folder

    def prepare(self, setup: str, user: str, folder: str) -> None:
        """Do what set-up tells this user to do once as root: the apt line, exactly as printed, if it prints one."""
        _, said = self.run(setup, user, folder)
        lines = re.findall(r"^    (apt-get update && apt-get install .*)$", said, re.MULTILINE)
        if len(lines) > 1:
            raise RuntimeError(f"{setup} should print one apt line at most and printed {len(lines)}")
        for line in lines:
            self.must(f"export DEBIAN_FRONTEND=noninteractive; {line} >/dev/null")

    def entered(self, *, offline: bool = False) -> list[str]:
        """Return the words that make the following command run in this tree; `offline`: with a loopback of its own."""
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", *(["--net"] if offline else [])]
        return [*unshare, "sh", "-euc", ENTER, "sh", str(self.tree), "offline" if offline else "online"]


def _as(user: str) -> list[str]:
    """Return the words that make the following command this user's, with a login's environment and the registries'."""
    variables = [f"{name}={value}" for name, value in os.environ.items() if REGISTRY_VARIABLES.fullmatch(name)]
    variables += [f"HOME={HOMES[user]}", f"USER={user}", "LANG=C.UTF-8", "TERM=dumb"]
    variables += ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    change = [] if user == "root" else ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
    return [*change, "env", "-i", *variables]


@contextmanager
def bare_debian(suite: str = "bookworm") -> Iterator[BareDebian]:
    """Give a copy of the cached tree of this suite, configured for this machine's registries; remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="nakari-debian-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["cp", "--archive", "--reflink=auto", cached_tree(suite), tree], check=True)
        copy_registry_configuration(tree, suite)
        debian = BareDebian(tree)
        debian.must("useradd --create-home --shell /bin/sh person")
        yield debian


def cached_tree(suite: str) -> Path:
    """Return a debootstrap tree of this suite, made at the first call and kept for later ones."""
    cache = Path(os.environ.get("NAKARI_TEST_CACHE", "/var/cache/nakari-test"))
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{suite}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tree = cache / suite
        if not tree.exists():
            unfinished = cache / f"{suite}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            include = "--include=git,ca-certificates"
            subprocess.run(["debootstrap", "--variant=minbase", include, suite, unfinished, mirror()], check=True)
            unfinished.rename(tree)
    return tree


def mirror() -> str:
    """Return the address that this machine's apt takes Debian from."""
    sites = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Label: Debian"],
        capture_output=True,
        text=True,
        check=True,
    )
    return sites.stdout.split()[0]


def copy_registry_configuration(tree: Path, suite: str) -> None:
    """Make apt and pip inside the tree reach what they reach outside."""
    for name in REGISTRY_FILES:
        if (source := Path("/") / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, tree / name)
    dumped = subprocess.run(
        ["apt-config", "dump", "--format", '%f "%v";%n'], capture_output=True, text=True, check=True
    )
    settings = [line for line in dumped.stdout.splitlines() if line.startswith("Acquire::")]
    (tree / "etc/apt/apt.conf.d/90machine").write_text("\n".join(settings) + "\n")
    (tree / "etc/apt/sources.list").write_text(f"deb {mirror()} {suite} main\n")


def fresh_clone(suite: str, user: str, commands: list[str]) -> int:
    """Clone into an empty folder as this user and run the commands there in turn; return the first failing status."""
    with bare_debian(suite) as debian:
        folder = debian.clone(user)
        for command in commands:
            if user != "root":
                debian.prepare("scripts/setup --test" if "scripts/test" in command else "scripts/setup", user, folder)
            began = time.monotonic()
            status, _ = debian.run(command, user, folder)
            took = time.monotonic() - began
            sys.stdout.write(f"--- {suite}, {user}: {command}: exit {status} after {took:.0f} s\n")
            if status:
                return status
    return 0


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Run nakari from a fresh clone on a bare Debian.")
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--as", dest="user", choices=HOMES, default="root")
    parser.add_argument("command", nargs="*", default=["scripts/run demo", "scripts/test"])
    given = parser.parse_args()
    return fresh_clone(given.suite, given.user, given.command)


if __name__ == "__main__":
    sys.exit(main())
