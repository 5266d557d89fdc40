"""The container of `Containerfile`: built of a bare Debian, it answers without sound, and aloud at a sound server."""

import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct

from appliance.version import commit
from tests.architecture.source import ROOT
from tests.needs import missing_programs
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.service.bare_debian import REGISTRY_FILES, REGISTRY_VARIABLES, cached_tree, copy_registry_configuration
from tests.service.process import HOUSEHOLD, Running, speak
from tests.service.test_systemd import loud_seconds

pytestmark = [pytest.mark.sound, pytest.mark.timeout(2400), pytest.mark.shows("H1", "H2", "X19")]

BASE: Final = "docker.io/library/debian:bookworm-slim"
LOCKED: Final = (
    "Containerfile",
    "scripts/setup",
    "requirements/*.txt",
    "pyproject.toml",
    "hatch_build.py",
    "README.md",
    "LICENSE",
    "systemd/asound.conf",
    "a*/__init__.py",
    "memory/__init__.py",
)
"""What goes into the stage of that name."""
UP_SECONDS: Final = 120.0
MODEL: Final = "/srv/household"
CONFIGURATION: Final = f"""
[ears]
model = "{MODEL}"
download = false
calibrate_at_start = false
zeros_are_dead = 0    # the card of software is that silent

[model]
provider = "offline"
"""


class Container(Struct, frozen=True):
    """A container of the image, and where its configuration is on this machine. Its state is a volume of its own."""

    buildah: list[str]
    name: str
    configuration: Path

    def command(self, *words: str, options: tuple[str, ...] = ()) -> list[str]:
        """Return what runs a command in it, as its own user."""
        mounts = [f"--volume={HOUSEHOLD}:{MODEL}:ro", f"--volume={self.configuration}:/etc/nakari/nakari.toml:ro"]
        run = ["run", "--isolation=chroot", "--network=host", *mounts, *options]
        return [*self.buildah, *run, self.name, "--", *words]

    def must(self, *words: str) -> str:
        """Run a command to its end, and return what it prints."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False, timeout=UP_SECONDS)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def running(self, *options: str) -> Iterator[None]:
        """Let it do what it does by itself until the block ends, and end it as it is stopped: by a signal to itself."""
        command = self.command("/opt/nakari/.venv/bin/nakari", "run", options=options)
        service = Running(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        try:
            service.until("service_started", UP_SECONDS)
            yield
            os.kill(nakari_below(service.process.pid), signal.SIGTERM)
            assert service.finish() == 0
        finally:
            service.kill()


def nakari_below(process: int) -> int:
    """Return the service that a container's program has started, by way of others."""
    threads = Path(f"/proc/{process}/task").iterdir()
    process = next(int(child) for thread in threads for child in (thread / "children").read_text("ascii").split())
    is_it = Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"/opt/nakari/.venv/bin/python\0")
    return process if is_it else nakari_below(process)


def until(holds: Callable[[], bool]) -> None:
    """Return once it holds. Raises AssertionError where it does not."""
    ends = time.monotonic() + UP_SECONDS
    while not holds():
        assert time.monotonic() < ends


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Build the image of this tree, on what an earlier run of this lock kept; yield how buildah is called for it."""
    if shutil.which("buildah") is None:
        pytest.skip("not installed: buildah (Debian has it)")
    if reason := missing_programs("debootstrap"):
        pytest.skip(reason.partition(" (")[0])
    if os.geteuid():
        pytest.skip("needs root: a bare Debian is made for the container to begin with")
    source = tmp_path_factory.mktemp("clone") / "source"
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    # A layer is known again by what is copied into it, and that by its time too.
    subprocess.run(["find", source, "-exec", "touch", "--no-dereference", "--date=@0", "{}", "+"], check=True)
    mine = [f"--volume=/{name}:/{name}:ro" for name in REGISTRY_FILES if (Path("/") / name).exists()]
    mine += [f"--env={name}" for name in os.environ if REGISTRY_VARIABLES.fullmatch(name)]
    how = ["--isolation=chroot", "--network=host", "--pull-never", "--layers", f"--build-arg=COMMIT={commit()}"]
    with images_of_this_lock() as folder:
        buildah = ["buildah", f"--root={folder / 'root'}", f"--runroot={folder / 'run'}"]
        must(*buildah, "rm", "--all")  # of a run that was cut off
        with_a_base(buildah, folder)
        build = [*buildah, "build", *how, *mine, "--file=Containerfile"]
        must(*build, "--target=locked", "--tag=locked", str(source))
        must(*build, "--tag=nakari", str(source))
        yield buildah
        must(*buildah, "rmi", "localhost/nakari")  # and its layers, down to the one that is locked


@contextmanager
def images_of_this_lock() -> Iterator[Path]:
    """Give a folder for images that is kept until what the locked layer is made of changes: all that is downloaded."""
    made_from = [file for pattern in LOCKED for file in sorted(ROOT.glob(pattern))]
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in made_from)).hexdigest()[:12]
    cache = cached_tree("bookworm").parent
    folder = cache / f"images-{digest}"
    with (cache / "images.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for other in cache.glob("images-*"):
            if other != folder:
                subprocess.run(["rm", "-rf", other], check=True)
        folder.mkdir(exist_ok=True)
        yield folder


def with_a_base(buildah: list[str], folder: Path) -> None:
    """Make the bare Debian on which the image is built, unless it is there."""
    if subprocess.run([*buildah, "inspect", "--type=image", BASE], capture_output=True, check=False).returncode == 0:
        return
    registries = folder / "registries"
    (registries / "etc/apt/apt.conf.d").mkdir(parents=True, exist_ok=True)
    copy_registry_configuration(registries, "bookworm")
    base = must(*buildah, "from", "scratch")
    for tree in (cached_tree("bookworm"), registries):
        must(*buildah, "copy", "--quiet", base, str(tree), "/")
    must(*buildah, "commit", "--quiet", "--rm", base, BASE)


def must(*words: str) -> str:
    """Run a program to its end, and return its last line."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout.strip().rpartition("\n")[2]


@pytest.fixture(scope="module")
def container(image: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Container]:
    """A container of it."""
    configuration = tmp_path_factory.mktemp("configuration") / "nakari.toml"
    configuration.write_text(CONFIGURATION)
    configuration.chmod(0o644)
    for folder in configuration.parents[:3]:
        folder.chmod(0o755)  # it is another user's
    name = must(*image, "from", "--pull-never", "localhost/nakari")
    yield Container(image, name, configuration)
    must(*image, "rm", name)


def test_without_sound_it_answers_and_remembers_as_a_user_of_its_own(container: Container) -> None:
    assert commit() in container.must("nakari", "--version")
    assert container.must("id", "-u").strip() == "1000"
    with container.running():
        assert re.fullmatch(r"It is .+\.\n", container.must("nakari", "ask", "what time is it"))  # no digit at eleven
        container.must("nakari", "ask", "remember that the spare key is under the pot")
        assert "no microphone" in container.must("nakari", "status").casefold()
    with container.running():
        told = container.must("nakari", "ask", "what do you remember about the key")
        assert "under the pot" in told, "its state is the volume's"


def test_with_a_sound_server_it_hears_and_answers_aloud(container: Container, tmp_path: Path) -> None:
    with virtual_sound() as card:
        for folder in (card.folder, card.folder / "run"):
            folder.chmod(0o755)
        options = (f"--volume={card.folder / 'run'}:/run/pulse", "--env=PULSE_SERVER=unix:/run/pulse/native")
        with container.running(*options):
            until(lambda: "household" in container.must("nakari", "status"))
            question = speak("What time is it?", tmp_path / "question.wav")
            with card.recording(tmp_path / "answer.wav"):
                card.say(question)
                until(lambda: loud_seconds_so_far(card, tmp_path / "answer.wav") > 0.5)


def loud_seconds_so_far(card: VirtualSound, recording: Path) -> float:
    """Return how long something was heard of it in a WAV that is still written to."""
    assert card.server.poll() is None
    copy = recording.with_name("so-far.wav")
    subprocess.run(["sox", "--ignore-length", str(recording), str(copy)], check=True, capture_output=True)
    return loud_seconds(copy)
