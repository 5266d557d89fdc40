"""What the tests' streaming model knows: a closed set of household sentences in English, German and Chinese."""

from collections.abc import Mapping, Sequence
from typing import Final

SENTENCES: Final[Mapping[str, Sequence[str]]] = {
    "en": ("turn on the kitchen light", "what time is it", "play some jazz", "stop"),
    "de": ("spiel etwas musik",),
    "zh": ("打开厨房的灯", "现在几点了"),
}
"""By language, ISO 639-1; the English ones are known to the tests' small Whisper as well."""

BLANK: Final = "<blk>"
SPACE: Final = "▁"
"""In front of a word; sherpa-onnx makes a space of it."""


def units(text: str) -> list[str]:
    """Return a sentence as tokens: words, and of Chinese characters."""
    return [unit for word in text.split() for unit in ([f"{SPACE}{word}"] if word[0] < "\u3000" else word)]


def tokens() -> tuple[str, ...]:
    """Return every token, the blank last, as in NeMo's models."""
    return (*sorted({unit for texts in SENTENCES.values() for text in texts for unit in units(text)}), BLANK)


def encoded(text: str) -> list[int]:
    """Return a sentence as places in `tokens`."""
    places = {token: place for place, token in enumerate(tokens())}
    return [places[unit] for unit in units(text)]
