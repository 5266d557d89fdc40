"""Lives a life through the whole box, in time that leaps from one conversation to the next, and asks about it."""

import asyncio
import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import fields, replace

from agent.event import HOUSEHOLD, NIGHT, PERSON_TYPES, REFLECTION, USER_TEXT, Event
from agent.model.interface import OFFLINE
from appliance.api.caller import ROOM
from appliance.api.outcome import outcome_of
from appliance.api.requests.box import Forget
from appliance.bench.generator import FORGET, UNKNOWN, Life, Probe
from appliance.config.load import Config, Supervisor
from appliance.config.options import RunOptions
from appliance.config.sections import Settings
from appliance.errors import Exit, Problem
from appliance.input.event import PERSON_PRIORITY
from appliance.model.sentence import NAME
from appliance.model.switch import ANSWERED
from appliance.service import CONVERSATION_SECONDS, serve
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import REAL, Environment
from appliance.wiring.memory.graph import embedding_folder
from memory.clock import wall_clock
from memory.graph.embedded.store import State
from memory.json_value import Json
from memory.progress import Progress

if TYPE_CHECKING:
    from memory.state.journal import Stored

STEP: Final = timedelta(hours=2)
"""The longest leap: what is to happen at a time of the day happens within it."""

SETTLED: Final = 3
"""Times in a row that nothing is waiting, before the clock is put forward."""

PAUSE: Final = 0.01
"""Real seconds between two looks."""

TURNS: Final = 20
"""Of the event loop, in which whoever waited for a time takes it up; a busy machine leaves none within a pause."""

GRAPH_SECONDS: Final = 120.0
"""How long the graph's store may take to start."""

PAGE: Final = 500
"""Entries of the journal that are read at a time."""

KEPT: Final = frozenset({"model", "models", "memory", "mind", "economy", "growth"})
"""Sections of the household's configuration that hold in a rehearsal. Nothing that acts on the house, or reads it."""

_HELD: Final = "MATCH (n) WHERE any(k IN keys(n) WHERE toString(n[k]) CONTAINS $words) RETURN count(n) AS count"

_UNKNOWN: Final = re.compile(
    r"\b(?:do not|don['’]t|did not|didn['’]t|cannot|can['’]t|could not|couldn['’]t) (?:really |actually |yet )?"
    r"(?:know|say|tell|find|have|recall|remember)\b"
    r"|\b(?:no|without any) (?:idea|record|information|note|memory|mention)\b"
    r"|\b(?:never|nobody|no one|not) (?:ever |has |have |was |been |were |yet )*(?:told|said|mentioned|noted)\b"
    r"|\bnot (?:known|sure|aware)\b|\bunknown\b"
    r"|不知道|不清楚|不记得|不确定|不了解|没(?:有)?(?:人|谁)?(?:跟我|对我)?(?:告诉|说过|提|听说|记录|找到|印象)",
    re.IGNORECASE,
)

_EVENT: Final = re.compile(r"\b[0-9a-f]{32}\b")


class Verdict(Struct, frozen=True):
    """What an answer is worth."""

    probe: Probe
    answer: str
    is_right: bool
    abstains: bool
    """Whether it says that it does not know."""

    @property
    def cites(self) -> bool:
        """Whether it names an event by its id."""
        return _EVENT.search(self.answer) is not None


def judged(probe: Probe, answer: str) -> Verdict:
    """Judge an answer to a probe.

    Where the answer is known, one of the expected words has to be in it; where it is not, it has to say so. Words and
    numbers count whole: "March 4" is not in "March 14".
    """
    abstains = _UNKNOWN.search(answer) is not None
    holds = any(_is_in(each, answer) for each in probe.expected)
    is_right = abstains if probe.kind in UNKNOWN else holds and not abstains
    return Verdict(probe, answer, is_right and not any(_is_in(each, answer) for each in probe.forbidden), abstains)


def _is_in(wanted: str, answer: str) -> bool:
    edge = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"
    return re.search(edge[0] + re.escape(wanted) + edge[1], answer, re.IGNORECASE) is not None


class LeapingLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time()` goes on as the machine's does, and forward at once by what it is told.

    What was to happen meanwhile is due then, in its order and once: as after a sleep of the machine.
    """

    _ahead = 0.0

    def time(self) -> float:
        """Return seconds on the clock, leaps included."""
        return super().time() + self._ahead

    def leap(self, seconds: float) -> None:
        """Put the clock forward."""
        self._ahead += max(0.0, seconds)


class Calendar:
    """The wall clock of a rehearsal: it begins at a moment, and goes on by the clock of the loop."""

    def __init__(self, loop: LeapingLoop, begins: datetime) -> None:
        """`begins` is now, aware UTC."""
        self._loop = loop
        self._begins, self._since = begins, loop.time()

    def now(self) -> datetime:
        """Return the time, aware UTC; from any thread."""
        return self._begins + timedelta(seconds=self._loop.time() - self._since)

    def leap_to(self, moment: datetime) -> None:
        """Put the clock forward to a moment; one that has passed stays."""
        self._loop.leap((moment - self.now()).total_seconds())


class Spent(Struct):
    """What the model was asked for one purpose."""

    events: set[str] = set()
    """By id."""
    calls: int = 0
    tokens: int = 0
    """Of prompts and answers together."""
    usd: float = 0.0

    def add(self, entry: "Stored") -> None:
        """Count an answer."""
        body = entry.body
        self.events.add(entry.event_id)
        self.calls += 1
        self.tokens += sum(int(str(body.get(name) or 0)) for name in ("prompt_tokens", "completion_tokens"))
        self.usd += float(str(body.get("cost_usd") or 0.0))


class Remembers(Struct, frozen=True):
    """What there is in the memory."""

    nodes: int = 0
    orphans: int = 0
    """Nodes without a relationship."""
    duplicates: int = 0
    """Nodes that are there twice."""
    leaked: tuple[str, ...] = ()
    """What was to be forgotten, and is found in the journal or the graph."""


class Lived(Struct):
    """What came of a rehearsal."""

    verdicts: list[Verdict] = []
    """In the order in which it was asked."""
    spent: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    """By type of the event that the model was asked for."""
    nights: list[int] = []
    """Tokens of each night's work."""
    memory: Remembers = field(default_factory=Remembers)
    """When all is over."""

    @property
    def idle_calls(self) -> int:
        """Model calls for anything but people, reflection and sleep."""
        return sum(spent.calls for kind, spent in self.spent.items() if kind not in {*PERSON_TYPES, REFLECTION, NIGHT})


class Rehearsal:
    """One life in one box."""

    def __init__(self, box: Box, calendar: Calendar, told: Progress) -> None:
        """`told` is told of each sentence that is said, and may end it all by raising."""
        self.box = box
        self._calendar, self._told = calendar, told

    async def live(self, life: Life, lived: Lived) -> None:
        """Say, ask and sleep through it all; write down what comes of it. Raises `Problem` where no model answers."""
        if self.box.agent.models.first.model.name == OFFLINE:
            raise Problem("there is no model that thinks; configure [model], see `nakari doctor`", Exit.UNAVAILABLE)
        for done, said in enumerate(life.said):
            self._told(done, len(life.said))
            await self.until(said.at)
            answer = await self.say(said.words, said.speaker)
            if isinstance(said, Probe):
                lived.verdicts.append(judged(said, answer))
        await self.until(self._calendar.now() + timedelta(days=1))
        self._told(len(life.said), len(life.said))
        await self._look(lived, life)

    async def say(self, words: str, speaker: str) -> str:
        """Say something to it in the room, in writing; return the answer."""
        household = self.box.household
        if words == FORGET:
            return await household.forget(Forget())
        about: dict[str, Json] = {"speaker": speaker}
        event = Event(USER_TEXT, words, session_id=ROOM, source="cli", priority=PERSON_PRIORITY, metadata=about)
        with household.replies.text.listening(event.id) as pieces:
            await household.letters.put(event)
            answer = [piece async for piece in pieces]
        outcome = outcome_of(await household.mailbox.find(event.id))
        if outcome is not None and outcome.status == "waiting":
            raise Problem("the rehearsal ends here: the model cannot be reached", Exit.UNAVAILABLE)
        return "".join(answer).strip()

    async def until(self, moment: datetime) -> None:
        """Let time pass up to a moment, with all that comes in it."""
        quiet = timedelta(seconds=CONVERSATION_SECONDS + 1)
        await self._settle(1)
        if moment - self._calendar.now() > quiet:
            self._calendar.leap_to(self._calendar.now() + quiet)
            await self._settle()
        while (now := self._calendar.now()) + STEP < moment:
            self._calendar.leap_to(now + STEP)
            await self._settle()
        self._calendar.leap_to(moment)
        await self._settle(1)

    async def _settle(self, times: int = SETTLED) -> None:
        """Return when what is due has been done, and nothing is under way whose time a leap would use up."""
        for _ in range(times):
            await asyncio.sleep(PAUSE)
            for _ in range(TURNS):
                await asyncio.sleep(0)
            await self.box.household.mailbox.until_idle()
            await self._graph_at_rest()

    async def _graph_at_rest(self) -> None:
        store, writer = self.box.graph.store, self.box.graph.writer
        try:
            async with asyncio.timeout(GRAPH_SECONDS):
                if store is not None:
                    await store.until(State.READY)
                if writer is not None:
                    await writer.graph.until_idle()
        except TimeoutError as error:
            reason = store.reason if store is not None else ""
            raise Problem(f"it has no memory here: the graph does not serve ({reason})", Exit.UNAVAILABLE) from error

    async def _look(self, lived: Lived, life: Life) -> None:
        kinds: dict[str, str] = {}
        nights: dict[str, Spent] = defaultdict(Spent)
        after = 0
        while page := await self.box.insight.journal.entries(topic=ANSWERED, after=after, limit=PAGE):
            after = page[-1].seq
            for entry in page:
                if entry.event_id not in kinds:
                    filed = await self.box.household.mailbox.find(entry.event_id)
                    kinds[entry.event_id] = filed.event.type if filed else "erased"
                lived.spent[kinds[entry.event_id]].add(entry)
                if kinds[entry.event_id] == NIGHT:
                    nights[entry.event_id].add(entry)
        lived.nights.extend(night.tokens for night in nights.values())
        leaked = [f"{secret} in the {place}" for secret in life.secrets for place in await self._places_of(secret)]
        if (writer := self.box.graph.writer) is not None:
            schema = await writer.graph.schema()
            lived.memory = Remembers(schema.nodes, schema.orphans, schema.duplicates, tuple(leaked))

    async def _places_of(self, secret: str) -> list[str]:
        """Return where something is still held: in the journal, or the graph."""
        places = ["journal"] if await self.box.insight.journal.search(secret, HOUSEHOLD, 1) else []
        if (writer := self.box.graph.writer) is not None:
            found = await writer.graph.read(_HELD, {"words": secret})
            places += ["graph"] if found.records[0]["count"] else []
        return places


@asynccontextmanager
async def rehearsing(
    config: Config, folder: Path, begins: datetime, told: Progress, environment: Environment = REAL
) -> AsyncIterator[Rehearsal]:
    """Open a box of its own in a folder, whose calendar begins at a moment. To be run by a `LeapingLoop`."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, LeapingLoop), "time has to leap"
    calendar, over = Calendar(loop, begins), asyncio.Event()
    away = replace(environment, source=lambda ears, _: None, clock=loop.time)

    async def until_over() -> None:
        await over.wait()

    # A socket's path may have 107 bytes, and the folder for temporary files may be anywhere.
    with wall_clock(calendar.now), tempfile.TemporaryDirectory(prefix="nakari-", dir="/tmp") as short:
        own = config_of(config, folder, Path(short) / "nakari.sock")
        options = RunOptions(deaf=True, output=folder / "unheard.wav", fast=True)
        async with open_box(own, options, away) as box, asyncio.TaskGroup() as group:
            group.create_task(serve(box, until_over), name="the box")
            try:
                yield Rehearsal(box, calendar, told)
            finally:
                over.set()


def config_of(config: Config, folder: Path, socket: Path) -> Config:
    """Return the configuration of a box that has a state of its own, and reaches neither the house nor its data."""
    usual = Settings()
    away = {each.name: getattr(usual, each.name) for each in fields(Settings) if each.name not in KEPT}
    memory = replace(config.memory, uri="", bolt_port=0)
    sentences = embedding_folder(config.state_folder, memory.embedding_model or NAME)
    if memory.embeddings in ("auto", "local") and sentences.is_dir():
        memory = replace(memory, embeddings="local", embedding_model=str(sentences))
    away["ears"] = replace(usual.ears, download=False)
    away["voice"] = replace(usual.voice, engines=("espeak",))
    away["http"] = replace(usual.http, enabled=False)
    return replace(
        config,
        **away,
        memory=memory,
        supervisor=Supervisor(),
        state_folder=folder / "state",
        sockets=(socket,),
        tools_folder=folder / "tools",
        file_folders=(),
        file=None,
    )


def rehearse(config: Config, life: Life, lived: Lived, told: Progress, environment: Environment = REAL) -> None:
    """Live a life in a folder of its own, which is gone afterwards; `lived` has it as it comes."""

    async def live(inside: Path) -> None:
        async with rehearsing(config, inside, life.said[0].at - timedelta(minutes=10), told, environment) as rehearsal:
            await rehearsal.live(life, lived)

    with (
        tempfile.TemporaryDirectory(prefix="nakari-bench-") as inside,
        asyncio.Runner(loop_factory=LeapingLoop) as runner,
    ):
        runner.run(live(Path(inside)))
