"""A real, headless Home Assistant in a Debian tree of its own: made once and kept, started and stopped.

usage: python -m tests.home.home_assistant make | start FOLDER [ENTITIES] | stop FOLDER
"""

import fcntl
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.service.bare_debian import BareDebian, cached_tree, copy_registry_configuration

VERSION: Final = "2026.2.3"
SUITE: Final = "trixie"
"""The Debian whose Python (3.13) this version runs on."""

HERE: Final = Path(__file__).parent
PYTHON: Final = "/srv/venv/bin/python"
UP: Final = "the household is up"
"""What configuration.yaml has it log when everything has started."""

LONGEST: Final = "300"
"""Seconds that it may take to start."""

ENDED: Final = "the household ended"

BEYOND_ITS_PINS: Final = ("lru-dict>=1.4", "pymicro-vad>=2", "pyspeex-noise>=2")
"""The releases that are pinned have no wheel for Python 3.13, and the tree has no compiler."""

REQUIREMENTS: Final = """
import json, pathlib, homeassistant.bootstrap, homeassistant.components as components
folder = pathlib.Path(components.__file__).parent
shipped = {path.parent.name for path in folder.glob("*/manifest.json")}
more = {"demo", "mcp_server", "api", "config", "local_todo", "ollama", "shopping_list", "template", "wyoming"}
todo = homeassistant.bootstrap.DEFAULT_INTEGRATIONS | more | {path.stem for path in (folder / "demo").glob("*.py")}
seen, needs = set(), set()
while todo:
    seen.add(name := todo.pop())
    if name in shipped:
        manifest = json.loads((folder / name / "manifest.json").read_text())
        needs |= set(manifest.get("requirements", []))
        todo |= set(manifest.get("dependencies", [])) - seen
print(*sorted(needs), sep="\\n")
"""
"""Prints what the integrations of the household require: Home Assistant itself would fetch that as it starts."""

INSTALL: Final = f"""
export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
python3 -m venv /srv/venv
{PYTHON} -m pip install --quiet uv
echo '{" ".join(BEYOND_ITS_PINS)}' | tr ' ' '\\n' >/srv/overrides
pip="/srv/venv/bin/uv pip install --quiet --no-cache --python {PYTHON} --override /srv/overrides"
$pip homeassistant=={VERSION}
{PYTHON} -c '{REQUIREMENTS}' 2>/dev/null >/srv/requirements
package=$(dirname $({PYTHON} -c 'import homeassistant; print(homeassistant.__file__)'))
grep -vE '^(lru-dict|pymicro-vad|pyspeex-noise)=' $package/package_constraints.txt >/srv/constraints
$pip --constraint /srv/constraints --requirement /srv/requirements imageio-ffmpeg
ln -sf $({PYTHON} -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())') /srv/venv/bin/ffmpeg
"""


class NotMade(Exception):
    """There is none and none can be made; says why, and what to do."""


@dataclass(frozen=True)
class Running:
    """One that runs, as FOLDER/home.json has it."""

    url: str
    token: str
    pid: int
    """Of its process group, which SIGTERM ends in order."""


def tree() -> Path:
    """Return where it is kept, made or not."""
    return Path(os.environ.get("NAKARI_TEST_CACHE", "/var/cache/nakari-test")) / f"home-assistant-{VERSION}"


def why_not() -> str | None:
    """Return why tests cannot have one here, with what to do; None when they can."""
    if not (tree() / "srv/household/token").exists():
        return (
            f"no Home Assistant was made (as root: scripts/home-assistant make, two minutes, kept in {tree().parent})"
        )
    for package in ("ollama", "wyoming"):
        if not any(tree().glob(f"srv/venv/lib/python3*/site-packages/{package}")):
            lacks = f"what its {package} integration needs"
            return f"this Home Assistant was made without {lacks}: scripts/home-assistant make"
    return None if os.geteuid() == 0 else "needs root, to enter the tree that Home Assistant is kept in"


def make() -> None:
    """Make the tree with Home Assistant and an onboarded household in it; nothing when it is there. Raises NotMade."""
    if os.geteuid():
        raise NotMade("needs root, to make a Debian tree: sudo scripts/home-assistant make")
    if missing := [name for name in ("debootstrap", "unshare", "setsid", "tail") if not shutil.which(name)]:
        raise NotMade(f"{', '.join(missing)} is needed: apt-get install --no-install-recommends debootstrap")
    tree().parent.mkdir(parents=True, exist_ok=True)
    with tree().with_name(f"{tree().name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one at a time; whoever waited finds it made
        if why_not() is None:
            return
        unfinished = tree().with_name(f"{tree().name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            _make(unfinished)
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            raise NotMade(f"it could not be made: {error}") from error
        shutil.rmtree(tree(), ignore_errors=True)
        unfinished.rename(tree())


def _make(folder: Path) -> None:
    say(f"making a Debian {SUITE} (about 120 MB, once)")
    subprocess.run(["cp", "--archive", "--reflink=auto", cached_tree(SUITE), folder], check=True)
    copy_registry_configuration(folder, SUITE)
    debian = BareDebian(folder)
    say("its Python")
    install = "DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends python3-venv >/dev/null"
    debian.must(f"apt-get -qq update && {install} && apt-get clean && rm -rf /var/lib/apt/lists/*")
    say(f"fetching Home Assistant {VERSION} (about 350 MB, once)")
    debian.must(f"set -eu; {INSTALL}")
    _furnish(folder)


def _furnish(folder: Path) -> None:
    """Onboard a household in a tree that has Home Assistant, and keep it there."""
    say("onboarding its household")
    household = folder / "srv/household"
    shutil.rmtree(household, ignore_errors=True)
    (household / "config").mkdir(parents=True)
    shutil.copyfile(HERE / "configuration.yaml", household / "config/configuration.yaml")
    (household / "config/more.yaml").write_text("{}\n")
    with tempfile.TemporaryDirectory(prefix="nakari-home-") as scratch:
        subprocess.run(["cp", "--archive", household / "config", scratch], check=True)
        url, pid = _serve(folder, Path(scratch))
        try:
            token = _onboarding(folder, [url])
        finally:
            _end(pid, Path(scratch))
        shutil.rmtree(household / "config")
        subprocess.run(["cp", "--archive", f"{scratch}/config", household], check=True)
    (household / "token").write_text(token)


def start(folder: Path, entities: int = 0) -> Running:
    """Start one with its household under this folder, a new copy when none is there; wait until it is up.

    It has so many more entities, exposed like the others: input_boolean.more_0, "Lamp 0". Raises NotMade.
    """
    if reason := why_not():
        raise NotMade(reason)
    stop(folder)
    if not (folder / "config").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "--archive", tree() / "srv/household/config", folder], check=True)
    if entities:
        more = {f"more_{number}": {"name": f"Lamp {number}"} for number in range(entities)}
        (folder / "config/more.yaml").write_text(json.dumps(more))
    token = (tree() / "srv/household/token").read_text().strip()
    url, pid = _serve(tree(), folder)
    if entities:
        _onboarding(tree(), [url, *(f"input_boolean.more_{number}" for number in range(entities))], token)
    running = Running(url, token, pid)
    (folder / "home.json").write_text(json.dumps(asdict(running)) + "\n")
    return running


def running_in(folder: Path) -> Running:
    """Return the one whose household is under this folder. Raises FileNotFoundError when none runs."""
    return Running(**json.loads((folder / "home.json").read_text()))


def stop(folder: Path) -> None:
    """Stop the one whose household is under this folder, and wait for its end; nothing when none runs."""
    with suppress(FileNotFoundError):
        _end(running_in(folder).pid, folder)
        (folder / "home.json").unlink()


def _serve(home: Path, folder: Path) -> tuple[str, int]:
    """Start it and wait until it is up; return its address and process group. Raises RuntimeError when it ends."""
    port = _port(folder)
    (home / "srv/config").mkdir(exist_ok=True)
    log, pid_file = folder / "log", folder / "pid"
    log.write_bytes(b"")
    inside = ["env", "-i", f"HTTP_PORT={port}", "PATH=/srv/venv/bin:/usr/bin:/bin", "HOME=/srv/config", "LANG=C.UTF-8"]
    inside += ["/srv/venv/bin/hass", "--skip-pip", "--config", "/srv/config"]
    mount = f"mount --bind {shlex.quote(str(folder / 'config'))} {shlex.quote(str(home / 'srv/config'))}"
    enter = shlex.join([*BareDebian(home).entered(), *inside])
    script = f"echo $$ >{shlex.quote(str(pid_file))}; trap : TERM; {{ {mount} && {enter}; }} || :; echo {ENDED}"
    pid_file.unlink(missing_ok=True)
    is_up = False
    with log.open("ab") as out:
        subprocess.run(
            ["setsid", "--fork", "unshare", "--mount", "sh", "-euc", script],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            check=True,
        )
    try:
        is_up = UP in _told(log)
    finally:
        if not is_up and pid_file.exists():
            _end(int(pid_file.read_text()), folder)
    if not is_up:
        raise RuntimeError(f"Home Assistant ended: see {log}")
    return f"http://127.0.0.1:{port}", int(pid_file.read_text())


def _told(log: Path) -> str:
    """Wait until the log says that it is up or has ended, and return that line."""
    with subprocess.Popen(
        ["timeout", LONGEST, "tail", "-n", "+1", "-F", log], stdout=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        line = next((line for line in following.stdout if UP in line or ENDED in line), "")
        following.terminate()
    return line


def _port(folder: Path) -> int:
    """Return the port of this household: the one that it had, else a free one."""
    file = folder / "port"
    if not file.exists():
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            file.write_text(str(one.getsockname()[1]))
    return int(file.read_text())


def _end(pid: int, folder: Path) -> None:
    """End what serves this folder, if that is still what has this number."""
    with suppress(ProcessLookupError, FileNotFoundError):
        if str(folder) not in Path(f"/proc/{pid}/cmdline").read_text():
            return
        os.killpg(pid, signal.SIGTERM)
        subprocess.run(["timeout", "30", "tail", f"--pid={pid}", "-f", os.devnull], check=False)
        os.killpg(pid, signal.SIGKILL)


def _onboarding(home: Path, words: list[str], token: str = "") -> str:
    """Run onboarding.py by Home Assistant's own Python; return what it printed."""
    command = [*BareDebian(home).entered(), "env", f"TOKEN={token}", PYTHON, "-", *words]
    with (HERE / "onboarding.py").open() as program:
        return subprocess.run(command, stdin=program, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def say(words: str) -> None:
    """Tell how far it is."""
    sys.stderr.write(f"home-assistant: {words}\n")


def main(words: list[str]) -> int:
    """Do what the command line says; return the exit status."""
    try:
        match words:
            case ["make"]:
                make()
            case ["start", folder] | ["start", folder, _] if all(map(str.isdecimal, words[2:])):
                say(start(Path(folder).absolute(), int("".join(words[2:]) or 0)).url)
            case ["stop", folder]:
                stop(Path(folder).absolute())
            case _:
                say("usage: scripts/home-assistant make | start FOLDER [ENTITIES] | stop FOLDER")
                return 2
    except (NotMade, RuntimeError) as error:
        say(str(error))
        return 69
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
