"""A household in virtual time whose model servers fail: real loop, mailbox, HTTP client and loopback servers."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from random import Random
from typing import Final

from agent.event import ASR_TRANSCRIPT, USER_TEXT, Event
from agent.intents.model import OfflineModel
from agent.model.chain import Chain, Guarded, Prices
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.run.budget import SIGN_AFTER, RunLimits
from agent.run.questions import ModelWatch
from agent.time.quiet import QuietHours
from tests.agent.mind import NOON, Start, TestMind, a_mind
from tests.agent.openai_script import (
    DONE,
    PIECE,
    Gate,
    Reset,
    Scripted,
    Stall,
    Step,
    call_piece,
    chunk,
    error,
    reply,
)
from tests.agent.openai_script import event as sent
from tests.agent.openai_server import OpenAiServer, Recorded
from tests.room.virtual_time import EPOCH, passed

FAULTS: Final = ("400", "429", "429 date", "5xx", "5xx later", "close", "cut unsaid", "cut said", "silence")

LOOKED: Final = (call_piece(0, arguments="}"), chunk({}, "tool_calls"), DONE)
"""The end of a call that was long in being written."""

OUT_OF_MEMORY: Final = {"error": {"message": "CUDA out of memory", "code": 500}}

NUMBER: Final = re.compile(r"number (\d+)")


def time_of_day() -> Callable[[], datetime]:
    """Return the time of day on the running loop's clock, for any thread: noon at its start."""
    loop = asyncio.get_running_loop()
    return lambda: NOON + timedelta(seconds=loop.time() - EPOCH)


def fault(kind: str, words: str, chance: Random) -> Scripted:
    """Return an answer with this fault; `words` are what it would have said. `429:3` asks for three seconds."""
    kind, _, seconds = kind.partition(":")
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=float(seconds or 7)), usegmt=True)
    made: dict[str, Callable[[], Scripted]] = {
        "400": lambda: error(400, "this request is refused"),
        "429": lambda: error(429, "slow down", {"Retry-After": seconds or str(chance.choice((1, 3, 30)))}),
        "429 date": lambda: error(429, "slow down", {"Retry-After": soon}),
        "5xx": lambda: error(chance.choice((500, 502, 503, 529)), "trouble"),
        "5xx later": lambda: error(503, "trouble", {"Retry-After": seconds or str(chance.choice((2, 8, 90)))}),
        "close": lambda: Scripted((Reset(),)),
        "cut unsaid": lambda: Scripted((*list(reply(words).steps)[:4], Reset())),
        "cut said": lambda: Scripted((*list(reply(f"Well now. {words}").steps)[: 2 + 32 // PIECE], Reset())),
        "stalls": lambda: _stalled(f"Well now. {words}", float(seconds or 3600)),
        "beats": lambda: _stalled(f"Well now. {words}", 3600.0, beat=chunk({"content": ""})),
        "open": lambda: Scripted([chunk({"content": f"Well now. {words}"})]),
        "error said": lambda: Scripted([chunk({"content": f"Well now. {words}"}), sent(OUT_OF_MEMORY)]),
        "error": lambda: Scripted([sent(OUT_OF_MEMORY)]),
        "empty": lambda: Scripted([chunk({"content": ""}, "stop"), DONE]),
        "no room": lambda: Scripted([chunk({"content": ""}, "length"), DONE]),
        "filtered": lambda: Scripted([chunk({"content": ""}, "content_filter"), DONE]),
        "thought": lambda: Scripted([chunk({"reasoning_content": "Let me see."}), chunk({}, "stop"), DONE]),
        "silence": lambda: Scripted((Stall(),)),
        "late": lambda: _late(float(seconds), words),
        "thinks": lambda: _late(float(seconds), words, chunk({"reasoning_content": "Let me see."})),
        "looks": lambda: _late(
            float(seconds), "", call_piece(0, id="c", name="check_mailbox", arguments="{"), then=LOOKED
        ),
    }
    return made[kind]()


def _late(seconds: float, words: str, *before: bytes, then: Sequence[Step] = ()) -> Scripted:
    """Return an answer that begins so much later, some chunks apart, or goes on with others `then`."""
    gate = Gate()
    asyncio.get_running_loop().call_later(seconds, gate.open)
    return Scripted((*before, gate, *(then or reply(words).steps)))


def _stalled(words: str, seconds: float, *, beat: bytes | None = None) -> Scripted:
    """Return an answer that stands still so long behind its first sentence; a beat each 5 s is no word of it."""
    steps, said = list(reply(words).steps), 2 + 32 // PIECE
    loop, between = asyncio.get_running_loop(), list[Step]()
    for at in range(5, 100, 5) if beat else ():
        gate = Gate()
        loop.call_later(at, gate.open)
        between += (gate, beat or b"")
    gate = Gate()
    loop.call_later(seconds, gate.open)
    return Scripted((*steps[:said], *between, gate, *steps[said:]))


@dataclass
class Server:
    """One model server: answers question N with "Answer N.", unless something is wrong with it."""

    http: OpenAiServer
    chance: Random
    share: float = 0.0
    """Of its answers that are faults."""
    script: list[str] = field(default_factory=list)
    """Faults of the next answers; "" is none."""
    is_down: bool = False
    """Whether its list of models fails too."""
    asked_at: list[float] = field(default_factory=list)
    newest: str = ""
    """The last message of the last request."""

    def __post_init__(self) -> None:
        self.http.default = self.answer

    def answer(self, request: Recorded) -> Scripted:
        self.asked_at.append(asyncio.get_running_loop().time())
        self.newest = str(request.messages[-1]["content"])
        del self.http.requests[:-1]
        words = answer_to(request)
        if self.script:
            kind = self.script.pop(0)
        else:
            kind = self.chance.choice(FAULTS) if self.chance.random() < self.share else ""
        return fault(kind, words, self.chance) if kind else reply(words)

    def listed(self, request: Recorded) -> Scripted:
        return error(503, "down") if self.is_down else Scripted((b'{"data": []}',))


def answer_to(request: Recorded) -> str:
    """Return what a sound server says to the newest question."""
    newest = next(message for message in reversed(request.messages) if message["role"] == "user")
    found = NUMBER.search(str(newest["content"]))
    return f"Answer {found[1]}." if found else "It is noon."


@dataclass
class House:
    """What a test acts upon."""

    mind: TestMind
    servers: list[Server]
    chain: Chain
    now: Callable[[], datetime]
    handed: dict[str, float] = field(default_factory=dict)
    """When each event was first taken in hand."""

    @property
    def said(self) -> list[str]:
        return self.mind.outlet.said

    async def hears(self, words: str, **fields: object) -> Event:
        event = Event(ASR_TRANSCRIPT, words, source="mic", priority=10, created_at=self.now(), **fields)  # type: ignore[arg-type]
        await self.mind.mailbox.enqueue(event)
        return event

    async def reads(self, words: str, session: str = "client") -> Event:
        event = Event(USER_TEXT, words, source="cli", session_id=session, priority=10, created_at=self.now())
        await self.mind.mailbox.enqueue(event)
        return event

    async def rests(self) -> None:
        await passed(0.01)
        await self.mind.mailbox.until_idle()

    async def answered(self, words: str, **fields: object) -> Event:
        """Say something, and return when the loop has nothing to do."""
        event = await self.hears(words, **fields)
        await self.rests()
        return event

    def silence_of(self, event: Event) -> float:
        """Return the seconds from its hand-over to the first sound."""
        first = next(at for event_id, at in self.mind.outlet.heard_at if event_id == event.id)
        return first - self.handed[event.id]

    def stepped(self) -> None:
        """Take note of what is in hand; a `LoopObserver`."""
        if (run := self.mind.loop.run_in_hand) is not None:
            self.handed.setdefault(run.event.id, asyncio.get_running_loop().time())

    def rested(self) -> None:
        """Nothing is done at rest."""


@asynccontextmanager
async def a_house(
    folder: Path,
    *,
    models: int = 2,
    seed: int = 1,
    share: float = 0.0,
    quiet: QuietHours | None = None,
) -> AsyncIterator[House]:
    """Open a mind with so many model servers and, behind them, the offline model; its loops run."""
    chance, clock = Random(seed), asyncio.get_running_loop().time
    async with AsyncExitStack() as open_now, asyncio.TaskGroup() as group:
        servers = []
        for _ in range(models):
            server = Server(OpenAiServer(), chance, share)
            server.http.pages["/v1/models"] = server.listed
            servers.append(server)
            await open_now.enter_async_context(server.http)
        guarded = [
            Guarded(f"m{n}", OpenAiCompatibleModel(each.http.url, f"m{n}"), Prices(1.0, 0.1, 2.0), clock)
            for n, each in enumerate(servers)
        ]
        chain = Chain(
            [*guarded, Guarded("offline", OfflineModel(), clock=clock)], frozenset(f"m{n}" for n in range(1, models))
        )
        start = Start(now=time_of_day(), recheck=3600.0, limits=RunLimits(quiet=quiet), sign_after=SIGN_AFTER)
        mind = await open_now.enter_async_context(a_mind(folder, chain, start=start))
        house = House(mind, servers, chain, start.now or time_of_day())
        mind.loop.observe(house)
        watch = ModelWatch(chain, mind.mailbox, mind.mind.thinker.outage)
        loops = [group.create_task(each()) for each in (mind.loop.run, mind.loop.watch, watch.run)]
        try:
            yield house
        finally:
            for loop in loops:
                loop.cancel()
            for model in chain.models:
                await model.aclose()


@dataclass
class Account:
    """What became of many questions."""

    wrong: list[str]
    """A sentence for each that was closed unanswered, answered twice, or left without a word."""
    silences: list[float]
    """Seconds from hand-over to the first sound of each spoken one, sorted."""
    since_arrival: list[float]
    """The same from its arrival: others may have been in hand."""
    answered_after: list[float]
    """Seconds from arrival to the answer, sorted."""
    waited: int
    """How many waited for a model in between."""
    requests: int

    @property
    def p95(self) -> float:
        return self.silences[int(len(self.silences) * 0.95)]


async def go_through(house: House, events: int, share: float, chance: Random) -> Account:
    """Ask so many questions of failing servers; at the end the servers are sound, and everything is answered."""
    asked: dict[int, Event] = {}
    for server in house.servers:
        server.share = share
    for number in range(events):
        is_spoken = chance.random() < 0.8
        asked[number] = await (house.hears if is_spoken else house.reads)(f"Tell me number {number}.")
        await passed(chance.uniform(1.0, 40.0))
    for server in house.servers:
        server.share = 0.0
    for _ in range(3):
        await passed(3600)
        await house.answered("What time is it?")  # an old question is asked about once somebody speaks
    wrong, waited = [], 0
    for number, event in asked.items():
        filed = await house.mind.mailbox.find(event.id)
        assert filed is not None
        times = house.said.count(f"Answer {number}.")
        waited += filed.progress.note != ""
        if filed.state != "completed" or times != 1:
            wrong.append(f"number {number} is {filed.state}, and was answered {times} times")
    silences = sorted(house.silence_of(event) for event in asked.values() if event.type == ASR_TRANSCRIPT)
    arrived = sorted(
        house.handed[event.id] + house.silence_of(event) - EPOCH - (event.created_at - NOON).total_seconds()
        for event in asked.values()
        if event.type == ASR_TRANSCRIPT
    )
    arrivals = {event.id: EPOCH + (event.created_at - NOON).total_seconds() for event in asked.values()}
    last = {event_id: at for event_id, at in house.mind.outlet.heard_at if event_id in arrivals}
    answered = sorted(at - arrivals[event_id] for event_id, at in last.items())
    return Account(wrong, silences, arrived, answered, waited, sum(len(server.asked_at) for server in house.servers))
