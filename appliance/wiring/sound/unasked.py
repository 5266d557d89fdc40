"""What is said unasked, joined: when there is a gap for it, and the rules that the household makes of it in words."""

from msgspec import Struct

from agent.unasked.decide import Rules
from agent.unasked.wishes import Wishes
from appliance.commands.about_you import about_unasked
from appliance.commands.registry import Command
from appliance.config.agent.own_work import AnnouncementSettings
from appliance.output.unasked import Announcer
from appliance.owners.owners import Owners
from appliance.wiring.agent.agent import Agent
from appliance.wiring.environment import World
from appliance.wiring.sound.input import Input
from appliance.wiring.sound.output import Output


class Said(Struct):
    """How much is said; a reload replaces it."""

    settings: AnnouncementSettings

    def go_by(self, settings: AnnouncementSettings) -> None:
        """Go by other settings from now on."""
        self.settings = settings


class Unasked(Struct, frozen=True):
    """What says it, and what can be typed about it."""

    announcer: Announcer
    commands: list[Command]
    said: Said


def open_unasked(world: World, owners: Owners, output: Output, agent: Agent, hears: Input) -> Unasked:
    """Join them; nothing is said before the announcer runs."""
    config, state = world.config, world.state
    wishes = Wishes(owners.settings, output.announcements, state.bus, agent.contexts)
    agent.loop.answer_by(wishes)
    quiet, said = config.quiet, Said(config.announcements)

    def rules() -> Rules:
        settings = said.settings
        return Rules(quiet, config.zone, settings.per_day, settings.urgent_wait, wishes.unwanted)

    async def is_engaged() -> bool:
        run = agent.loop.run_in_hand
        is_due = run is not None and run.event.is_from_person
        is_sounding = output.rooms.is_speaking or (output.ringer is not None and output.ringer.is_ringing)
        return is_due or is_sounding or bool(len(hears.turns)) or await state.mailbox.is_person_waiting()

    def is_there(room: str) -> bool:
        return output.rooms.named(room) is not None

    announcer = Announcer(output.announcements, output.voices, output.company, rules, is_engaged, is_there)
    return Unasked(announcer, about_unasked(output.announcements, wishes), said)
