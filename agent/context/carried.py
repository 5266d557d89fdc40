"""What an epoch may hold, by what is set and learnt, and what it takes over from the one before it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agent.context import block, history
from agent.context.epoch import Epoch
from agent.context.summary import Compression, Front
from agent.context.tokens import TokenCounter
from agent.errors import ContextTooLong
from agent.model.messages import Message
from agent.model.window import DOUBTED_AFTER

_NAMED: Final = 40
"""Characters by which a turn, or a text that is too long to keep, is named."""

LEAST_TEXT: Final = 20
"""Tokens to which a text of the event in hand is cut at most."""

CUT: Final = "{text}\n… cut here for its length: journal_read with id {name} has it whole"

_CUT_COSTS: Final = 50
"""Tokens of the words about a cut; the id alone has some 25."""

MOST_TRIES: Final = 4
"""Times a text is cut again whose escaped form came out longer than reckoned."""

LEAST_ROOM: Final = 500
"""Tokens an epoch has room for behind its prefix, however large that is: else it would begin anew at every event."""

LEARNT_SHARE: Final = 0.85
"""Of the tokens at which a refusal would have begun; the rest is for the answer."""

UNTOLD_SHARE: Final = 2 / 3
"""Of the tokens of a refused list, where the refusal does not say how many would do."""

MOST_RATIO: Final = 2.5
"""How many times as many tokens as here a server may count in the same list, or the other way round. What goes beyond
that is a number about something else."""

ROOM: Final = 1.1
"""Of prompt and tools, which a limit never goes below: a context that holds nothing else is none."""

Limits: TypeAlias = "Callable[[], ContextLimits]"
"""Returns the limits in force now: they change with what is learnt of the models."""


class Shares(Struct, frozen=True):
    """How many tokens an epoch may have, and how many of them each part that it takes over."""

    full: int
    """After an event it has no more."""
    most: int
    """No list with more is sent, for no model in question reads it; 0 where that is not known."""
    goal: int
    """To which an event in hand that is too long is cut, prefix included."""
    messages: int
    """How many messages of history, whatever their length."""
    history: int
    account: int
    """Of the agent's own summary, and of a model's."""
    kept: int
    """Of all texts and turns that the agent keeps, together."""
    lines: int


class Beginning(Struct, frozen=True):
    """The messages of an epoch behind its prefix."""

    front: Front | None
    rest: list[Message]

    @property
    def messages(self) -> list[Message]:
        """All of them, the front first."""
        return [*([self.front.message()] if self.front else []), *self.rest]


class Carried(Struct, frozen=True):
    """Builds the first messages of an epoch from the one before it, with a summary by a rule, a model or the agent.

    What the agent chose to keep is in all of them, word for word. No model is asked here.
    """

    tokens: TokenCounter
    shares: Shares

    def by_rule(self, epoch: Epoch, in_hand: str = "") -> Beginning:
        """Return the newest turns, behind a digest of what they leave behind. `in_hand` is an event's id, if any is."""
        front = self._kept_on(epoch)
        left, taken = self._newest(epoch, front, in_hand)
        if not left and epoch.front is None:
            return Beginning(None, taken)
        lines = [*front.lines, *history.digest(left).splitlines()][-history.DIGEST_LINES :]
        room = self.shares.lines if front.own or front.account else self.shares.lines + self.shares.account
        while lines and self.tokens.count("\n".join(lines)) > room:
            del lines[0]
        return Beginning(replace(front, lines=tuple(lines)), taken)

    def by_model(self, epoch: Epoch, account: str, in_hand: str = "") -> Beginning:
        """Return the newest turns, behind what a model told of the whole epoch."""
        front = replace(self._kept_on(epoch), account=self.tokens.cut(account, self.shares.account), lines=())
        return Beginning(front, self._newest(epoch, front, in_hand)[1])

    def by_agent(self, epoch: Epoch, wanted: Compression, in_hand: str) -> Beginning:
        """Return the turns it keeps and the event in hand, behind its own summary and the texts it keeps.

        What goes beyond its share is named.
        """
        before, event = _parted(epoch, in_hand)
        turns = _by_event(before)
        kept = self.weigh(epoch, wanted, in_hand).kept
        own = self.tokens.cut(wanted.summary, self.shares.account)
        front = Front(own, "", (), tuple(kept.texts), tuple(kept.turns), tuple(kept.too_long), epoch.id)
        return Beginning(front, [*(message for name in turns if name in kept.turns for message in turns[name]), *event])

    def to_fit(self, epoch: Epoch, in_hand: str) -> Beginning:
        """Return the shortest there is: as `by_rule`, with the long texts of the event in hand cut to what has room.

        The journal has them whole, under the id of the event.
        """
        found = self.by_rule(epoch, in_hand)
        event = _parted(epoch, in_hand)[1]
        others, event = found.rest[: len(found.rest) - len(event)], [history.without_recent(each) for each in event]
        found = Beginning(found.front, [*others, *event])
        room = self.shares.goal - epoch.prefix_tokens - self.cost(found.messages) + self.cost(event)
        if room < self.shares.lines + self.shares.account and found.front is not None:  # what it keeps comes first
            bare = replace(found.front, account="", lines=())
            room += self.tokens.of_message(found.front.message()) - self.tokens.of_message(bare.message())
            found = Beginning(bare, found.rest)
        event = self._shortened(event, room, in_hand)
        if self.cost(event) > room:
            event = [history.without_images(each) for each in event]
        return Beginning(found.front, [*others, *event])

    def weigh(self, epoch: Epoch, wanted: Compression, in_hand: str) -> "Weighed":
        """Return which of the things it wants to carry on find room."""
        items = [item for item in wanted.keep if item != in_hand]
        kept = self._fitting(items, _by_event(_parted(epoch, in_hand)[0]))
        return Weighed(self.tokens.count(wanted.summary), self.shares.account, kept, self.shares.kept)

    def gauge(self, epoch: Epoch) -> str:
        """Return how full it is, and which turns a rule would leave behind; "" below half of its room."""
        room, used = self.shares.full - epoch.prefix_tokens, epoch.tokens - epoch.prefix_tokens
        if 2 * used <= room:
            return ""
        full = f"{100 * used // room} % of {room} tokens"
        leaves = history.turns(self._newest(epoch, self._kept_on(epoch), "")[0])
        if not leaves:
            return full
        first, last = _named(leaves[0]), _named(leaves[-1])
        return f'{full}; next to leave it: {len(leaves)} turns, from "{first}" to "{last}"'

    def cost(self, messages: Iterable[Message]) -> int:
        """Return what messages cost."""
        return sum(map(self.tokens.of_message, messages))

    def _kept_on(self, epoch: Epoch) -> Front:
        """Return the epoch's front as the next one carries it on; what has no room any more is named."""
        front = epoch.front or Front()
        turns = _by_event(epoch.talk) if front.turns else {}
        kept = self._fitting([*front.kept, *(name for name in front.turns if name in turns)], turns)
        return Front(
            self.tokens.cut(front.own, self.shares.account),
            self.tokens.cut(front.account, self.shares.account),
            front.lines,
            tuple(kept.texts),
            tuple(kept.turns),
            tuple(kept.too_long),
            epoch.id,
        )

    def _newest(self, epoch: Epoch, front: Front, in_hand: str) -> tuple[list[Message], list[Message]]:
        """Return what is left behind, and what is taken along: kept turns, the newest that have room, the event."""
        before, event = _parted(epoch, in_hand)
        turns = history.turns(before)
        free = [turn for turn in turns if not front.turns or history.event_of(turn) not in front.turns]
        room = max(0, self.shares.history - self.cost(event))
        most = max(0, self.shares.messages - len(event))
        count = len(history.newest(free, most, room, self.tokens.of_message))
        gone = free[: len(free) - count]
        left = [message for turn in gone for message in turn]
        places = set(map(id, gone))
        taken = [message for turn in turns if id(turn) not in places for message in turn]
        return left, [*taken, *event]

    def _fitting(self, items: Sequence[str], turns: dict[str, list[Message]]) -> "Kept":
        """Return which of these find room, each once and in their order: ids of turns, and any other texts."""
        kept, room = Kept(), self.shares.kept
        for item in dict.fromkeys(items):
            turn = turns.get(item)
            cost = self.tokens.count(item) if turn is None else self.cost(turn)
            if cost > room or not history.is_answered(turn or []):
                kept.too_long.append(f"{item[:_NAMED]}…" if turn is None and len(item) > _NAMED else item)
                continue
            room -= cost
            (kept.texts if turn is None else kept.turns).append(item)
        return kept

    def _shortened(self, messages: Sequence[Message], room: int, name: str) -> list[Message]:
        """Return messages whose long texts are cut, all to the same length, so that together they have the room."""
        cut, goal = list(messages), room
        for _ in range(MOST_TRIES):
            if (cost := self.cost(cut)) <= room:
                break
            most = self._longest_text(messages, goal)
            cut = [self._cut(message, most, name) for message in messages]
            if most == LEAST_TEXT:
                break
            goal -= max(0, self.cost(cut) - room)
            if self.cost(cut) >= cost:
                break
        return cut

    def _longest_text(self, messages: Sequence[Message], room: int) -> int:
        """Return to how many tokens each text may come, that all have the room."""
        texts = [self.tokens.count(text) for message in messages for text in _texts_of(message)]
        fixed = self.cost(messages) - sum(texts)
        low, high = LEAST_TEXT, max(LEAST_TEXT, *texts)
        while low < high:
            middle = (low + high + 1) // 2
            total = fixed + sum(text if text <= middle + _CUT_COSTS else middle + _CUT_COSTS for text in texts)
            low, high = (middle, high) if total <= room else (low, middle - 1)
        return low

    def _cut(self, message: Message, most: int, name: str) -> Message:
        texts = _texts_of(message)
        short = [self._cut_text(text, most, name) for text in texts]
        if short == texts:
            return message
        seen = block.parse(message.content) if message.role == "user" else None
        if seen is None:
            return replace(message, content=short[0])
        attached = tuple(replace(each, text=text) for each, text in zip(seen.attached, short[1:], strict=True))
        return replace(message, content=block.render(replace(seen, words=short[0], attached=attached)))

    def _cut_text(self, text: str, most: int, name: str) -> str:
        if self.tokens.count(text) <= most + _CUT_COSTS:
            return text
        return CUT.format(text=self.tokens.cut(text, most), name=name)


class Kept(Struct, frozen=True):
    """What it wanted to keep, by what becomes of it."""

    turns: list[str] = []
    """Ids of the events whose turns stay."""
    texts: list[str] = []
    too_long: list[str] = []
    """Ids of events, and beginnings of texts, that find no room."""


class Weighed(Struct, frozen=True):
    """How what the agent wants to carry on stands to what it may; in tokens."""

    summary: int
    longest_summary: int
    kept: Kept
    most_kept: int


def _parted(epoch: Epoch, in_hand: str) -> tuple[list[Message], list[Message]]:
    """Return the messages behind the front that come before the event in hand, and its own.

    Of what came before, the images stay behind: words tell of them.
    """
    first = len(epoch.messages) - len(epoch.talk)
    start = (epoch.position_of(in_hand) if in_hand else None) or len(epoch.messages)
    return [history.without_images(each) for each in epoch.messages[first:start]], epoch.messages[start:]


def _by_event(messages: Sequence[Message]) -> dict[str, list[Message]]:
    """Return the turns of each event, one after the other: it has several when it was put aside between."""
    found: dict[str, list[Message]] = {}
    for turn in history.turns(messages):
        if name := history.event_of(turn):
            found.setdefault(name, []).extend(turn)
    return found


def _named(turn: Sequence[Message]) -> str:
    """Return the beginning of a turn's words, by which a person would know it."""
    seen = block.parse(turn[0].content)
    words = " ".join((seen.words if seen else turn[0].content).split())
    return words if len(words) <= _NAMED else f"{words[:_NAMED]}…"


def _texts_of(message: Message) -> list[str]:
    """Return the texts of a message that may be cut: of a block words and documents, of a result all it says."""
    if message.role == "tool":
        return [message.content]
    seen = block.parse(message.content) if message.role == "user" else None
    return [seen.words, *(each.text for each in seen.attached)] if seen else []


class ContextLimits(Struct, frozen=True):
    """How much an epoch may hold, and how much the next one takes along."""

    history_messages: int = 20
    """Of the newest messages."""
    history_tokens: int = 4_000
    """Of the newest messages together."""
    compress_above_tokens: int = 24_000
    summary_tokens: int = 1_000
    """The longest summary, a model's or the agent's."""
    kept_tokens: int = 2_000
    """Of all that the agent keeps word for word."""
    window_tokens: int = 0
    """The longest list that the models in question read, with room for an answer; 0 where nobody knows."""

    @property
    def exact_from(self) -> int:
        """From so many estimated tokens on they are counted: no estimate by bytes is wrong by half."""
        return min(self.compress_above_tokens, self.window_tokens or self.compress_above_tokens) // 2

    def shares(self, prefix: int, refused: int = 0) -> Shares:
        """Return the shares of an epoch whose prefix has so many tokens; `refused` is what a refusal taught, or 0.

        Together they leave at least a third of what is behind the prefix to the events to come.
        """
        most = min((each for each in (self.window_tokens, refused) if each), default=0)
        # An eighth is left to the next question, so that it finds room, and a model can sum up after it.
        bound = most - max(most - prefix, 0) // 8 if most else self.compress_above_tokens
        full = max(min(self.compress_above_tokens, bound), prefix + LEAST_ROOM)
        room = full - prefix
        return Shares(
            full,
            most,
            prefix + max(most - prefix, 0) * 3 // 4 if most else full,
            self.history_messages,
            min(self.history_tokens, room // 5),
            min(self.summary_tokens, room // 8),
            min(self.kept_tokens, room // 8),
            min(self.summary_tokens, room // 16),
        )


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
