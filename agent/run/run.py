"""A run: the life of one event in the loop, from its hand-over to its end; the states it goes through, and its stop."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct, field

from agent.context.epoch import Epoch
from agent.errors import ModelError, Stopped
from agent.event import Event, new_id, utc_now
from agent.mailbox import Lease
from agent.model.messages import Message, ToolCall
from agent.run.budget import Budget
from agent.turns.stages import Stages
from memory.json_value import Json

if TYPE_CHECKING:
    from agent.confirmation.confirmations import Answered


Why = Literal["interrupted", "superseded", "preempted", "timed_out"]

Status = Literal[
    "PENDING",
    "BUILDING_CONTEXT",
    "AWAITING_LLM_DECISION",
    "AWAITING_TOOL_RESULT",
    "COMPLETED",
    "FAILED",
    "TIMED_OUT",
    "SUSPENDED",
]

ENDS: Final[frozenset[Status]] = frozenset({"COMPLETED", "FAILED", "TIMED_OUT", "SUSPENDED"})
"""One of these ends every run; nothing follows it."""

_AT_WORK: Final[frozenset[Status]] = ENDS | {"AWAITING_LLM_DECISION", "AWAITING_TOOL_RESULT"}

LEGAL: Final[Mapping[Status, frozenset[Status]]] = {
    "PENDING": frozenset({"BUILDING_CONTEXT", "FAILED", "SUSPENDED"}),
    "BUILDING_CONTEXT": _AT_WORK,
    "AWAITING_LLM_DECISION": _AT_WORK,
    "AWAITING_TOOL_RESULT": _AT_WORK - {"AWAITING_TOOL_RESULT"},
    **dict.fromkeys(ENDS, frozenset[Status]()),
}
"""What may follow. A thought also follows one that broke off; a round that was under way when the process died is
finished without asking the model anew."""

UNANSWERED: Final = "Waits for a model: none could be reached, and this is not answered yet."
"""How the note of a question begins that no model could answer."""


class Stop:
    """Ends the waits of one run: what stands inside `waits` is cancelled, everything else runs to its end.

    So a journal write and what follows from it are never torn apart, and take milliseconds. Used on one event loop;
    several tasks of the run may wait at a time. The first reason stays.
    """

    def __init__(self, deadline: float | None = None) -> None:
        """`deadline` is on the event loop's clock, in seconds: past it the reason is `timed_out`. None is never."""
        self.reason: Why | None = None
        self.given_at: datetime | None = None
        """When the reason was given; aware UTC."""
        self._deadline = deadline
        self._scopes: list[asyncio.Timeout] = []

    def give(self, reason: Why) -> bool:
        """End all waits now, and all that would begin; False when they have been ended before."""
        if self.reason is not None:
            return False
        self.reason, self.given_at = reason, utc_now()
        for scope in self._scopes:
            if not scope.expired():
                scope.reschedule(asyncio.get_running_loop().time())
        return True

    def allow(self, seconds: float) -> None:
        """Put the deadline off by the time that was spent waiting for the mouth: a long story is no hanging run."""
        if self._deadline is None or self.reason is not None:
            return
        self._deadline += seconds
        for scope in self._scopes:
            if not scope.expired():
                scope.reschedule(self._deadline)

    def check(self) -> None:
        """Raise `Stopped` when a reason was given, or the deadline has passed."""
        if self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline:
            self._expire()
        if self.reason is not None:
            raise Stopped(self.reason)

    def _expire(self) -> None:
        """Take note that the time is over, where nothing else ended the waits before."""
        if self.reason is None:
            self.reason, self.given_at = "timed_out", utc_now()

    @asynccontextmanager
    async def waits(self) -> AsyncIterator[None]:
        """Cancel what is awaited in here when the run is stopped. Raises `Stopped` then, also on entering."""
        self.check()
        # Cancelling a part of a task from outside needs a scope; a deadline that `give` sets to now is one.
        scope = asyncio.timeout_at(self._deadline)
        try:
            async with scope:
                self._scopes.append(scope)
                try:
                    yield
                finally:
                    self._scopes.remove(scope)
        except Exception:
            if scope.expired():
                self._expire()
            self.check()
            raise


class Run(Struct):
    """What is known of the event in hand while it is being handled. Lives as long as the hand-over."""

    lease: Lease
    budget: Budget
    id: str = field(default_factory=new_id)
    stages: Stages = field(default_factory=Stages)
    """When it reached what."""
    stop: Stop = field(default_factory=Stop)
    """Ends its waits from outside."""
    is_stop_told: bool = False
    """The journal has the command that stopped it."""
    superseded_by: str = ""
    """Id of the event that goes on with its words, once there is one."""
    cycle: str = ""
    """Id of the round of thought, call and result that is under way."""
    status: Status = "PENDING"
    epoch: Epoch = field(default_factory=lambda: Epoch("", ()))
    """The context it is handled in; an empty one until it is built."""
    is_resumed: bool = False
    """It was under way before, and broke off: the process died, or the state could not be written."""
    read_before: tuple[str, ...] = ()
    """Replies that were read before the state could not be written."""
    refused: bool = False
    """A call was refused for budget, or once too often as the same: the next answer is the last one."""
    fruitless: int = 0
    """Answers so far that broke off or were empty."""
    fault: ModelError | None = None
    """What was wrong with the last of them."""
    _words_at: float | None = None
    """When more came of an answer of which words are under way, on the event loop's clock (s); None where none are."""
    silent: set[str] = set()
    """Names of the models that said nothing while another answered: they are not asked again in this run."""
    made: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each call, by name and arguments, was asked for in this run."""
    has_effect: bool = False
    """A tool that is more than a look at things was begun."""
    is_reminded: bool = False
    """It was told that its person has no answer yet."""
    has_failed: bool = False
    """It was completed beside a call that came to nothing, again and again."""
    outside: set[str] = set()
    """Whose words the results of its tools carried, of strangers."""
    answered: "Answered | None" = None
    """What its words are to a question that waited for a yes."""
    confirmed: dict[str, str] = {}
    """What a person said yes to, by the id of the call that does it."""
    is_abandoned: bool = False
    """The context it was begun in was given up, for no provider took it."""
    kept_on: int = 0
    """Irreversible tools that are under way: a stop waits for them."""

    def more_came(self, *, are_words_open: bool) -> None:
        """Take note that more of an answer came; whether words of it have begun, and are not at their end."""
        self._words_at = asyncio.get_running_loop().time() if are_words_open else None

    def stands_still(self, seconds: float) -> bool:
        """Whether words are under way, and no more of them came for so long, be it from another try."""
        return self._words_at is not None and asyncio.get_running_loop().time() - self._words_at >= seconds

    def came_to_nothing(self, fault: ModelError) -> None:
        """Take note of an answer that broke off or was empty, and of what was wrong with it."""
        self.fruitless, self.fault = self.fruitless + 1, fault

    def move(self, status: Status) -> None:
        """Go on to a state. Raises RuntimeError, which is a bug, when it may not follow the present one."""
        if status not in LEGAL[self.status]:
            raise RuntimeError(f"a run that is {self.status} cannot become {status}")
        self.status = status

    @property
    def is_over(self) -> bool:
        """Whether it has reached one of its ends."""
        return self.status in ENDS

    @property
    def waited_for_model(self) -> bool:
        """Whether it is a question that no model answered before."""
        return self.lease.note.startswith(UNANSWERED)

    @property
    def event(self) -> Event:
        """The event in hand."""
        return self.lease.event

    def describe(self) -> dict[str, Json]:
        """Return what the status shows of a run, in six fields."""
        return {
            "run_id": self.id,
            "owner_key": self.event.owner_key,
            "status": self.status,
            "history": len(self.epoch.messages),
            "tools": len(self.epoch.tools),
            "iteration_count": self.budget.model_calls,
        }

    @property
    def last(self) -> Message:
        """The last message of the context."""
        return self.epoch.messages[-1]

    @property
    def answer(self) -> Message | None:
        """The last answer of the model to this event, None before the first."""
        newest = next((message for message in reversed(self.epoch.messages) if message.role != "tool"), None)
        return newest if newest is not None and newest.role == "assistant" else None

    @property
    def calls(self) -> list[tuple[ToolCall, str]]:
        """The calls that were made for this event, in order, each with its result; "" where it has none yet."""
        messages = self.epoch.messages[self.epoch.position_of(self.event.id) or 0 :]
        results = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
        return [(call, results.get(call.id, "")) for message in messages for call in message.tool_calls]

    @property
    def unanswered(self) -> tuple[ToolCall, ...]:
        """The calls of the last assistant message that have no result yet, in order."""
        answered: set[str] = set()
        for message in reversed(self.epoch.messages):
            if message.role == "tool":
                answered.add(message.tool_call_id)
            else:
                return tuple(call for call in message.tool_calls if call.id not in answered)
        return ()
