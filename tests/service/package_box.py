"""Bare Debian trees on which a package of nakari is installed as a new owner would, and small packages for that.

A tree has systemd and, in apt's own cache, Debian's packages that nakari's depends on: the box has no network.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.service.bare_debian import ROOT, BareDebian, bare_debian, cached_tree
from tests.service.debian_package import MACHINES, RELEASES
from tests.service.real_systemd import Box

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
SYSTEMD = "systemd systemd-sysv dbus"
MOMENT = "1800000000"
PROGRAM = Path(__file__).with_name("packaged_program.py")
KNOWN_PACKAGES = """
cd /var/cache/apt/archives
ls *.deb | cut -d_ -f1 >/tmp/here
for list in /var/lib/apt/lists/*_Packages; do
    awk 'NR == FNR { here[$1]; next } $2 in here' /tmp/here RS= ORS='\\n\\n' "$list" >/tmp/list
    cat /tmp/list >"$list"
done
rm -f /var/cache/apt/*.bin
"""


def depended_on(python: str) -> list[str]:
    """Return the names that the package for this Python depends on."""
    control = (ROOT / "systemd/debian/control").read_text(encoding="utf-8").replace("@PYTHON@", python)
    lines = " ,".join(re.findall(r"^(?:Pre-)?(?:Depends|Recommends): (.*)$", control, re.MULTILINE))
    setup = re.search(r'^packages="(.*)"$', (ROOT / "scripts/setup").read_text(encoding="utf-8"), re.MULTILINE)
    assert setup
    names = [re.sub(r"\(.*\)", "", name).strip() for name in lines.split(",")]
    return sorted({*names, *setup[1].split()} - {"@WANTED@", ""})


def package_tree(suite: str = "bookworm") -> Path:
    """Return a tree that an owner has before the package comes, made at the first call and kept."""
    names = " ".join(depended_on(PYTHONS[suite]))
    digest = hashlib.sha256(f"{SYSTEMD} {names}".encode()).hexdigest()[:12]
    bare = cached_tree(suite)
    tree = bare.with_name(f"{suite}-package-{digest}")
    if not tree.exists():
        with bare_debian(suite) as debian:
            _download(debian, names)
            for earlier in bare.parent.glob(f"{suite}-package-*"):
                shutil.rmtree(earlier)
            unfinished = Path(tempfile.mkdtemp(prefix=f"{suite}-unfinished-", dir=bare.parent))
            subprocess.run(["cp", "--archive", f"{debian.tree}/.", unfinished], check=True)
            unfinished.rename(tree)
    return tree


def _download(debian: BareDebian, names: str) -> None:
    install = "apt-get install -qq -y --no-install-recommends"
    debian.must(
        f"export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && {install} {SYSTEMD} >/dev/null && "
        f"apt-get clean && apt-get install -qq -y --download-only {names} >/dev/null"
    )


def forget_what_is_not_here(box: Box) -> None:
    """Let apt know only the packages whose files it has, the only ones to be had in a box without a network.

    Of all of Debian's it makes an index anew after each installation, which is most of what one takes.
    """
    box.must("sh", "-euc", KNOWN_PACKAGES)


def small_package(folder: Path, version: str, fault: str = "", suite: str = "bookworm") -> Path:
    """Make a package whose environment has `packaged_program` in nakari's place; all else is nakari's own."""
    python = PYTHONS[suite]
    root = folder / version / "root"
    venv = root / "usr/lib/nakari/venv"
    site = venv / f"lib/python{python}/site-packages/appliance"
    (venv / "bin").mkdir(parents=True)
    site.mkdir(parents=True)
    (venv / "bin/python").symlink_to(f"/usr/bin/python{python}")
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n", encoding="ascii")
    for name, text in {
        "__init__.py": "",
        "VERSION": version,
        "FAULT": fault,
        "packaged_program.py": PROGRAM.read_text(encoding="utf-8"),
        "selfcheck.py": "import sys\nfrom appliance.packaged_program import selfcheck\nsys.exit(selfcheck())\n",
    }.items():
        (site / name).write_text(text, encoding="utf-8")
    nakari = venv / "bin/nakari"
    nakari.write_text(
        "#!/usr/lib/nakari/venv/bin/python -I\nfrom appliance.packaged_program import main\nraise SystemExit(main())\n",
        encoding="ascii",
    )
    nakari.chmod(0o755)
    sbom = folder / version / "sbom.json"
    sbom.write_text(json.dumps({"components": []}), encoding="ascii")
    pack: list[str | Path] = [ROOT / "systemd/debian/pack", root, sbom, version, "abc1234", python, "amd64", folder]
    quick = {**os.environ, "SOURCE_DATE_EPOCH": MOMENT, "NAKARI_PACK_WITH": "-Znone"}
    subprocess.run(pack, check=True, capture_output=True, env=quick)
    (made,) = folder.glob(f"nakari_{version}_*.deb")
    return made


def real_packages(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Return the packages of nakari in a folder by suite and architecture, oldest version first."""
    found = {
        (suite, architecture): sorted(folder.glob(f"nakari_*+deb{number}_{architecture}.deb"))
        for suite, number in RELEASES.items()
        for architecture in MACHINES.values()
    }
    return {kind: packages for kind, packages in found.items() if packages}


def spoiled(package: Path, folder: Path, name: str, changed: Mapping[str, tuple[str, str]]) -> Path:
    """Make of a real package one of a later version, `name`, in which something of a module is replaced by another."""
    root = folder / name
    subprocess.run(["dpkg-deb", "--raw-extract", package, root], check=True)
    (site,) = (root / "usr/lib/nakari/venv/lib").glob("python3*/site-packages")
    for module, (was, becomes) in changed.items():
        file = site / module
        text = file.read_text(encoding="utf-8")
        assert was in text, f"{module} has no {was!r}"
        file.write_text(text.replace(was, becomes), encoding="utf-8")
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            compiled.unlink()  # nothing looks whether its source is the same
    control = root / "DEBIAN/control"
    text = re.sub("^Version: .*$", rf"\g<0>.{name}", control.read_text(encoding="utf-8"), flags=re.MULTILINE)
    control.write_text(text, encoding="utf-8")
    made = folder / f"nakari_{name}_{package.name.rpartition('_')[2]}"
    pack: list[str | Path] = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", root, made]
    subprocess.run(pack, check=True, capture_output=True)
    shutil.rmtree(root)
    return made
