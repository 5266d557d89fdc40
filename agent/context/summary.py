"""The front of an epoch: a summary of what came before, texts that were kept, and the id by which the rest is read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.context import history
from agent.model.messages import Message

BY_RULE: Final = "What came before, in short:"
BY_MODEL: Final = "What came before, as you summed it up:"

COMPRESS: Final = "compress_context"
"""Name of the tool with which the agent sums up itself."""

REQUEST: Final = Message(
    "user",
    "Sum up everything above for yourself, in the language it was spoken in, in at most 200 words: who said what, what "
    "was decided and promised, what is still open, names, numbers and dates exactly. Plain text, no tool call.",
)
"""Asks the model for a summary of the list it stands at the end of."""


@dataclass(frozen=True, slots=True)
class Compression:
    """What the agent carries on of all that came before."""

    summary: str
    keep: tuple[str, ...] = ()
    """Ids of events whose turns stay, and texts that stay, word for word."""


@dataclass(frozen=True, slots=True)
class Front:
    """The first user message of an epoch that follows another."""

    summary: str
    source: str
    """`BY_RULE` or `BY_MODEL`."""
    left: str
    """Id of the epoch it follows, "" when nothing of that shall be read again."""
    kept: Sequence[str] = ()
    too_long: Sequence[str] = ()
    """What could not be kept for its length."""

    def message(self) -> Message:
        """Return it as a message."""
        parts = [self.source, self.summary]
        if self.kept:
            parts += ["Kept word for word:", *self.kept]
        if self.too_long:
            parts.append(f"Too long to keep: {', '.join(self.too_long)}")
        if self.left:
            parts.append(f'Word for word it is in the journal: journal_read with id "{self.left}".')
        return Message("user", "\n".join(parts))


def by_rule(left: Sequence[Message], epoch_id: str, fits: Callable[[str], bool]) -> list[Message]:
    """Return the front made without a model: the newest lines that fit; none when nothing is left behind."""
    lines = history.digest(left).splitlines()
    while lines and not fits("\n".join(lines)):
        del lines[0]
    return [Front("\n".join(lines), BY_RULE, epoch_id).message()] if left else []


def without_account(message: Message) -> Message:
    """Return a message whose calls of compress_context tell nothing."""
    calls = tuple(replace(call, arguments="{}") if call.name == COMPRESS else call for call in message.tool_calls)
    return replace(message, tool_calls=calls)


def is_by_model(message: Message) -> bool:
    """Whether a message is a front that a model wrote: anything that came before may be in it, in other words."""
    return message.role == "user" and message.content.startswith(BY_MODEL)
