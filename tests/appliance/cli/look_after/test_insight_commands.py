"""`nakari turns`, `why` and `replay`: beside the running service, through it, and on what it recorded."""

import json
from pathlib import Path

import httpx
import pytest

from appliance.config.sections import EarsSettings
from appliance.errors import Exit
from appliance.recorder.replay import USED, ears_with
from memory.json_value import Json
from tests.service.process import Household, speak

QUESTION = "what time is it"


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path, {"recorder": {"turns": 3}})


@pytest.mark.shows("V25", "V26", "G5", "X14")
def test_a_spoken_turn_is_timed_traced_and_run_again_by_the_real_program(home: Household, tmp_path: Path) -> None:
    clip, out = speak(QUESTION, tmp_path / "clip.wav"), tmp_path / "out.wav"
    with home.running("run", "--input", str(clip), "--output", str(out)) as service:
        service.until("turn_recorded", 60)
        service.until("turn_ended", 60)
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(home.folder / "door.sock"))) as client:
            asked = {
                path: client.get(f"http://localhost/{path}").json()
                for path in ("turns", "turn", "why?what=time", "recordings", "recordings/last")
            }
        through = home.run("why", "--slow", "--json")
        status = home.run("status")
        assert service.stop() == 0
    [turn] = asked["turns"]["turns"]
    assert turn["kind"] == "spoken"
    assert {"committed", "first_token", "first_sound", "done"} <= turn["stages"].keys()
    assert asked["turn"]["event_id"] == turn["event_id"] == asked["why?what=time"]["event"]["id"]
    assert asked["turns"]["spoken"]["seconds"]["answer"]["p50"] == pytest.approx(turn["answer_seconds"], abs=0.001)
    assert [each["id"] for each in asked["recordings"]["recordings"]] == [turn["event_id"]]
    assert asked["recordings/last"]["text"]
    assert json.loads(through.stdout)["why"].startswith("It took ")
    assert "answers       to the first sound" in status.stdout
    assert "recorder      keeps the sound of 1 turn" in status.stdout
    by_itself(home, turn["event_id"])


def by_itself(home: Household, event_id: str) -> None:
    """Ask all of it without a service."""
    listed = home.run("turns")
    assert listed.stdout.startswith(event_id[:8])
    why = home.run("why", event_id)
    assert (why.returncode, why.stderr) == (Exit.OK, "")
    assert why.stdout.splitlines()[0].startswith("event ")
    assert any(line.startswith("said ") for line in why.stdout.splitlines())
    assert home.run("why", "what nobody ever said").returncode == Exit.NO_INPUT
    assert home.run("why", "what", "nobody", "said").returncode == Exit.NO_INPUT
    assert home.run("why").returncode == Exit.USAGE
    again = home.run("replay", "last", "--json")
    assert again.returncode == Exit.OK, again.stderr
    told = json.loads(again.stdout)
    assert told["same"], [row for row in told["decisions"] if row["recorded"] != row["replayed"]]
    assert event_id in home.run("replay").stdout
    changed = home.run("replay", event_id[:6], "--set", "ears.cancel_echo=false", "--set", "commit_silence=0.4")
    assert changed.returncode == Exit.OK, changed.stderr
    assert "closing_silence" in changed.stdout
    refused = home.run("replay", "last", "--set", "voice.volume=3")
    assert (refused.returncode, refused.stderr.count("\n")) == (Exit.USAGE, 1)
    assert home.run("replay", "last", "--set", "ears.commit_silence=9").returncode == Exit.CONFIG
    assert home.run("replay", "last", "--set", "ears.commit_silence").returncode == Exit.USAGE
    doctor = home.run("doctor", "--json").stdout.splitlines()
    assert any("on: 1 turn with sound" in json.loads(line)["what"] for line in doctor)


@pytest.mark.shows("V26", "X14")
def test_the_recorded_settings_are_taken_and_changed_one_by_one() -> None:
    recorded: dict[str, Json] = {"commit_silence": 0.9, "model": "small", "gone_since": 3}
    assert ears_with(recorded, []) == EarsSettings(commit_silence=0.9, model="small")
    changed = ears_with(recorded, [("ears.commit_silence", "0.5"), ("language", "zh")])
    assert changed == EarsSettings(commit_silence=0.5, model="small", language="zh")
    assert {*USED} <= {*EarsSettings.__struct_fields__}
