"""From the end of speech to the first sound of the answer, the models taken out, against the least it could be."""

import asyncio
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Final

import httpx
import numpy as np

from agent.event import HOUSEHOLD
from agent.turns.waterfall import turns_of
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.logs.configure import configure, written_beside
from appliance.service import conversation_over, serve
from appliance.wiring.box import open_box
from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE
from benchmarks.figure import Figure, Series, milliseconds, run
from benchmarks.model_server import ANSWER, model_server
from benchmarks.sound import quiet_room, write_wav
from tests.service.process import Household, speak

QUESTION: Final = "What time is it?"

TURN_SECONDS: Final = 4.0
"""From one question to the next: said, waited for, answered, and quiet again."""

ESPEAK: Final = ("espeak-ng", "--stdin", "--stdout", "-b", "1", "-s", "165", "-v", "en-us")
"""As our voice calls it."""

WAV_HEADER: Final = 44
"""Bytes before the first sound."""

STAGES: Final = {
    "silence": ("speech_ended", "committed"),
    "words": ("committed", "its_turn"),
    "answer": ("its_turn", "first_sound"),
    "token": ("its_turn", "first_token"),
    "voice": ("first_token", "first_sound"),
    "all": ("speech_ended", "first_sound"),
}
"""Its turn begins when the silence has ended the turn and the words are known, which is mostly earlier."""


def measure(*, quick: bool = False) -> Figure:
    """Ask one question again and again in real time; then do the two things that cannot be spared, by themselves."""
    count = 1 if quick else 10
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder, model_server() as url:
        home = Household(Path(folder), {"model": {"provider": "openai", "base_url": url, "name": "m"}})
        turns = asyncio.run(converse(home, count))
        bare = asyncio.run(_bare(url, max(3, count)))
    seconds = {stage: milliseconds("", [turn[stage] for turn in turns]) for stage in STAGES}
    what = "from the end of the turn, the words known, to the first sound: mailbox, journal, context, request, voice"
    ours = Series(what, "ms", seconds["answer"].values)
    floor = milliseconds("a bare request to the same server, then a bare espeak-ng", bare)
    notes = (
        f"with them {seconds['all']}: the silence that ends a turn {seconds['silence']}, "
        f"the words recognized by the tests' small Whisper {seconds['words']} after it",
        f"without: to the first token {seconds['token']}, from there to the sound {seconds['voice']}",
    )
    return Figure("End of speech to first sound, without models and silence", ours, floor, notes)


async def converse(home: Household, count: int) -> list[dict[str, float]]:
    """Return the seconds of each stage, turn by turn."""
    home.folder.mkdir(exist_ok=True)
    sound = await asyncio.to_thread(_questions, home.folder, count)
    options = RunOptions(input=sound, output=home.folder / "answer.wav")
    config = load(home.write(), {"HOME": str(home.folder)})
    with (home.folder / "log").open("w") as log:
        configure(config, log)
        with written_beside():  # as the service does
            async with open_box(config, options) as box:
                await serve(box, lambda: conversation_over(box))
                turns = await turns_of(box.insight.journal, HOUSEHOLD)
    # On a busy machine the next question may supersede one that has made no sound yet.
    whole = [dict(turn.stages) for turn in turns if "first_sound" in turn.stages]
    marks = [each | {"its_turn": max(each["committed"], each["text"])} for each in whole]
    return [{stage: mark[end] - mark[start] for stage, (start, end) in STAGES.items()} for mark in marks]


def _questions(folder: Path, count: int) -> Path:
    """Write a recording of a quiet room in which the question is asked so many times."""
    said = read_recording(speak(QUESTION, folder / "question.wav"))
    rest = quiet_room(TURN_SECONDS - len(said) / SAMPLE_RATE)
    return write_wav(folder / "questions.wav", np.concatenate([said, *[rest, said] * (count - 1)]))


async def _bare(url: str, count: int) -> list[float]:
    """Return the seconds of a request's first word on an open connection, and of espeak-ng's first sound."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        await _first_token(client)
        return [await _first_token(client) + await _first_sound() for _ in range(count)]


async def _first_token(client: httpx.AsyncClient) -> float:
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    began, first = perf_counter(), 0.0
    async with client.stream("POST", "/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if not first and ANSWER[:3] in line:
                first = perf_counter() - began
    return first


async def _first_sound() -> float:
    pipe = asyncio.subprocess.PIPE
    began = perf_counter()
    process = await asyncio.create_subprocess_exec(*ESPEAK, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(ANSWER.encode())
    process.stdin.close()
    await process.stdout.readexactly(WAV_HEADER + 2)
    first = perf_counter() - began
    await process.communicate()
    return first


if __name__ == "__main__":
    run(measure)
