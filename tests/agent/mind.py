"""A whole mind on a real state database, with a scripted model and an outlet that keeps what was said."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from msgspec import Struct, field

from agent import mailbox as mailbox_module
from agent.bus import Bus
from agent.context.carried import ContextLimits
from agent.context.epoch import Epoch
from agent.context.epochs import Contexts
from agent.context.recollection import Recalled, Recent
from agent.context.situation import AtOpening, SituationProvider, place_in_time
from agent.context.tokens import TokenCounter
from agent.event import ASR_TRANSCRIPT, USER_TEXT, Event
from agent.growth import cursor as growth_module
from agent.loop import Loop, Mind
from agent.mailbox import Mailbox, waiting_by
from agent.model.chain import Chain
from agent.model.interface import ChatModel
from agent.model.messages import ToolSpec
from agent.prompts import SystemPrompts
from agent.record import Recorder, step
from agent.replies import SENTENCE_STARTED, ShownReplies
from agent.run.attention import Attention
from agent.run.budget import RunLimits, ThoughtLimits
from agent.run.run_state import RunState
from agent.run.system_replies import SystemReplies
from agent.run.thinking.think import Thinker
from agent.time.clock_steps import RECHECK_SECONDS
from agent.tools.events import event_tools
from agent.tools.registry.registry import ToolRegistry
from agent.tools.reply import reply_tool
from agent.tools.tool import Tool
from appliance.output.text import EndedSentences
from memory.errors import DiskFull, StateUnusable
from memory.recall import Recall
from memory.recall import index as recall_module
from memory.state import journal as journal_module
from memory.state import tiers as tiers_module
from memory.state.database import Change, Database
from memory.state.journal import Journal
from memory.state.tiers import Tiers
from memory.vectors.embedding import NoEmbedder
from tests.fakes import RecordingOutlet

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SYSTEM = "You are nakari."

RECENT_TOKENS = 400
"""Of what the first block of an epoch tells out of the tiers."""

PATIENCE = 30.0
"""Seconds after which something hangs; a busy machine takes five to load a grammar."""


@dataclass
class TestMind:
    """What a test looks at."""

    __test__ = False

    mind: Mind
    loop: Loop
    attention: Attention
    outlet: RecordingOutlet
    disk: "Disk"
    clock: "Clock"
    tiers: Tiers

    @property
    def mailbox(self) -> Mailbox:
        return self.mind.mailbox

    @property
    def journal(self) -> Journal:
        return self.mind.journal

    async def handle(self, event: Event) -> None:
        """Enqueue an event and handle the next one due."""
        await self.mailbox.enqueue(event)
        await self.handle_next()

    async def handle_next(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.loop.handle(await self.mailbox.take())

    @asynccontextmanager
    async def at_work(self, event: Event) -> AsyncIterator[None]:
        """Handle an event while the test goes on, and notice what arrives; afterwards both have ended."""
        await self.mailbox.enqueue(event)
        hand = await self.mailbox.take()
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            watch = group.create_task(self.loop.watch())
            life = group.create_task(self.loop.handle(hand))
            yield
            await life
            watch.cancel()

    async def committed(self, event: Event, *sentences: str) -> None:
        """Do what the mouth does before the first sample of a sentence."""
        for sentence in sentences:
            await self.mind.bus.publish(step(SENTENCE_STARTED, event, "", {}, sentence))

    async def noticed(self) -> None:
        """Return when the loop has looked at everything that arrived."""
        await self.attention.arrivals.join()

    @property
    def loop_epoch(self) -> Epoch:
        """The context of the room."""
        return self.mind.contexts.loaded("household", "room")

    async def state_of(self, event: Event) -> str:
        filed = await self.mailbox.find(event.id)
        assert filed is not None
        return filed.state

    async def topics(self, event: Event) -> list[str]:
        return [entry.topic for entry in await self.journal.entries(event_id=event.id)]


@dataclass
class Clock:
    """The seconds by which a context knows that a conversation is over."""

    now: float = 0.0


class Start(Struct, frozen=True):
    """How the loop of a mind begins."""

    situation: Sequence[SituationProvider] = (place_in_time(UTC, lambda: NOON),)
    limits: RunLimits = field(default_factory=RunLimits)
    recovers: bool = True
    today: datetime = NOON
    """By which the tiers know how old a thing is."""
    has_little_room: Callable[[], bool] = lambda: False
    """Whether its model is offered a few tools only."""
    most_tokens: Callable[[], int] | None = None
    """What its list of tools may take."""
    mailbox: Callable[[Database], Mailbox] = lambda database: Mailbox(database, lambda: datetime.now(UTC))
    now: Callable[[], datetime] | None = None
    """The clock of mailbox and loop; None is the real one, and `NOON` for ever."""
    recheck: float = RECHECK_SECONDS
    """Seconds after which the mailbox looks at `now` again; by a clock that nobody sets they may be many."""
    run_state: RunState = field(default_factory=RunState)
    """What tools of the test act upon too."""
    clock: Callable[[], float] = monotonic
    """The one of the ears."""
    names: Sequence[str] = ("nakari",)
    """What people call it."""
    patience: ThoughtLimits = field(default_factory=ThoughtLimits)
    at_opening: Sequence[AtOpening] = ()
    """What the first block of an epoch tells, before what the tiers do."""
    sign_after: float = 0.0
    """Never by default: on a busy machine any answer may take two real seconds."""


AT_ONCE = RunLimits(retry_seconds=0.0)
"""An unusable state is tried again without a pause."""


class EachStep(Struct, frozen=True):
    """A `LoopObserver` that calls a function at each step of a run."""

    call: Callable[[], None]

    def stepped(self) -> None:
        self.call()

    def rested(self) -> None:
        """Nothing is done at rest."""


class OnePrompt(Struct, frozen=True):
    """The same prompt for everybody, always."""

    text: str

    async def system(self, owner_key: str, tools: Sequence[ToolSpec]) -> str:
        return self.text


class Disk:
    """The journal's disk, which may be full at a step that a test names."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.full_at = ""
        """Topic of the envelope that is refused, once."""
        self.refusals = 0
        """Writes that are refused from now on, whatever is in them."""

    async def __call__(
        self, events: tuple[Event, ...], *, in_transaction: Change | None = None, durable: bool = True
    ) -> None:
        if any(event.type == self.full_at for event in events):
            self.full_at = ""
            raise StateUnusable("the disk is full")
        if self.refusals:
            self.refusals -= 1
            raise DiskFull("the disk is full")
        await self._recorder(events, in_transaction=in_transaction, durable=durable)


def spoken(words: str, **fields: object) -> Event:
    return Event(type=ASR_TRANSCRIPT, content=words, source="mic", priority=10, created_at=NOON, **fields)  # type: ignore[arg-type]


def typed(words: str, session: str = "client") -> Event:
    return Event(type=USER_TEXT, content=words, source="cli", session_id=session, priority=10, created_at=NOON)


def recalled_over(journal: Journal) -> Recalled:
    """What comes back by itself, however busy the machine is."""
    return Recalled(Recall(journal, NoEmbedder()), TokenCounter(), PATIENCE)


def no_contexts() -> Contexts:
    """Contexts of nobody, for tools that are not called."""
    journal = Journal(Database(Path("never opened")))
    return Contexts(journal, Bus(Recorder(journal)), ContextLimits, TokenCounter())


@asynccontextmanager
async def a_mind(
    folder: Path,
    models: Sequence[ChatModel] | Chain,
    tools: Sequence[Tool] | Callable[[Journal, Mailbox], Sequence[Tool]] = (),
    limits: ContextLimits | None = None,
    system: str | SystemPrompts = SYSTEM,
    start: Start | None = None,
) -> AsyncIterator[TestMind]:
    """Open the state in `folder`, as after a start of the machine."""
    start = start or Start()
    database = Database(folder / "nakari.db")
    await database.open(
        journal_module.SCHEMA, mailbox_module.SCHEMA, tiers_module.SCHEMA, recall_module.SCHEMA, growth_module.SCHEMA
    )
    journal = Journal(database)
    now = start.now
    mailbox = start.mailbox(database) if now is None else Mailbox(database, now, waiting_by(now, start.recheck))
    disk = Disk(Recorder(journal))
    bus, run_state, outlet, tokens = Bus(disk), start.run_state, RecordingOutlet(), TokenCounter()
    clock = Clock()
    sink = ShownReplies(outlet, bus.show, run_state.run_id_of, EndedSentences)
    contexts = Contexts(journal, bus, lambda: limits or ContextLimits(), tokens, lambda: clock.now)
    own = tools(journal, mailbox) if callable(tools) else tools
    events = event_tools(mailbox, run_state, contexts, start.limits)
    registry = ToolRegistry(
        [*events, reply_tool(run_state, sink), *own], start.has_little_room, most_tokens=start.most_tokens
    )
    replies = SystemReplies(
        sink, run_state, sign_after=start.sign_after, clock=start.clock, now=start.now or (lambda: NOON)
    )
    thinker = Thinker(Chain.of(models), bus, contexts, replies, mailbox, start.patience)
    tiers = Tiers(database, journal, lambda: start.today)
    recent, recalled = Recent(tiers, tokens, RECENT_TOKENS), recalled_over(journal)
    opens = [*start.at_opening, recent]
    mind = Mind(mailbox, journal, bus, contexts, registry, run_state, thinker, opens, recalled)
    attention = Attention(mailbox, journal, replies, outlet.hush, start.names)
    try:
        prompts = OnePrompt(system) if isinstance(system, str) else system
        loop = Loop(mind, attention, prompts, start.situation, start.now or (lambda: NOON), start.limits)
        if start.recovers:
            await mailbox.recover()
        yield TestMind(mind, loop, attention, outlet, disk, clock, tiers)
    finally:
        await database.close()
