"""The box, put together: memory, mouth, mind, ears and doors, in the order in which each needs the one before."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.context.remembered import Remembered
from appliance.admin.archive import everything_of
from appliance.admin.graph_admin import GraphAdmin, NoGraph, graph_admin_of
from appliance.admin.upgrade import forget_in_time
from appliance.api.attaching import Attaching
from appliance.api.event_intake import EventIntake
from appliance.api.handler import Household
from appliance.api.parts import Look, Part, Told
from appliance.api.requests.owners import OwnerHandler
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.egress import egress
from appliance.http.listening.addresses import Addresses, addresses_of
from appliance.input.names import GraphNames
from appliance.insight.insight import Insight
from appliance.live.live import Live
from appliance.logs.counts import Counts
from appliance.notify import HeartBeat
from appliance.output.saying import DoorReplies, Sayings
from appliance.output.voices import load_voice, speech_settings
from appliance.owners.erasure import OwnerErasure
from appliance.owners.owners import Challenges, Owners, open_owners
from appliance.reflexes.forget import no_graph
from appliance.satellites.interfaces import Devices
from appliance.satellites.satellites import Satellites
from appliance.wiring.agent.agent import Agent, Hands, Sessions, open_agent, open_sessions
from appliance.wiring.agent.home import home_side
from appliance.wiring.agent.machine import Machine, machine_of
from appliance.wiring.doors import Entrance, Inside, commands_of, entrance_of, open_live, reload_of
from appliance.wiring.environment import REAL, Environment, World
from appliance.wiring.machines.roles import bus_loops, joined, of_role, open_transport, rooms_elsewhere
from appliance.wiring.memory.graph import GraphSide, graph_side
from appliance.wiring.memory.managed_graph import STORE_LOOP
from appliance.wiring.memory.memory import MemorySide, memory_side, retention_of
from appliance.wiring.memory.state import allowance_of, follow_home, open_state, tried_disk
from appliance.wiring.sound.input import Input, open_input, word_side
from appliance.wiring.sound.output import Output, open_output
from appliance.wiring.sound.reflexes import open_acting
from appliance.wiring.sound.remote import house_of
from appliance.wiring.sound.satellites import Places, places_of
from appliance.wiring.sound.speakers import SpeakerSide, speaker_side
from appliance.wiring.sound.unasked import Unasked, open_unasked
from audio.loops import Loop
from memory.graph.cypher import Statement
from memory.graph.results import Result
from memory.json_value import Json
from memory.state.database import Database
from memory.state.retention import Retention

if TYPE_CHECKING:
    from appliance.machines.ears.ears import RemoteEars
    from appliance.machines.mind.mind import RemoteRooms


THREADS: Final = 64
"""For what waits beside the loop, started as they are needed. A look at a share whose server is gone holds one for
ever; with as many as Python has by itself, four more than there are cores, a few such would keep it from hearing."""


class Box(Struct, frozen=True):
    """Everything that runs, put together; `appliance.service` starts its loops."""

    output: Output
    satellites: Devices | None
    places: Places
    agent: Agent
    machine: Machine
    input: Input
    unasked: Unasked
    graph: GraphSide
    memory: MemorySide
    retention: Retention
    owners: Owners
    erasure: OwnerErasure
    speakers: SpeakerSide | None
    """None where nobody listens for who speaks."""
    household: Household
    doors: Entrance
    config: Config
    options: RunOptions
    elsewhere: "RemoteEars | None"
    """What joins it to a mind on another machine; None where the mind is here."""
    rooms: "RemoteRooms | None"
    """Ears on other machines; None where it is alone, or is ears itself."""
    once_loaded: tuple[Callable[[], None], ...]
    """Called in their order when all that is loaded ahead has been."""

    @property
    def warms(self) -> bool:
        """Whether it loads ahead what may be wanted, and reminds; one opened for a question is gone before that."""
        return not self.options.brief

    def loops(self) -> Mapping[str, Loop]:
        """Return every long-lived loop by its name, until cancelled; `appliance.service` starts them all."""
        calendars = self.agent.calendars
        return {
            **{name: self._beside(name, loop) for name, loop in self.graph.loops().items()},
            **self.memory.loops(),
            "memory: what is too old, while nobody speaks": self.retention.run,
            "memory: what an upgrade put aside, for a fortnight": partial(forget_in_time, self.config.state_folder),
            "memory: owners who are to be forgotten, and are not yet": self.erasure.run,
            "memory: images that no event refers to": partial(self.household.attaching.images.run, self.retention.days),
            **self.output.loops(),
            **self.agent.loops(),
            **bus_loops(self.household.bus),
            **self.machine.loops(),
            **(self.speakers.speakers.loops() if self.speakers else {}),
            **self.input.loops(),
            **({"unasked: what waits for a gap, said in it": self.unasked.announcer.run} if self.warms else {}),
            **({**self.satellites.loops(), **self.places.loops()} if self.satellites is not None else {}),
            **self.doors.loops(),
            **(self.elsewhere.loops() if self.elsewhere else {}),
            **(self.rooms.loops() if self.rooms else {}),
            "door: tells text clients that a run is over": self.household.end_clients,
            **({"warm: connections and voices, off the start path": self._warm} if self.warms else {}),
            **({"calendars: kept up to date, and reminded of": calendars.run} if calendars and self.warms else {}),
        }

    @property
    def beats(self) -> list[HeartBeat]:
        """What has to go on for the box to count as alive."""
        return self.doors.inside.beats

    @property
    def insight(self) -> Insight:
        """What answers what is asked of the past."""
        return self.doors.inside.insight

    def _beside(self, name: str, loop: Loop) -> Loop:
        """Return a loop of the graph as it is run beside the ears, which what it loads would cost.

        The store starts at once, in a process of its own; what speaks to it, by a driver that takes a quarter of a
        second to load, once words can be understood.
        """
        ears = self.input.ears
        return loop if ears is None or name == STORE_LOOP else partial(ears.once_ready, loop)

    async def _warm(self) -> None:
        if self.input.ears is not None:
            await self.input.ears.until_ready()  # what is loaded beside the recognizer is loaded at its cost
            await asyncio.to_thread(load_voice, speech_settings(self.config))
        await self.agent.warm()
        if self.elsewhere is None:
            await self.memory.recall.warm()
        if self.graph.writer is not None:
            await self.graph.writer.graph.load()
        for each in self.once_loaded:
            await asyncio.to_thread(each)


@asynccontextmanager
async def open_box(config: Config, options: RunOptions, environment: Environment = REAL) -> AsyncIterator[Box]:
    """Open every part on a state of its own; what is missing here is told in one line each, and done without.

    Raises what the parts raise when a person asked for what cannot be: a wrong model folder, a state folder in use.
    """
    config, environment = of_role(config, options, environment)
    allowance = allowance_of(config.economy, config.zone)
    async with (
        open_transport(config, options, environment) as transport,
        open_state(config.state_folder, allowance, environment.now, transport) as state,
    ):
        if not (options.brief or config.machines.url):  # one of several leads for a while, and may have another zone
            await follow_home(state, config.zone)
        async with box_on(World(config, options, state, environment), {}) as box:
            yield box


@asynccontextmanager
async def box_on(world: World, told: Mapping[str, Part]) -> AsyncIterator[Box]:
    """Open every part on a state that is open; `told` are further parts of the status. Raises as `open_box` does."""
    config, options, state, environment = world.config, world.options, world.state, world.environment
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "beside the loop"))
    async with AsyncExitStack() as parts:
        graph = await parts.enter_async_context(graph_side(config, state.journal.database, on_demand=options.brief))
        memory = memory_side(config, state, graph.embedder, fetches=not options.deaf)
        owners = await open_owners(state, config.state_folder, config.mind.max_tool_calls)
        admin = graph_admin_of(everything_of(config), graph)
        output = await parts.enter_async_context(open_output(world))
        sessions = open_sessions(world, output, memory)
        world, elsewhere = await parts.enter_async_context(joined(world, output, sessions))
        remembered = _remembered(owners, graph, sessions)
        acting = open_acting(world, output, sessions, _erasing(admin, graph, remembered))
        rooms = await parts.enter_async_context(rooms_elsewhere(world, output, sessions, acting.forgetting))
        machine = machine_of(config)
        home = home_side(config, state.mailbox)
        lent, side = graph.lent(owners.shares_graph, remembered), speaker_side(world, graph)
        hands = Hands(lent, memory.recall, acting.device, machine, home, side.speakers if side else None)
        news = [acting.record.situation, output.announcements.situation, output.where]
        known = GraphNames(graph.writer.graph.read, state.bus, owners.shares_graph) if graph.writer else None
        words = word_side(world, acting.source, known, home.home if home else None)
        agent = await parts.enter_async_context(open_agent(world, owners, sessions, output, hands, news))
        hears = open_input(world, output, acting, agent, words, side)
        unasked = open_unasked(world, owners, output, agent, hears)
        live = open_live(world, output, hears)
        erasure = OwnerErasure(config.state_folder, graph, owners, acting.forgetting)
        owners.observe(agent.contexts.renew)
        is_busy = partial(_is_busy, agent, output)
        retention, graph = retention_of(config.state, state, is_busy), graph.with_lookups(is_busy)
        # A box that is opened for one question answers nobody over TCP.
        addresses = Addresses() if options.brief else addresses_of(config.http, config.supervisor.listeners)
        paired = None if options.deaf else environment.satellites(config)
        described = hears.describe() | agent.describe() | _settled(config, agent, unasked, machine, paired)
        described |= {
            **_standing(state.journal.database, addresses, graph, live, retention, elsewhere or rooms),
            **told,
            **({"bus": state.bus.transport.describe} if state.bus.transport else {}),
        }
        letters = EventIntake(state.mailbox, owners.shares_graph, owners.name_of)
        replies, attaching = DoorReplies(output.text, Sayings(output.voice, state.journal)), Attaching(state.images)
        acting.forgetting.empties(
            attaching, live, *([side.voices] if side else []), *([elsewhere.waiting] if elsewhere else [])
        )
        commands = commands_of(config, agent, owners, state.journal, unasked.commands)
        household = Household(
            letters, attaching, state.bus, replies, agent.loop, hears, Told(described, monotonic()), commands
        )
        keys = OwnerHandler(owners, Challenges(owners.identities), erasure.erase)
        beats = [agent.beat, *([hears.ears.beat] if hears.ears is not None else [])]
        counts = Counts(state.bus, lambda: agent.registry.names)
        house = house_of(world, output, hears, agent, letters, side)
        places = places_of(config.satellites, output, house, paired)
        rest = (config.file, reload_of(config, acting.verbs, unasked), house, output.remote, live, paired)
        inside = Inside(household, admin, agent, keys, acting.insight, counts, beats, *rest)
        doors = entrance_of(config, inside, addresses, options)
        described |= {"wyoming": doors.wyoming.describe} if doors.wyoming else {}  # it speaks for the household
        parts.callback(doors.doors.close)
        sides = (output, paired, places, agent, machine, hears, unasked, graph, memory, retention, owners, erasure)
        yield Box(*sides, side, household, doors, config, options, elsewhere, rooms, environment.once_loaded)


def _settled(
    config: Config, agent: Agent, unasked: Unasked, machine: Machine, devices: Devices | None
) -> dict[str, Part]:
    """Return what the status says of what the configuration allows: to leave, to do unasked, to run, to say unasked."""
    asked = (*config.tools.confirm, *config.tools.never_confirm)
    return {
        "clock": lambda: {"zone": str(config.zone)},
        "egress": Look(lambda: {"leaves": [str(each) for each in egress(config, agent.models)]}),
        "asking": lambda: {"unknown": [*agent.registry.unknown(asked)]},
        "confined": machine.describe,
        "announcements": unasked.announcer.describe,
        **({"satellites": devices.describe} if isinstance(devices, Satellites) else {}),
    }


def _standing(
    database: Database,
    addresses: Addresses,
    graph: GraphSide,
    live: Live,
    retention: Retention,
    elsewhere: "RemoteEars | RemoteRooms | None",
) -> dict[str, Part]:
    files = Look(retention.describe)

    async def kept() -> dict[str, Json]:
        return {**await files(), **await tried_disk(database)}

    return {
        "http": addresses.describe,
        "graph": graph.describe,
        "streams": live.readers.describe,
        **({"machines": elsewhere.describe} if elsewhere else {}),
        "state": kept,
    }


def _is_busy(agent: Agent, output: Output) -> bool:
    return agent.loop.run_in_hand is not None or output.rooms.is_speaking


def _remembered(owners: Owners, graph: GraphSide, sessions: Sessions) -> Remembered | None:
    """Return what the agent's own queries tell at the opening of an epoch; None without a graph."""
    writer = graph.writer
    if writer is None:
        return None

    async def read(statement: Statement, params: Mapping[str, object]) -> Result:
        await graph.wake()
        return await writer.graph.read(statement, params)

    return Remembered(owners.settings, read, sessions.tokens, sessions.recent.most_tokens)


def _erasing(
    admin: GraphAdmin | NoGraph, graph: GraphSide, remembered: Remembered | None
) -> Callable[[str], Awaitable[int]]:
    """Return what erases an event from what is remembered and the graph, which may have to be started for it."""
    if isinstance(admin, NoGraph) or remembered is None:
        return no_graph

    async def erase(event_id: str) -> int:
        await remembered.forget_event(event_id)
        await graph.wake()
        return await admin.erase_event(event_id)

    return erase
