"""The Debian package on a bare Debian under a real systemd: installed, upgraded, broken, taken back, removed, purged.

What dpkg, its scripts and the units do is tried with small packages, in which a stand-in has nakari's place. With
NAKARI_PACKAGES=FOLDER the last story does it with the packages that `scripts/package` made there, old before new.
"""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.service.bare_debian import ROOT
from tests.service.debian_package import MACHINES, named
from tests.service.emulated_board import board
from tests.service.package_box import forget_what_is_not_here, package_tree, real_packages, small_package, spoiled
from tests.service.real_systemd import Box, booted, cannot_boot

pytestmark = [pytest.mark.systemd, pytest.mark.debian, pytest.mark.timeout(1200)]

STATE = "/var/lib/nakari/nakari.db"
FAULTS = {"1.0": "", "2.0": "", "3.0": "loading", "4.0": "starting", "5.0": ""}
WRITTEN = ("nakari", "memory", "write", "MERGE (:Ship {name: 'Argo'})")
LEFT = ("find", "/", "-xdev", "-name", "*nakari*", "-not", "-path", "/srv/*", "-not", "-path", "/var/cache/apt/*")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """A new Debian, with packages of five versions on a stick."""
    if reason := cannot_boot():
        pytest.skip(reason)
    stick = tmp_path_factory.mktemp("stick")
    for version, fault in FAULTS.items():
        small_package(stick, version, fault)
    with booted(package_tree(), stick) as box:
        yield box


@pytest.fixture(scope="module")
def quick(box: Box) -> Box:
    """The box once apt has found, among all of Debian's packages, what nakari wants: it need not do so again."""
    forget_what_is_not_here(box)
    return box


@pytest.fixture
def bare(quick: Box) -> Box:
    """The box with nothing of nakari on it."""
    quick.must("dpkg", "--purge", "nakari")
    quick.must("rm", "-rf", "/var/backups/nakari")
    return quick


@pytest.fixture
def first(quick: Box) -> Box:
    """The box with version 1.0 running on it; the next test finds it as the one before left it."""
    if quick.run("nakari", "version").stdout != "nakari 1.0\n":
        quick.must("dpkg", "--purge", "nakari")
        installed(quick, "1.0")
    return quick


def install(box: Box, version: str) -> tuple[int, str]:
    """Do what a person types; return the exit status and what stood on the screen."""
    command = ("apt-get", "install", "-qq", "-y", "--no-install-recommends", "--allow-downgrades")
    done = box.run("env", "DEBIAN_FRONTEND=noninteractive", *command, f"/srv/card/nakari_{version}_amd64.deb")
    return done.returncode, done.stdout + done.stderr


def installed(box: Box, version: str) -> str:
    status, said = install(box, version)
    assert status == 0, said
    return said


def lines(box: Box) -> list[str]:
    """The versions that ran on the state, in order."""
    return box.must("cat", STATE).split()


@pytest.mark.shows("H2", "F32", "X19")
def test_one_command_ends_with_a_running_service(box: Box) -> None:
    said = installed(box, "1.0")
    assert "nakari: it runs as a service; sudo nakari status tells how it is" in said
    assert (box.show("ActiveState"), box.show("UnitFileState")) == ("active", "enabled")
    assert box.must("nakari", "version") == "nakari 1.0\n"
    assert "all is default" in box.must("cat", "/etc/nakari/nakari.toml")
    assert box.must("stat", "--format=%G", "/run/nakari") == "nakari\n"
    assert box.must("dpkg", "--verify", "nakari") == ""


def test_what_the_pages_have_a_person_copy_lies_beside_them(first: Box) -> None:
    pages = first.must("sh", "-euc", "cat /usr/share/doc/nakari/README.md /usr/share/doc/nakari/docs/*.md")
    copied = set(re.findall(r"sudo (?:install [^\n]*?|cp )(?:/opt/nakari/current/)?(systemd/[\w.-]+) ", pages))
    assert {"systemd/asound.conf", "systemd/desktop-sound.conf", "systemd/machines.conf"} <= copied
    first.must("ls", *(f"/usr/share/doc/nakari/{file}" for file in copied))


@pytest.mark.shows("H7", "X19")
def test_a_nightly_backup_is_there_for_the_asking_and_keeps_seven(first: Box) -> None:
    assert first.run("systemctl", "is-enabled", "nakari-backup.timer").stdout == "disabled\n"
    first.must("systemctl", "enable", "--now", "nakari-backup.timer")
    assert "nakari-backup.service" in first.must("systemctl", "list-timers", "--no-pager")
    first.must("sh", "-euc", "install -d -m 700 /var/backups/nakari; cd /var/backups/nakari; touch mine")
    first.must("sh", "-euc", "cd /var/backups/nakari; for day in $(seq 9); do touch 2020-01-0$day.nakari; done")
    first.must("systemctl", "start", "nakari-backup.service")
    kept = [name for name in first.must("ls", "/var/backups/nakari").split() if name.startswith("20")]
    assert kept[:-1] == [f"2020-01-0{day}.nakari" for day in (4, 5, 6, 7, 8, 9)]
    assert first.must("cat", f"/var/backups/nakari/{kept[-1]}") == "1.0\n"
    assert first.must("stat", "--format=%U %a", f"/var/backups/nakari/{kept[-1]}") == "root 600\n"
    assert "mine" in first.must("ls", "/var/backups/nakari")


def test_a_reload_asks_the_service_and_leaves_it_running(first: Box) -> None:
    pid = first.show("MainPID")
    first.must("systemctl", "reload", "nakari.service")
    first.must("ls", "/var/lib/nakari/reloaded")
    assert (first.show("MainPID"), first.show("ActiveState")) == (pid, "active")
    first.must("systemctl", "try-restart", "nakari.service")
    assert first.show("MainPID") != pid


def test_a_service_that_its_owner_disabled_stays_down_through_an_upgrade(first: Box) -> None:
    first.must("systemctl", "disable", "--now", "nakari.service")
    installed(first, "2.0")
    assert (first.show("ActiveState"), first.show("UnitFileState")) == ("inactive", "disabled")


def test_an_upgrade_that_was_cut_off_is_begun_again_from_what_was_whole(first: Box) -> None:
    first.must("sh", "-euc", "cd /usr/lib/nakari; mv venv before; mkdir -p venv/bin; echo torn >venv/bin/nakari")
    status, said = install(first, "3.0")
    assert status != 0, said
    assert (first.must("nakari", "version"), first.show("ActiveState")) == ("nakari 1.0\n", "active")


def test_a_system_that_keeps_no_documents_has_a_configuration_all_the_same(bare: Box) -> None:
    bare.write("/etc/dpkg/dpkg.cfg.d/slim", "path-exclude=/usr/share/doc/*\n")
    try:
        installed(bare, "1.0")
    finally:
        bare.must("rm", "/etc/dpkg/dpkg.cfg.d/slim")
    assert bare.run("ls", "/usr/share/doc/nakari").returncode != 0
    assert "all is default" in bare.must("cat", "/etc/nakari/nakari.toml")


def test_an_upgrade_and_the_way_back_keep_state_and_configuration(bare: Box) -> None:
    installed(bare, "1.0")
    bare.write("/etc/nakari/nakari.toml", "# mine\n")
    installed(bare, "2.0")
    assert lines(bare) == ["1.0", "2.0"]
    kept = "/var/backups/nakari/before-upgrade.nakari"
    assert bare.must("cat", kept) == "1.0\n", "a backup of the moment before"
    assert bare.must("stat", "--format=%U %a", kept) == "root 600\n"
    assert bare.must("ls", "/usr/lib/nakari") == "venv\n"
    installed(bare, "1.0")
    assert (lines(bare), bare.show("ActiveState")) == (["1.0", "2.0", "1.0"], "active")
    assert bare.must("cat", "/etc/nakari/nakari.toml") == "# mine\n"


@pytest.mark.parametrize(("broken", "why"), [("3.0", "cannot be used"), ("4.0", "does not start")])
def test_a_broken_version_gives_way_to_the_one_before(bare: Box, broken: str, why: str) -> None:
    installed(bare, "2.0")
    status, said = install(bare, broken)
    assert status != 0
    assert f"nakari: this version {why}" in said
    assert "nakari: the version before it runs again; install that one's package, or a newer one than this" in said
    assert (bare.must("nakari", "version"), bare.show("ActiveState")) == ("nakari 2.0\n", "active")
    again = bare.run("dpkg", "--configure", "-a")
    assert again.returncode != 0, "dpkg does not take the old program for the new version"
    assert "nakari: this version was given up, and the one before it runs" in again.stderr
    installed(bare, "5.0")
    assert (bare.must("nakari", "version"), bare.show("ActiveState")) == ("nakari 5.0\n", "active")
    assert bare.must("ls", "/usr/lib/nakari") == "venv\n"


def test_beside_an_installation_by_script_it_is_refused_with_the_way_out(bare: Box) -> None:
    bare.must("mkdir", "-p", "/opt/nakari/current/scripts")
    bare.must("touch", "/opt/nakari/current/scripts/uninstall")
    try:
        status, said = install(bare, "1.0")
        assert status != 0
        assert (
            "nakari: scripts/install has put a nakari into /opt/nakari. Remove that, then install this package" in said
        )
        assert "    sudo /opt/nakari/current/scripts/uninstall\n" in said
        assert bare.run("ls", "/usr/lib/nakari").returncode != 0
    finally:
        bare.must("rm", "-r", "/opt/nakari")
    installed(bare, "1.0")


@pytest.mark.shows("H8", "X19")
def test_removed_it_leaves_what_it_knows_and_purged_nothing_but_backups(bare: Box) -> None:
    installed(bare, "1.0")
    sockets = ("nakari.socket", "nakari-code.socket")
    bare.must("systemctl", "enable", *sockets, "nakari-backup.timer")
    installed(bare, "2.0")
    bare.must("systemctl", "is-active", "nakari.service", *sockets, "nakari-backup.timer")
    bare.write("/etc/systemd/system/nakari.service.d/override.conf", "[Service]\nNice=1\n")
    bare.must("systemctl", "start", "nakari-backup.service")
    told = bare.run("apt-get", "remove", "-qq", "-y", "nakari")
    assert "nakari: removed; what it knows stays in /var/lib/nakari, its configuration in /etc/nakari" in told.stdout
    units = ("nakari.service", *sockets, "nakari-backup.timer")
    assert bare.run("systemctl", "is-active", *units).stdout == "inactive\n" * 4
    assert bare.run("nakari").returncode == 127
    assert lines(bare) == ["1.0", "2.0"]
    installed(bare, "2.0")
    assert (lines(bare), bare.show("ActiveState")) == (["1.0", "2.0", "2.0"], "active")
    told = bare.run("apt-get", "purge", "-qq", "-y", "nakari")
    assert "nakari: backups stay in /var/backups/nakari, with all that was said: delete them yourself" in told.stdout
    left = bare.must(*LEFT).split()
    assert [name for name in left if not name.startswith("/var/backups/nakari")] == []
    assert any(name.endswith(".nakari") for name in left)
    assert "nakari" not in bare.must("cat", "/etc/group", "/etc/passwd")
    assert bare.must("systemctl", "list-units", "--failed", "--no-legend", "nakari*") == ""


@pytest.mark.skipif(bool(os.geteuid()), reason="needs root: another user's clone is read")
def test_root_packs_the_clone_of_a_person(tmp_path: Path) -> None:
    clone = tmp_path / "nakari"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", clone], check=True)
    subprocess.run(["chown", "--recursive", "1234:1234", clone], check=True)
    asked = [sys.executable, "-c", "from tests.service.debian_package import named; print(*named('trixie'))"]
    done = subprocess.run(asked, cwd=clone, capture_output=True, text=True, check=False, env={"PATH": os.defpath})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(named("trixie"))


def test_without_debootstrap_it_is_said_what_brings_it(tmp_path: Path) -> None:
    asked = [sys.executable, "-m", "tests.service.debian_package", "--output", str(tmp_path)]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (
        1,
        "nakari: what makes packages is missing: sudo apt install debootstrap git\n",
    )


TORN = {"audio/pcm.py": ("import", "def (:\nimport")}
REFUSES = {"appliance/config/sections.py": ("    volume: ", "    loudness: ")}
LATER = {
    "appliance/admin/upgrade.py": (
        "STEPS: Final[tuple[Step, ...]] = ()",
        "STEPS = (lambda folder: (folder / 'later').write_text('of a later one') and None,)",
    )
}
"""What a real package is spoiled with: a module does not load, a key of the configuration has gone, a later state."""

ASKED = ("nakari", "memory", "query", "MATCH (s:Ship) RETURN s.name")
UP_SECONDS = 240.0
APT_SECONDS = 1200.0
"""apt sums up a whole gigabyte before it begins, and Debian 13's thinks long over the purge of a version given up."""


@pytest.mark.timeout(7200)
@pytest.mark.shows("H2", "H7", "H8", "F32", "X19")
@pytest.mark.skipif("NAKARI_PACKAGES" not in os.environ, reason="NAKARI_PACKAGES names no folder with packages")
def test_the_real_one_answers_remembers_through_an_upgrade_and_goes(unused_tcp_port: int) -> None:
    """Kept for what CI runs beside the suite: each installation writes 1.1 GB."""
    folder = Path(os.environ["NAKARI_PACKAGES"])
    for (suite, architecture), packages in real_packages(folder).items():
        with TemporaryDirectory(dir=folder) as stick:
            for package in packages:
                os.link(package, Path(stick) / package.name)
            torn, refuses, later = (
                spoiled(packages[-1], Path(stick), name, changed).name
                for name, changed in {"torn": TORN, "zrefuses": REFUSES, "zzlater": LATER}.items()
            )
            with real_box(suite, architecture, Path(stick), unused_tcp_port) as box:
                live_through(box, packages)
                gives_way(box, torn, "audio.pcm does not load: SyntaxError", "this version cannot be used")
                gives_way(box, refuses, "[voice] has no key volume", "this version cannot be used")
                outgrown(box, later, packages[-1])
                goes(box)


def real_box(suite: str, architecture: str, stick: Path, port: int) -> AbstractContextManager[Box]:
    """A box for packages of an architecture: another one than this machine's is emulated whole."""
    if architecture == MACHINES[platform.machine()]:
        return booted(package_tree(suite), stick)
    return board(suite, stick, port)


def real_install(box: Box, name: str) -> tuple[int, str]:
    apt = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-qq", "-y", "--no-install-recommends")
    done = box.run(*apt, "--reinstall", "--allow-downgrades", f"/srv/card/{name}", seconds=APT_SECONDS)
    return done.returncode, done.stdout + done.stderr


def commit_of(package: Path) -> str:
    return package.name.split("+git")[1].split(".")[2].split("+")[0]


def remembers(box: Box) -> None:
    """See that it runs and has what was told to the first version."""
    assert box.show("ActiveState") == "active"
    assert "It is " in box.must("nakari", "ask", "what time is it")
    assert "under the pot" in box.must("nakari", "ask", "where is the spare key")
    box.until("its memory has started", lambda: "Argo" in box.run(*ASKED).stdout, UP_SECONDS)
    assert box.must("nakari", "config", "show").count("volume = 80") == 1


def live_through(box: Box, packages: list[Path]) -> None:
    """Install the first, tell it something, and go on to each of the others."""
    for package in packages:
        code, said = real_install(box, package.name)
        assert code == 0, said
        assert (box.show("ActiveState"), box.show("UnitFileState")) == ("active", "enabled")
        assert commit_of(package) in box.must("nakari", "--version")
        if package == packages[0]:
            box.must("nakari", "config", "set", "voice.volume", "80")
            box.must("nakari", "ask", "remember that the spare key is under the pot")
            box.until("its memory has started", lambda: box.run(*WRITTEN).returncode == 0, UP_SECONDS)
        remembers(box)
    doctor = box.run("nakari", "doctor").stdout
    assert "all packages; extras: cloud, echo, local-whisper, machines, silero" in doctor
    box.must("systemctl", "start", "nakari-backup.service")
    assert box.must("dpkg", "--verify", "nakari") == "", "the service changed nothing of its program"


def gives_way(box: Box, name: str, cause: str, reason: str) -> None:
    """Upgrade to a broken one: it says why, and the one before runs with what it had."""
    before = box.must("nakari", "--version")
    code, said = real_install(box, name)
    assert code != 0
    for words in (cause, f"nakari: {reason}", "nakari: the version before it runs again"):
        assert words in said
    assert box.must("nakari", "--version") == before
    remembers(box)


def outgrown(box: Box, later: str, package: Path) -> None:
    """Upgrade to one that keeps its state in another way, and back, which is refused."""
    code, said = real_install(box, later)
    assert code == 0, said
    remembers(box)
    code, said = real_install(box, package.name)
    assert code != 0
    assert "was written by a newer nakari" in said
    assert "nakari: the version before it runs again" in said
    remembers(box)


def goes(box: Box) -> None:
    """Remove it, then purge it: what it knows stays until then, backups after that."""
    box.must("apt-get", "remove", "-qq", "-y", "nakari", seconds=APT_SECONDS)
    assert box.must("ls", "/etc/nakari/nakari.toml", "/var/lib/nakari/nakari.db")
    box.must("apt-get", "purge", "-qq", "-y", "nakari", seconds=APT_SECONDS)
    assert [name for name in box.must(*LEFT).split() if not name.startswith("/var/backups/nakari")] == []
