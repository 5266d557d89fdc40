"""What a piece of a text adds, where a gateway sends with each piece all there is so far."""

from typing import Final

ENOUGH: Final = 8
"""Characters that no text begins with twice by chance; `ha`, `ha` and `1`, `12` are pieces of one."""


class Fresh:
    """Takes the pieces of one text. Whether each holds those before it is known from the second and the third."""

    def __init__(self) -> None:
        self._so_far = ""
        self._doubted: list[str] = []
        """Pieces that may hold those before them."""
        self._holds_all: bool | None = None
        """Whether each piece does; None until that is known."""

    def add(self, piece: str) -> str:
        """Return what a piece adds, and what was held before it."""
        if not piece or self._holds_all is False:
            return piece
        last = self._doubted[-1] if self._doubted else self._so_far
        is_longer = piece.startswith(last) and len(piece) > len(last)
        if self._holds_all or not self._so_far:
            self._so_far = piece if is_longer else last
            return piece[len(last) :] if is_longer else ""
        if self._doubted and is_longer:
            self._holds_all = True
            return self._taken(piece)
        is_again = piece == last and len(piece) >= ENOUGH and not self._doubted
        self._doubted.append(piece)
        if is_longer or is_again:
            return ""
        self._holds_all = False
        return self._released()

    def finish(self) -> str:
        """Return what was held: no more will come."""
        if self._doubted and len(self._so_far) >= ENOUGH:
            return self._taken(self._doubted[-1])
        return self._released()

    def _taken(self, whole: str) -> str:
        fresh, self._so_far, self._doubted = whole[len(self._so_far) :], whole, []
        return fresh

    def _released(self) -> str:
        held, self._doubted = "".join(self._doubted), []
        return held
