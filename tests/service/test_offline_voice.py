"""The voice on its bad days, through the whole appliance: a whole sentence is heard in time, whatever happens."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.errors import Exit
from appliance.output.voice import FIRST_SOUND
from appliance.service import conversation_over, serve
from appliance.wiring.box import Box, open_box
from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.tts.speakable import speakable
from benchmarks.sound import write_wav
from tests.agent.openai_server import OpenAiServer, reply
from tests.audio.edge_server import Fault, edge_server, spoken
from tests.audio.spoken import HOUSEHOLD_WHISPER, said, silence, trimmed, utterance
from tests.service import lost_network
from tests.service.privacy import clean_environment, unplugged
from tests.service.process import NAKARI, Household, speak

TEXT = "Remember that the plumber comes on Friday."
"""One of the sentences that the recognizer of the tests knows."""

DEADLINE = 1.5
"""Seconds a voice has to its first sound (issue 3)."""

MARGIN = 1.0
"""Seconds for the next voice's start and a loaded machine."""


@cache
def recognizer() -> FasterWhisperRecognizer:
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en", threads=1)
    recognizer.warm()
    return recognizer


def assert_heard_once(samples: Samples, text: str) -> None:
    """Check that the recognizer hears this sentence, and that it is as long as one that is said once."""
    sound = trimmed(samples)
    assert recognizer().transcribe(utterance(sound)).text == text
    assert 0.75 < len(sound) / SAMPLE_RATE / spoken(text).seconds < 1.3


def household(folder: Path, model_url: str, voice_url: str) -> Household:
    model: dict[str, object] = {"provider": "openai", "base_url": model_url, "name": "m", "api_key_env": "TEST_KEY"}
    return Household(folder, {"model": model, "voice": {"engine": "auto", "edge_url": voice_url}})


async def answer(home: Household, question: Path) -> float:
    """Run the appliance over one spoken question; return the moment of its first sound, as `time.monotonic`."""
    config = load(home.write(), {"HOME": str(home.folder), "TEST_KEY": "sk-test"})
    marks: list[float] = []

    async def watch(box: Box) -> None:
        mark = await anext(aiter(box.household.bus.observe(FIRST_SOUND)))
        marks.append(float(str(mark.metadata["at"])))

    async with open_box(config, RunOptions(input=question, output=home.folder / "answer.wav", fast=True)) as box:

        async def until_over() -> None:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(watch(box))
                await conversation_over(box)
                watching.cancel()

        await serve(box, until_over)
    return marks[0]


def accounts(home: Household) -> list[tuple[object, object]]:
    """What the journal says was heard of each sentence, and whether that was all."""
    rows = home.rows("SELECT body FROM journal WHERE topic = 'speech.sentence_ended' ORDER BY seq")
    bodies = [json.loads(str(body)) for (body,) in rows]
    return [(body["heard"], body["whole"]) for body in bodies]


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    "script",
    [[], [Fault.REFUSE_403], [Fault.REFUSE_403] * 9, [Fault.STALL] * 2, [Fault.DROP] * 2],
    ids=lambda script: f"{script[0].name.lower()}-{len(script)}" if script else "good",
)
async def test_a_complete_sentence_is_heard_in_time(script: Sequence[Fault], tmp_path: Path) -> None:
    """A service that is well, refuses, stalls and breaks off; what else it may do: tests/audio/tts/test_chain.py."""
    await asyncio.to_thread(spoken, TEXT)  # made once, and not inside a deadline
    question = await asyncio.to_thread(speak, "What time is it?", tmp_path / "question.wav")

    async with OpenAiServer() as model, edge_server(*script) as voice:
        model.enqueue(reply(TEXT))
        home = household(tmp_path, model.url, voice.url)
        first_sound = await answer(home, question)

    assert home.states() == ["completed"]
    assert accounts(home) == [(TEXT, True)]
    assert 0 < first_sound - voice.first_asked < DEADLINE + MARGIN
    await asyncio.to_thread(assert_heard_once, read_recording(tmp_path / "answer.wav"), TEXT)


@pytest.mark.shows("V18")
async def test_each_sentence_is_read_in_words_by_the_voice_of_its_language(tmp_path: Path) -> None:
    home = household(tmp_path, "", "")
    async with edge_server() as voice:
        home.settings["voice"]["edge_url"] = voice.url
        text = "It is **21:30**, and 20 °C. 现在是**21:30**，20 °C。"
        done = await asyncio.to_thread(home.run, "say", text, "--output", str(tmp_path / "said.wav"))
    assert done.returncode == Exit.OK
    asked = [(request.voice.rpartition(", ")[2].strip(")"), request.text) for request in voice.requests]
    assert asked == [
        ("EmmaMultilingualNeural", "It is twenty-one thirty, and twenty degrees Celsius."),
        ("XiaoxiaoNeural", "现在是二十一点三十分，二十摄氏度。"),
    ]


@pytest.mark.shows("V19")
async def test_with_no_voice_left_it_says_what_it_said_before_and_sounds_a_tone_for_the_rest(tmp_path: Path) -> None:
    await asyncio.to_thread(spoken, TEXT)
    output = ("--output", str(tmp_path / "said.wav"))
    home = household(tmp_path, "", "")
    home.state.mkdir()
    async with edge_server() as voice:
        home.settings["voice"]["edge_url"] = voice.url
        before = await asyncio.to_thread(home.run, "say", TEXT, *output)
        first = read_recording(tmp_path / "said.wav")
    assert before.returncode == Exit.OK

    after = await asyncio.to_thread(home.run, "say", TEXT, *output, PATH="/nowhere")
    again = read_recording(tmp_path / "said.wav")
    unknown = await asyncio.to_thread(home.run, "say", "Something else.", *output, PATH="/nowhere")
    kept = read_recording(tmp_path / "said.wav")

    assert after.returncode == Exit.OK
    assert np.array_equal(first, again)
    await asyncio.to_thread(assert_heard_once, again, TEXT)
    assert unknown.returncode == Exit.UNAVAILABLE
    assert unknown.stderr.splitlines()[-1].startswith("nakari: it was not said, or not to its end; ")
    assert np.array_equal(kept, again), "a file that cannot be made whole is not touched"


@pytest.mark.network
@pytest.mark.shows("V19", "V30", "G4")
def test_from_boot_to_answer_without_network_and_with_every_cache_empty(tmp_path: Path) -> None:
    """No model was ever fetched, no phrase kept, no name resolves: the last-resort recognizer and espeak-ng."""
    home = Household(tmp_path, {"ears": {"model": "auto", "download": True}, "voice": {"engine": "auto"}})
    home.settings |= {"model": {"provider": "auto"}, "memory": {"enabled": True}}
    asked = said("What time is it?", "slt", tmp_path)
    question = write_wav(tmp_path / "question.wav", np.concatenate([silence(0.6), asked, silence(0.3)]))
    sound = ["--input", str(question), "--output", str(tmp_path / "answer.wav")]
    done = subprocess.run(
        unplugged([*NAKARI, "--config", str(home.write()), "run", "--once", *sound]),
        env=clean_environment(HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert home.states() == ["completed"]
    [sentence] = home.spoken()
    assert sentence.startswith("It is ")
    assert accounts(home) == [(sentence, True)]
    # As long as it should be without the silence behind it, which is a third of "It is noon.".
    whole = trimmed(said(speakable(sentence, "en"), "en-us", tmp_path))
    assert 0.8 < len(trimmed(read_recording(tmp_path / "answer.wav"))) / len(whole) < 1.3


@pytest.mark.network
@pytest.mark.shows("V18", "V19", "V30")
def test_a_network_lost_in_mid_sentence_and_back_again_costs_no_word(tmp_path: Path) -> None:
    recording = tmp_path / "said.wav"
    done = subprocess.run(
        unplugged([sys.executable, "-m", "tests.service.lost_network", str(tmp_path), str(recording)]),
        env=clean_environment(HOME=str(tmp_path), PYTHONPATH=str(Path(__file__).parents[2])),
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *logged, answer = done.stdout.splitlines()
    assert [line.split()[4] for line in logged] == ["voice_failed"], logged
    told = json.loads(answer)
    assert told["heard"] == [[text, True] for text in lost_network.SENTENCES]
    assert told["asked"] == [lost_network.SENTENCES[0], lost_network.SENTENCES[2]]
    samples = read_recording(recording)
    for text, (begin, end) in zip(lost_network.SENTENCES, told["places"], strict=True):
        piece = samples[round(begin * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
        assert recognizer().transcribe(utterance(trimmed(piece))).text == text
    lost, without, back = (end - begin for begin, end in told["places"])
    assert lost < spoken(lost_network.SENTENCES[0]).seconds + lost_network.STALL_SECONDS + MARGIN
    assert without < spoken(lost_network.SENTENCES[1]).seconds + MARGIN, "a voice that failed is not waited for"
    assert back < spoken(lost_network.SENTENCES[2]).seconds + MARGIN
