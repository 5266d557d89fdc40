"""Growth, put together: the looks back after conversations, and the nights."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from msgspec import Struct

from agent.event import utc_now
from agent.growth.dreams import Dreams
from agent.growth.evidence import Evidence
from agent.growth.occasions import SILENCE, Nights, Occasion, Occasions, Reflections
from agent.growth.said import Said
from agent.mailbox import waiting_by
from agent.mailbox.mail import Purse
from agent.model.chain import Chain
from agent.model.interface import OFFLINE
from agent.model.window import Windows
from agent.run.run import Run
from agent.time.quiet import quiet_hours
from agent.tools.growth import Growth
from appliance.wiring.environment import World
from appliance.wiring.memory.graph import LentGraph
from appliance.wiring.sound.output import Output
from audio.loops import Loop
from memory.history.schedule import save_unsaved

NIGHT_HOURS: Final = "02:00-05:00"
"""Where no quiet hours are set."""

RECHECK: Final = 60.0
"""Seconds within which a clock that was set is noticed: nothing here is on the second."""


class GrowthSide(Struct, frozen=True):
    """What the rest of the box sees of growth."""

    looked_at: Growth | None
    """None where the agent does not look back by itself."""
    occasions: Occasions | None

    def loops(self) -> Mapping[str, Loop]:
        """Return what brings its events, until cancelled."""
        name = "growth: looks back once nobody speaks, and over the memory at night"
        return {} if self.occasions is None else {name: self.occasions.run}


def growth_side(
    world: World, output: Output, models: Chain, windows: Windows, graph: LentGraph, in_hand: Callable[[], Run | None]
) -> GrowthSide:
    """Put growth over the journal; a box that is opened for one question has none."""
    settings, state = world.config.growth, world.state
    if world.options.brief:
        return GrowthSide(None, None)
    database = state.journal.database

    def most_tokens() -> int:
        window = windows.chosen.tokens
        return min(settings.reflect_tokens, window // 2) if window else settings.reflect_tokens

    def has_model() -> bool:
        return any(model.name != OFFLINE for model in models.may_think)

    def is_busy() -> bool:
        sounds = output.rooms.is_speaking or output.company.silent_for < SILENCE.total_seconds()
        return sounds or in_hand() is not None

    zone, wanted = world.config.zone, list[Occasion]()
    hours = world.config.quiet or quiet_hours(NIGHT_HOURS, zone)
    if settings.reflect:
        wanted.append(Reflections(state.mailbox, database, graph.is_for, has_model))
    evidence = None
    if (writer := graph.writer) is not None:
        evidence = Evidence(writer.graph, graph.name_usage, state.journal, zone, utc_now)
        if settings.nights and hours is not None:
            purse = Purse(settings.night_tokens, settings.night_usd)
            save = partial(save_unsaved, writer)
            wanted.append(Nights(state.mailbox, database, hours, purse, has_model, evidence.counts, save))
    occasions = Occasions(state.mailbox, database, wanted, is_busy, waiting_by(utc_now, RECHECK))
    state.mailbox.observe_arrivals(occasions.arrived)
    dreams = Dreams(database, writer.audit, zone) if writer is not None else None
    return GrowthSide(Growth(Said(state.journal, most_tokens), evidence, dreams), occasions)
