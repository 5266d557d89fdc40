"""The share of a hundred sentences that do in a real house what was said, without a model: `scripts/bench home`.

Needs what `scripts/home-assistant make` makes. A state decides, or the answer where something was asked; a door may be
opened only after a question and a yes. With --spoken a Whisper in faster-whisper's form hears a made voice
say them first.
"""

import argparse
import asyncio
import logging
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final, TypeAlias

import httpx
import structlog

from benchmarks.home.house import LONGEST, PATIENCE, RealHouse, wrong
from benchmarks.home.sentences import SENTENCES, Sentence
from benchmarks.home.voices import Hearing
from tests.home.box import at_home
from tests.home.home_assistant import NotMade, start, stop

YES: Final = {"en": "Yes", "zh": "是的"}

Hear: TypeAlias = Callable[[Sentence], str]
"""Returns the words that reach the mind."""

Say: TypeAlias = Callable[[str], Awaitable[str]]
"""Says something in one conversation, and returns the answer."""


async def tried(house: RealHouse, sentence: Sentence, words: str, say: Say, *, asks: bool) -> tuple[str, str, float]:
    """Say a sentence to a house that was made ready for it; return what went wrong, the answer, and the seconds."""
    before = await house.prepare(sentence.before)
    began = perf_counter()
    answer = await say(words)
    took = perf_counter() - began
    if sentence.asks and asks:
        at_once = await house.look()
        if any(at_once.leads_to(*each, before) for each in sentence.after.items()):
            return "done without a question", answer, took
        answer += f" / {await say(YES[sentence.language])}"
    moves = any(entity.startswith("cover.") for entity in sentence.after)
    patience = (LONGEST if moves else PATIENCE) if sentence.after else 0.3
    after = await house.until(lambda now: bool(sentence.after) and not wrong(sentence, before, now, answer), patience)
    return wrong(sentence, before, after, answer), answer, took


async def measure(
    sentences: Sequence[Sentence], ears: Callable[[Sequence[str]], Hear], folder: Path, alone: bool
) -> None:
    """Try all of them and print the table; `alone`: with Home Assistant's own agent, nakari left out."""
    home = start(folder / "home")
    table = Table()
    headers = {"Authorization": f"Bearer {home.token}"}
    try:
        async with (
            httpx.AsyncClient(base_url=home.url, headers=headers, timeout=30) as http,
            at_home(home, folder) as box,
        ):
            await box.connected()
            house, hear = RealHouse(http), ears(await box.side.home.names())
            for number, sentence in enumerate(sentences):
                words = await asyncio.to_thread(hear, sentence)
                say = (
                    partial(house.told, language=sentence.language)
                    if alone
                    else partial(box.says, session=f"s{number}")
                )
                table.enter(sentence, words, *await tried(house, sentence, words, say, asks=not alone))
    finally:
        stop(folder / "home")
    print(table)


@dataclass
class Table:
    """Who was right, by language and kind; what was wrong is printed as it comes."""

    right: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def enter(self, sentence: Sentence, words: str, what: str, answer: str, took: float) -> None:
        """Add a sentence that was tried."""
        self.seconds.append(took)
        for group in (sentence.language, f"{sentence.language} {sentence.kind}"):
            self.all[group] += 1
            self.right[group] += not what
        if what:
            heard = f" heard as {words!r}" if words != sentence.words else ""
            print(f"wrong: {sentence.words!r}{heard}: {what}; answered {answer!r}", flush=True)

    def __str__(self) -> str:
        lines = [f"{group}: {self.right[group]} of {self.all[group]}" for group in sorted(self.all)]
        right, every = (sum(counts[language] for language in ("en", "zh")) for counts in (self.right, self.all))
        middle = sorted(self.seconds)[len(self.seconds) // 2]
        share = f"all: {right} of {every} right ({right / every:.0%})"
        return "\n".join([*lines, f"{share}; an answer takes {middle * 1000:.0f} ms in the median"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench home", description=__doc__)
    parser.add_argument("--language", choices=("en", "zh"), help="only these")
    parser.add_argument("--alone", action="store_true", help="say them to Home Assistant's own agent instead")
    parser.add_argument("--spoken", type=Path, help="a folder with a multilingual Whisper in faster-whisper's form")
    parser.add_argument("--ears", choices=("auto", "en", "zh"), default="auto", help="the language that is set")
    parser.add_argument("--voice", choices=("espeak", "pico"), default="espeak", help="who speaks; pico only English")
    parser.add_argument("--sample", type=int, default=0, help="so many of each language; all without")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    sentences: list[Sentence] = []
    for language in ("en", "zh") if given.language is None else (given.language,):
        of_it = [sentence for sentence in SENTENCES if sentence.language == language]
        sentences += random.Random(given.seed).sample(of_it, given.sample) if given.sample else of_it

    def ears(names: Sequence[str]) -> Hear:
        return (
            Hearing(given.spoken, names, given.ears, given.voice) if given.spoken else lambda sentence: sentence.words
        )

    with tempfile.TemporaryDirectory(prefix="nakari-home-") as folder:
        try:
            asyncio.run(measure(sentences, ears, Path(folder), given.alone))
        except NotMade as error:
            sys.exit(f"nakari: {error}")


if __name__ == "__main__":
    main()
