"""The chain of models in the order they are asked: the chosen one, its fallbacks, and the offline one."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import ContextTooLong, ModelError, ModelUnavailable
from agent.event import utc_now
from agent.model.faults import empty
from agent.model.interface import Answer, CachedPrefix, ChatModel, StreamItem
from agent.model.messages import Message, ToolSpec, Usage
from memory.backoff import Backoff
from memory.json_value import Json

FAILURES: Final = 2
"""In a row, after which a model is left alone for a while."""

FIRST_REST: Final = 5.0
LONGEST_REST: Final = 120.0
"""Seconds; each further failure doubles the rest."""

JITTER: Final = 0.1
"""Share by which chance shortens a rest: the boxes of a town must not come back to a provider in the same second."""

LONGEST_ASKED_FOR: Final = 900.0
"""Seconds of a server's own Retry-After that are believed."""

SILENT_AFTER: Final = 10.0
"""Seconds without a token, after which a model that failed was silent rather than quick to refuse."""

UsageObserver: TypeAlias = Callable[[Usage], None]
"""Called with what each whole answer cost."""


class Prices(Struct, frozen=True):
    """US dollars for a million tokens; all 0 where unknown, or where nothing is billed."""

    prompt: float = 0.0
    cached: float | None = None
    """Of what came out of the cache; None is as much as the rest."""
    completion: float = 0.0

    def of(self, usage: Usage) -> float:
        """Return what a call cost."""
        cached = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (fresh * self.prompt + usage.cached_tokens * cached + usage.completion_tokens * self.completion) / 1e6


class Spent(Struct):
    """The number, tokens and cost of calls."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def add(self, usage: Usage) -> None:
        """Count one call."""
        self.calls += 1
        self.prompt_tokens += usage.prompt_tokens
        self.cached_tokens += usage.cached_tokens
        self.completion_tokens += usage.completion_tokens
        self.cost += usage.cost

    def describe(self) -> dict[str, Json]:
        """Return it for the status."""
        share = round(self.cached_tokens / self.prompt_tokens, 3) if self.prompt_tokens else 0.0
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "cached_share": share,
            "completion_tokens": self.completion_tokens,
            "cost_usd": round(self.cost, 6),
        }


@runtime_checkable
class Prefilling(Protocol):
    """A model whose server can read a list ahead."""

    async def prefill(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> None:
        """Let the server read the list that is likely to go on; never raises, never bills."""


@runtime_checkable
class Reachable(Protocol):
    """A model of which can be told whether it is there."""

    async def is_reachable(self) -> bool:
        """Look whether its server is there; never raises, never bills."""


class Failure(Struct, frozen=True):
    """A call that came to nothing."""

    at: datetime
    """Aware UTC."""
    reason: str
    """One sentence for a person."""
    excuse: str = ModelError.excuse
    """Which words a person hears of it (see `ModelError`)."""

    def describe(self) -> Json:
        """Return it for the status."""
        return {"at": self.at.isoformat(), "reason": self.reason}


class Guarded:
    """A model under its alias, behind its breaker, at its price. A `ChatModel`."""

    def __init__(
        self, alias: str, model: ChatModel, prices: Prices | None = None, clock: Callable[[], float] = monotonic
    ) -> None:
        self.alias = alias
        self.model = model
        self.name = model.name
        self.sends_to = model.sends_to
        self.is_absent = False
        """Whether nothing listened there the last time."""
        self.is_asked_to_rest = False
        """Whether its server named the rest itself."""
        self.is_silent = False
        """Whether it said nothing at the end of the last request: no token, or none more, in `SILENT_AFTER`."""
        self.breaker = Backoff(FIRST_REST, LONGEST_REST, forgiven=FAILURES - 1, jitter=JITTER, clock=clock)
        self.failure: Failure | None = None
        """What went wrong the last time; None once it gave a whole answer with something in it."""
        self._clock = clock
        self._prices = prices or Prices()
        self._observers: list[UsageObserver] = []

    def observe(self, observer: UsageObserver) -> None:
        """Tell an observer of each answer from now on."""
        self._observers.append(observer)

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer as it arrives (see `ChatModel.stream`), and tell the breaker how it went."""
        last_at, has_begun = self._clock(), False
        try:
            async with aclosing(self.model.stream(messages, tools)) as items:
                async for item in items:
                    has_begun, self.is_silent = True, False
                    if isinstance(item, Answer):
                        self._answered(item)
                        yield replace(item, usage=self._billed(item.usage))
                    else:
                        yield item
                    last_at = self._clock()
        except ContextTooLong as error:  # says nothing about the server
            self._fail(error)
            raise
        except ModelError as error:
            self.is_absent, self.is_asked_to_rest = error.is_absent, error.retry_after > 0
            if not error.is_absent and self._clock() - last_at >= SILENT_AFTER:
                self.is_silent = True
                error.excuse = error.excuse if has_begun else "no_model_silent"
            self._fail(error)
            if not error.is_of_answer:  # one question that breaks each answer is not to keep all others waiting
                self.breaker.failed(min(error.retry_after, LONGEST_ASKED_FOR))
            raise

    def _answered(self, answer: Answer) -> None:
        self.is_absent, self.failure = False, None
        self.breaker.worked()
        message = answer.message
        if message.is_empty:
            self._fail(empty(self.name, answer.finish_reason, message))

    def _fail(self, error: ModelError) -> None:
        self.failure = Failure(utc_now(), str(error), error.excuse)

    def lost(self, prompt_tokens: int) -> Usage:
        """Count a call that was cancelled before its first token, because another model was faster: it is billed.

        No provider tells what of, so that `prompt_tokens` is an estimate. It counts as a failure, so that a model that
        stays silent is left alone for a while.
        """
        self.is_silent = True
        self._fail(ModelUnavailable(f"{self.name} took a request and said nothing, until another model answered"))
        self.breaker.failed()
        return self._billed(Usage(prompt_tokens))

    def _billed(self, usage: Usage) -> Usage:
        """Return what a call cost, by its price where the server did not say, and tell of it."""
        usage = replace(usage, cost=usage.cost or self._prices.of(usage))
        for answered in self._observers:
            answered(usage)
        return usage

    async def is_reachable(self) -> bool:
        """Whether its server is there and may be asked: looked at without asking it; True where nobody can tell."""
        if self.breaker.rest:
            return False
        return await self.model.is_reachable() if isinstance(self.model, Reachable) else True

    async def warm(self) -> None:
        """Open the connection ahead of the first call."""
        await self.model.warm()

    async def aclose(self) -> None:
        """Close the connection."""
        await self.model.aclose()


@dataclass(slots=True)
class Chain:
    """All models, and who of them is asked.

    `use` takes effect with `settle`, which is called between two events: within one, the order never changes but for
    a model that fails.
    """

    models: Sequence[Guarded]
    """All, in the order of the configuration: the configured one, its fallbacks, other named ones, and the last."""
    fallbacks: frozenset[str] = frozenset()
    """Aliases that stand behind the chosen one."""
    prefix: CachedPrefix | None = None
    """What a local server reads ahead; None where nothing is."""
    spent: Spent = field(default_factory=Spent)
    chosen: str = ""
    """The alias of the model that thinks; "" is the first."""
    _wanted: str | None = None

    @classmethod
    def of(cls, models: "Sequence[ChatModel] | Chain", clock: Callable[[], float] = monotonic) -> "Chain":
        """Return a chain of plain models, all but the first behind it, in order; `clock` (s) is their breakers'."""
        if isinstance(models, Chain):
            return models
        guarded = [Guarded(model.name, model, clock=clock) for model in models]
        return cls(guarded, frozenset(each.alias for each in guarded))

    def __post_init__(self) -> None:
        self.observe(self.spent.add)

    def observe(self, observer: UsageObserver) -> None:
        """Tell an observer of each answer of any model from now on."""
        for model in self.models:
            model.observe(observer)

    @property
    def aliases(self) -> list[str]:
        """What may be used."""
        return [model.alias for model in self.models]

    @property
    def first(self) -> Guarded:
        """The model that is to think, whether it can or not."""
        return next((model for model in self.models if model.alias == self.chosen), self.models[0])

    @property
    def may_think(self) -> list[Guarded]:
        """The chosen model, and those that stand in for it where it fails, resting ones included."""
        first, last = self.first, self.models[-1]
        if first is last:  # it never fails: nobody else is asked, and nothing leaves the house
            return [last]
        return [first, *(each for each in self.models[:-1] if each is not first and each.alias in self.fallbacks), last]

    def use(self, alias: str) -> None:
        """Let another model think from the next event on. Raises KeyError for one that nobody knows."""
        if alias not in self.aliases:
            raise KeyError(alias)
        self._wanted = alias

    def settle(self) -> str:
        """Make the last `use` take effect, and return the name of who thinks now; to be called between two events.

        The name belongs into the system prompt: so another model opens an epoch.
        """
        if self._wanted is not None:
            self.chosen, self._wanted = self._wanted, None
        return self.first.name

    @property
    def to_ask(self) -> list[Guarded]:
        """The models to ask now: those whose breaker is open are left out, the last one never is."""
        *others, last = self.may_think
        return [*(each for each in others if not each.breaker.rest), last]

    async def warm(self) -> None:
        """Open the connections, and let a local server read what is likely to go on, while a person still speaks."""
        for model in self.to_ask:
            await model.warm()
        asked = self.first.model
        if self.prefix is not None and isinstance(asked, Prefilling) and (known := self.prefix()):
            await asked.prefill(*known)

    def describe(self) -> dict[str, Json]:
        """Return who thinks, who would, who rests, and what it came to since the start."""
        resting = {each.alias: round(each.breaker.rest, 1) for each in self.models if each.breaker.rest}
        return {
            "thinks": self.first.name,
            "next": self._wanted or "",
            "in_order": [model.name for model in self.to_ask],
            "known": [*self.aliases],
            "resting_seconds": dict(resting),
            "failed": {each.alias: each.failure.describe() for each in self.may_think if each.failure},
            "since_start": self.spent.describe(),
        }
