"""How many questions are answered by models with small windows, known and unknown, very long events among them."""

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from agent.prompts import compose
from benchmarks.figure import Figure, Series, run
from tests.agent.mind import SYSTEM
from tests.agent.small_window import Lived, events, live

SHOWS = ("D2", "D5")

WINDOWS: Final = (4_096, 8_192, 32_768)

PLAIN: Final = 200
LONG: Final = 20
"""Events: of 20,000 to 60,000 characters, or with a tool's result as long as any may be."""

SMALLEST_WITH_PROMPT: Final = 8_192
"""Below that a short system prompt stands for the whole one."""


def measure(*, quick: bool = False) -> Figure:
    """Live through the events before a strict server of each window, its size known from the start or learnt."""
    return asyncio.run(_measure(PLAIN // 10, LONG // 10) if quick else _measure(PLAIN, LONG))


async def _measure(plain: int, long: int) -> Figure:
    found: list[tuple[int, bool, Lived]] = []
    for window in WINDOWS:
        system = compose() if window >= SMALLEST_WITH_PROMPT else SYSTEM
        for known in (True, False):
            with tempfile.TemporaryDirectory(prefix="nakari-bench-") as name:
                sample = events(plain, long, window)
                lived = await live(Path(name), window, sample, known=known, system=system, seed=window)
                found.append((window, known, lived))
    count = plain + long
    answered = tuple(100 * lived.answered / count for _, _, lived in found)
    ours = Series(f"of {count} questions answered, {long} of them very long; one value a window", "%", answered)
    return Figure("Small windows", ours, Series("all of them", "%", (100.0,)), tuple(_told(*each) for each in found))


def _told(window: int, known: bool, lived: Lived) -> str:
    return (
        f"{window} tokens, {'known' if known else 'unknown'}: {lived.answered} answered, {lived.told} refused to the "
        f"person, {lived.refusals} lists refused by the server, {len(lived.illegal)} illegal, {lived.above} contexts "
        f"above their target after an event, {lived.epochs} epochs in two sessions; out of the cache: "
        f"{100 * lived.later:.1f} % of calls 2..n of an event, {100 * lived.first:.1f} % of its first within an epoch"
    )


if __name__ == "__main__":
    run(measure)
