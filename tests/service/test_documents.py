"""README and docs/ typed literally: each line of each block for a shell, in order, by a user whose home is empty."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

from appliance.errors import Exit
from tests.appliance.command import environment
from tests.architecture.documents import FRONT, blocks, pages
from tests.architecture.source import ROOT
from tests.needs import missing_programs
from tests.service.process import SECONDS, Running
from tests.warm import CLIENT, WarmProcess, for_a_shell

CONFIGURATION = """
[voice]
engine = "espeak"
[ears]
download = false
calibrate_at_start = false
[model]
provider = "offline"
[http]
addresses = ["127.0.0.1:0"]
"""
"""Nothing of it leaves the machine; all else is as it comes, the folders too."""

RUNS = f"#!/bin/sh\n{CLIENT}\n"
SUDO = '#!/bin/sh\n[ "$1" = nakari ] || { echo "only nakari is tried as root here" >&2; exit 99; }\nexec "$@"\n'
"""In place of sudo: the person is root already in a home of their own."""

ROOT_NEEDED = "changes the machine as root: tests/service/test_systemd.py"
AUTHORITY = "changes whom the machine trusts: tests/memory/test_trust.py has an authority of its own"
PACKAGE = "wants a package that is not published: tests/service/test_package.py"
CHECK_RELEASE = "gpg --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check --ignore-missing SHA256SUMS"
RELEASE = "wants a release that is not published: tests/service/test_signing.py"
SYSTEMD = "needs a real systemd: tests/service/test_systemd.py"
SUITE = "is the suite, the checks or a benchmark itself"
SEVERAL = "wants two machines and an engine: tests/machines"
NATS = "sets up a server as root, which was not tried, as the page says: tests/machines has a server of its own"
CONTAINER = "needs podman and a registry, which no test has, as the page says"
WAITS = "of an event that waits: tests/appliance/cli/remember/test_events_command.py"
SATELLITE = "wants a device of that name: tests/satellites"

NOT_TYPED: Mapping[str, str] = {
    "scripts/run": "goes on until it is stopped: what runs behind all other lines here",
    "nakari run": "goes on until it is stopped: what runs behind all other lines here",
    "nakari devices --test": "judges a real card: tests/audio/devices",
    "sudo scripts/install": ROOT_NEEDED,
    "git clone ADDRESS nakari && cd nakari": "a placeholder stands in it: tests/service/test_fresh_clone.py",
    "sudo scripts/uninstall": ROOT_NEEDED,
    "sudo scripts/uninstall --purge": ROOT_NEEDED,
    "sudo apt install ./nakari_VERSION_ARCH.deb": PACKAGE,
    CHECK_RELEASE: RELEASE,
    "sudo apt remove nakari": PACKAGE,
    "sudo apt purge nakari": PACKAGE,
    "podman build --build-arg COMMIT=$(git rev-parse --short HEAD) -t nakari .": CONTAINER,
    "podman run -d --init --name nakari --network host -e TZ=Europe/Berlin -v nakari:/var/lib/nakari nakari": CONTAINER,
    'podman exec nakari nakari ask "what time is it"': CONTAINER,
    **dict.fromkeys(
        (
            "sudo install -D -m 644 systemd/asound.conf /etc/nakari/asound.conf",
            "sudo install -D -m 644 systemd/desktop-sound.conf /etc/systemd/system/nakari.service.d/desktop-sound.conf",
            "sudoedit /etc/systemd/system/nakari.service.d/desktop-sound.conf",
            "sudo loginctl enable-linger ada",
            "sudo systemctl daemon-reload",
            "sudo systemctl restart nakari",
        ),
        ROOT_NEEDED,
    ),
    "sudo usermod -aG nakari NAME": ROOT_NEEDED,
    "sudo nakari logs -f": "follows the journal of systemd until it is stopped: tests/appliance/logs",
    "sudo nakari logs --since 2h --level warning": SYSTEMD,
    "systemctl status nakari": SYSTEMD,
    "journalctl -u nakari -n 50": SYSTEMD,
    "journalctl -u nakari -o cat | jq": SYSTEMD,
    "sudo mkdir -p /etc/nakari": ROOT_NEEDED,
    "sudo nakari config default | sudo tee /etc/nakari/nakari.toml >/dev/null": ROOT_NEEDED,
    "sudo cp home-ca.crt /usr/local/share/ca-certificates/ && sudo update-ca-certificates": AUTHORITY,
    "sudo systemctl disable --now nakari.service": ROOT_NEEDED,
    "sudo mkdir -p /etc/nakari/ada": ROOT_NEEDED,
    "sudo systemctl enable --now nakari@ada.service": ROOT_NEEDED,
    "sudo nakari machines invite kitchen": SEVERAL,
    "sudo nakari join INVITATION --ca /etc/nats.pem": SEVERAL,
    "nakari machines": SEVERAL,
    "sudo apt install nats-server openssl": NATS,
    "sudo openssl req -x509": NATS,
    "sudo chown nats /etc/nats.key; sudo touch /etc/nats-home.users": NATS,
    "sudoedit /etc/nats-server.conf": NATS,
    "sudo systemctl restart nats-server": NATS,
    "sudo install -m 600 /root/.local/state/nakari/machine.nk /etc/nakari/machine.nk": NATS,
    "sudo mkdir -p /etc/systemd/system/nakari.service.d": NATS,
    "sudo cp /opt/nakari/current/systemd/machines.conf /etc/systemd/system/nakari.service.d/": NATS,
    "nakari satellite add kitchen-box --room kitchen": SATELLITE,
    "nakari satellite test kitchen": SATELLITE,
    "scripts/check": SUITE,
    "scripts/test": SUITE,
    "scripts/test -n0 tests/agent": SUITE,
    "scripts/bench mailbox": SUITE,
    "scripts/bench whole": SUITE,
    "nakari models pull small": "fetches a model: tests/appliance/cli/choose/test_models_command.py",
    "nakari models list --measure": "wants a fetched model: tests/appliance/cli/choose/test_models_command.py",
    "nakari model use NAME": "wants a second model: tests/service/test_model_use.py",
    'nakari say "dinner is ready"': "needs a real card: tests/service/test_offline_voice.py",
    "nakari events move ID --priority 5 --at 07:30": WAITS,
    "nakari events cancel ID": WAITS,
    "nakari mailbox --retry ID": WAITS,
    "nakari forget": "asks on a terminal: tests/service/test_forget_command.py",
    "nakari forget --minutes 10": "asks on a terminal: tests/service/test_forget_command.py",
    'nakari forget --about "spare key"': "asks on a terminal: tests/service/test_forget_command.py",
    "nakari forget --everything --as ada.key": "asks on a terminal: tests/service/test_forget_command.py",
}
"""Lines that cannot be typed here, without their remarks, and why."""

JUDGES_THE_MACHINE = {"scripts/run doctor", "nakari doctor", "sudo nakari doctor"}
"""It may end with 1: the machine of a test lacks a card."""

SERVICE: Mapping[str, tuple[bool, ...]] = {
    "sudo systemctl stop nakari": (False,),
    "sudo systemctl start nakari": (True,),
    "sudo systemctl restart nakari": (False, True),
}
"""What systemd would do is done to the nakari that runs here: stopped (False), started (True)."""


class Ended(NamedTuple):
    """One line, ended."""

    page: Path
    line: str
    code: int
    told: str

    @property
    def went_well(self) -> bool:
        return self.code in ((Exit.OK, 1) if self.line in JUDGES_THE_MACHINE else (Exit.OK,))


def lines() -> Iterator[tuple[Path, str]]:
    """Yield each line of each block for a shell, README first, then docs/ by name, without its remark."""
    docs = sorted(page for page in pages() if page.parent == Path("docs"))
    for page in (FRONT, *docs):
        for block in blocks(page, "sh"):
            for line in filter(None, map(str.strip, block.replace("\\\n", " ").splitlines())):
                yield page, line.partition(" # ")[0].strip()


def reason(line: str) -> str | None:
    """Return why a line is not typed, None where it is."""
    return NOT_TYPED.get(short(line))


def short(line: str) -> str:
    """Return a line as the table names it: a long one by its beginning."""
    return re.split(r" -(?:rR|newkey) ", line)[0]


def what_it_does(line: str) -> str:
    """Return a line without what makes no difference here: by whom, and in quotation marks or not."""
    return re.sub("^(sudo nakari|scripts/run) ", "nakari ", line).replace('"', "")


@dataclass
class Newcomer:
    """Somebody with an empty home, a `nakari` on the path, a clone's scripts/run, and a nakari that runs."""

    home: Path
    running: Running | None = None
    ended: list[Ended] = field(default_factory=list)

    @property
    def variables(self) -> dict[str, str]:
        path = f"{self.home / 'bin'}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        return environment(self.home, NAKARI_CONFIG=str(self.home / "nakari.toml"), PATH=path)

    def move_in(self) -> None:
        """Set up the home with the real scripts/run; its set-up is tried in tests/service/test_fresh_clone.py."""
        (self.home / "nakari.toml").write_text(CONFIGURATION, encoding="utf-8")
        run = (ROOT / "scripts" / "run").read_text(encoding="utf-8")
        for name, text in {
            "bin/nakari": RUNS,
            "bin/sudo": SUDO,
            "scripts/run": run,
            "scripts/setup": "#!/bin/sh\n",
            ".venv/bin/nakari": RUNS,
        }.items():
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            file.chmod(0o755)

    def start(self) -> None:
        """Start nakari, as its service does, and wait until it serves."""
        process = WarmProcess(["run", "--output", str(self.home / "said.wav")], self.home, self.variables)
        self.running = Running(process)
        self.running.until("service_started")

    def stop(self) -> int:
        """Stop it, as systemd does; return its exit code."""
        assert self.running is not None
        code, self.running = self.running.stop(), None
        return code

    def type(self, page: Path, line: str) -> None:
        """Type one line into a shell of its own."""
        if line in SERVICE:
            for up in SERVICE[line]:
                if up:
                    self.start()
                elif self.running is not None:
                    self.ended.append(Ended(page, line, self.stop(), ""))
            return
        variables, descriptors = for_a_shell()
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.home,
            env={**self.variables, **variables},
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        self.ended.append(Ended(page, line, done.returncode, done.stdout + done.stderr))


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    """Who has typed each line that is typed; one that stands in several places once with the service, once without."""
    if lacking := missing_programs("espeak-ng", "curl", "bash"):
        pytest.skip(lacking)
    newcomer = Newcomer(tmp_path_factory.mktemp("home"))
    newcomer.move_in()
    newcomer.start()
    typed: set[tuple[str, bool]] = set()
    try:
        for page, line in lines():
            now = what_it_does(line), newcomer.running is None
            if reason(line) is None and (line in SERVICE or now not in typed):
                typed.add(now)
                newcomer.type(page, line)
    finally:
        if newcomer.running is not None:
            with suppress(AssertionError):
                newcomer.running.kill()
    return newcomer


@pytest.fixture(scope="module")
def ended(newcomer: Newcomer) -> list[Ended]:
    """What came of each line."""
    return newcomer.ended


@pytest.mark.shows("H1", "H6")
def test_each_line_that_is_typed_goes_well(ended: list[Ended]) -> None:
    assert [f"{each.page}: {each.line}: {each.code} {each.told}" for each in ended if not each.went_well] == []
    assert len(ended) > 30


def test_what_lies_in_the_state_folder_is_told(newcomer: Newcomer) -> None:
    page = (ROOT / "docs/operation.md").read_text(encoding="utf-8")
    rows = page.partition("In the state folder:")[2].partition("\n\nNo sound")[0].splitlines()
    told = [name.rstrip("/").replace("…", "*") for row in rows for name in re.findall("`(.+?)`", row.split(" | ")[0])]
    there = [each.name for each in (newcomer.home / ".local/state/nakari").iterdir()]
    assert len(there) > 10
    assert [name for name in there if not any(fnmatchcase(name, each) for each in told)] == []


def test_no_answer_shows_a_traceback(ended: list[Ended]) -> None:
    assert [each.line for each in ended if "Traceback (most recent call last)" in each.told] == []


def test_each_line_that_is_not_typed_stands_in_a_document() -> None:
    assert sorted(NOT_TYPED.keys() - {short(line) for _, line in lines()}) == []


def test_what_is_not_typed_is_shown_by_a_test_that_exists() -> None:
    named = {part for why in NOT_TYPED.values() for part in re.findall(r"tests/[\w/.]+", why)}
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


@pytest.mark.parametrize("line", sorted(NOT_TYPED))
def test_what_cannot_be_typed_here_is_listed(line: str) -> None:
    pytest.skip(f"{line}: {NOT_TYPED[line]}")
