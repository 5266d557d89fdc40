"""The design card: its packages, its paths, its import names, and no torch."""

import importlib.metadata
import importlib.util
import itertools
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from appliance.version import commit
from tests.architecture.source import PACKAGES, ROOT, imports, sources

CARD = {
    *("edge-tts", "faster-whisper", "litellm", "neo4j", "onnxruntime"),
    *("pyaudio", "silero-vad", "sounddevice", "structlog", "tiktoken"),
}
PATHS = ("appliance", "audio", "agent", "memory", "systemd", "scripts", "tests", "pyproject.toml", "README.md")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def required() -> set[str]:
    """Return the names of all dependencies, extras included."""
    extras = itertools.chain(*PROJECT["project"]["optional-dependencies"].values())
    lines = [*PROJECT["project"]["dependencies"], *extras]
    return {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in lines}


def locked(name: str) -> dict[str, set[str]]:
    """Return a lock file's packages, each with its pinned versions."""
    pins: dict[str, set[str]] = {}
    for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines():
        if pin := re.match(r"([a-z0-9._-]+)==(\S+)", line):
            pins.setdefault(pin[1], set()).add(pin[2])
    return pins


@pytest.mark.shows("H11")
def test_the_card_s_packages_are_dependencies() -> None:
    assert len(CARD) == 10
    assert CARD - required() == set()


@pytest.mark.shows("H11")
def test_the_card_s_paths_exist() -> None:
    assert [path for path in PATHS if not (ROOT / path).exists()] == []


@pytest.mark.shows("H11", "V5")
def test_torch_is_neither_locked_nor_installed() -> None:
    assert {"torch", "torchaudio"} & locked("test.txt").keys() == set()
    assert importlib.util.find_spec("torch") is None
    assert importlib.metadata.version("silero-vad") in locked("runtime.txt")["silero-vad"]


@pytest.mark.shows("H11")
def test_each_import_name_has_one_owner() -> None:
    owners = importlib.metadata.packages_distributions()
    assert [package for package in PACKAGES if set(owners.get(package, ())) - {"nakari"}] == []
    found = {package: importlib.util.find_spec(package) for package in PACKAGES}
    assert {name: spec and spec.origin for name, spec in found.items()} == {
        name: str(ROOT / name / "__init__.py") for name in PACKAGES
    }


@pytest.mark.shows("H11")
def test_the_wheel_holds_the_four_packages_and_nothing_else(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("nakari-*.whl"))) as wheel:
        tops = {name.split("/")[0] for name in wheel.namelist()}
        note = wheel.read("appliance/commit.txt").decode("ascii").strip()
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert note == commit()


@pytest.mark.shows("H11")
def test_a_wheel_that_is_made_twice_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    made = []
    for name in ("first", "second"):
        build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path / name)]
        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
        made.append(next((tmp_path / name).glob("nakari-*.whl")).read_bytes())
    assert made[0] == made[1]


@pytest.mark.shows("H11")
def test_a_wheel_made_of_the_source_distribution_names_its_commit(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path), "--target"]
    subprocess.run([*build, "sdist"], cwd=ROOT, check=True, capture_output=True)
    unpacked = tmp_path / "source"
    unpacked.mkdir()
    subprocess.run(["tar", "-xf", next(tmp_path.glob("nakari-*.tar.gz")), "-C", unpacked], check=True)
    [source] = unpacked.iterdir()
    subprocess.run([*build, "wheel"], cwd=source, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("nakari-*.whl"))) as wheel:
        assert wheel.read("appliance/commit.txt").decode("ascii").strip() == commit()


def test_what_is_imported_is_a_dependency() -> None:
    """Nothing leans on what another dependency happens to bring along."""
    owners = importlib.metadata.packages_distributions()
    optional = {"pyaudio": ["PyAudio"]}
    third_party = {
        name.split(".")[0]: f"{path}:{line}"
        for path in sources()
        for name, line in imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names | set(PACKAGES)
    }
    undeclared = {
        name: where
        for name, where in third_party.items()
        if not {owner.lower().replace("_", "-") for owner in owners.get(name, optional.get(name, []))} & required()
    }
    assert undeclared == {}


def test_every_dependency_has_its_line_in_the_docs() -> None:
    lines = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| ([a-z0-9-]+) \|", lines, re.MULTILINE)) - {"package"} == required()


@pytest.mark.shows("H1")
def test_every_dependency_is_locked_with_hashes() -> None:
    built_on_the_machine = {"pyaudio"}
    assert required() - built_on_the_machine - locked("runtime.txt").keys() == set()
    for name in ("runtime.txt", "test.txt"):
        lines = (ROOT / "requirements" / name).read_text(encoding="utf-8")
        pins = [line for line in lines.splitlines() if "==" in line]
        hashed = re.findall(r"== ?\S+.*\\\n +--hash=sha256:[0-9a-f]{64}", lines)
        assert len(pins) == len(hashed) > 50


@pytest.mark.shows("H1")
def test_the_test_lock_is_the_runtime_lock_and_more() -> None:
    runtime, test = locked("runtime.txt"), locked("test.txt")
    assert {name: pins for name, pins in runtime.items() if test.get(name) != pins} == {}


def test_the_installed_versions_are_the_locked_ones() -> None:
    pins = locked("test.txt")
    installed = {name.lower(): importlib.metadata.version(name) for name in required() - {"pyaudio", "pocketsphinx"}}
    assert {name: version for name, version in installed.items() if version not in pins[name]} == {}


def test_the_malicious_releases_are_shut_out() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    asked_for = [*PROJECT["project"]["dependencies"], *(line for lines in extras.values() for line in lines)]
    assert [line for line in asked_for if line.startswith("litellm")] == ["litellm>=1.90,!=1.82.7,!=1.82.8"]
