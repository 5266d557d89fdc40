"""Asks models until one answers: in their order, again after a pause, and one beside another that is silent."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from math import inf
from typing import Any, Final, Generic, TypeAlias, TypeVar

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable, StreamBroken
from agent.model.chain import Chain, Guarded
from agent.model.interface import OFFLINE
from agent.run.budget import SIGN_AFTER, ThoughtLimits
from agent.turns.stages import loop_time
from memory.backoff import Backoff

log = structlog.get_logger()

T = TypeVar("T")

Claim: TypeAlias = Callable[[], None]
"""To be called at a model's first token: the others are cancelled. Raises CancelledError where another was first."""

Ask: TypeAlias = Callable[[Guarded, Claim], Awaitable[T]]
"""Asks one model. Raises `ModelError`."""

TIMER_SLACK: Final = 0.01
"""Seconds by which a timer may be early."""

LOOK_EVERY: Final = 0.5
"""Seconds after which it is looked whether somebody hears nothing: the end of a sentence is no event."""


def split(models: Chain, passed_over: int = 0) -> tuple[list[Guarded], Guarded | None]:
    """Return the models that think, resting ones included, without the first few; and the offline one, if any."""
    known = models.may_think
    stand_in = known.pop() if known and known[-1].name == OFFLINE else None
    most = len(known) if stand_in else len(known) - 1
    return known[min(passed_over, most) :], stand_in


def why_at_rest(models: Iterable[Guarded]) -> ModelUnavailable:
    """Return the failure of models that all rest and were not asked: what was wrong with the first the last time."""
    resting = (model.failure for model in models if model.breaker.rest)
    if (last := next(filter(None, resting), None)) is None:
        return ModelUnavailable("no model can be asked now")
    return ModelUnavailable(last.reason, excuse=last.excuse)


def silence(names: Iterable[str]) -> ModelUnavailable:
    """Return the failure of models that took a request and said nothing."""
    told = f"{' and '.join(names)} has not begun to answer: look at its server, or use another model"
    return ModelUnavailable(told, excuse="no_model_silent")


class Asking(Struct, Generic[T]):
    """One thought's question. Who gives the first token goes on, and exactly one answer is returned.

    A model that fails is followed by the next at once, one that is silent is joined by the next after
    `limits.beside`. What another try may help is asked again, after a pause that doubles, within `limits.retries` or
    beside one that is silent; where nothing listens, once. The offline model is asked when nobody else can be, and
    once; its answer counts only where it could do what was wanted.
    """

    ask: Ask[T]
    limits: ThoughtLimits
    lost: Callable[[Guarded], object]
    """Told of a model that was cancelled because another was first."""
    silent: Callable[[], Awaitable[None]]
    """Called once nobody was `served` for `sign_after`; for `limits.slow` too, while one is asked."""
    served: Callable[[], bool]
    """Whether whoever waits hears something, was written more since the last look, or waits for no words."""
    sign_after: float = SIGN_AFTER
    """Seconds; 0 is never."""
    is_new: bool = False
    """Whether it is a person's question that no model failed before: it is tried with one that rests, if all do, and
    does not wait long for those that were silent the last time."""
    _ends: float = inf
    """When it is given up, unless a model has given a token."""
    _began: float = 0.0
    _next_at: float = 0.0
    """When the next model is asked beside those that are silent."""
    _under_way: dict["asyncio.Task[T | ModelError]", Guarded] = {}
    _winner: "asyncio.Task[Any] | None" = None
    _failures: dict[str, ModelError] = {}
    """The last one of each model, by its name."""
    _ready: dict[str, float] = {}
    """When a model may be asked, by its name; without an entry never."""
    _pauses: dict[str, Backoff] = {}
    """Between the tries of one model, by its name."""

    async def first_answer(self, models: Sequence[Guarded], stand_in: Guarded | None) -> T:
        """Return what the first model to give a token gives. Raises `StreamBroken` where it broke off after that.

        Raises a model's failure where none answers, and `ContextTooLong` at once.
        """
        self._began = loop_time()
        try:
            async with asyncio.TaskGroup() as group:
                signing = group.create_task(self._sign()) if self.sign_after else None
                try:
                    return await self._race(group, models, stand_in)
                finally:
                    if signing is not None:
                        signing.cancel()
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from several.exceptions[0].__cause__

    async def _sign(self) -> None:
        quiet_since = self._began
        for seconds in (self.sign_after, self.limits.slow):
            while (left := quiet_since + seconds - loop_time()) > TIMER_SLACK:
                await asyncio.sleep(min(left, LOOK_EVERY))
                quiet_since = loop_time() if self.served() else quiet_since
            if self._under_way or seconds == self.sign_after:
                await self.silent()

    async def _race(self, group: asyncio.TaskGroup, models: Sequence[Guarded], stand_in: Guarded | None) -> T:
        """Ask who may be asked, one after the other or beside each other, until one answers or patience ends."""
        self._ready = {model.name: self._began + model.breaker.rest for model in models if self._is_waited_for(model)}
        last = [stand_in] if stand_in else []
        if self.is_new:
            self._try_soon(models)
        while True:
            at, model = self._next(models, last)
            if model is not None and at <= loop_time() + TIMER_SLACK:
                if model in last:
                    last.clear()
                self._under_way[group.create_task(self._contend(model))] = model
                self._next_at = loop_time() + self.limits.beside
            elif self._under_way:
                ends = inf if self._winner is not None else self._ends
                if ends <= loop_time() + TIMER_SLACK:
                    raise self._silence()
                until = min(at, ends)
                done, _ = await asyncio.wait(
                    self._under_way,
                    timeout=None if until == inf else until - loop_time(),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    if answered := self._ended(task):
                        return answered[0]
            elif at - self._began <= self.limits.retries:
                await asyncio.sleep(at - loop_time())
            else:
                raise self._failure(models)

    def _try_soon(self, models: Sequence[Guarded]) -> None:
        """Keep to no rest of which a server knows nothing, where all rest; and wait less where all were silent."""
        if models and all(model.is_silent for model in models):
            self._ends = self._began + self.limits.silent
            self.limits = replace(self.limits, stand_in=self.limits.stand_in_silent)
        there = [model for model in models if not (model.is_absent or model.is_asked_to_rest)]
        if there and all(model.breaker.rest for model in models):
            self._ready[there[0].name] = self._began

    def _silence(self) -> ModelError:
        """Return the failure of models that have said nothing, and take note of it."""
        names = [model.name for model in self._under_way.values() if model.name != OFFLINE]
        for model in self._under_way.values():
            self.lost(model)
        log.warning("model_silent", models=names)
        return silence(names)

    def _next(self, models: Sequence[Guarded], last: Sequence[Guarded]) -> tuple[float, Guarded | None]:
        """Return when somebody is asked if nothing else happens, and who: the first of those that may be then."""
        if self._winner is not None:
            return inf, None
        earliest = self._next_at if self._under_way else loop_time()
        asked = {model.name for model in self._under_way.values()}
        idle = [model for model in models if model.name in self._ready and model.name not in asked]
        times = [(max(earliest, self._ready[model.name]), model) for model in idle]
        if last and self._under_way:
            times.append((self._began + self.limits.stand_in, last[0]))
        elif last and not any(at <= loop_time() + TIMER_SLACK for at, _ in times):
            times.append((loop_time(), last[0]))
        return min(times, key=lambda each: each[0], default=(inf, None))

    def _is_waited_for(self, model: Guarded) -> bool:
        """Whether its rest is: where nothing listens, a person hears that rather than nothing for so long."""
        return not model.is_absent or model.breaker.rest <= self.limits.absent

    async def _contend(self, model: Guarded) -> T | ModelError:
        try:
            return await self.ask(model, self._claim)
        except ModelError as error:
            return error

    def _claim(self) -> None:
        own = asyncio.current_task()
        if self._winner is own:
            return
        if self._winner is not None:
            raise asyncio.CancelledError
        self._winner = own
        for other, model in self._under_way.items():
            if other is not own and not other.done():
                other.cancel()
                self.lost(model)

    def _ended(self, task: "asyncio.Task[T | ModelError]") -> tuple[T] | tuple[()]:
        """Return the answer, or take note of a failure. Raises `StreamBroken` and `ContextTooLong`."""
        model = self._under_way.pop(task)
        if task.cancelled():
            return ()
        outcome = task.result()
        if not isinstance(outcome, ModelError):
            return (outcome,)
        if task is self._winner:
            if isinstance(outcome, StreamBroken):
                raise outcome
            self._winner = None  # it thought, and failed before it said anything
        if isinstance(outcome, ContextTooLong) and not self._under_way:
            raise outcome
        if model.name != OFFLINE:
            log.warning("model_failed", model=model.name, reason=str(outcome))
        is_last_try = model.name == OFFLINE or (outcome.is_absent and model.name in self._failures)
        is_last_try = is_last_try or not self._is_waited_for(model)
        self._failures[model.name] = outcome
        self._next_at = loop_time()
        if isinstance(outcome, ModelUnavailable | StreamBroken) and not is_last_try:
            pauses = self._pauses.setdefault(model.name, self.limits.pauses(loop_time))
            self._ready[model.name] = loop_time() + pauses.failed(max(outcome.retry_after, model.breaker.rest))
        else:
            self._ready.pop(model.name, None)
        return ()

    def _failure(self, models: Sequence[Guarded]) -> ModelError:
        """Return the failure that says most: what can be helped, what passes, a refusal; never the offline one's.

        Where nobody was asked, it is what they rest for.
        """
        told = [error for name, error in self._failures.items() if name != OFFLINE]
        too_long = [error for error in told if isinstance(error, ContextTooLong)]
        passing = [error for error in told if not isinstance(error, ModelRefused)]
        return next(iter([*too_long, *passing, *told]), None) or why_at_rest(models)
