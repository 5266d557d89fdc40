"""Two whole boxes in virtual time, ears in the kitchen and the mind elsewhere, over one engine in memory."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from agent.event import Event
from agent.model.interface import CachedPrefix, ChatModel
from agent.model.messages import Message
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.model.catalog import ModelCatalog
from appliance.service import serve
from appliance.wiring.box import Box, open_box
from memory.state.journal import Stored
from tests.appliance.machines.ears_box import outside
from tests.appliance.rooms.home import Ledger
from tests.engine_fake import FakeEngine, FakeServer
from tests.fakes import ScriptedModel, calls
from tests.room.virtual_time import passed, run_virtually
from tests.service.process import Household

T = TypeVar("T")

URL = "nats://127.0.0.1:4222"


def answer(words: str) -> Message:
    """Return what the model says to give an answer, as an argument of its call."""
    return calls(("reply", f'{{"text": "{words}"}}'), ("complete_event", '{"summary": "answered"}'))


class Kitchen:
    """One box while it runs, and the loudspeaker's account."""

    def __init__(self, home: "TwoBoxes", folder: Path, role: str, name: str, model: ChatModel | None) -> None:
        self.engine = FakeEngine(home.server)
        self._home = home
        self._folder = folder
        self._machines: dict[str, object] = {"url": URL, "role": role, "name": name}
        self._room = name if role == "ears" else ""
        self._model = model
        self.ledger = Ledger()
        self._box: Box | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def box(self) -> Box:
        assert self._box is not None
        return self._box

    async def start(self, model: ChatModel | None = None) -> None:
        """Open it and let it run."""
        self._model = model or self._model
        self.engine = FakeEngine(self._home.server)
        self._task = self._home.group.create_task(self._run())
        await self._home.until(lambda: self._box is not None)

    async def stop(self) -> None:
        """End it in good order."""
        assert self._task is not None
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        self._box = None

    async def die(self) -> None:
        """End it so that nobody hears of it."""
        self.engine.link.is_cut = True
        await self.stop()

    async def _run(self) -> None:
        async def given(catalog: ModelCatalog, room: CachedPrefix | None) -> Sequence[ChatModel]:
            assert self._model is not None
            return [self._model]

        environment = outside(self.engine, self._home.now)
        if self._model is not None:
            environment = replace(environment, models=given)
        sections = {"machines": self._machines, "ears": {"room": self._room}}
        self._folder.mkdir(exist_ok=True)
        config = load(Household(self._folder, sections).write(), {"HOME": str(self._folder)})  # type: ignore[arg-type]
        async with open_box(config, RunOptions(), environment) as box:
            box.output.speech.observe(self.ledger)
            self._box = box
            await serve(box, asyncio.Event().wait)


@dataclass
class TwoBoxes:
    """Ears and mind."""

    folder: Path
    group: asyncio.TaskGroup
    model: ScriptedModel
    server: FakeServer = field(default_factory=FakeServer)
    begin: datetime = field(default_factory=lambda: datetime.now(UTC))
    began: float = 0.0

    def __post_init__(self) -> None:
        self.clock = asyncio.get_running_loop().time
        self.began = self.clock()
        self.ears = Kitchen(self, self.folder / "ears", "ears", "kitchen", None)
        self.mind = Kitchen(self, self.folder / "mind", "mind", "server", self.model)

    def now(self) -> datetime:
        return self.begin + timedelta(seconds=self.clock() - self.began)

    @property
    def heard(self) -> list[str]:
        """What was heard in the kitchen."""
        return self.ears.ledger.heard

    async def start(self) -> None:
        """Start both, and wait until they know each other."""
        await self.mind.start()
        await self.ears.start()
        await self.know()

    async def know(self) -> None:
        """Return once ears and mind know each other."""
        await self.until(lambda: self.ears.box.elsewhere and self.ears.box.elsewhere.mind.is_there)
        await self.until(lambda: [room for room in self.mind.box.output.rooms.there if room.device])

    async def says(self, words: str) -> Event:
        """Have somebody say something in the kitchen."""
        event = Event("asr_transcript", words, source="mic", priority=10, created_at=self.now())
        await self.ears.box.input.turns.file(event)
        return event

    async def until(self, condition: Callable[[], object], seconds: float = 120.0) -> None:
        """Return when it holds. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not condition():
                await passed(0.05)

    async def settled(self, event: Event) -> str:
        """Return how the mind has put an event away."""
        async with asyncio.timeout(120.0):
            while True:
                filed = await self.mind.box.household.mailbox.find(event.id)
                if filed is not None and filed.state not in {"pending", "in_hand"}:
                    return filed.state
                await passed(0.05)

    async def spoken(self, event: Event) -> list[Stored]:
        """Return what the mind's journal has of the sentences said to an event."""
        topics = ("speech.sentence_started", "speech.sentence_ended")
        return await self.mind.box.insight.journal.entries(topic=topics, event_id=event.id)


def live(folder: Path, story: Callable[[TwoBoxes], Coroutine[Any, Any, T]], model: ScriptedModel) -> T:
    """Let the story happen; both boxes end with it."""
    return run_virtually(_live(folder, story, model))


async def _live(folder: Path, story: Callable[[TwoBoxes], Coroutine[Any, Any, T]], model: ScriptedModel) -> T:
    async with asyncio.TaskGroup() as group:
        home = TwoBoxes(folder, group, model)
        told = await story(home)
        for each in (home.ears, home.mind):
            if each._task is not None and not each._task.done():
                await each.stop()
    return told
