"""How much of what writers put is done right: `python -m benchmarks.wishes.measure en6`, by a network without them.

`scripts/bench` has no figure of it: the network that is shipped knows all lines. One that does not is made by
`benchmarks.wishes.train --without`, and named with `--file`.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agent.intents.intent import Intent, Language, Understand, language_of
from agent.intents.judging.guessing import LIKELY
from agent.intents.language.wording import mended
from agent.intents.learned.network import Network, Reading
from agent.intents.learned.network import network as shipped
from agent.intents.learned.plain import plainly
from agent.intents.reading.ringing import VAGUE
from agent.intents.reading.understanding import load_understanding
from benchmarks.wishes.lines import Line, read_lines

CERTAINTIES: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

_FREE: Final = frozenset({"label", "outside", "wakes", "name", "named"})
"""Slots in which two readings may differ and do the same."""


def main() -> None:
    """Print what sentence files do with the lines of some writers, and what the network does beside them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("writers", nargs="+")
    parser.add_argument("--file", type=Path, help="a network; the one that is shipped if none is named")
    parser.add_argument("--lines", action="store_true", help="print each line that is read wrong")
    wanted = parser.parse_args()
    language: Language = "zh" if wanted.writers[0].startswith("zh") else "en"
    reader = Network(wanted.file) if wanted.file else shipped(language)
    judged = list(_judged(read_lines(wanted.writers), reader, load_understanding()))
    wishes = sum(meant.name != "unknown" for _, meant, _, _, _ in judged)
    print(f"{len(judged)} lines, {wishes} of them wishes")
    alone = Counter(_verdict(meant, alone) for _, meant, alone, _, _ in judged)
    print(f"sentence files alone: {alone['right'] / wishes:.0%} of the wishes right, {alone['wrong']} lines wrong")
    for certainty in CERTAINTIES:
        counts: Counter[str] = Counter()
        for _, meant, alone_, guess, sure in judged:
            counts[_verdict(meant, guess if alone_.name in VAGUE and sure >= certainty else alone_)] += 1
        told = f"{counts['right'] / wishes:.0%} of the wishes right, {counts['wrong']} lines wrong"
        print(f"with the network from {certainty:.1f}{'' if certainty != LIKELY[language] else ' (likely)'}: {told}")
    for line, meant, alone_, guess, sure in judged if wanted.lines else ():
        found = guess if alone_.name in VAGUE else alone_
        if _verdict(meant, found) == "wrong":
            print(
                f"{sure:.2f} {line.name}: {line.words!r} -> {found.name} {dict(found.slots)}, not {dict(meant.slots)}"
            )


def _judged(
    lines: list[Line], reader: Network, understand: Understand
) -> Iterator[tuple[Line, Intent, Intent, Intent, float]]:
    """Yield each line with what it means, what the sentence files read, what the network reads, and how surely."""
    for line in lines:
        language = language_of(line.words)
        plain = plainly(Reading(line.name, 1.0, tuple(line.slots())), language, understand)
        reading = reader.read(mended(line.words, language))
        guess = plainly(reading, language, understand) if reading else None
        meant, guessed = (understand(each.words) if each else Intent("unknown") for each in (plain, guess))
        yield line, meant, understand(line.words), guessed, reading.certainty if reading else 0.0


def _verdict(meant: Intent, found: Intent) -> str:
    """Return whether what was found is right, wrong, or nothing."""
    if found.name in VAGUE - {"outside"} and meant.name != found.name:
        return "nothing"
    if meant.name == "unknown":
        return "nothing" if found.name in VAGUE | {"ask_when"} else "wrong"
    return "right" if (meant.name, _values(meant)) == (found.name, _values(found)) else "wrong"


def _values(intent: Intent) -> dict[str, object]:
    return {slot: value for slot, value in intent.slots.items() if slot not in _FREE}


if __name__ == "__main__":
    main()
