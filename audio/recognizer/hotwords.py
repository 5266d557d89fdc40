"""Names and unusual words for the recognizer's prompt, as many as fit; whole words, the first ones first."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

MOST_TOKENS: Final = 64
"""Of Whisper's 448: prompt and answer share them, and each costs time in every decode (upstream's cap is 223)."""

Hotwords: TypeAlias = Callable[[], Sequence[str]]
"""Tells the words of this moment, the most important first. Called in the recognizer's thread; returns at once."""


def no_hotwords() -> Sequence[str]:
    """Expect no word more than others."""
    return ()


def listed(text: str) -> list[str]:
    """Return the words of a setting that separates them by commas."""
    return [word for each in text.split(",") if (word := each.strip())]


def fitting(words: Iterable[str], tokens_of: Callable[[str], int], most: int = MOST_TOKENS) -> str:
    """Return the words with commas between them, each once, up to the first that no longer fits; "" for none.

    `tokens_of` counts the tokens of a text as the model's prompt holds it.
    """
    fit = ""
    for word in dict.fromkeys(words):
        longer = f"{fit}, {word}" if fit else word
        if tokens_of(f" {longer}") > most:
            break
        fit = longer
    return fit
