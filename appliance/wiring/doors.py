"""The doors, put together: what may be asked, and the server that is loaded when somebody first comes."""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.attachments import documents
from appliance.admin.graph_admin import GraphAdmin, NoGraph
from appliance.admin.reload import Reload
from appliance.api.handler import Household, published
from appliance.api.program_questions import ProgramQuestions
from appliance.api.register import Register
from appliance.api.requests import box as requests
from appliance.api.requests import health as health_requests
from appliance.api.requests import insight as insight_requests
from appliance.api.requests import journal as journal_requests
from appliance.api.requests import mailbox as mailbox_requests
from appliance.api.requests import memory as memory_requests
from appliance.api.requests import owners as owner_requests
from appliance.api.requests import satellites as satellite_requests
from appliance.api.requests.owners import OwnerHandler
from appliance.commands.about_box import about_box
from appliance.commands.about_you import about_talk, about_you
from appliance.commands.registry import Command, Commands
from appliance.config.load import Config, load
from appliance.config.network.http import HttpSettings, WyomingSettings, host_and_port, is_loopback
from appliance.config.options import RunOptions
from appliance.http.doors import Doors
from appliance.http.listening.addresses import Address, Addresses
from appliance.insight.insight import Insight
from appliance.live.live import Live, Room
from appliance.live.readers import Readers
from appliance.live.senses import Meter, Senses
from appliance.logs.configure import configure_again, redaction_of
from appliance.logs.counts import Counts
from appliance.notify import HeartBeat
from appliance.owners.owners import Owners
from appliance.reflexes.verbs import Verbs
from appliance.remote import decoding
from appliance.remote.place import House, Places
from appliance.satellites.interfaces import Devices
from appliance.satellites.satellites import Satellites
from appliance.wiring.agent.agent import Agent
from appliance.wiring.environment import World
from appliance.wiring.sound.input import Input
from appliance.wiring.sound.output import Output
from appliance.wiring.sound.unasked import Unasked
from appliance.wyoming.door import WyomingDoor
from audio.loops import Loop
from audio.playback.live import LivePlayer
from memory.state.journal import Journal

if TYPE_CHECKING:
    from fastapi import APIRouter

    from appliance.http.server import HttpServer


class Inside(Struct, frozen=True):
    """The parts that answer whoever comes."""

    household: Household
    memory: GraphAdmin | NoGraph
    agent: Agent
    owners: OwnerHandler
    insight: Insight
    counts: Counts
    beats: list[HeartBeat]
    """What has to go on for the box to count as alive."""
    config_file: Path | None
    """What the doctor reads; None is the usual one."""
    reload: Reload
    house: House
    """What places elsewhere share with the room."""
    remote: Places
    live: Live
    satellites: Devices | None
    """Paired devices; None where there are to be none."""

    def register(self) -> Register:
        """Return what may be asked of this box."""
        return Register(
            [
                *requests.entries(self.household, self.agent.choice.use),
                *mailbox_requests.entries(self.household.mail),
                *memory_requests.entries(self.memory),
                *owner_requests.entries(self.owners),
                *journal_requests.entries(self.insight.journal),
                *health_requests.entries(self.beats, self.config_file, self.reload),
                *insight_requests.entries(self.insight),
                *(satellite_requests.entries(self.satellites) if isinstance(self.satellites, Satellites) else []),
            ],
            partial(published, self.household.bus),
        )

    def routers(self, register: Register) -> "list[APIRouter]":
        """Return what speaks a protocol of its own beside the register's requests; loads it."""
        from appliance.http import attachments, audio, page, streams, websocket
        from appliance.remote.session import sound_of_page

        sound = partial(sound_of_page, self.house, self.remote)
        behind = websocket.Behind(self.live, register, self.household, sound)
        return [
            attachments.router(self.household.attaching),
            audio.router(self.house, self.remote, self.household.mailbox.find),
            page.router(page.FOLDER),
            streams.router(self.live),
            websocket.router(behind),
            *self._of_other_programs(),
        ]

    def _of_other_programs(self) -> "list[APIRouter]":
        """Return what speaks the protocols of programs that people have already."""
        from appliance.http import metrics
        from appliance.http.compat import ollama, openai
        from appliance.http.compat.body import Bodies
        from appliance.http.compat.question import Programs

        house, said, bodies = self.household, Programs(), Bodies()
        asking = ProgramQuestions(house, self.insight.journal, self.agent.describe_models)
        return [
            metrics.router(partial(house.status, besides=metrics.UNTOLD), self.counts),
            openai.router(asking, said, bodies),
            ollama.router(asking, said, bodies),
        ]


class Entrance(Struct, frozen=True):
    """Everything that lets programs in, and what they may ask."""

    inside: Inside
    doors: Doors
    wyoming: WyomingDoor | None
    """None where it is off."""

    def loops(self) -> Mapping[str, Loop]:
        """Return its long-lived loops by name."""
        return {
            **(self.wyoming.loops() if self.wyoming else {}),
            "doors: whoever comes by HTTP": self.doors.run,
            "doors: counts of what happened": self.inside.counts.run,
            **self.inside.live.loops(),
        }


def entrance_of(config: Config, inside: Inside, addresses: Addresses, options: RunOptions) -> Entrance:
    """Return the doors of this box, which are open. Raises what `Doors.open` raises."""
    register = inside.register()
    wyoming = None if options.brief else wyoming_door(config.wyoming, inside.house, inside.household)
    doors = Doors(config.socket, partial(asyncio.to_thread, _load, register, inside, config.http), addresses)
    doors.open()
    return Entrance(inside, doors, wyoming)


def _load(register: Register, inside: Inside, settings: HttpSettings) -> "HttpServer":
    """Return the server with all that it answers with, which is imported here. Blocking."""
    from appliance.http.access import login
    from appliance.http.access.middleware import Access
    from appliance.http.access.who import Who
    from appliance.http.app import app_of
    from appliance.http.compat import body
    from appliance.http.server import HttpServer

    larger = {  # each route has limits of its own below it
        "/attachments": documents.MOST_BYTES,
        "/audio": decoding.MOST_BYTES,
        "/v1/chat/completions": body.MOST_BYTES,
        "/api/chat": body.MOST_BYTES,
    }
    who = Who(settings, inside.owners.owners.tokens, monotonic)
    app = app_of(register, [*inside.routers(register), login.router(who)])
    return HttpServer(Access(app, who, login.is_for_everybody, larger), settings.connections)


def commands_of(config: Config, agent: Agent, owners: Owners, journal: Journal, unasked: list[Command]) -> Commands:
    """Return what may be typed with a slash before it; `unasked` are those about what is said unasked."""
    of_box = about_box(agent.choice.use, agent.choice.describe, config, redaction_of(config).clean)
    of_talk = about_talk(journal, agent.contexts, agent.loop, config.zone)
    return Commands([*of_box, *about_you(owners), *of_talk, *unasked], config.ears.language)


def open_live(world: World, output: Output, hears: Input) -> Live:
    """Join what is told of the room, and who is told; nothing is followed before its loops run."""
    bus, journal, mailbox = world.state.bus, world.state.journal, world.state.mailbox
    meter, senses, ears = Meter(), Senses(bus.show), hears.ears
    output.speech.observe(senses)
    if isinstance(output.player, LivePlayer):
        output.player.tap(meter.played)
    if ears is not None:
        ears.listener.observe(senses)
        ears.listener.read_along(senses.read)
        ears.listener.watch(meter)
    room = Room(meter, lambda: ears is not None and not ears.is_deaf, lambda: hears.acting.verbs.mute.is_on)
    return Live(bus, journal, mailbox, room, Readers())


def wyoming_door(settings: WyomingSettings, house: House, household: Household) -> WyomingDoor | None:
    """Return the door, None where it is off; what it needs is loaded here, for nobody else does."""
    if not settings.listen:
        return None
    from appliance.wyoming.announcement import Announcement, addresses_towards
    from appliance.wyoming.guests import guests_of
    from appliance.wyoming.handle import Conversation
    from appliance.wyoming.info import Abilities
    from appliance.wyoming.server import Services, WyomingServer
    from appliance.wyoming.tts import Speaking

    hearing, speaking = house.recognizing, house.speaking
    services = Services(
        Abilities(lambda: hearing.recognizer.name, hearing.language),
        hearing,
        Speaking(speaking.voice, speaking.language),
        Conversation(household),
    )
    server = WyomingServer(services, guests_of(settings.networks), settings.connections, household.mailbox.now)
    announcement = None
    if not is_loopback(settings.listen):
        host = host_and_port(settings.listen)[0]
        is_all = host in ("0.0.0.0", "::")
        announcement = Announcement(lambda: addresses_towards(settings.networks) if is_all else [host])
    return WyomingDoor(Address(settings.listen, protocol="wyoming"), settings.networks, server, announcement)


def reload_of(config: Config, verbs: Verbs, unasked: Unasked) -> Reload:
    """Return what reads the configuration's file again; `appliance.admin.reload.LIVE` names what it takes over."""

    async def log(new: Config) -> None:
        configure_again(new)

    async def volume(new: Config) -> None:
        verbs.configure_volume(new.voice.volume)
        await verbs.kept.keep(volume=None, volume_configured=new.voice.volume)

    async def announcements(new: Config) -> None:
        unasked.said.go_by(new.announcements)

    parts = {
        ("log.level", "log.words", "log.file"): log,
        ("voice.volume",): volume,
        ("announcements.per_day", "announcements.urgent_wait"): announcements,
    }
    return Reload(config, partial(load, config.file), parts)
