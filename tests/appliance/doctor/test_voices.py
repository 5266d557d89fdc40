"""The doctor lets each configured voice speak, and says how soon, or why not and what to do."""

import asyncio
import re
from pathlib import Path

import pytest

from appliance.config.load import Config, load
from appliance.doctor.examine import Line, Verdict
from appliance.output.check import Asked, judge_voices, voices
from tests.appliance.output.test_engines import SECTIONS, standing_in
from tests.audio.speech_server import Exchange, speech_server


def config_of(folder: Path, *engines: str, sections: str = "") -> Config:
    file = folder / "box.toml"
    named = ", ".join(f'"{engine}"' for engine in engines)
    file.write_text(f"[voice]\nengines = [{named}]\n{sections}")
    return load(file, {"HOME": str(folder), "OPENAI_API_KEY": "sk-1"})


async def told(folder: Path, engine: str, place: str) -> Line:
    return await asyncio.to_thread(voices, config_of(folder, engine, "espeak", sections=SECTIONS[engine](place)))


@pytest.mark.shows("F27", "H5")
@pytest.mark.parametrize(
    ("engine", "name"),
    [("sovits", "GPT-SoVITS"), ("openai", "OpenAI speech"), ("wyoming", "Wyoming voice"), ("piper", "piper")],
)
async def test_each_voice_is_really_asked_and_timed(engine: str, name: str, tmp_path: Path) -> None:
    async with standing_in(engine, "", tmp_path) as (place, _):
        line = await told(tmp_path, engine, place)
    assert line.verdict is not Verdict.FAULT
    assert re.match(rf"{name} speaks after \d+\.\d s; espeak-ng speaks after \d+\.\d s", line.what)


@pytest.mark.shows("F27", "H5")
@pytest.mark.parametrize(
    ("engine", "fault", "what", "fix"),
    [
        ("sovits", "400", "GPT-SoVITS at 127.0.0.1:.* answered HTTP 400: tts failed", r"\[sovits\] reference"),
        ("sovits", "zeros", "GPT-SoVITS: nothing but silence", r"look at the server's own log"),
        ("openai", "elsewhere", "OpenAI speech at .* redirects elsewhere", r"correct url, model and voice"),
        ("wyoming", "cut", "Wyoming voice: .* closed the connection", r"\[wyoming_speech\] voices"),
        ("piper", "dies", "piper ended", r"try the command by hand"),
    ],
)
async def test_a_voice_that_does_not_speak_is_a_fault_with_its_fix(
    engine: str, fault: str, what: str, fix: str, tmp_path: Path
) -> None:
    async with standing_in(engine, fault, tmp_path) as (place, _):
        line = await told(tmp_path, engine, place)
    assert line.verdict is Verdict.FAULT
    assert re.search(what, line.what)
    assert "espeak-ng speaks" in line.what
    assert re.search(fix, line.fix)


@pytest.mark.shows("H5")
async def test_nobody_there_and_a_wrong_key_have_fixes_of_their_own(tmp_path: Path) -> None:
    async def unknown(exchange: Exchange) -> None:
        await exchange.whole(b'{"error": {"message": "Incorrect API key"}}', "application/json", 401)

    async with speech_server(unknown) as server:
        line = await told(tmp_path, "openai", server.url)
    assert line.fix == "set the key in the variable or credential that [openai_speech] api_key_env names"
    line = await told(tmp_path, "openai", server.url)
    assert "cannot be reached" in line.what
    assert line.fix == "start the server, or correct [openai_speech] url"


def test_microsofts_own_is_not_asked(tmp_path: Path) -> None:
    assert voices(config_of(tmp_path, "edge")).what.startswith("no voice without a network")


def test_a_voice_that_is_late_is_a_warning() -> None:
    line = judge_voices([Asked("GPT-SoVITS", 2.5), Asked("espeak-ng", 0.02)], 1.5)
    assert (line.verdict, line.what) == (
        Verdict.WARNING,
        "GPT-SoVITS speaks after 2.5 s; espeak-ng speaks after 0.0 s; GPT-SoVITS too late for [voice] "
        "first_sound_deadline (1.5 s)",
    )
    assert line.fix.startswith("raise [voice] first_sound_deadline")
