"""With a local configuration not one packet leaves the machine, children included."""

import subprocess
from pathlib import Path

import pytest

from tests.service.privacy import beyond_loopback, clean_environment, watch
from tests.service.process import NAKARI, Household, speak


@pytest.mark.network
@pytest.mark.shows("G4", "H1")
@pytest.mark.parametrize("memory", [True, False])
def test_a_spoken_question_is_answered_without_a_connection_beyond_loopback(tmp_path: Path, memory: bool) -> None:
    home = Household(tmp_path, {"memory": {"enabled": memory}})
    question = speak("What time is it?", tmp_path / "question.wav")
    sound = ["--input", str(question), "--output", str(tmp_path / "answer.wav")]
    command = [*NAKARI, "--config", str(home.write()), "run", "--once", *sound]
    done = watch(command, tmp_path / "trace", clean_environment(HOME=str(tmp_path)), timeout=55)
    assert done.returncode == 0, done.stderr
    assert home.states() == ["completed"]
    assert beyond_loopback(tmp_path / "trace") == []


@pytest.mark.network
def test_the_watcher_would_have_seen_a_connection_of_the_same_program(tmp_path: Path) -> None:
    """The same command with a cloud voice: what it tries is seen, so that the silence above means something."""
    home = Household(tmp_path, {"voice": {"engine": "edge", "edge_url": "ws://192.0.2.1:81/x?a=b"}})
    command = [*NAKARI, "--config", str(home.write()), "say", "hello", "--output", str(tmp_path / "a.wav")]
    watch(command, tmp_path / "trace", clean_environment(HOME=str(tmp_path)), timeout=55)
    assert any("192.0.2.1" in seen for seen in beyond_loopback(tmp_path / "trace"))


@pytest.mark.network
def test_without_any_network_at_all_she_answers(tmp_path: Path) -> None:
    from tests.service.privacy import unplugged

    home = Household(tmp_path, {"voice": {"engine": "auto"}})
    question = speak("What time is it?", tmp_path / "question.wav")
    sound = ["--input", str(question), "--output", str(tmp_path / "answer.wav")]
    command = unplugged([*NAKARI, "--config", str(home.write()), "run", "--once", *sound])
    done = subprocess.run(
        command, env=clean_environment(HOME=str(tmp_path)), capture_output=True, text=True, timeout=55, check=False
    )
    assert done.returncode == 0, done.stderr
    assert home.states() == ["completed"]
    assert home.spoken()[0].startswith("It is ")
