"""The sums of a release and their signature: made by gpg, checked by the line that the document shows."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.needs import missing_programs
from tests.service.debian_package import gpg, sign
from tests.service.test_documents import CHECK_RELEASE

KEY = "releases@nakari.invalid"

pytestmark = pytest.mark.shows("H2")


@pytest.fixture(scope="module")
def key() -> Iterator[str]:
    """A key in a keyring of its own; its path is short, as that of a socket has to be."""
    if reason := missing_programs("gpg", "gpgconf", "gpg-agent"):
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        os.environ["GNUPGHOME"] = home
        gpg("--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "never")
        yield KEY
        subprocess.run(["gpgconf", "--kill", "all"], check=True)
        del os.environ["GNUPGHOME"]


@pytest.fixture
def release(tmp_path: Path, key: str) -> Path:
    """A folder as scripts/package leaves it."""
    for name in ("nakari_0.1.0_amd64.deb", "nakari_0.1.0_arm64.deb", "nakari_0.1.0.cdx.json"):
        (tmp_path / name).write_bytes(os.urandom(1000))
    sign(tmp_path, key)
    return tmp_path


def checked(release: Path) -> int:
    return subprocess.run(["sh", "-c", CHECK_RELEASE], cwd=release, capture_output=True, check=False).returncode


def test_a_release_is_what_was_signed_one_package_of_it_too(release: Path) -> None:
    assert checked(release) == 0
    (release / "nakari_0.1.0_arm64.deb").unlink()
    assert checked(release) == 0


def test_another_package_of_that_name_is_found_out(release: Path) -> None:
    (release / "nakari_0.1.0_amd64.deb").write_bytes(b"evil")
    assert checked(release) != 0


def test_other_sums_are_found_out(release: Path) -> None:
    (release / "nakari_0.1.0_amd64.deb").write_bytes(b"evil")
    sums = subprocess.run(["sh", "-c", "sha256sum *.deb"], cwd=release, capture_output=True, check=True)
    (release / "SHA256SUMS").write_bytes(sums.stdout)
    assert checked(release) != 0


def test_signed_again_the_sums_are_of_what_lies_there_now(release: Path, key: str) -> None:
    (release / "nakari_0.2.0_amd64.deb").write_bytes(b"newer")
    sign(release, key)
    assert "nakari_0.2.0_amd64.deb" in (release / "SHA256SUMS").read_text()
    assert checked(release) == 0


@pytest.mark.usefixtures("key")
def test_a_key_that_is_not_there_is_told_before_minutes_are_spent(tmp_path: Path) -> None:
    command = ["python3", "-m", "tests.service.debian_package", "--output", str(tmp_path / "dist"), "--sign", "nobody"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("nakari: nothing is signed (gpg: ")
    assert "`gpg --list-secret-keys` names the keys that can sign" in done.stderr
    assert not (tmp_path / "dist").exists()
