"""The front of an epoch: a summary of what came before, texts that were kept, and the id by which the rest is read."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from agent.context import block
from agent.model.messages import Message
from memory.json_value import Json, read_as

BY_RULE: Final = "What came before, in short:"
BY_MODEL: Final = "What came before, as you summed it up:"
SINCE: Final = "What came after that, in short:"

_HEADS: Final = frozenset({BY_RULE, BY_MODEL, SINCE})

COMPRESS: Final = "compress_context"
"""Name of the tool with which the agent sums up itself."""

REQUEST: Final = Message(
    "user",
    "Sum up everything above for yourself, in the language it was spoken in, in at most 200 words: who said what, what "
    "was decided and promised, what is still open, names, numbers and dates exactly. Plain text, no tool call.",
)
"""Asks the model for a summary of the list it stands at the end of."""


def is_front(content: str) -> bool:
    """Say whether a user message is the front of an epoch, and nobody's words."""
    return block.parse(content) is None and not _HEADS.isdisjoint(content.splitlines())


class Compression(Struct, frozen=True):
    """What the agent carries on of all that came before."""

    summary: str
    keep: tuple[str, ...] = ()
    """Ids of events whose turns stay, and texts that stay, word for word."""


class Front(Struct, frozen=True):
    """The first user message of an epoch that follows another, in its parts: each is carried on by its own rule."""

    own: str = ""
    """The agent's own summary: carried word for word until the agent gives another."""
    account: str = ""
    """A model's summary of what came after that, or of all; carried until a model sums up again."""
    lines: tuple[str, ...] = ()
    """Who said what after that, by rule, the newest last; the oldest go first."""
    kept: tuple[str, ...] = ()
    """Texts the agent keeps word for word."""
    turns: tuple[str, ...] = ()
    """Ids of events whose turns the agent keeps; they stand behind the front."""
    too_long: tuple[str, ...] = ()
    """What could not be kept for its length."""
    left: str = ""
    """Id of the epoch it follows, "" when nothing of that shall be read again."""
    damage: str = ""
    """What is to be said of a damage, "" where there was none."""

    def message(self) -> Message:
        """Return it as a message."""
        parts = [self.damage] if self.damage else []
        if told := [each for each in (self.own, self.account) if each]:
            parts += [BY_MODEL, *told]
        if self.kept:
            parts += ["Kept word for word:", *self.kept]
        if self.lines or not told:
            parts += [SINCE if told else BY_RULE, *self.lines]
        if self.too_long:
            parts.append(f"Too long to keep: {', '.join(self.too_long)}")
        if self.left:
            parts.append(f'Word for word it is in the journal: journal_read with id "{self.left}".')
        return Message("user", "\n".join(parts))

    def without(self, words: Sequence[str]) -> "Front":
        """Return it without the lines and texts that hold any of these words, and with no way back to the rest."""

        def clean(texts: Sequence[str]) -> tuple[str, ...]:
            return tuple(text for text in texts if not any(said in text for said in words if said))

        return replace(self, lines=clean(self.lines), kept=clean(self.kept), too_long=(), left="")

    def without_accounts(self) -> "Front":
        """Return it without what anybody told in words of their own, who may have told anything."""
        return replace(self, own="", account="", kept=())

    def to_json(self) -> dict[str, Json]:
        """Return the journal's form; `from_json` inverts it exactly."""
        parts = ((key, list(value) if isinstance(value, tuple) else value) for key, value in asdict(self).items())
        return {key: value for key, value in parts if value}

    @classmethod
    def from_json(cls, body: object) -> "Front":
        """Return the front that `to_json` wrote. Raises ValueError on a body that is none."""
        return read_as(body, cls)


def without_account(message: Message) -> Message:
    """Return a message whose calls of compress_context tell nothing."""
    calls = tuple(replace(call, arguments="{}") if call.name == COMPRESS else call for call in message.tool_calls)
    return replace(message, tool_calls=calls)
