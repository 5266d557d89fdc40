"""What was said for an event before, left out of its next answer."""

import re
from collections.abc import Iterable
from typing import Final

_SENTENCE: Final = re.compile(r"""(?:[.!?…]+["'”’)\]]*(?=\s)|[。！？]+[”’」』）]*|\n)\s*""")
"""The end of a sentence, with the space behind it."""


class Unrepeated:
    """Words as they arrive, held for as long as they may only say again what was said for the event before.

    Sentences that were said are left out until one comes that was not; from there on all is new.
    """

    def __init__(self, said: Iterable[str]) -> None:
        self._said = {letters for text in said for part in (text, *sentences_of(text)) if (letters := letters_of(part))}
        self._held = ""

    def feed(self, text: str) -> str:
        """Return what may be said now."""
        self._held += text
        while (end := first_end(self._held)) and letters_of(self._held[:end]) in self._said:
            self._held = self._held[end:]
        letters = letters_of(self._held)
        if any(each.startswith(letters) for each in self._said):
            return ""
        return self._release()

    def finish(self) -> str:
        """Return what was held, unless all of it was said before."""
        return "" if letters_of(self._held) in self._said else self._release()

    def _release(self) -> str:
        words, self._held, self._said = self._held, "", set()
        return words


def first_end(text: str) -> int:
    """Return where the first sentence of a text ends, with the space behind it; 0 where it does not."""
    end = _SENTENCE.search(text)
    return end.end() if end else 0


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text."""
    sentences: list[str] = []
    while end := first_end(text):
        sentences.append(text[:end])
        text = text[end:]
    return [*sentences, text]


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, small: what makes two texts the same words."""
    return "".join(filter(str.isalnum, text.casefold()))
