"""Challenges that are kept nowhere until they are answered: whoever asks for many takes nobody's away."""

import hmac
import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from memory.errors import NotProven
from memory.identity import Identities, Identity

CHALLENGE_SECONDS: Final = 60.0
"""How long a challenge may be answered."""

NO_SUCH_CHALLENGE: Final = "this challenge is unknown, used or too old; ask for a new one"

MOST_ANSWERED: Final = 10_000
"""Challenges whose answers are remembered, each for the minute that it could be answered again."""

_DIGITS: Final = 16
"""Of a challenge's end, in milliseconds on the clock, hexadecimal; its nonce and its seal have 32 each."""


class Challenges:
    """Gives challenges, and takes one answer to each, within a minute."""

    def __init__(self, identities: Identities, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is in seconds."""
        self._identities = identities
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._answered: dict[str, float] = {}

    def new(self) -> str:
        """Return something new to sign."""
        ends_at = int((self._clock() + CHALLENGE_SECONDS) * 1000)
        told = f"{secrets.token_hex(16)}{ends_at:0{_DIGITS}x}"
        return told + self._seal(told)

    def prove(self, owner_key: str, challenge: str, signature: str) -> Identity:
        """Return who signed the challenge, which is used up by any answer. Raises `NotProven`."""
        told, seal = challenge[: 32 + _DIGITS], challenge[32 + _DIGITS :]
        if not challenge.isascii() or not hmac.compare_digest(seal, self._seal(told)):
            raise NotProven(NO_SUCH_CHALLENGE)
        now = self._clock()
        self._answered = {each: end for each, end in self._answered.items() if end >= now}
        ends_at = int(told[32:], 16) / 1000
        if now > ends_at or challenge in self._answered or len(self._answered) >= MOST_ANSWERED:
            raise NotProven(NO_SUCH_CHALLENGE)
        self._answered[challenge] = ends_at
        return self._identities.prove(owner_key, challenge, signature)

    def _seal(self, told: str) -> str:
        return hmac.new(self._secret, told.encode(), sha256).hexdigest()[:32]
