"""Opens the tiers over the journal, with the vectors of what matters in them."""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from agent.bus import matches
from agent.event import Event, utc_now
from appliance.config.load import Config
from appliance.config.sections import StateSettings
from appliance.model.sentence import keep_fetching, sentence_settings
from appliance.wiring.memory.state import State
from audio.loops import Loop
from memory.recall import Recall, keep_filled
from memory.state.retention import Keep, Retention
from memory.state.tiers import STEPS, TASK, Tiers
from memory.vectors.embedding import Embedder


class MemorySide(Struct, frozen=True):
    """What the rest of the box sees of the tiers."""

    tiers: Tiers
    recall: Recall
    loops: Callable[[], Mapping[str, Loop]]
    """They fill the tiers, make their vectors and fetch the model for them."""


def memory_side(config: Config, state: State, embedder: Embedder, *, fetches: bool) -> MemorySide:
    """Put the tiers over the state database; nothing is read yet. `fetches` lets the sentence model come."""
    tiers = Tiers(state.journal.database, state.journal, utc_now)
    recall = Recall(state.journal, embedder)

    async def look(envelope: Event) -> None:
        # An event that was taken up is looked at once its run is over: meanwhile somebody waits for the answer.
        is_told = envelope.type != TASK and not any(matches(topic, envelope.type) for topic in STEPS)
        if is_told or envelope.metadata.get("event") == "run_finished":
            tiers.changed.set()

    loops: dict[str, Loop] = {
        "memory: the journal into tiers, and vectors": partial(keep_filled, tiers, recall),
        "memory: sees that a run is over": partial(state.bus.attend, "*", look),
    }
    if fetches:
        loops["memory: the sentence model, once"] = partial(keep_fetching, sentence_settings(config), tiers.changed.set)
    return MemorySide(tiers, recall, lambda: loops)


def retention_of(settings: StateSettings, state: State, is_busy: Callable[[], bool]) -> Retention:
    """Return what drops the too old from the journal while `is_busy` says that nobody speaks and nothing sounds."""
    keep = Keep(details_days=settings.keep_details_days, words_days=settings.keep_words_days)
    return Retention(state.journal.database, keep, is_busy)
