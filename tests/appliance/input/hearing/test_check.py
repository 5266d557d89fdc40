"""What the doctor says of recognizers elsewhere."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from wyoming.info import Info

from appliance.config.load import Config, load
from appliance.doctor.examine import Line, Verdict
from appliance.input.hearing.check import engines
from appliance.input.whisper.check import CHECKS as WHISPER
from audio.recognizer.models.speed import sample_utterance
from audio.recognizer.sherpa_onnx import is_installed
from tests.audio.spoken import HOUSEHOLD_STREAMING
from tests.audio.transcription_server import (
    HTML,
    Answer,
    Script,
    as_json,
    refusal,
    transcribing,
    verbose,
)
from tests.audio.wyoming_server import Peer, wyoming_server


def config_of(folder: Path, text: str) -> Config:
    file = folder / "nakari.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, {"HOME": str(folder)})


def line_about(folder: Path, answer: Script | Answer, patience: float = 30.0) -> Line:
    with transcribing(answer) as server:
        text = f'[ears]\nengines = ["openai", "whisper"]\npatience = {patience}\n'
        return engines(config_of(folder, f'{text}[openai_recognizer]\nurl = "{server.url}"\n'))


def test_with_whisper_alone_nobody_is_asked(tmp_path: Path) -> None:
    line = engines(config_of(tmp_path, ""))
    assert (line.verdict, line.what) == (Verdict.OK, "Whisper on this machine alone; no sound is sent to a recognizer")


@pytest.mark.shows("V14")
def test_a_server_hears_a_real_sentence(tmp_path: Path) -> None:
    lengths: list[int] = []

    def answer(asked: object) -> Answer:
        lengths.append(len(asked.samples))  # type: ignore[attr-defined]
        return verbose("Remember that the spare key is under the mat.")

    line = line_about(tmp_path, answer)
    assert line.verdict == Verdict.OK
    assert line.what.startswith("openai, then whisper: openai:whisper-1 heard 'Remember that the spare key")
    assert "how sure" not in line.what
    assert lengths == [len(sample_utterance().samples)]
    assert line_about(tmp_path, as_json({"text": "Yes."})).what.endswith("without saying how sure it is")


FAULTS = {
    "wrong key": (refusal(401, "Incorrect API key"), "correct the key that [openai_recognizer] api_key_env names"),
    "a page": (Answer(b"<html>", type_=HTML), "correct [openai_recognizer] url, which is the root of the API"),
    "broken": (Answer(b"", 500), "see that server's log"),
    "elsewhere": (Answer(b"", 302, HTML, {"Location": "http://localhost:1"}), "correct [openai_recognizer] url"),
}


@pytest.mark.shows("V14")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_comes_with_its_fix(tmp_path: Path, fault: str) -> None:
    answer, fix = FAULTS[fault]
    line = line_about(tmp_path, answer)
    assert (line.verdict, line.fix) == (Verdict.FAULT, fix)
    assert json.loads(line.to_json())["state"] == "fault"


def test_a_server_that_hears_nothing_and_one_that_is_late(tmp_path: Path) -> None:
    deaf = line_about(tmp_path, as_json({"text": ""}))
    assert (deaf.verdict, deaf.fix) == (Verdict.WARNING, "try another of its models")
    late = line_about(tmp_path, Answer(waits=True), patience=0.5)
    assert late.what.endswith("did not answer within 2.0 s")
    assert (late.verdict, late.fix) == (
        Verdict.FAULT,
        "see what keeps that server, or set a larger [ears] patience",
    )


@contextmanager
def serving_voices() -> Iterator[str]:
    """Run a Wyoming server that only speaks, in a thread of its own; yield its address."""
    found: list[str] = []
    ready, over = threading.Event(), threading.Event()

    async def describe(peer: Peer) -> None:
        await peer.read()
        await peer.write(Info())

    async def serve() -> None:
        async with wyoming_server(describe) as server:
            found.append(server.url)
            ready.set()
            await asyncio.to_thread(over.wait, 30)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    try:
        yield found[0]
    finally:
        over.set()
        thread.join()


def test_a_wyoming_server_that_only_speaks(tmp_path: Path) -> None:
    with serving_voices() as url:
        text = f'[ears]\nengines = ["whisper", "wyoming"]\n[wyoming_recognizer]\nurl = "{url}"\n'
        line = engines(config_of(tmp_path, text))
    assert line.verdict == Verdict.FAULT
    assert "recognizes no speech" in line.what
    assert line.fix.startswith("correct [wyoming_recognizer] url: speech to text and text to speech")


def line_of_streaming(folder: Path, model: Path) -> Line:
    text = f'[ears]\nengines = ["streaming", "whisper"]\n[streaming_recognizer]\nmodel = "{model}"\n'
    return engines(config_of(folder, text))


@pytest.mark.shows("V14")
def test_a_streaming_model_that_cannot_be_used_comes_with_its_fix(tmp_path: Path) -> None:
    line = line_of_streaming(tmp_path, tmp_path / "gone")
    assert line.verdict == Verdict.FAULT
    assert line.what.startswith("streaming, then whisper: sherpa-onnx:gone: ")
    if is_installed():
        assert line.fix == "unpack a streaming model of sherpa-onnx there, or correct [streaming_recognizer] model"
    else:
        assert line.fix == "run scripts/setup, or take streaming out of [ears] engines"


@pytest.mark.shows("V14")
@pytest.mark.skipif(not is_installed(), reason="sherpa-onnx, the extra streaming, is not installed")
def test_a_streaming_model_hears_the_sentence_and_its_pace_is_told(tmp_path: Path) -> None:
    line = line_of_streaming(tmp_path, HOUSEHOLD_STREAMING)
    assert "sherpa-onnx:streaming-household heard '" in line.what
    assert "s of the processor for each second of sound" in line.what
    assert line.verdict in {Verdict.OK, Verdict.WARNING}


def test_whisper_is_not_looked_at_where_it_is_not_to_hear(tmp_path: Path) -> None:
    config = config_of(tmp_path, '[ears]\nengines = ["openai"]\n')
    lines = [check(config) for check in WHISPER]
    assert [line.name for line in lines] == ["recognizer", "speed", "window"]
    assert {(line.verdict, line.what) for line in lines} == {
        (Verdict.OK, "no Whisper on this machine is to hear, by [ears] engines")
    }
