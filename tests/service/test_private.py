"""With a local configuration not one packet leaves the machine, children included.

That it answers without any network: tests/service/test_offline_voice.py.
"""

from pathlib import Path

import pytest

from tests.service.privacy import beyond_loopback, clean_environment, watch
from tests.service.process import NAKARI, Household, speak


@pytest.mark.network
@pytest.mark.shows("G4", "H1")
def test_a_spoken_question_is_answered_without_a_connection_beyond_loopback(tmp_path: Path) -> None:
    home = Household(tmp_path, {"memory": {"enabled": True}})
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
