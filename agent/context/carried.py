"""With which messages an epoch follows another: a summary in front, the newest turns, the event in hand whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agent.context import history, summary
from agent.context.epoch import Epoch
from agent.context.summary import Compression, Front
from agent.context.tokens import TokenCounter
from agent.model.messages import Message

_NAMED: Final = 40
"""Characters by which a text that is too long to keep is named."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What one epoch hands to the next. Three ways, told apart by who says what came before; none asks a model."""

    most_messages: int
    most_tokens: int
    """Of the newest turns together. An event in hand counts, and stays whole whatever it holds."""
    summary_tokens: int
    """The longest summary; the rest of a longer one is cut off."""
    tokens: TokenCounter

    def by_rule(self, epoch: Epoch, in_hand: str = "") -> list[Message]:
        """Return the newest turns, behind a digest of what they leave behind. `in_hand` is an event's id, if any is."""
        left, taken = self._newest(epoch, in_hand)
        digest = summary.by_rule(left, epoch.id, lambda text: self.tokens.count(text) <= self.summary_tokens)
        return [*digest, *taken]

    def by_model(self, epoch: Epoch, told: str, in_hand: str = "") -> list[Message]:
        """Return the newest turns, behind what a model told of the whole epoch."""
        _, taken = self._newest(epoch, in_hand)
        return [self._front(epoch, told).message(), *taken]

    def by_her(self, epoch: Epoch, wanted: Compression, in_hand: str) -> list[Message]:
        """Return the turns it keeps and the event in hand, behind its own summary and the texts it keeps.

        All it keeps has `most_tokens` together; what goes beyond is named.
        """
        turns = {name: turn for turn in history.turns(epoch.messages) if (name := history.event_of(turn))}
        kept = self._kept([item for item in wanted.keep if item != in_hand], turns)
        taken = [message for name, turn in turns.items() if name in kept.events for message in turn]
        front = replace(self._front(epoch, wanted.summary), kept=kept.texts, too_long=kept.too_long)
        start = epoch.position_of(in_hand)
        return [front.message(), *taken, *([] if start is None else epoch.messages[start:])]

    def _newest(self, epoch: Epoch, in_hand: str) -> tuple[list[Message], list[Message]]:
        """Return what is left behind, and what is taken along: the event in hand whole, before it what has room."""
        start = (epoch.position_of(in_hand) if in_hand else None) or len(epoch.messages)
        before, event = epoch.messages[:start], epoch.messages[start:]
        cost = self.tokens.of_message
        room = max(0, self.most_tokens - sum(map(cost, event)))
        left, taken = history.split(before, max(0, self.most_messages - len(event)), room, cost)
        return left, [*taken, *event]

    def _kept(self, items: Sequence[str], turns: dict[str, list[Message]]) -> "_Kept":
        """Return which of these find room, each once and in their order: ids of turns, and any other texts."""
        kept, room = _Kept(), self.most_tokens
        for item in dict.fromkeys(items):
            turn = turns.get(item)
            cost = self.tokens.count(item) if turn is None else sum(map(self.tokens.of_message, turn))
            if cost > room or not history.is_answered(turn or []):
                kept.too_long.append(f"{item[:_NAMED]}…" if turn is None else item)
                continue
            room -= cost
            (kept.texts if turn is None else kept.events).append(item)
        return kept

    def _front(self, epoch: Epoch, told: str) -> Front:
        return Front(self.tokens.cut(told, self.summary_tokens), summary.BY_MODEL, epoch.id)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What it wanted to keep, by what becomes of it."""

    events: list[str] = field(default_factory=list)
    """Ids of the events whose turns stay."""
    texts: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)
    """Ids of events, and beginnings of texts, that find no room."""
