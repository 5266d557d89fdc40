"""The box as its owner meets it: installed under a real systemd, started, asked, spoken to, killed, frozen, stopped."""

import json
import re
import shutil
import subprocess
import time
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pytest

from appliance.errors import Exit
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.service.process import HOUSEHOLD, speak
from tests.service.real_systemd import Box, booted, cannot_boot, tree_of_this_lock

pytestmark = [
    pytest.mark.systemd,
    pytest.mark.debian,
    pytest.mark.sound,
    pytest.mark.timeout(1200),
]

UP_SECONDS = 240.0
STOP_SECONDS = 20.0
"""TimeoutStopSec of the unit."""
MUTE_PORT = 4321
CONFIGURATION = f"""
[ears]
download = false      # what this box can reach is its own loopback
zeros_are_dead = 0    # the card of software is that silent

[log]
words = false

[model]
provider = "offline"

[models.never]
provider = "openai"
base_url = "http://127.0.0.1:{MUTE_PORT}/v1"
name = "m"
"""
NEVER_ANSWERS = f"import socket, signal; s = socket.create_server(('127.0.0.1', {MUTE_PORT})); signal.pause()"


PYTHON = "/opt/nakari/current/.venv/bin/python"
GET = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/status").status)
except urllib.error.HTTPError as error:
    print(error.code)
"""
"""Prints what the door at a port answers to whoever runs it."""


@pytest.fixture(scope="module")
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as card:
        for folder in (card.folder, card.folder / "run"):
            folder.chmod(0o755)  # the service is another user
        yield card


class Installed(NamedTuple):
    """A box, and what `scripts/install` said of its first time there."""

    box: Box
    first: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def installed(card: VirtualSound) -> Iterator[Installed]:
    """A box on which an owner put a Whisper model, typed `scripts/install`, then wrote a configuration."""
    if reason := cannot_boot():
        pytest.skip(reason)
    with booted(tree_of_this_lock(), card.folder) as box:
        shutil.copytree(HOUSEHOLD, card.folder / "household")
        box.must("mkdir", "-p", "/var/lib/nakari/models")
        box.must("cp", "-r", "/srv/card/household", "/var/lib/nakari/models/household")
        first = box.run("/srv/nakari/scripts/install")
        box.write("/etc/nakari/nakari.toml", CONFIGURATION)
        box.must("systemctl", "restart", "nakari.service")
        yield Installed(box, first)


@pytest.fixture(scope="module")
def box(installed: Installed) -> Box:
    return installed.box


@pytest.fixture(autouse=True)
def running(box: Box) -> None:
    """Each story begins with the service up, whatever the one before did to it."""
    box.run("systemctl", "reset-failed", "nakari.service")
    box.must("systemctl", "start", "nakari.service")


def status_of(box: Box) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(box.must("nakari", "status", "--json"))
    return found


def lines_of(box: Box, *more: str) -> list[dict[str, str]]:
    """The lines of the program itself in the journal, oldest first."""
    return [line for line in box.journal(*more) if line.get("SYSLOG_IDENTIFIER") == "nakari"]


def records_of(box: Box, *more: str) -> list[dict[str, object]]:
    """What it logged, oldest first; an interpreter that is killed says other words in between."""
    told = [line["MESSAGE"] for line in lines_of(box, *more)]
    return [json.loads(line) for line in told if line.startswith("{")]


def logged(box: Box, *more: str) -> list[str]:
    """What it logged, by the names of the events."""
    return [str(record["event"]) for record in records_of(box, *more)]


def events_of(box: Box, state: str) -> list[str]:
    done = box.run("nakari", "mailbox", "--state", state, "--json")
    if done.returncode == Exit.UNAVAILABLE:
        return []  # it is being started anew
    assert done.returncode == 0, done.stderr
    return [event.get("content", "") for event in json.loads(done.stdout)["events"]]


def loud_seconds(recording: Path) -> float:
    """Return how long a WAV of 16 kHz is louder than -40 dB, in blocks of 20 ms."""
    with wave.open(str(recording)) as opened:
        samples = np.frombuffer(opened.readframes(opened.getnframes()), np.int16).astype(np.float64)
    blocks = samples[: len(samples) // 320 * 320].reshape(-1, 320)
    return float((np.sqrt((blocks**2).mean(axis=1)) > 328).sum()) / 50


@pytest.mark.shows("H2")
def test_where_nobody_can_answer_a_new_box_is_told_what_to_type(installed: Installed) -> None:
    done = installed.first
    assert done.returncode == 0, done.stderr
    assert "nakari: once microphone and loudspeaker stand where they stay: sudo nakari calibrate\n" in done.stderr
    assert "household" in done.stdout, "the models are listed"
    assert "program    Python" in done.stdout, "it ends with the doctor"


@pytest.mark.shows("H2", "F32", "H6")
def test_it_is_ready_and_systemctl_says_what_it_does(box: Box) -> None:
    assert box.show("ActiveState") == "active"
    assert box.show("UnitFileState") == "enabled", "it comes up at boot"
    assert "listening" in box.must("systemctl", "status", "nakari")
    owner = box.must("stat", "--format=%U", f"/proc/{box.show('MainPID')}").strip()
    assert owner not in {"root", "nobody"}


@pytest.mark.shows("H3")
def test_it_is_closed_for_all_but_what_it_needs(box: Box) -> None:
    said = box.must("systemd-analyze", "security", "--no-pager", "nakari.service")
    exposure = re.search(r"Overall exposure level for nakari.service: ([0-9.]+)", said)
    assert exposure
    assert float(exposure[1]) <= 2.0


@pytest.mark.shows("H2", "A10")
def test_its_owner_asks_in_writing(box: Box) -> None:
    told = re.compile(r"It is .*(morning|noon|evening|night)")
    assert told.search(box.must("nakari", "ask", "what time is it"))
    box.must("nakari", "identity", "create", "Ada", "--key", "/root/Ada.key")
    assert told.search(box.must("nakari", "ask", "--as", "/root/Ada.key", "what time is it"))
    refused = box.run("setpriv", "--reuid=1234", "--clear-groups", "env", "HOME=/", "nakari", "ask", "what time is it")
    assert (refused.returncode, refused.stdout) == (Exit.UNAVAILABLE, "")
    assert refused.stderr.endswith(
        "is for members of the group nakari; add yourself: sudo usermod -aG nakari $USER, then log in again\n"
    )


def test_a_member_of_its_group_uses_it_without_root(box: Box) -> None:
    box.must("useradd", "--create-home", "ada")
    as_ada = ("setpriv", "--reuid=ada", "--regid=ada", "--init-groups", "env", "HOME=/home/ada", "nakari")
    assert box.run(*as_ada, "status").returncode == Exit.UNAVAILABLE
    box.must("usermod", "--append", "--groups", "nakari", "ada")
    assert re.search(r"It is .*(morning|noon|evening|night)", box.must(*as_ada, "ask", "what time is it"))
    box.must(*as_ada, "status")
    assert box.run(*as_ada[:-1], "ls", "/var/lib/private/nakari").returncode != 0, "what it keeps stays its own"


@pytest.mark.shows("H3", "G18")
def test_it_hears_and_answers_aloud(box: Box, card: VirtualSound, tmp_path: Path) -> None:
    box.until("a Whisper listens", lambda: "household" in str(status_of(box)["ears"]), UP_SECONDS)
    question = speak("What time is it?", tmp_path / "question.wav")
    before = logged(box).count("run_finished")
    with card.recording(tmp_path / "answer.wav"):
        card.say(question)
        box.until("its answer", lambda: logged(box).count("run_finished") > before, UP_SECONDS)
    assert loud_seconds(tmp_path / "answer.wav") > 0.5


@pytest.mark.shows("G6", "G7")
def test_files_and_code_are_let_in_by_what_the_doctor_tells(box: Box) -> None:
    """A folder in somebody's home, which the unit hides, and a sandbox, for which the unit has no namespaces."""
    box.must("sh", "-euc", "mkdir -p /home/bea/papers; chmod 700 /home/bea; echo hello >/home/bea/papers/a.txt")
    box.write(
        "/etc/nakari/nakari.toml", f'{CONFIGURATION}\n[files]\nfolders = ["/home/bea/papers"]\n[code]\nenabled = true\n'
    )
    box.must("systemctl", "restart", "nakari.service")
    told = looked_at(box, "files", "code")
    assert told["files"].startswith("fault")
    assert "BindPaths=/home/bea/papers" in told["files"]
    assert told["code"].startswith("fault")
    assert "sudo systemctl enable --now nakari-code.socket" in told["code"]

    box.write("/etc/systemd/system/nakari.service.d/override.conf", "[Service]\nBindPaths=/home/bea/papers\n")
    box.must("sh", "-euc", "chgrp -R nakari /home/bea/papers && chmod -R g+rwX,g+s /home/bea/papers")
    box.must("systemctl", "daemon-reload")
    box.must("systemctl", "enable", "--now", "nakari-code.socket")
    box.must("systemctl", "restart", "nakari.service")
    told = looked_at(box, "files", "code")
    assert told == {
        "files": "ok      files      the agent may use /home/bea/papers",
        "code": "ok      code       runs in a sandbox",
    }
    inside = ("nsenter", "--mount", f"--target={box.show('MainPID')}", "ls", "-A", "/home", "/home/bea")
    assert box.must(*inside).split() == ["/home:", "bea", "/home/bea:", "papers"], "nothing else of the homes"


def looked_at(box: Box, *names: str) -> dict[str, str]:
    """Return the doctor's lines of these names, once the service has looked."""
    lines: dict[str, str] = {}

    def are_told() -> bool:
        said = box.run("nakari", "doctor").stdout.splitlines()
        lines.update({name: line for line in said for name in names if line[8:].split()[:1] == [name]})
        return lines.keys() == set(names) and "being tried" not in str(lines)

    box.until("the doctor's lines", are_told, UP_SECONDS)
    return lines


@pytest.mark.shows("G7")
def test_code_in_the_unit_gets_nowhere_and_is_ended(box: Box) -> None:
    """No file, network, process or secret; few processes; little memory and disk; and nothing goes on after its time.

    That is 15 s, and 8 here. The unit's limits of memory and tasks by control group are not shown: this box's kernel
    lends it no controllers.
    """
    box.write("/run/systemd/system/nakari-code@.service.d/soon.conf", "[Service]\nRuntimeMaxSec=8\n")
    box.must("systemctl", "daemon-reload")
    box.must("systemctl", "start", "nakari-code.socket")
    ran = json.loads(box.must("sh", "-euc", f"cd /srv/nakari && {PYTHON} -m tests.service.hostile_code"))
    assert int(ran.pop("forks")[0].split()[0]) < 32
    assert "MemoryError" in ran.pop("memory")[0]
    assert int(ran.pop("disk")[0].split()[0]) < 40_000_000
    assert ran.pop("stays") == ["", None]
    assert {name: output.strip() for name, (output, _) in ran.items()} == dict.fromkeys(ran, "")
    units = ("systemctl", "list-units", "--all", "--no-legend", "nakari-code@*")
    box.until("the units have ended", lambda: box.must(*units) == "", UP_SECONDS)


def copy_of_the_source(box: Box, folder: str) -> None:
    parts = "appliance agent audio memory requirements scripts systemd pyproject.toml hatch_build.py README.md LICENSE"
    box.must("sh", "-euc", f"mkdir {folder} && cd /srv/nakari && cp -r {parts} {folder}")


def test_a_release_that_is_broken_leaves_the_running_one_alone(box: Box) -> None:
    copy_of_the_source(box, "/root/broken")
    box.write("/root/broken/audio/torn.py", "import nothing_of_that_name\n")
    pid, current = box.show("MainPID"), box.must("readlink", "/opt/nakari/current")
    refused = box.run("/root/broken/scripts/install")
    assert refused.returncode == Exit.FAULT
    assert "audio.torn does not load" in refused.stderr
    assert refused.stderr.endswith("the release before it stays as it is\n")
    assert (box.show("MainPID"), box.must("readlink", "/opt/nakari/current")) == (pid, current)
    assert box.must("ls", "/opt/nakari/releases").count("\n") <= 2
    assert re.search(r"It is .*(morning|noon|evening|night)", box.must("nakari", "ask", "what time is it"))


@pytest.mark.shows("H7")
def test_it_is_backed_up_while_it_runs_and_brought_back(box: Box) -> None:
    box.must("nakari", "memory", "write", "CREATE (:Port {name: 'Iolkos'})")
    box.must("nakari", "backup", "/root/kept.nakari")
    assert box.must("stat", "--format=%U %a", "/root/kept.nakari") == "root 600\n"
    box.must("nakari", "memory", "write", "MATCH (p:Port) DELETE p")
    box.must("systemctl", "stop", "nakari.service")
    box.must("nakari", "restore", "/root/kept.nakari")
    box.must("systemctl", "start", "nakari.service")
    assert "Iolkos" in box.must("nakari", "memory", "query", "MATCH (p:Port) RETURN p.name")
    assert "backup-" not in box.must("ls", "/var/lib/nakari/")


@pytest.mark.shows("H4")
def test_the_journal_has_its_lines_and_no_word_of_a_person(box: Box) -> None:
    box.must("nakari", "ask", "remember that the blue parcel is for Zacharias")
    lines = lines_of(box)
    assert [line["MESSAGE"] for line in lines if not line["MESSAGE"].startswith('{"')] == []
    assert all({"event", "level", "timestamp"} <= json.loads(line["MESSAGE"]).keys() for line in lines)
    assert {line["PRIORITY"] for line in lines} >= {"6"}
    assert "service_started" in logged(box)
    assert not re.search("parcel|Zacharias", str([json.loads(line["MESSAGE"]) for line in lines]))


@pytest.mark.shows("H2", "B10")
def test_killed_it_comes_back_and_answers_what_it_was_asked(box: Box) -> None:
    box.must("systemd-run", "--quiet", "--unit=never", "python3", "-c", NEVER_ANSWERS)
    box.must("nakari", "model", "use", "never")
    before, restarts = box.show("MainPID"), int(box.show("NRestarts"))
    asked = "what day is it today"
    with box.start("nakari", "ask", asked) as asking:
        box.until("it thinks", lambda: asked in events_of(box, "in_hand"), UP_SECONDS)
        box.must("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "nakari.service")
        assert asking.wait(UP_SECONDS) == Exit.UNAVAILABLE
    box.must("systemctl", "stop", "never.service")
    box.until("systemd starts it again", lambda: int(box.show("NRestarts")) == restarts + 1, UP_SECONDS)
    box.until("it is up", lambda: box.show("ActiveState") == "active", UP_SECONDS)
    box.until("the answer", lambda: asked in events_of(box, "completed"), UP_SECONDS)
    assert box.show("MainPID") != before
    box.must("nakari", "model", "use", "offline")


def bitten(box: Box, hang: Callable[[], object]) -> None:
    """Let something hang, and see that the watchdog ends the process and systemd starts it again."""
    before = box.show("MainPID")
    hang()
    box.until("the watchdog bites", lambda: box.show("MainPID") not in {before, "0"}, UP_SECONDS)
    box.until("it is up", lambda: box.show("ActiveState") == "active", UP_SECONDS)
    assert any("Watchdog timeout" in line["MESSAGE"] for line in box.journal())


@pytest.fixture(scope="class")
def soon(box: Box) -> Iterator[None]:
    """A watchdog that bites within seconds, and a program that can be made to hang in its parts by signals."""
    (folder,) = box.must("sh", "-c", "echo /opt/nakari/current/.venv/lib/python3.*/site-packages").split()
    box.write(f"{folder}/hanging.py", HANGING)
    box.write(f"{folder}/hanging.pth", "import hanging\n")
    box.write("/run/systemd/system/nakari.service.d/soon.conf", SOON)
    box.must("systemctl", "daemon-reload")
    box.must("systemctl", "restart", "nakari.service")
    yield
    box.must("rm", "-r", "/run/systemd/system/nakari.service.d", f"{folder}/hanging.py", f"{folder}/hanging.pth")
    box.must("systemctl", "daemon-reload")
    box.must("systemctl", "restart", "nakari.service")


SOON = "[Service]\nWatchdogSec=5\nTimeoutAbortSec=1\nRestartSec=0\n"

HANGING = """
import gc, signal, time

def beat_of(name):
    gc.unfreeze()  # what was there when all was loaded is in no list of the collector
    return next(each for each in gc.get_objects() if type(each).__name__ == "HeartBeat" and each.name == name)

def deafen(*_):
    ears = beat_of("ears")
    ears.stepped()
    ears.stepped = lambda: None
    ears.max_age = 1.0

def hurry(*_):
    beat_of("mind").max_age = 1.0

signal.signal(signal.SIGRTMIN, hurry)
signal.signal(signal.SIGRTMIN + 1, lambda *_: time.sleep(3600))
signal.signal(signal.SIGRTMIN + 2, deafen)
"""
"""By a signal the event loop blocks while every thread goes on, no chunk reaches the ears, or the mind's time is up."""


def signalled(box: Box, signal: str) -> None:
    box.must("systemctl", "kill", "--kill-whom=main", f"--signal={signal}", "nakari.service")


@pytest.mark.usefixtures("soon")
class TestHangs:
    """With a watchdog in a hurry, for which the service is started anew once."""

    @pytest.mark.shows("H2")
    @pytest.mark.parametrize("signal", ["STOP", "RTMIN+1"], ids=["the process", "the event loop"])
    def test_frozen_it_is_killed_by_the_watchdog_and_comes_back(self, box: Box, signal: str) -> None:
        bitten(box, lambda: signalled(box, signal))

    @pytest.mark.shows("H2", "V5")
    def test_ears_that_hang_are_named_and_it_is_started_anew(self, box: Box) -> None:
        bitten(box, lambda: signalled(box, "RTMIN+2"))
        assert missed(box)[-1] == ["ears"]

    @pytest.mark.shows("H2", "B10")
    def test_a_mind_that_hangs_is_named_and_the_question_is_answered_by_the_next_start(self, box: Box) -> None:
        box.must("systemd-run", "--quiet", "--unit=never", "python3", "-c", NEVER_ANSWERS)
        box.must("nakari", "model", "use", "never")
        asked = "what day is it"
        with box.start("nakari", "ask", asked) as asking:
            box.until("it thinks", lambda: asked in events_of(box, "in_hand"), UP_SECONDS)
            bitten(box, lambda: signalled(box, "RTMIN"))
            asking.wait(UP_SECONDS)
        assert missed(box)[-1] == ["mind"]
        box.must("systemctl", "stop", "never.service")
        box.until("the answer", lambda: asked in events_of(box, "completed"), UP_SECONDS)
        box.must("nakari", "model", "use", "offline")


def missed(box: Box) -> list[object]:
    """The parts that were named as stuck, each time."""
    return [record["parts"] for record in records_of(box) if record["event"] == "heart_beat_missed"]


@pytest.mark.shows("H2", "A24", "E4")
def test_a_reboot_starts_it_by_itself_with_all_it_had_and_the_timer_that_was_due_meanwhile(box: Box) -> None:
    write = ("nakari", "memory", "write", "CREATE (:Harbour {name: 'Kolchis'})")
    box.until("its memory has started", lambda: box.run(*write).returncode == 0, UP_SECONDS)
    box.must("nakari", "volume", "35")
    assert "timer" in box.must("nakari", "ask", "set a timer for 3 seconds").lower()
    box.reboot()
    box.until("it is up", lambda: box.show("ActiveState") == "active", UP_SECONDS)
    box.until("the timer that was due rings", lambda: "timer_rang" in logged(box, "--boot"), UP_SECONDS)
    assert box.show("NRestarts") == "0"
    assert "35 percent" in box.must("nakari", "volume")
    query = ("nakari", "memory", "query", "MATCH (h:Harbour) RETURN h.name")
    box.until("its memory has started", lambda: box.run(*query).returncode == 0, UP_SECONDS)
    assert "Kolchis" in box.must(*query)


@pytest.mark.shows("H10", "H3")
def test_two_households_share_the_machine_and_nothing_else(box: Box) -> None:
    """User, state, socket, configuration and passwords are each one's own; neither can look at the other's."""
    names, units = ("ada", "bea"), [f"nakari@{name}.service" for name in ("ada", "bea")]
    for number, name in enumerate(names):
        addresses = f'[http]\naddresses = ["127.0.0.1:{8431 + number}"]\n'
        box.write(f"/etc/nakari/{name}/nakari.toml", f"# of {name} alone\n{CONFIGURATION}\n{addresses}")
    box.must("systemctl", "start", *units)
    try:
        pids = [box.must("systemctl", "show", unit, "--value", "--property=MainPID").strip() for unit in units]
        owners = [box.must("stat", "--format=%u", f"/proc/{pid}").strip() for pid in pids]
        assert len({*owners, box.must("stat", "--format=%u", f"/proc/{box.show('MainPID')}").strip()}) == 3
        said = box.must("env", "NAKARI_HOUSEHOLD=ada", "nakari", "ask", "remember that the key is under the fern")
        assert said.strip()
        assert "fern" in box.must("env", "NAKARI_HOUSEHOLD=ada", "nakari", "ask", "what do you remember about the key")
        asked = box.run("env", "NAKARI_HOUSEHOLD=bea", "nakari", "ask", "what do you remember about the key")
        assert "fern" not in asked.stdout

        def as_bea(*command: str) -> subprocess.CompletedProcess[str]:
            inside = ("nsenter", "--mount", f"--target={pids[1]}", "setpriv", f"--reuid={owners[1]}")
            return box.run(*inside, f"--regid={owners[1]}", "--clear-groups", *command)

        assert "# of bea alone" in as_bea("cat", "/etc/nakari/bea/nakari.toml").stdout
        assert as_bea("ls", "/etc/nakari").stdout.split() == ["bea"]
        assert as_bea("ls", "/var/lib/nakari-bea/").stdout.split()
        others = (
            "/var/lib/nakari-ada/",
            "/var/lib/private/nakari-ada/",
            "/var/lib/private/nakari/",
            "/run/nakari-ada/",
        )
        assert [as_bea("ls", folder).stdout for folder in others] == [""] * len(others)
        assert as_bea("kill", "-0", pids[0]).returncode != 0
        assert [as_bea(PYTHON, "-c", GET, port).stdout.strip() for port in ("8431", "8432")] == ["401", "200"]
        environments = [box.must("sh", "-c", f"tr '\\0' '\\n' </proc/{pid}/environ") for pid in pids]
        assert not re.search("KEY|PASSWORD|CREDENTIALS", "".join(environments))
    finally:
        box.must("systemctl", "stop", *units)


@pytest.mark.shows("H2")
def test_a_wrong_configuration_is_one_sentence_and_no_loop(box: Box) -> None:
    box.must("systemctl", "stop", "nakari.service")
    seen = len(lines_of(box))
    box.write("/etc/nakari/nakari.toml", "[ears]\nmodle = 'small'\n")
    try:
        assert box.run("systemctl", "start", "nakari.service").returncode != 0
        assert (box.show("ActiveState"), box.show("ExecMainStatus")) == ("failed", str(Exit.CONFIG.value))
        assert box.show("NRestarts") == "0"
        (said,) = [line["MESSAGE"] for line in lines_of(box)[seen:]]
        assert said.startswith("nakari: /etc/nakari/nakari.toml")
        assert said.endswith("did you mean model?")
    finally:
        box.write("/etc/nakari/nakari.toml", CONFIGURATION)


@pytest.mark.shows("H2", "F32")
def test_reloaded_it_takes_over_what_can_change_and_stays_the_same_process(box: Box) -> None:
    before = box.show("MainPID")
    box.write("/etc/nakari/nakari.toml", f'{CONFIGURATION}\n[voice]\nvolume = 35\nthinking_sign = "none"\n')
    try:
        box.must("systemctl", "reload", "nakari.service")
        assert (box.show("ActiveState"), box.show("MainPID")) == ("active", before)
        assert "35 percent" in box.must("nakari", "volume")
        told = [line["MESSAGE"] for line in lines_of(box)]
        assert any("voice.thinking_sign holds from the next start on" in line for line in told)
        box.write("/etc/nakari/nakari.toml", "[voice]\nvolum = 90\n")
        assert box.run("systemctl", "reload", "nakari.service").returncode != 0, "a mistake in it is told"
        assert (box.show("ActiveState"), box.show("MainPID")) == ("active", before)
    finally:
        box.write("/etc/nakari/nakari.toml", CONFIGURATION)
        box.must("systemctl", "reload", "nakari.service")
    assert "100 percent" in box.must("nakari", "volume")


@pytest.mark.shows("H2", "F32")
def test_it_stops_in_time_and_root_looks_after_it_meanwhile(box: Box) -> None:
    box.must("nakari", "memory", "write", "CREATE (:Star {name: 'Vega'})")
    began = time.monotonic()
    box.must("systemctl", "stop", "nakari.service")
    assert time.monotonic() - began < STOP_SECONDS
    assert box.show("Result") == "success"
    assert "Vega" in box.must("nakari", "memory", "query", "MATCH (s:Star) RETURN s.name"), "the state of the service"
    box.must("nakari", "memory", "snapshot")
    box.must("systemctl", "start", "nakari.service")
    written = ("nakari", "memory", "write", "MERGE (:Star {name: 'Mira'})")
    box.until("its memory has started", lambda: box.run(*written).returncode == 0, UP_SECONDS)
    assert "Vega" in box.must("nakari", "memory", "query", "MATCH (s:Star) RETURN s.name"), "what root wrote is its own"


SPOILS: Final = "STEPS = (lambda folder: (folder / 'nakari.db').write_text('of a later one') and None,)"
FITS: Final = "STEPS = (lambda folder: (folder / 'later').write_text('of a later one') and None,)"
ASIDES: Final = "echo /var/lib/nakari/before-*-upgrade"


def release_with(box: Box, folder: str, steps: str) -> str:
    """Make a release whose state has another layout; return the command that installs it."""
    copy_of_the_source(box, folder)
    box.must("sed", "-i", f"s|^STEPS: Final.*|{steps}|", f"{folder}/appliance/admin/upgrade.py")
    return f"{folder}/scripts/install"


@pytest.mark.shows("H7", "F32")
def test_a_release_that_does_not_start_gives_way_and_gives_back_the_state_it_spoiled(box: Box) -> None:
    box.must("nakari", "ask", "remember that my oar is green")
    refused = box.run(release_with(box, "/root/spoils", SPOILS))
    assert refused.returncode == Exit.FAULT
    assert "the new release does not start" in refused.stderr
    assert "nakari: what it knows is again as it was before\n" in refused.stderr
    assert box.show("ActiveState") == "active", "it gave way to the release before"
    assert "green" in box.must("nakari", "ask", "what colour is my oar")
    assert json.loads(box.must("cat", "/var/lib/nakari/layout.json"))["layout"] == 1
    aside = box.must("sh", "-c", ASIDES).split()[-1]
    assert box.must("cat", f"{aside}/nakari.db") == "of a later one"


EDITOR: Final = """#!/bin/sh
if [ -e /root/edited ]; then cp /root/mine "$1"; else cp "$1" /root/edited && echo 'modle = 1' >>"$1"; fi
"""
"""An editor in which a person makes a mistake the first time."""


def is_installed_with_configuration_models_calibration_and_doctor(box: Box) -> None:
    """Install it at a terminal, where no configuration is, and see what is asked and told, in order."""
    box.must("rm", "/etc/nakari/nakari.toml")
    box.write("/root/mine", CONFIGURATION)
    box.write("/root/editor", EDITOR)
    box.must("chmod", "+x", "/root/editor")
    install = ("env", "EDITOR=/root/editor", "script", "-qec", "/srv/nakari/scripts/install", "/dev/null")
    told = box.must(*install, text="y\ny\ny\n")
    assert "all is default" in box.must("cat", "/root/edited")
    assert box.must("cat", "/etc/nakari/nakari.toml") == CONFIGURATION
    in_order = (
        "its configuration is /etc/nakari/nakari.toml, where all is default so far",
        "modle",
        "household",
        "measure how it hears itself?",
        "program    Python",
        "runs as a service",
    )
    assert [words for words in in_order if words in told] == list(in_order), told
    assert sorted(in_order, key=told.index) == list(in_order)


def is_upgraded(box: Box, command: str) -> None:
    """Install a later release: it takes the place of the one before with nothing asked and nothing lost."""
    write = ("nakari", "memory", "write", "CREATE (:Ship {name: 'Argo'})")
    box.until("its memory has started", lambda: box.run(*write).returncode == 0, UP_SECONDS)
    before = box.must("readlink", "/opt/nakari/current")
    again = box.run(command)
    assert again.returncode == 0, again.stderr
    assert "calibrate" not in again.stderr, "an upgrade asks nothing"
    assert "program    Python" in again.stdout, "it ends with the doctor too"
    assert "Argo" in box.must("nakari", "memory", "query", "MATCH (s:Ship) RETURN s.name")
    now = box.must("readlink", "/opt/nakari/current")
    assert now != before
    releases = {f"/opt/nakari/releases/{name}" for name in box.must("ls", "/opt/nakari/releases").split()}
    assert releases == {before.strip(), now.strip()}, "the one before is kept"
    assert box.run("ls", "/opt/nakari/.venv", "/opt/nakari/appliance").stdout == "", "the layout of old has gone"
    assert not [line for line in box.journal() if "ModuleNotFoundError" in line["MESSAGE"]]


@pytest.mark.shows("H2", "H3", "H5", "H7", "C2", "F32")
def test_after_an_upgrade_of_the_state_the_release_before_is_refused_until_it_is_given_its_own(box: Box) -> None:
    """And then it is installed by somebody who answers: with configuration, models, calibration and doctor."""
    is_upgraded(box, release_with(box, "/root/later", FITS))
    assert "green" in box.must("nakari", "ask", "what colour is my oar")
    box.must("nakari", "ask", "remember that my sail is blue")
    pid = box.show("MainPID")
    refused = box.run("/srv/nakari/scripts/install")
    assert refused.returncode == Exit.CANNOT_CREATE, "the release before would not understand what it finds"
    assert "was written by a newer nakari" in refused.stderr
    assert box.show("MainPID") == pid
    assert "blue" in box.must("nakari", "ask", "what colour is my sail")
    aside = box.must("sh", "-c", ASIDES).split()[-1]
    box.must("systemctl", "stop", "nakari.service")
    box.must("nakari", "restore", aside)
    is_installed_with_configuration_models_calibration_and_doctor(box)
    assert "green" in box.must("nakari", "ask", "what colour is my oar")
    assert "blue" not in box.must("nakari", "ask", "what colour is my sail")


ASKS_AGAIN: Final = 10.0
"""Seconds after which somebody who was not answered asks again: between sound servers a busy machine loses sound."""


def ask_until_answered(box: Box, card: VirtualSound, question: Path) -> None:
    """Ask aloud, and again as a person would."""
    before = logged(box).count("run_finished")
    waits_until = 0.0

    def is_answered() -> bool:
        nonlocal waits_until
        if logged(box).count("run_finished") > before:
            return True
        if time.monotonic() > waits_until:
            card.say(question)
            waits_until = time.monotonic() + ASKS_AGAIN
        return False

    box.until("its answer", is_answered, UP_SECONDS)


ADAS_SOUND: Final = """
id ada || useradd --create-home --uid 1000 ada
install -d -o ada -m 700 /home/ada/.config/pulse
cat >/root/session <<END
install -d -o ada -m 700 /run/user/1000 /run/user/1000/pulse
touch /run/user/1000/pulse/native
mount --bind /srv/card/private/native /run/user/1000/pulse/native
END
cat >/etc/systemd/system/user@1000.service <<END
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -eu /root/session
END
install -o ada -m 600 /srv/card/private/cookie /home/ada/.config/pulse/cookie
install -D -m 644 /srv/nakari/systemd/asound.conf /etc/nakari/asound.conf
install -D -m 644 /srv/nakari/systemd/desktop-sound.conf /etc/systemd/system/nakari.service.d/desktop-sound.conf
systemctl daemon-reload
mv /etc/asound.conf /root/asound.conf
"""
"""Ada's PulseAudio lets in whoever shows its cookie, and nobody else looks into that user's folders.

The session, which has the socket, is a stand-in: a box without PAM starts none. It is up when nakari has asked for it.
"""


@pytest.mark.shows("H2", "H3")
def test_it_hears_and_speaks_by_the_sound_server_of_a_desktop(box: Box, card: VirtualSound, tmp_path: Path) -> None:
    own = card.folder / "private"
    own.mkdir()
    (own / "cookie").write_bytes(bytes(range(256)))
    card.load("module-native-protocol-unix", f"socket={own}/native", f"auth-cookie={own}/cookie", "auth-anonymous=0")
    box.must("systemctl", "stop", "nakari.service")
    try:
        box.must("sh", "-euc", ADAS_SOUND)
        measured = logged(box).count("echo_measured")
        box.must("systemctl", "start", "nakari.service")
        box.until("a Whisper listens", lambda: "household" in str(status_of(box)["ears"]), UP_SECONDS)
        box.until("its calibration", lambda: logged(box).count("echo_measured") > measured, UP_SECONDS)
        question = speak("What time is it?", tmp_path / "question.wav")
        with card.recording(tmp_path / "answer.wav"):
            ask_until_answered(box, card, question)
        assert loud_seconds(tmp_path / "answer.wav") > 0.3
    finally:
        box.run("rm", "/etc/systemd/system/nakari.service.d/desktop-sound.conf", "/etc/nakari/asound.conf")
        box.run("mv", "/root/asound.conf", "/etc/asound.conf")
        box.must("systemctl", "daemon-reload")  # for the next start


@pytest.mark.shows("H8")
def test_uninstalled_it_leaves_what_it_is_until_that_is_asked_for_too(box: Box) -> None:
    box.must("/srv/nakari/scripts/uninstall")
    assert box.run("systemctl", "cat", "nakari.service").returncode != 0
    assert box.run("nakari", "version").returncode == 127
    box.must("ls", "/var/lib/nakari/nakari.db", "/etc/nakari/nakari.toml")
    assert box.run("ls", "/opt/nakari").returncode != 0
    box.must("/srv/nakari/scripts/uninstall", "--purge")
    gone = ("/var/lib/nakari", "/var/lib/private/nakari", "/etc/nakari")
    assert box.run("ls", "--directory", *gone).stdout == ""
