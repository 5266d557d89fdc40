"""A text that comes in pieces cut anywhere, given on in whole characters."""

import re

import jiter

from agent.model.wire.openai import whole_characters

_HIGH_SURROGATE_AT_END = re.compile("[\ud800-\udbff]$")


class Growing:
    """A text that comes in pieces, some of which end in the middle of a surrogate pair."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._held = ""

    @property
    def text(self) -> str:
        """What came so far, in whole characters."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def is_json(self) -> bool:
        """Whether it is a whole JSON object, so that anything more must belong to another."""
        if not (self._pieces and self._pieces[-1].rstrip().endswith("}")):
            return False
        try:
            jiter.from_json(self.text.encode())
        except ValueError:
            return False
        return True

    def add(self, piece: str) -> str:
        """Append a piece and return what it adds."""
        if not piece:
            return ""
        piece = self._held + piece
        half = _HIGH_SURROGATE_AT_END.search(piece)
        self._held = half.group() if half else ""
        return self._keep(piece[: half.start()] if half else piece)

    def flush(self) -> str:
        """Give up waiting for the other half of a character and return what that adds."""
        held, self._held = self._held, ""
        return self._keep(held)

    def _keep(self, text: str) -> str:
        whole = whole_characters(text)
        if whole:
            self._pieces.append(whole)
        return whole
