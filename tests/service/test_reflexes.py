"""Reflexes in the real service, from outside: a typed stop, mute over a kill, and forgetting what was asked."""

import json
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path

import pytest

from agent.event import utc_now
from benchmarks.sound import quiet_room, write_wav
from tests.service.process import Household, Running


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path)


def in_a_quiet_room(home: Household, folder: Path) -> AbstractContextManager[Running]:
    """Run the service with a recording of a minute's quiet as its microphone, whatever this machine has."""
    room = write_wav(folder / "room.wav", quiet_room(60.0))
    return home.running("run", "--input", str(room), "--output", str(folder / "out.wav"))


def said_by(home: Household, *arguments: str) -> str:
    done = home.run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def reflexes_of(home: Household) -> dict[str, object]:
    found: dict[str, object] = json.loads(said_by(home, "status", "--json"))["reflexes"]
    return found


@pytest.mark.shows("V16", "V23", "V29")
def test_typed_they_act_at_once_and_mute_and_loudness_survive_a_kill(home: Household, tmp_path: Path) -> None:
    with in_a_quiet_room(home, tmp_path) as service:
        service.until("service_started")
        assert said_by(home, "forget") == "There is nothing to forget."
        assert said_by(home, "forget", "--minutes", "5") == "There is nothing to forget."
        assert said_by(home, "hush")
        acted = reflexes_of(home)["acted"]
        said_by(home, "ask", "set a timer for 2 seconds")
        service.until("ring_sounded")
        assert said_by(home, "ask", "stop") == "The timer is silent."
        service.until("ringing_stopped")
        assert reflexes_of(home)["acted"] == acted, "the ring's own word is no reflex"
        assert said_by(home, "ask", "quieter") == "The volume is 85 percent."
        service.until("reflex_kept")
        found = reflexes_of(home)
        assert (found["muted"], found["muted_until"]) == (False, None)
        assert "hear nothing for an hour, or until" in said_by(home, "mute")
        until = reflexes_of(home)["muted_until"]
        service.kill()
    with in_a_quiet_room(home, tmp_path) as service:
        service.until("service_started")
        found = reflexes_of(home)
        assert (found["muted"], found["muted_until"], found["volume"]) == (True, until, 85)
        assert "85" in said_by(home, "volume")
        assert said_by(home, "unmute") == "I can hear again."
        assert reflexes_of(home)["muted"] is False


@pytest.mark.parametrize("minutes", [-1, 1])
def test_a_mute_that_ended_meanwhile_is_not_told_as_one_that_lasts(home: Household, minutes: int) -> None:
    kept = {"muted": True, "muted_until": (utc_now() + timedelta(minutes=minutes)).isoformat()}
    home.state.mkdir()
    (home.state / "switches.json").write_text(json.dumps(kept))
    with home.running("run") as service:
        service.until("service_started")
        if minutes < 0:
            service.until("mute_ended")
        assert [line["event"] for line in service.log].count("still_muted") == (minutes > 0)


def test_without_a_service_the_commands_say_so(home: Household) -> None:
    for command in ("hush", "forget"):  # mute and unmute ask as hush does
        done = home.run(command)
        assert done.returncode == 69
        assert "no nakari is running" in done.stderr
