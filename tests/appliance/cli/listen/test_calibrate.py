"""`nakari calibrate`: a sentence that says what was measured, or why nothing was and what to do."""

import asyncio
from pathlib import Path

import pytest

from appliance.errors import Exit, Problem
from appliance.input.devices.echo import A_RECORDING, MEASURED_WITHIN, SWITCHED_OFF, calibrated
from audio.echo.canceller import Canceller
from audio.echo.control import MISSING, EchoControl
from audio.echo.duplex import HalfDuplex
from audio.speech import SpeechAudio
from tests.appliance.command import nakari, state_folder
from tests.appliance.door_fakes import ScriptedHandler, serving
from tests.audio.echo.test_calibration import Nothing, RoomOnTheLoop, needs_livekit
from tests.audio.echo_room import EchoPath
from tests.audio.spoken import silence
from tests.room.virtual_time import passed, run_virtually


def real() -> Canceller:
    from audio.echo.canceller import WebRtcCanceller

    return WebRtcCanceller()


async def told(path: EchoPath, *, plays: bool = True, hears: bool = True, cancels: bool = True) -> str:
    """Return what is said of a calibration in a room, or where a device stands still."""
    home = RoomOnTheLoop(path)

    async def play(sound: SpeechAudio) -> None:
        if plays:
            await home.play(sound)

    control = EchoControl(home.guard, play, load=real if cancels else Nothing, calibrates_at_start=False)
    async with asyncio.TaskGroup() as group:
        running, asking = group.create_task(control.run()), group.create_task(sentence_of(control))
        if hears:
            await passed(0.1)  # the tape runs
            home.live(silence(0.05))
        said = await asking
        running.cancel()
    return said


async def sentence_of(control: EchoControl) -> str:
    try:
        return await calibrated(control, is_muted=False)
    except Problem as problem:
        return problem.sentence


@needs_livekit
@pytest.mark.shows("V4")
def test_what_was_measured_is_told() -> None:
    sentence = run_virtually(told(EchoPath(gain_db=-10, delay=0.06)))
    assert sentence.startswith("full duplex; echo after 60 ms, its own voice reaches the microphone at -10 dB, ")
    assert sentence.endswith(" dB is left of it; everything nakari says can be interrupted")


@needs_livekit
@pytest.mark.shows("V4")
def test_a_loudspeaker_of_which_too_much_is_left_is_told_with_its_mend() -> None:
    sentence = run_virtually(told(EchoPath(gain_db=0, reverberation=1.5)))
    assert sentence.startswith("ducked; ")
    assert sentence.endswith("; turn the loudspeaker down or move it away from the microphone, and calibrate again")


@pytest.mark.shows("V4")
def test_nothing_heard_back_is_told_with_its_mend() -> None:
    sentence = run_virtually(told(EchoPath(gain_db=-100), cancels=False))
    assert sentence.startswith("full duplex (nothing of the loudspeaker is heard: headphones, or it is mute)")
    assert "without them turn nakari up" in sentence


@pytest.mark.shows("V4")
@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (MISSING, "half duplex, no echo cancellation: install nakari with its extra `echo`"),
        (SWITCHED_OFF, "half duplex, as [ears] cancel_echo is set; set [ears] cancel_echo = true and start it anew"),
        (A_RECORDING, "half duplex, a recording takes the microphone's place; run nakari with a microphone"),
    ],
)
async def test_where_nothing_is_cancelled_the_reason_is_told(reason: str, said: str) -> None:
    async def play(sound: SpeechAudio) -> None:
        raise AssertionError("nothing is to be played")

    control = EchoControl(HalfDuplex(lambda: 0.0, reason), play)
    with pytest.raises(Problem) as refused:
        await calibrated(control, is_muted=False)
    assert refused.value.sentence == f"nothing was measured: {said}"
    assert refused.value.code is Exit.UNAVAILABLE


async def test_while_it_is_muted_nothing_is_played() -> None:
    async def play(sound: SpeechAudio) -> None:
        raise AssertionError("nothing is to be played")

    with pytest.raises(Problem, match="nakari is muted; `nakari unmute`, then calibrate again"):
        await calibrated(EchoControl(HalfDuplex(lambda: 0.0), play), is_muted=True)


async def test_without_a_microphone_nobody_waits_for_one() -> None:
    async def play(sound: SpeechAudio) -> None:
        raise AssertionError("nothing is to be played")

    with pytest.raises(Problem, match="there is no microphone; plug one in, then calibrate again"):
        await calibrated(EchoControl(HalfDuplex(lambda: 0.0), play), is_muted=False, is_deaf=True)


@pytest.mark.parametrize(
    ("plays", "hears", "said"),
    [
        (True, False, f"the microphone handed over nothing, or nakari was not quiet, for {MEASURED_WITHIN:g} s; "),
        (False, True, "the loudspeaker or the microphone stood still; `nakari doctor` says which"),
    ],
)
def test_a_device_that_stands_still_is_told(plays: bool, hears: bool, said: str) -> None:
    sentence = run_virtually(told(EchoPath(), plays=plays, hears=hears, cancels=False))
    assert sentence.startswith(f"nothing was measured: {said}")


@pytest.mark.shows("V4")
async def test_the_command_prints_the_sentence(tmp_path: Path) -> None:
    handler, socket = ScriptedHandler(), state_folder(tmp_path) / "nakari.sock"
    socket.parent.mkdir(parents=True)
    async with serving(socket, handler):
        done = await asyncio.to_thread(nakari, tmp_path, "calibrate")
        assert (done.returncode, done.stdout) == (Exit.OK, "Full duplex.\n")
        handler.error = Problem("nothing was measured: nakari is muted", Exit.UNAVAILABLE)
        refused = await asyncio.to_thread(nakari, tmp_path, "calibrate")
    assert handler.told == ["calibrate"]
    assert refused.returncode == Exit.UNAVAILABLE
    assert "nakari is muted" in refused.stderr


def test_without_a_service_it_says_so(tmp_path: Path) -> None:
    done = nakari(tmp_path, "calibrate")
    assert done.returncode == Exit.UNAVAILABLE
    assert "no nakari is running" in done.stderr
