"""The whole box at a real Home Assistant: somebody types to it, or says something into its microphone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from agent.model.interface import CachedPrefix, ChatModel
from agent.web.pages import PageReader
from appliance.api.client import Question, answer_to
from appliance.config.load import load
from appliance.config.options import RunOptions
from appliance.config.sections import EarsSettings
from appliance.model.catalog import ModelCatalog
from appliance.service import conversation_over, serve
from appliance.wiring.agent.home import HomeSide
from appliance.wiring.box import Box, open_box
from appliance.wiring.environment import REAL, Environment
from audio.interfaces import AudioSource, always_awake
from audio.pcm import AudioChunk
from tests.fakes import ScriptedModel
from tests.home.home_assistant import Running
from tests.service.process import Household

PATIENCE = 60.0
"""Seconds after which something hangs."""


class Place(Protocol):
    """Where a Home Assistant is, a real one or the small one."""

    @property
    def url(self) -> str: ...

    @property
    def token(self) -> str: ...


class AtHome(Struct, frozen=True):
    """A box that runs, and can be typed to."""

    box: Box
    socket: Path

    @property
    def side(self) -> HomeSide:
        assert self.box.agent.home is not None
        return self.box.agent.home

    async def says(self, words: str, session: str = "test") -> str:
        """Return what is answered to somebody who types this."""
        async with asyncio.timeout(PATIENCE):
            pieces = [str(piece) async for piece in answer_to(self.socket, Question(words, session))]
        return "".join(pieces).strip()

    async def connected(self) -> None:
        """Return when the house is known, and its own server of tools is there."""
        async with asyncio.timeout(PATIENCE):
            await self.side.home.until("connected")
            for owner in self.box.agent.servers.owners.values():
                await owner.until("connected")


class HeldSource:
    """A recording that does not begin before it is let go."""

    def __init__(self, recording: AudioSource, begins: asyncio.Event) -> None:
        self._recording = recording
        self._begins = begins
        self.name, self.is_live = recording.name, recording.is_live

    @property
    def dropped_chunks(self) -> int:
        return self._recording.dropped_chunks

    async def chunks(self, is_at_rest: Callable[[], bool] = always_awake) -> AsyncIterator[AudioChunk]:
        await self._begins.wait()
        async for chunk in self._recording.chunks(is_at_rest):
            yield chunk


@asynccontextmanager
async def at_home(home: Running, folder: Path, model: ScriptedModel | None = None) -> AsyncIterator[AtHome]:
    """Run a box without a microphone; without a model its offline one answers."""
    over = asyncio.Event()

    async def until_over(box: Box) -> None:
        await over.wait()

    environment = replace(_environment(model), source=lambda ears, options: None)
    async with _running(home, folder, environment, RunOptions(deaf=True), until_over) as told:
        try:
            yield told
        finally:
            over.set()


async def heard_at_home(
    home: Place,
    folder: Path,
    sound: Path,
    model: ScriptedModel | None = None,
    settings: Mapping[str, dict[str, object]] = MappingProxyType({}),
    pages: PageReader | None = None,
) -> None:
    """Run a box that hears a recording once it knows the house and its servers of tools, until that is answered."""
    begins = asyncio.Event()

    def source(ears: EarsSettings, options: RunOptions) -> AudioSource | None:
        recording = REAL.source(ears, options)
        return HeldSource(recording, begins) if recording else None

    environment = replace(_environment(model), source=source, pages=lambda config: pages)
    options = RunOptions(input=sound, output=folder / "answer.wav", fast=True)
    async with _running(home, folder, environment, options, conversation_over, settings) as told:
        await told.connected()
        begins.set()


@asynccontextmanager
async def _running(
    home: Place,
    folder: Path,
    environment: Environment,
    options: RunOptions,
    until_over: Callable[[Box], Awaitable[None]],
    settings: Mapping[str, dict[str, object]] = MappingProxyType({}),
) -> AsyncIterator[AtHome]:
    household = Household(folder, {"home": {"url": home.url}, **settings})
    config = load(household.write(), {"HOME": str(folder), "HOME_ASSISTANT_TOKEN": home.token})
    async with open_box(config, options, environment) as box, asyncio.TaskGroup() as group:
        group.create_task(serve(box, lambda: until_over(box)), name="the box")
        yield AtHome(box, config.socket)


def _environment(model: ScriptedModel | None) -> Environment:
    async def models(catalog: ModelCatalog, room: CachedPrefix) -> list[ChatModel]:
        return [model] if model else []

    return replace(REAL, models=models) if model else REAL
