"""A reply's text as far as its sentences have ended, as it stands there: what is read of an answer that is said."""

from msgspec import Struct, field

from audio.tts.sentences import SentenceSplitter


class EndedSentences(Struct):
    """A `Sentences` that ends them where the mouth does, and keeps the white space between them."""

    _splitter: SentenceSplitter = field(default_factory=SentenceSplitter)
    _rest: str = ""
    """What has no end yet."""

    def feed(self, text: str) -> str:
        """Append text; return what there is up to the last end of a sentence, but for what was returned before."""
        self._rest += text
        whole = self._splitter.feed(text)
        end = _behind(self._rest, "".join(whole)) if whole else 0
        ended, self._rest = self._rest[:end], self._rest[end:]
        return ended

    def finish(self) -> str:
        """Return the rest."""
        self._splitter.cut()
        rest, self._rest = self._rest, ""
        return rest


def _behind(text: str, words: str) -> int:
    """Return the index behind these words in a text that begins with them, but for white space."""
    left = sum(not letter.isspace() for letter in words)
    for index, letter in enumerate(text):
        left -= not letter.isspace()
        if left == 0:
            return index + 1
    return len(text)
