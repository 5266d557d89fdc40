"""The bounds of a run: its calls, its time, and how long it waits for a model."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.event import DEFAULT_MAX_TOOL_CALLS, Event
from agent.mailbox import Lease
from agent.mailbox.mail import Purse
from agent.time.quiet import QuietHours
from memory.backoff import Backoff

SPARE_MODEL_CALLS: Final = 3
"""Model calls of an event are at most its budget and three for each grant, resumes included."""

MAX_GRANTS: Final = 2
"""An event suspended for budget gets a fresh grant at most twice, then the dead letter."""

RUN_SECONDS: Final = 300.0
"""The longest a run may think and act; what it says may take longer to be heard."""

UNUSABLE_STATE_PAUSE: Final = 5.0
"""Seconds between tries while the state database cannot be used."""

JITTER: Final = 0.25
"""Share by which chance shortens a pause: many boxes behind one provider must not come back at one moment."""

SIGN_AFTER: Final = 2.0
"""Seconds without a word after which a person who spoke gets a sign, whether their event is in hand or stands back."""


class RunLimits(Struct, frozen=True):
    """What a run may take at most, whatever its event asks for."""

    max_tool_calls: int | None = None
    """The system's cap; None leaves each event its own."""
    of_owner: Callable[[str], int | None] | None = None
    """Returns how many tool calls an owner wants any event of theirs to use at most, None for no wish."""
    seconds: float = RUN_SECONDS
    """By the clock, before it is ended as timed out."""
    retry_seconds: float = UNUSABLE_STATE_PAUSE
    """Between two tries on a state that cannot be used."""
    of_type: Mapping[str, int] = {}
    """Tool calls of an event that does not say how many it may use, by its type; others may use ten."""
    quiet: QuietHours | None = None
    """When no question that waited for a model is answered aloud."""

    def tool_calls(self, event: Event) -> int:
        """Return how many tool calls an event may use: the least of what it, its owner and the system allow."""
        wish = self.of_owner(event.owner_key) if self.of_owner is not None else None
        own = event.max_tool_calls
        usual = self.of_type.get(event.type, DEFAULT_MAX_TOOL_CALLS) if own is None else own
        return min(cap for cap in (usual, self.max_tool_calls, wish) if cap is not None)

    def budget(self, lease: Lease) -> "Budget":
        """Return what the event in hand may use, and has used."""
        own = [None if left is None else lease.model_calls + left for left in (lease.calls_left, lease.task_calls_left)]
        return Budget(self.tool_calls(lease.event), lease.tool_calls, lease.model_calls, own[0], own[1], lease.purse)


class Budget(Struct):
    """What one event may use and has used; restored from the mailbox when the event comes back."""

    max_tool_calls: int
    tool_calls: int = 0
    model_calls: int = 0
    last_today: int | None = None
    """How far `model_calls` may go before the day of the agent's own work is used up; None for what is not its own."""
    last_of_task: int | None = None
    """How far `model_calls` may go before what came of its task is used up; None likewise."""
    purse: Purse | None = None
    """What is left of the tokens and the money of its task; None where that has no purse."""

    @property
    def left(self) -> int:
        """Tool calls that may still be made."""
        return max(0, self.max_tool_calls - self.tool_calls)

    @property
    def may_think(self) -> bool:
        """Whether another model call is within the hard law, and within what its own work may take."""
        is_within = self.model_calls < self.max_tool_calls + SPARE_MODEL_CALLS
        return is_within and not (self.is_day_over or self.is_task_over or self.is_purse_empty)

    @property
    def is_purse_empty(self) -> bool:
        """Whether its task has taken the tokens or the money that it may."""
        return self.purse is not None and self.purse.is_empty

    def pay(self, tokens: int, usd: float) -> None:
        """Take what a thought came to out of the purse, if there is one."""
        self.purse = self.purse and self.purse.less(tokens, usd)

    @property
    def is_task_over(self) -> bool:
        """Whether all that came of the task of the agent's own work has taken what it may."""
        return self.last_of_task is not None and self.model_calls >= self.last_of_task

    @property
    def is_day_over(self) -> bool:
        """Whether the agent's own work has taken what it may in a day."""
        return self.last_today is not None and self.model_calls >= self.last_today

    def grant(self, wanted: int) -> int:
        """Return how many of `wanted` counted calls may run, and count those."""
        granted = min(wanted, self.left)
        self.tool_calls += granted
        return granted


class ThoughtLimits(Struct, frozen=True):
    """How long one thought waits for models, in seconds from its beginning where nothing else is said."""

    beside: float = 12.0
    """From asking one model, without a token, until the next of the chain is asked beside it."""
    stand_in: float = 60.0
    """Without a token, until the offline model may answer what it can do by itself, such as the time.

    Everything else still waits: a small machine reads a long prompt for a minute. The adapter ends it (120 s).
    """
    slow: float = 15.0
    """Without a token, until whoever waits hears that it takes long."""
    silent: float = 12.0
    """Without a token, where all models were silent the last time: a new question is put off, and asked again later."""
    stand_in_silent: float = 3.0
    """The same where they were, until the offline model may answer what it can do by itself."""
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
