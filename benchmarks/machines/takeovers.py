"""Fifty times the machine that leads dies or stands still, in the middle of something, and the other one goes on."""

import asyncio
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final, Literal

from appliance.api.client import tell
from benchmarks.figure import Figure, Series, run, short
from tests.agent.openai_server import OpenAiServer, Recorded, Scripted, call, calls, reply
from tests.engine_servers import nats_program, nats_server, redis_server
from tests.service.process import Household, Running

COUNT: Final = 50

SEED: Final = 18

WAIT: Final = 90.0
"""Seconds that anything may take, on a machine that does much else."""

Moment = Literal["mid-reply", "mid-write", "mid-timer"]
MOMENTS: Final[tuple[Moment, ...]] = ("mid-reply", "mid-write", "mid-timer")

WORDS: Final = "json_extract(envelope, '$.content')"

SENTENCES: Final = 3
"""Of each answer."""


@dataclass
class Machine:
    """One of the two, over all its processes."""

    home: Household
    stack: ExitStack = field(default_factory=ExitStack)
    processes: list[Running] = field(default_factory=list)

    def start(self) -> None:
        """Start a process."""
        sound = self.home.folder / f"{len(self.processes)}.wav"
        self.processes.append(self.stack.enter_context(self.home.running("run", "--output", str(sound))))

    @property
    def process(self) -> Running:
        """The newest process."""
        return self.processes[-1]

    async def logged(self, event: str) -> dict[str, object]:
        """Return the next line of that name."""
        return await asyncio.to_thread(self.process.until, event, WAIT)

    def spoken(self) -> list[tuple[object, object]]:
        """Return which sentences its processes began to say: event and number, in order."""
        lines = (line for process in self.processes for line in process.log)
        return [(each["event_id"], each["number"]) for each in lines if each.get("event") == "sentence_started"]

    async def begins(self, words: str) -> None:
        """Return when it begins the next sentence of its answer to these words."""
        while True:
            line = await self.logged("sentence_started")
            if self.home.rows(f"SELECT 1 FROM mailbox WHERE id = ? AND {WORDS} = ?", line["event_id"], words):
                return

    def unfinished(self) -> int:
        """Return how many events are not done with, as its copy of the state tells."""
        return int(str(self.home.rows("SELECT count(*) FROM mailbox WHERE state NOT IN ('completed')")[0][0]))


@dataclass
class Story:
    """What is asked, and what came of it."""

    leads: Machine
    follows: Machine
    chance: Random
    asked: int = 0
    accepted: list[str] = field(default_factory=list)
    """The words of every event that was acknowledged."""
    timers: int = 0
    taken: list[float] = field(default_factory=list)
    """Seconds from the end of one mind to the other's being there: the whole box open."""
    expired: list[float] = field(default_factory=list)
    """Seconds of them until the lease was the other's."""
    spoke: list[float] = field(default_factory=list)
    """Seconds until the reply that was cut off went on."""

    async def ask(self, kind: str) -> None:
        """Have the machine that leads hear something."""
        self.asked += 1
        words = f"{kind} {self.asked}"
        await self.leads.home.hear(words)
        self.accepted.append(words)

    async def bring_to(self, moment: Moment) -> None:
        """Bring the machine that leads into the middle of something."""
        if moment == "mid-reply":
            await self.ask("Order")
            for _ in range(self.chance.randint(1, 2)):
                await self.leads.begins(self.accepted[-1])
        elif moment == "mid-write":
            for _ in range(self.chance.randint(1, 4)):
                await self.ask("Order")
        else:
            await self.ask("Timer")
            self.timers += 1
            await self.leads.begins(self.accepted[-1])

    async def take_over(self, moment: Moment, how: signal.Signals) -> None:
        """End or freeze the machine that leads in that moment, see the other take over and the first one come back."""
        await self.bring_to(moment)
        old, new = self.leads, self.follows
        old.process.process.send_signal(how)
        ended = monotonic()
        await new.logged("lease_taken")
        self.expired.append(monotonic() - ended)
        await new.logged("service_started")
        self.taken.append(monotonic() - ended)
        if moment == "mid-reply":
            await new.begins(self.accepted[-1])
            self.spoke.append(monotonic() - ended)
        self.leads, self.follows = new, old
        if how == signal.SIGSTOP:
            old.process.process.send_signal(signal.SIGCONT)
            await old.logged("mind_lost")
        else:
            old.process.kill()
            old.start()
        await old.logged("following")
        if moment == "mid-timer":
            await new.logged("timer_rang")
            with suppress(Exception):  # it may have rung out
                await tell(new.home.folder / "door.sock", {"do": "hush", "what": "stop"}, WAIT)
        async with asyncio.timeout(WAIT):
            while new.unfinished():  # noqa: ASYNC110  another process works
                await asyncio.sleep(0.2)

    def faults(self) -> list[str]:
        """Return what was lost, and what was done twice."""
        found = []
        answered = Counter(str(words) for (words,) in self.leads.home.rows(f"SELECT {WORDS} FROM mailbox"))
        found += [f"{words} was lost" for words in self.accepted if not answered[words]]
        said = Counter(self.leads.spoken() + self.follows.spoken())
        found += [f"sentence {number} of {event} was begun {n} times" for (event, number), n in said.items() if n > 1]
        rows = self.leads.home.rows(f"SELECT id, {WORDS} FROM mailbox WHERE {WORDS} LIKE 'Order %'")
        for event, words in rows:
            missing = set(range(1, SENTENCES + 1)) - {number for of, number in said if of == event}
            found += [f"sentence {number} of {words} was not said" for number in sorted(missing)]
        written = Counter(str(words) for _, words in rows)
        found += [f"{words} was written {n} times" for words, n in written.items() if n > 1]
        every = self.leads.home.rows(f"SELECT {WORDS} FROM mailbox WHERE type = 'timer'")
        due = Counter(str(each) for (each,) in every)
        wanted = {f"Timer '{each}' (4 seconds) is due." for each in self.accepted if each.startswith("Timer")}
        found += [f"{words} was set {n} times" for words, n in due.items() if n > 1]
        found += [f"{words} was set, which nobody asked for" for words in sorted(due.keys() - wanted)]
        rang = self.leads.home.rows("SELECT event_id, count(*) FROM journal WHERE topic = 'timer.rang' GROUP BY 1")
        if [int(str(n)) for _, n in rang] != [1] * self.timers:
            found.append(f"{self.timers} timers rang {[n for _, n in rang]} times")
        return found


def answer(request: Recorded) -> Scripted:
    """Answer as a model would that counts."""
    last = request.messages[-1]
    newest = next(str(each["content"]) for each in reversed(request.messages) if each["role"] == "user")
    words = re.findall(r"(Order|Timer) (\d+)(?!.*(?:Order|Timer) \d+)", newest, re.DOTALL)
    kind, number = words[-1] if words else ("Order", "0")
    if kind == "Timer" and "is due" not in newest:
        if last["role"] == "user":
            return calls(call("set_timer", {"seconds": 4, "label": f"Timer {number}"}))
        return reply(f"Timer {number} is set.")
    if kind == "Timer":
        return reply(f"Timer {number} it was.")
    return reply(" ".join(f"This is part {part} of order {number}." for part in ("one", "two", "three")))


async def takeovers(folder: Path, moments: Sequence[Moment]) -> tuple[Story, list[str]]:
    """Let two machines take over from each other in these moments; return how long it took, and what went wrong."""
    async with AsyncExitStack() as parts:
        engine = nats_server(folder / "engine") if nats_program() else redis_server(folder / "engine")
        engine.start()
        parts.callback(engine.kill)
        model = await parts.enter_async_context(OpenAiServer())
        model.default = answer
        both: list[Machine] = []
        for name in ("attic", "cellar"):
            thinks: dict[str, object] = {"provider": "openai", "base_url": model.url, "name": "m"}
            machines: dict[str, object] = {"url": engine.url, "name": name}
            machine = Machine(Household(folder / name, {"machines": machines, "model": thinks}))
            machine.home.folder.mkdir()
            parts.callback(machine.stack.close)
            machine.start()
            await machine.logged("following" if both else "service_started")
            both.append(machine)
        story = Story(both[0], both[1], Random(SEED))
        for number, moment in enumerate(moments):
            await story.take_over(moment, story.chance.choice((signal.SIGKILL, signal.SIGSTOP)))
            print(f"{number + 1:3} {moment:10} {story.expired[-1]:5.2f} {story.taken[-1]:5.2f} s", file=sys.stderr)
        return story, story.faults()


def histogram(seconds: list[float]) -> list[str]:
    """Return a line for each second in which something ended."""
    bins = Counter(int(each) for each in seconds)
    return [f"{at}-{at + 1} s {'#' * bins[at]} {bins[at]}" for at in range(min(bins), max(bins) + 1)]


def measure(*, quick: bool = False) -> Figure:
    """Take over, again and again, and hold the time against what the lease alone takes to expire."""
    moments = [*islice(cycle(MOMENTS), 1 if quick else COUNT)]
    with tempfile.TemporaryDirectory(prefix="nakari-bench-") as folder:
        return figure_of(*asyncio.run(takeovers(Path(folder), moments)))


def figure_of(story: Story, faults: Sequence[str]) -> Figure:
    """Return what came of it."""
    spoke = short(max(story.spoke)) if story.spoke else "-"
    notes = [
        f"over {'NATS' if nats_program() else 'Redis'}: {len(story.taken)} takeovers, by kill -9 or SIGSTOP, in "
        f"{', '.join(MOMENTS)}: {len(faults)} faults",
        *faults[:5],
        f"the longest took {short(max(story.taken))} s; a reply that was cut off went on after {spoke} s at most",
        *histogram(story.taken),
    ]
    ours = Series("from the end of one mind to the other's whole box being open", "s", tuple(story.taken))
    floor = Series("of that until the lease had expired and was taken", "s", tuple(story.expired))
    return Figure("Takeover by the second machine", ours, floor, tuple(notes))


if __name__ == "__main__":
    run(measure)
