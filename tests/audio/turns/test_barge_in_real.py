"""Barge-in on a sound card: speech into the microphone, silence at the loudspeaker, both measured on one clock."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from tests.audio.barge_in_program import WORD_SECONDS
from tests.audio.mouth_fakes import read_wav
from tests.figures import figure
from tests.room.virtual_sound import VirtualSound, virtual_sound

ROOT = Path(__file__).parents[3]
COUGHS = 2
WITHIN = 1.0
"""Seconds from the onset of speech to silence, all stages counted, on a machine that does much else.

On a quiet one it is a quarter of that: the run ends with the figure.
"""


@pytest.fixture
def card() -> Iterator[VirtualSound]:
    with virtual_sound() as running:
        yield running


def speech(file: Path, words: str) -> Path:
    subprocess.run(["flite", "-voice", "slt", "-t", words, "-o", str(file)], check=True)
    return file


def wait_for(output: IO[str] | None, line: str) -> None:
    assert output is not None
    while (found := output.readline().strip()) != line:
        assert found, "the program ended"


@pytest.fixture
def evening(card: VirtualSound, tmp_path: Path) -> dict[str, Any]:
    """What happened in an evening with two interjections and one interruption."""
    clip = speech(tmp_path / "speech.wav", "Only a moment please.")
    command = [sys.executable, "-m", "tests.audio.barge_in_program", str(COUGHS)]
    with subprocess.Popen(
        command, cwd=ROOT, env={**card.environment}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        wait_for(program.stdout, "humming")
        for _ in range(COUGHS):
            card.say(clip)
            wait_for(program.stdout, "turn ended")
        card.say(clip)
        assert program.stdout is not None
        return dict(json.loads(program.stdout.read().splitlines()[-1]))


@pytest.mark.sound
@pytest.mark.shows("V17", "V22")
def test_speech_pauses_it_and_it_goes_on_where_it_was(evening: dict[str, Any]) -> None:
    assert (evening["quiet"], evening["went_on"], evening["ended"]) == (COUGHS + 1, COUGHS, 1)
    onsets = [began for began, _ in evening["speech"]]
    assert len(onsets) == COUGHS + 1
    silences = [ended for _, ended in evening["hum"]]
    assert len(silences) == COUGHS + 1, "it sounded again after each interjection, and not after the interruption"
    delays = [silence - onset for onset, silence in zip(onsets, silences, strict=True)]
    noticed = [at - onset for onset, at in zip(onsets, evening["noticed"], strict=True)]
    figure(
        "speech pauses it, onset to silence",
        f"{np.median(delays):.2f} s, of it to the pause {np.median(noticed):.2f} s",
    )
    assert min(delays) > 0.0
    assert float(np.median(delays)) <= WITHIN

    hummed = sum(ended - began for began, ended in evening["hum"])
    assert evening["interrupted"]
    unaccounted = hummed - evening["words_heard"] * WORD_SECONDS
    assert -0.05 <= unaccounted <= 2 * WORD_SECONDS + 0.15, "the account is what sounded, in whole words"


@pytest.mark.sound
@pytest.mark.shows("V17", "V25")
def test_after_an_idle_time_the_first_sound_is_whole(card: VirtualSound, tmp_path: Path) -> None:
    """The output stream stays open and is given silence: what a plosive begins with is not swallowed."""
    assert any(is_heard_in_one_piece(card, tmp_path / "heard.wav") for _ in range(5)), "a busy machine tears one or two"


def is_heard_in_one_piece(card: VirtualSound, heard: Path) -> bool:
    """Have it knock once; all of it has to be heard, after silence."""
    command = [sys.executable, "-m", "tests.audio.player_program", "sounddevice", "knock", "speaker"]
    with (
        card.recording(heard),
        subprocess.Popen(command, cwd=ROOT, env={**card.environment}, stdout=subprocess.PIPE, text=True) as program,
    ):
        assert program.stdout is not None
        assert json.loads(program.stdout.readline()) == {"knocked": True}
        program.wait(120)
    samples, rate = read_wav(heard)
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 8000)
    assert len(loud) / rate == pytest.approx(0.02, abs=0.002), "all of it"
    assert not np.abs(samples[: loud[0] - rate // 100].astype(int)).max() > 100, "after silence"
    return bool(loud[-1] - loud[0] + 1 == pytest.approx(len(loud), abs=rate * 0.002))
