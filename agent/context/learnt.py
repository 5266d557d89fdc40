"""How long a list may be, learnt from refusals, and unlearnt from the lists that were accepted since."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import ContextTooLong
from agent.model.window import DOUBTED_AFTER

LEARNT_SHARE: Final = 0.85
"""Of the tokens at which a refusal would have begun; the rest is for the answer."""

UNTOLD_SHARE: Final = 2 / 3
"""Of the tokens of a refused list, where the refusal does not say how many would do."""

MOST_RATIO: Final = 2.5
"""How many times as many tokens as here a server may count in the same list, or the other way round. What goes beyond
that is a number about something else."""

ROOM: Final = 1.1
"""Of prompt and tools, which a limit never goes below: a context that holds nothing else is none."""


class Learnt(Struct, frozen=True):
    """What refusals have taught of one model, in tokens as they are counted here."""

    most: int = 0
    """The longest list that is sent; 0 for any."""
    refused: int = 0
    """The shortest list that was refused."""
    named: int = 0
    """The most that a refusal said the model reads, as the server counts."""
    is_guess: bool = False
    """No refusal said how many would do."""
    accepted: int = 0
    """Lists since."""

    def after_refusal(self, tokens: int, prefix: int, refusal: ContextTooLong) -> "Learnt":
        """Return what is known once a list of so many tokens was refused, of which prompt and tools take `prefix`.

        What the server counted is turned into what is counted here, by the list that both have counted.
        """
        named = max(refusal.window, self.named)
        ratio = refusal.asked / tokens if refusal.asked else 1.0
        most = refusal.window / (ratio if 1 / MOST_RATIO <= ratio <= MOST_RATIO else 1.0) * LEARNT_SHARE
        if is_guess := not 0 < most < tokens:
            most = tokens * UNTOLD_SHARE
        most = max(most, named / MOST_RATIO if is_guess else 0.0, prefix * ROOM)
        if most >= tokens or 0 < self.most <= most:
            return replace(self, named=named)
        return Learnt(int(most), min(tokens, self.refused or tokens), named, is_guess)

    def after_answer(self, tokens: int) -> "Learnt":
        """Return what is known once a list of so many tokens was accepted: one that was refused shows a mistake."""
        if not self.most:
            return self
        accepted = self.accepted + 1
        is_wrong = tokens >= self.refused or (self.is_guess and (tokens > self.most or accepted >= DOUBTED_AFTER))
        if is_wrong:
            return Learnt(named=self.named)
        return replace(self, accepted=accepted)
