"""The words of a reply, without what some models set into its text for themselves: thinking, and marks of their own."""

from collections.abc import Iterable

from agent.model.dialects.parts import Part, Words
from agent.model.dialects.reader import TextReader
from agent.model.dialects.said import heard


class ReplyText:
    """Takes the text of one reply in pieces, cut anywhere.

    What looks like a call stays as it is. Only marks tell thinking: a reply may begin with any words.
    """

    def __init__(self) -> None:
        self._reader = TextReader(())
        self._reader.trust()

    def feed(self, text: str) -> str:
        """Return the words that a piece adds."""
        return _words(self._reader.feed(text)) if (text := heard(text)) else ""

    def finish(self) -> str:
        """Return the words that were held back, once the text is whole."""
        return _words(self._reader.finish(is_cut=False))


def words_of(text: str) -> str:
    """Return the words of a whole text."""
    reply = ReplyText()
    return reply.feed(text) + reply.finish()


def _words(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Words))
