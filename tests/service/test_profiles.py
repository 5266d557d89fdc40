"""nakari without its extras: what a wheel that was installed with none of them does, and says of what is missing.

What the extras bring is hidden from real processes, as if it had never been installed.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.service.process import Household, speak

HIDDEN = ("faster_whisper", "ctranslate2", "silero_vad", "litellm", "openai", "livekit", "nats", "redis")
DETECTOR = "silero_vad"
"""A wheel without extras has no model of the voice detector; scripts/setup brings it by itself."""

ELSEWHERE = {
    "provider": "litellm",
    "name": "anthropic/claude-x",
    "api_key_env": "TEST_KEY",
    "base_url": "http://[::1]:9",
}

pytestmark = pytest.mark.shows("H2")


@pytest.fixture
def home(tmp_path: Path) -> Household:
    hide(tmp_path, *HIDDEN)
    return Household(tmp_path)


def hide(folder: Path, *names: str) -> None:
    """Have the processes of this folder find none of these packages."""
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({names!r}))\n")


def run(home: Household, *words: str) -> subprocess.CompletedProcess[str]:
    return home.run(*words, PYTHONPATH=str(home.folder), TEST_KEY="sk-none")


def test_it_answers_in_writing(home: Household) -> None:
    done = run(home, "ask", "remember that the spare key is under the pot")
    assert done.returncode == 0, done.stderr
    assert "under the pot" in run(home, "ask", "where is the spare key").stdout


def test_without_a_voice_detector_it_says_that_it_hears_nothing(home: Household, tmp_path: Path) -> None:
    done = run(home, "hear", str(speak("What time is it?", tmp_path / "question.wav")))
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith(
        "nakari: the voice detector's model, of the extra local-whisper, is missing; "
    )


def test_it_hears_commands_and_says_how_it_would_hear_more(home: Household, tmp_path: Path) -> None:
    hide(home.folder, *(name for name in HIDDEN if name != DETECTOR))
    done = run(home, "hear", str(speak("What time is it?", tmp_path / "question.wav")))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["recognizer"].startswith("pocketsphinx")
    told = "faster-whisper, the extra local-whisper, is not installed, so a small English recognizer listens; "
    assert told in done.stderr


def doctor(home: Household) -> dict[str, dict[str, str]]:
    """What the doctor says, by the names of its lines; the last of a name."""
    return {line["name"]: line for line in map(json.loads, run(home, "doctor", "--json").stdout.splitlines())}


def test_the_doctor_names_the_extras(home: Household) -> None:
    home.settings["model"] = dict(ELSEWHERE)
    told = doctor(home)
    assert told["recognizer"]["state"] == told["model"]["state"] == "fault"
    assert "of the extra local-whisper, is missing: nothing can be heard" in told["recognizer"]["what"]
    assert "litellm, the extra cloud, by which anthropic/claude-x is asked, is not installed" in told["model"]["what"]
    assert "its extra `echo`" in told["echo"]["what"]


def test_a_question_for_a_model_of_another_provider_waits(home: Household) -> None:
    home.settings["model"] = dict(ELSEWHERE)
    done = run(home, "ask", "tell me a story")
    assert "the model I think with does not work as it should right now" in done.stdout
    assert "litellm, the extra cloud, which anthropic/claude-x needs, cannot be loaded" in done.stderr
