"""What thinks at the ears while no mind is there: the offline model alone, and what it cannot do waits for the mind."""

from collections.abc import AsyncGenerator, Sequence

from agent.context.tokens import TokenCounter
from agent.errors import ModelUnavailable
from agent.event import TIMER
from agent.intents.model import OfflineModel
from agent.model.interface import Answer, StreamItem
from agent.model.messages import Message, ToolSpec
from agent.run.run import Run
from appliance.machines.mind.arriving import PutsAway


class AbsentMind:
    """A `ChatModel` that is never there: it stands for the mind, so that what needs one is kept, and not half done."""

    name = "mind"
    sends_to = ()

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[StreamItem, None]:
        """Raise `ModelUnavailable`."""
        absent = ModelUnavailable("the mind is on another machine; what it alone can do waits for it", is_absent=True)
        if absent:
            raise absent
        yield Answer(Message("assistant"))

    async def is_reachable(self) -> bool:
        """Never: what waits for it goes to it by the courier."""
        return False

    async def warm(self) -> None:
        """Nothing is to be opened."""

    async def aclose(self) -> None:
        """Nothing is open."""


class StandIn(OfflineModel):
    """The offline model, loaded with the first words that it is asked: mostly a mind is there."""

    async def warm(self) -> None:
        """Load nothing."""


class EstimatedTokens(TokenCounter):
    """Counts by bytes: what is said to the offline model is never long, and a vocabulary takes 47 MB."""

    def load(self) -> None:
        """Load nothing."""


class Rung(PutsAway, frozen=True):
    """A `Settler` that puts timers away: they ring beside it, and the mind is told by who rings."""

    async def settle(self, run: Run) -> Message | None:
        """Return the call that ends a timer's event; None for any other."""
        return await self.put_away(run, "it rang at the ears") if run.event.type == TIMER else None
