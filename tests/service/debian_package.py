"""Debian packages of what is committed here, each made in a bare Debian of its suite; run as a module, it makes one.

usage: python -m tests.service.debian_package [--suite bookworm|trixie] [--architecture amd64|arm64] [--output DIST]
           [--uncompressed] [--sign KEY]
Needs root, minutes and package registries.
"""

import argparse
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.service.bare_debian import GIT, ROOT, bare_debian

RELEASES = {"bookworm": 12, "trixie": 13}
"""Debian's version of each suite, by which an upgrade of Debian is one of the package too."""

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's names of the architectures, by the kernel's."""


def build(suite: str, architecture: str, output: Path, options: str = "") -> Path:
    """Make the package of the last commit in a new tree, with these `options` of dpkg-deb where there are any.

    The tree is of this machine's own `architecture`: for another one only the wheels are taken from elsewhere.

    Returns its file. Raises RuntimeError when a step fails.
    """
    version, commit, seconds = named(suite)
    with bare_debian(suite) as debian:
        source = debian.tree / "srv/source"
        source.mkdir()
        packed = subprocess.run([*GIT, "archive", "HEAD"], capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", source], input=packed.stdout, check=True)
        packed_with = f"NAKARI_PACK_WITH={shlex.quote(options)} " if options else ""
        asked = f"/srv/source/systemd/debian/build {version} {commit} {architecture}"
        debian.must(f"{packed_with}SOURCE_DATE_EPOCH={seconds} {asked}")
        output.mkdir(parents=True, exist_ok=True)
        made = sorted((debian.tree / "srv/out").iterdir())
        for file in made:
            subprocess.run(["cp", file, output], check=True)
    return next(output / file.name for file in made if file.suffix == ".deb")


PROGRAMS = ("debootstrap", "git")
SUMS = "SHA256SUMS"


def sign(folder: Path, key: str) -> None:
    """Write the sums of all files of a folder into its SHA256SUMS, and gpg's signature by `key` into SHA256SUMS.asc.

    Raises RuntimeError where gpg does not sign with it.
    """
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith(SUMS))
    lines = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")
    (folder / f"{SUMS}.asc").unlink(missing_ok=True)  # of other sums
    gpg("--local-user", key, "--armor", "--detach-sign", str(folder / SUMS))


def gpg(*words: str) -> None:
    """Have gpg do something. Raises RuntimeError with what it said where it does not."""
    try:
        done = subprocess.run(["gpg", "--batch", "--yes", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise RuntimeError("there is no gpg: install it with `sudo apt install gpg`") from error
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(f"nothing is signed ({said}): `gpg --list-secret-keys` names the keys that can sign")


def named(suite: str) -> tuple[str, str, str]:
    """Return the version of the last commit's package, the commit, and when it was made, in s since the epoch.

    They are the same in every clone: of itself git abbreviates less, the more a clone has.
    """
    log = [*GIT, "log", "-1", "--abbrev=8", "--format=%h %ct %cd", "--date=format-local:%Y%m%d.%H%M%S"]
    told = subprocess.run(log, capture_output=True, text=True, check=True, env={**os.environ, "TZ": "UTC"})
    commit, seconds, day = told.stdout.split()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['version']}+git{day}.{commit}+deb{RELEASES[suite]}", commit, seconds


def own_suite() -> str:
    """Return the suite of the machine this runs on, the older one where it is another system."""
    told = Path("/etc/os-release").read_text(encoding="utf-8")
    return next((suite for suite in RELEASES if f"VERSION_CODENAME={suite}" in told), "bookworm")


def main() -> int:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description="Make a Debian package of the last commit.")
    parser.add_argument("--suite", choices=RELEASES, default=own_suite())
    parser.add_argument("--architecture", choices=MACHINES.values(), default=MACHINES.get(platform.machine()))
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--uncompressed", action="store_const", const="-Znone", default="", help="quickly, to try it")
    parser.add_argument("--sign", metavar="KEY", help="sign the sums of all files in the folder by this key of gpg")
    given = parser.parse_args()
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        sys.exit(f"nakari: what makes packages is missing: sudo apt install {' '.join(missing)}")
    try:
        if given.sign:
            gpg("--list-secret-keys", given.sign)  # before minutes are spent
        file = build(given.suite, given.architecture, given.output, given.uncompressed)
        if given.sign:
            sign(given.output, given.sign)
    except RuntimeError as error:
        sys.exit(f"nakari: {error}")
    sys.stdout.write(f"{file}: {file.stat().st_size / 1e6:.0f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
