"""The doctor on the parts: a real store, a real model server on loopback, real programs that misbehave."""

import asyncio
import ctypes.util
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from appliance import checks_parts
from appliance.checks_parts import judge_devices
from appliance.config import Config, Secret, load
from appliance.doctor import Line, Verdict, examine
from appliance.settings import EarsSettings, MemorySettings, ModelSettings
from appliance.sound_devices import SoundDevices
from tests.appliance.command import nakari
from tests.appliance.door_fakes import ScriptedHandler, serving


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def seen(line: Line) -> tuple[Verdict, str]:
    return line.verdict, line.what


@asynccontextmanager
async def model_server(status: str) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An OpenAI-compatible server that lists one model: its base URL, and what it was asked."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        body = json.dumps({"object": "list", "data": [{"id": "tiny", "object": "model"}]}).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked


def thinking_at(config: Config, url: str) -> Config:
    return replace(
        config,
        model=ModelSettings("openai", "tiny", url, "HOUSE_KEY"),
        secrets={"HOUSE_KEY": Secret("planted-key")},
    )


async def test_a_model_server_that_answers(config: Config) -> None:
    async with model_server("200 OK") as (url, asked):
        line = await asyncio.to_thread(checks_parts.model, thinking_at(config, url + "/"))
    assert line.verdict is Verdict.OK
    assert line.what.endswith("/tiny, its server answers")
    assert asked[0].startswith(b"GET /v1/models HTTP/1.1\r\n")
    assert b"Bearer planted-key" in asked[0]


async def test_a_model_server_that_refuses_the_key(config: Config) -> None:
    async with model_server("401 Unauthorized") as (url, _):
        line = await asyncio.to_thread(checks_parts.model, thinking_at(config, url))
    assert seen(line) == (Verdict.FAULT, f"{url} refuses the key")
    assert "api_key_env" in line.mend
    assert "planted-key" not in str(line)


def test_a_model_server_that_is_down(config: Config, unused_tcp_port: int) -> None:
    line = checks_parts.model(thinking_at(config, f"http://127.0.0.1:{unused_tcp_port}/v1"))
    assert seen(line) == (
        Verdict.FAULT,
        f"http://127.0.0.1:{unused_tcp_port}/v1 does not answer (ConnectError)",
    )
    assert "base_url" in line.mend


def test_no_model_is_a_choice_or_a_warning(config: Config) -> None:
    assert seen(checks_parts.model(replace(config, model=ModelSettings("offline")))) == (
        Verdict.OK,
        "offline, as it is set",
    )


def test_a_provider_that_costs_is_not_asked(config: Config) -> None:
    paid = replace(config, model=ModelSettings("litellm", "anthropic/some"), secrets={"ANTHROPIC_API_KEY": Secret("k")})
    line = checks_parts.model(paid)
    assert line.verdict is Verdict.OK
    assert line.what.endswith("not asked now")


def test_a_model_setting_that_lacks_something_is_a_fault(config: Config) -> None:
    (line,) = examine(replace(config, model=ModelSettings("openai")), [checks_parts.model])
    assert line.verdict is Verdict.FAULT
    assert '[model] provider = "openai" needs base_url and name' in line.what


def test_the_recognizer_that_would_listen_is_named(config: Config, tmp_path: Path) -> None:
    line = checks_parts.recognizer(replace(config, ears=EarsSettings(download=False)))
    assert line.verdict is Verdict.WARNING
    assert "pocketsphinx understands set phrases only" in line.what
    assert "[ears] download" in line.mend
    (config.state_folder / "models" / "base").mkdir(parents=True)
    for name in ("config.json", "model.bin", "tokenizer.json", "preprocessor_config.json", "vocabulary.json"):
        (config.state_folder / "models" / "base" / name).touch()
    assert checks_parts.recognizer(config) == Line("recognizer", Verdict.OK, "faster-whisper:base")


def test_a_model_folder_that_is_none_is_a_fault(config: Config, tmp_path: Path) -> None:
    (line,) = examine(replace(config, ears=EarsSettings(model=str(tmp_path))), [checks_parts.recognizer])
    assert line.verdict is Verdict.FAULT
    assert f"{tmp_path} is no faster-whisper model" in line.what


@pytest.mark.shows("C15")
def test_the_box_s_own_store_is_started_beside_hers(config: Config) -> None:
    line = checks_parts.graph(config)
    assert line.verdict is Verdict.OK
    assert line.what.startswith("the box's own store starts and stops in ")
    assert not config.state_folder.exists()


@pytest.mark.shows("C15")
def test_a_graph_server_that_is_down_is_a_fault(config: Config, unused_tcp_port: int) -> None:
    down = replace(config, memory=MemorySettings(uri=f"bolt://127.0.0.1:{unused_tcp_port}"))
    (line,) = examine(down, [checks_parts.graph])
    assert line.verdict is Verdict.FAULT
    assert str(unused_tcp_port) in line.what


def test_a_graph_that_is_switched_off_is_fine(config: Config) -> None:
    off = replace(config, memory=MemorySettings(enabled=False))
    assert checks_parts.graph(off) == Line("graph", Verdict.OK, "switched off")


async def test_a_service_is_found_and_asked(config: Config) -> None:
    assert await asyncio.to_thread(checks_parts.service, config) == Line("service", Verdict.OK, "not running")
    async with serving(config.socket, ScriptedHandler()):
        line = await asyncio.to_thread(checks_parts.service, config)
    assert line.verdict is Verdict.OK
    assert f"running, answers at {config.socket} in " in line.what


async def test_a_service_that_fails_to_answer_is_a_fault(config: Config) -> None:
    async with serving(config.socket, ScriptedHandler(error=KeyError("bug"))):
        (line,) = await asyncio.to_thread(lambda: list(examine(config, [checks_parts.service])))
    assert seen(line) == (Verdict.FAULT, "something went wrong inside; the log says what")


NAMES = SoundDevices(input=["USB mic", "default"], output=["default"])


@pytest.mark.shows("V2", "H6")
@pytest.mark.parametrize(
    ("found", "is_named", "verdict", "said"),
    [
        (NAMES, True, Verdict.OK, "microphones: USB mic, default; loudspeakers: default"),
        (replace(NAMES, input=[]), False, Verdict.WARNING, "microphones: none; loudspeakers: default"),
        (SoundDevices(), False, Verdict.WARNING, "microphones: none; loudspeakers: none"),
        (replace(NAMES, wrong=["no microphone is called 'x'"]), True, Verdict.FAULT, "no microphone is called 'x'"),
        (SoundDevices("there is no PortAudio"), False, Verdict.WARNING, "there is no PortAudio"),
        (SoundDevices("there is no PortAudio"), True, Verdict.FAULT, "there is no PortAudio"),
    ],
)
def test_sound_devices_are_judged(found: SoundDevices, is_named: bool, verdict: Verdict, said: str) -> None:
    line = judge_devices(found, is_named)
    assert seen(line) == (verdict, said)
    assert line.mend or verdict is Verdict.OK or found.missing


@pytest.mark.shows("V2", "H5")
def test_a_device_that_is_named_and_not_there_is_a_fault(config: Config) -> None:
    line = checks_parts.sound(replace(config, ears=EarsSettings(device="no such microphone")))
    assert line.verdict is Verdict.FAULT
    assert "no such microphone" in line.what or "there is no" in line.what


@pytest.mark.skipif(ctypes.util.find_library("portaudio") is None, reason="not installed: libportaudio2")
def test_a_portaudio_that_aborts_takes_no_doctor_with_it(tmp_path: Path) -> None:
    """Without ALSA's stock configuration PortAudio aborts the process (FACTS, "Sound")."""
    done = nakari(tmp_path, "doctor", "--json", ALSA_CONFIG_PATH="/nonexistent")
    lines = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 1
    assert lines["sound"]["state"] == "fault"
    assert lines["sound"]["what"] == "PortAudio broke down (SIGABRT)"
    assert "libasound2-data" in lines["sound"]["mend"]
    assert len(lines) == 12


def a_program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("espeak", "flite", "said"),
    [
        ("printf RIFF", "exit 0", "ok      voices     espeak-ng speaks; flite for the demo"),
        ("printf RIFF", None, "warning voices     espeak-ng speaks; no flite for the demo; apt install flite"),
        (
            "echo 'no voice data' >&2; exit 2",
            "exit 0",
            "fault   voices     espeak-ng makes no sound: no voice data; apt reinstall espeak-ng-data",
        ),
        (
            "exit 3",
            "exit 0",
            "fault   voices     espeak-ng makes no sound: it ended with 3; apt reinstall espeak-ng-data",
        ),
        (None, "exit 0", "fault   voices     espeak-ng is not installed; apt install espeak-ng"),
    ],
)
def test_the_local_voice_is_let_speak(tmp_path: Path, espeak: str | None, flite: str | None, said: str) -> None:
    for name, script in (("espeak-ng", espeak), ("flite", flite)):
        if script is not None:
            a_program(tmp_path, name, script)
    assert said in nakari(tmp_path, "doctor", PATH=str(tmp_path)).stdout.splitlines()
