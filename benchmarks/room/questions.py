"""Sixty questions by four voices into a live virtual card, in a quiet room and over music: heard, understood, answered.

`python -m benchmarks.room.questions` starts the real `nakari run` twice and takes some ten minutes. It fails where a
question was not answered. Speech is 13 to 25 dB above the music; the model says a fixed sentence. `--whisper FOLDER`
takes another recognizer than the tests' small one, which knows these questions and no others. What was not answered is
told with the reason why nobody got the words, and with the faults of the card: a machine that is too busy stalls it.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from html import unescape
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from appliance.input.suppressed import EARS_SUPPRESSED
from audio.pcm import SAMPLE_RATE, Samples
from benchmarks.sound import write_wav
from tests.agent.openai_server import OpenAiServer, reply
from tests.audio.spoken import HOUSEHOLD_WHISPER, word_errors
from tests.room.acoustics import at_level
from tests.room.sounds import music
from tests.room.virtual_sound import VirtualSound, virtual_sound
from tests.room.voices import says
from tests.service.process import Household, Running

VOICES: Final = ("slt", "awb", "rms", "en-us")
"""Three of flite's, recorded from people, and espeak-ng's."""

QUESTIONS: Final = (
    "What time is it?",
    "What day is it today?",
    "What is the weather tomorrow?",
    "Will it rain today?",
    "Do I need an umbrella?",
    "How cold is it outside?",
    "How warm is it in the bedroom?",
    "Turn on the kitchen light.",
    "Turn off all the lights.",
    "Set the heating to twenty degrees.",
    "Set a timer for five minutes.",
    "Wake me up at seven o'clock.",
    "How much time is left?",
    "Play some music.",
    "Play the radio.",
)

MUSIC_DBFS: Final = -48.0
ROOM_DBFS: Final = -70.0
"""A room that is quiet is not digital silence."""

ABOVE_MUSIC_DB: Final = (13.0, 16.0, 19.0, 22.0, 25.0)
BED_SECONDS: Final = 60.0
GAP_SECONDS: Final = 1.0
"""Of silence behind each question: what a person leaves before they would ask again is longer."""

ANSWER_SECONDS: Final = 60.0
"""The longest a busy machine may take to answer before it is counted as none; a later answer is waited for as long
again, so that it is not taken for the next question's."""

STALLS: Final = frozenset({"microphone_unavailable", "loudspeaker_lost"})
"""What the service logs where the card does not keep up."""


class Asked(Struct, frozen=True):
    """One question and what became of it."""

    words: str
    voice: str
    above_db: float
    heard: str
    """What reached the model; empty when nothing did."""
    is_answered: bool
    why: str = ""
    """Of what was not answered: why nobody got its words, and how often the card stalled."""

    @property
    def is_right(self) -> bool:
        """Whether every word was understood."""
        return bool(self.heard) and word_errors(self.words, self.heard) == 0


def questions(seed: int) -> Iterator[tuple[str, str, float]]:
    """Yield each question by each voice in an order of its own, and how far above the music in dB, each level alike."""
    pairs = [(words, voice) for words in QUESTIONS for voice in VOICES]
    random.Random(seed).shuffle(pairs)
    for number, (words, voice) in enumerate(pairs):
        yield words, voice, ABOVE_MUSIC_DB[number % len(ABOVE_MUSIC_DB)]


async def ask_all(card: VirtualSound, folder: Path, whisper: Path, bed: Samples, count: int) -> list[Asked]:
    """Let a service be asked `count` questions, one after the other, over what always sounds in the room."""
    async with OpenAiServer() as server:
        for _ in range(3 * count):
            server.enqueue(reply("That is done."))
        model: dict[str, object] = {"provider": "openai", "base_url": server.url, "name": "m"}
        home = Household(folder, {"model": model, "ears": {"model": str(whisper)}})
        with home.running("run", environment={**os.environ, **card.environment}) as service, played(card, folder, bed):
            await asyncio.to_thread(service.until, "recognizer_ready")
            asked = [
                await _ask(card, home, server, service, question)
                for question, _ in zip(questions(1), range(count), strict=False)
            ]
            await asyncio.to_thread(service.stop)
        return asked


@contextmanager
def played(card: VirtualSound, folder: Path, bed: Samples) -> Iterator[None]:
    """Let a sound come into the microphone again and again while the block runs."""
    file = write_wav(folder / "bed.wav", np.tile(bed, 20))
    command = ["paplay", "--device=mic_in", "--latency-msec=20", str(file)]
    with subprocess.Popen(command, env=card.environment, stderr=subprocess.DEVNULL) as player:
        try:
            yield
        finally:
            player.kill()


async def _ask(
    card: VirtualSound, home: Household, server: OpenAiServer, service: Running, question: tuple[str, str, float]
) -> Asked:
    words, voice, above_db = question
    before, said = len(server.requests), len(home.spoken())
    logged, refused = len(service.log), len(refusals(home))
    sound = np.concatenate(
        [at_level(says(words, voice), MUSIC_DBFS + above_db), np.zeros(round(GAP_SECONDS * SAMPLE_RATE))]
    )
    file = write_wav(home.folder / "question.wav", (sound * 32767).astype(np.int16))
    await asyncio.to_thread(card.say, file)
    try:
        await asyncio.to_thread(service.until, "run_finished", ANSWER_SECONDS)
    except AssertionError:
        why = "; ".join([*refusals(home)[refused:], *stalls(service.log[logged:])]) or "no turn of it was ended"
        with suppress(AssertionError):
            await asyncio.to_thread(service.until, "run_finished", ANSWER_SECONDS)
        return Asked(words, voice, above_db, heard(server, before), is_answered=False, why=why)
    return Asked(words, voice, above_db, heard(server, before), len(home.spoken()) > said)


def refusals(home: Household) -> list[str]:
    """Return of each turn that nobody got its words and the reason, in order."""
    rows = home.rows("SELECT body FROM journal WHERE topic = ? ORDER BY seq", EARS_SUPPRESSED)
    bodies = [json.loads(str(body)) for (body,) in rows]
    return [f"{body.get('text_spoken', '')!r}: {body['reason']}" for body in bodies]


def stalls(log: Sequence[Mapping[str, object]]) -> list[str]:
    """Return how often the card stalled by these lines of the log, where it did."""
    count = sum(line.get("event") in STALLS for line in log)
    return [f"the card stalled {count} times"] if count else []


def heard(server: OpenAiServer, before: int) -> str:
    """Return the words of the first request since so many."""
    if len(server.requests) == before:
        return ""
    block = re.search(r"<Human_Input>(.*?)</Human_Input>", server.requests[before].messages[-1]["content"], re.DOTALL)
    return unescape(block[1]).strip() if block else ""


def told(room: str, asked: list[Asked]) -> str:
    """Return what became of the questions of one room, those that went wrong by name."""
    answered, right = sum(each.is_answered for each in asked), sum(each.is_right for each in asked)
    lines = [f"{room}: {answered} of {len(asked)} answered, {right} understood word for word"]
    lines += [
        f"  {each.voice}, {each.above_db:.0f} dB: {each.words!r} heard as {each.heard!r}"
        + ("" if each.is_answered else f", NOT answered ({each.why})")
        for each in asked
        if not (each.is_right and each.is_answered)
    ]
    return "\n".join(lines)


def main() -> None:
    """Ask in both rooms, and fail where an answer stayed away."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.room.questions", description=__doc__)
    parser.add_argument("--whisper", type=Path, default=HOUSEHOLD_WHISPER, help="a folder with a model")
    parser.add_argument("--count", type=int, default=len(QUESTIONS) * len(VOICES), help="of questions in each room")
    wanted = parser.parse_args()
    noise = np.random.default_rng(1).normal(size=round(BED_SECONDS * SAMPLE_RATE)).astype(np.float32)
    room = at_level(noise, ROOM_DBFS)
    beds = {"quiet": room, "music": room + at_level(music(BED_SECONDS), MUSIC_DBFS)}
    missed = 0
    for name, bed in beds.items():
        with virtual_sound() as card, tempfile.TemporaryDirectory(prefix="nakari-questions-") as folder:
            samples = (bed * 32767).astype(np.int16)
            asked = asyncio.run(ask_all(card, Path(folder), wanted.whisper, samples, wanted.count))
        print(told(name, asked), flush=True)
        missed += sum(not each.is_answered for each in asked)
    sys.exit(f"{missed} questions were not answered" if missed else 0)


if __name__ == "__main__":
    main()
