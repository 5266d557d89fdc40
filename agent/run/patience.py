"""All bounds of patience: how long a thought waits for models, and how long a question waits for one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from memory.backoff import Backoff

JITTER: Final = 0.25
"""Share by which chance shortens a pause: many boxes behind one provider must not come back at one moment."""

SIGN_AFTER: Final = 2.0
"""Seconds without a word after which a person who spoke gets a sign, whether their event is in hand or stands back."""

FIRST_LOOK: Final = 5.0
LONGEST_LOOK: Final = 60.0
"""Seconds between two looks whether a model is back, while something waits for one; each doubles the next."""

LEAST_WAIT: Final = timedelta(minutes=1)
"""When a question comes back by time, if nothing says before that a model is back; later after its own age."""

ALOUD_WITHIN: Final = timedelta(hours=1)
"""A spoken question older than that is not answered by itself: the room has moved on.

It comes after the next words of a person, and is asked about instead. In quiet hours none is answered by itself.
"""

GIVEN_UP_AFTER: Final = timedelta(hours=24)
"""A question that is older when models fail it again goes to the dead letter; `nakari mailbox retry` asks once more."""


@dataclass(frozen=True, slots=True)
class ThoughtLimits:
    """How long one thought waits for models, in seconds from its beginning where nothing else is said."""

    beside: float = 12.0
    """From asking one model, without a token, until the next of the chain is asked beside it."""
    stand_in: float = 60.0
    """Without a token, until the offline model may answer what it can do by itself, such as the time.

    Everything else still waits: a small machine reads a long prompt for a minute. The adapter ends it (120 s).
    """
    retries: float = 20.0
    """Until models that failed are not asked again; a pause that would end later is not begun."""
    retries_in_outage: float = 6.0
    """The same where no model answered the last thought either: that they are away is known."""
    absent: float = 2.0
    """The longest rest that is waited for where nothing listens: its person is told instead, and it is looked for."""
    first_pause: float = 0.5
    """Before they are asked again; doubles each time. A server's Retry-After and a breaker's rest are kept to."""

    def pauses(self, clock: Callable[[], float]) -> Backoff:
        """Return the pauses between the tries of one model in one thought."""
        return Backoff(self.first_pause, self.retries, jitter=JITTER, clock=clock)

    def in_outage(self) -> "ThoughtLimits":
        """Return the limits of a thought in an outage."""
        return replace(self, retries=min(self.retries, self.retries_in_outage))
