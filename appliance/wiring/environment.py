"""What lies outside the program, chosen: microphone, loudspeaker, voices, models, recognizer, clock."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from agent.context.tokens import TokenCounter
from agent.event import utc_now
from agent.loop import Settler
from agent.model.chain import Chain
from agent.model.interface import CachedPrefix, ChatModel
from agent.web.pages import PageReader
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.config.sections import EarsSettings, VoiceSettings
from appliance.footprint import give_back
from appliance.input.devices.source import looked_for, open_source
from appliance.input.hearing.choose import Hearing, HearingAhead, HearingSettings, choose_recognizer
from appliance.input.pending_turns import TakesEvents
from appliance.model.catalog import ModelCatalog
from appliance.model.choose import choose_models
from appliance.output.voices import SpeechSettings, choose_voice, open_player
from appliance.reflexes.words import Forgot
from appliance.satellites.interfaces import Devices
from appliance.satellites.satellites import open_satellites
from appliance.wiring.agent.web import pages_of
from appliance.wiring.machines.engine import engine_of
from appliance.wiring.memory.state import State
from audio.interfaces import AudioSource, Player, Synthesizer
from audio.recognizer.faster_whisper import Hotwords
from audio.turns.vad import LoadDetector, load_detector

if TYPE_CHECKING:
    from memory.engine.interface import Engine


def paired(config: Config) -> Devices | None:
    """Return the paired satellites; None where they are off."""
    if not config.satellites.enabled:
        return None
    return open_satellites(config.state_folder, str(config.zone), config.satellites)


class Environment(Struct, frozen=True):
    """What lies outside the program: sound card, voices, models, clock; a simulated room has its own."""

    source: Callable[[EarsSettings, RunOptions], AudioSource | None] = open_source
    """None without a microphone."""
    player: Callable[[VoiceSettings, RunOptions], Awaitable[Player]] = open_player
    voice: Callable[[SpeechSettings, Path], Synthesizer] = choose_voice
    """Given the state folder too, where phrases are kept."""
    models: Callable[[ModelCatalog, CachedPrefix], Awaitable[Sequence[ChatModel] | Chain]] = choose_models
    """Asked with what finds the conversation of the room."""
    clock: Callable[[], float] = monotonic
    """Seconds, the same as the source's and the player's."""
    detector: LoadDetector = load_detector
    hearing: Callable[[HearingSettings, Hotwords], Hearing] = partial(choose_recognizer, fetches=True)
    """Which recognizer hears, given the names to expect. Raises `ModelNotFound` for a model folder that is none."""
    pages: Callable[[Config], PageReader | None] = pages_of
    """Reads pages of the public internet; None where none are to be read."""
    now: Callable[[], datetime] = utc_now
    """Aware; the time by which mail is due, and what is said unasked keeps quiet hours and loses its point."""
    satellites: Callable[[Config], Devices | None] = paired
    """Paired devices in other rooms; None where there are to be none."""
    speaks: bool = True
    """Whether this machine has a mouth; a mind of ears elsewhere has none."""
    tokens: Callable[[], TokenCounter] = TokenCounter
    engine: "Callable[[Config], Engine]" = engine_of
    """The engine between the machines, not opened; asked only where `[machines] url` is set."""
    once_loaded: tuple[Callable[[], None], ...] = ()
    """Called in a worker thread when all that is loaded ahead has been; for a process that is all nakari's."""


class World(Struct, frozen=True):
    """What every part of the wiring is put into."""

    config: Config
    options: RunOptions
    state: State
    environment: Environment
    spoken: TakesEvents | None = None
    """Where what is said here goes; None is this machine's own mailbox."""
    forgets: Callable[[Callable[[], Awaitable[Forgot]]], Awaitable[Forgot]] | None = None
    """Forgets what was said last elsewhere too, besides what it is given; None where all of it is here."""
    settlers: Sequence[Settler] = ()
    """Who answers some events without a model, beside those of every box."""
    epoch: int = 1
    """Of the lease under which this machine has the mind of the household."""


REAL: Final = Environment()


def around(source: AudioSource | None, ahead: HearingAhead | None) -> Environment:
    """Return what is real for a process of its own, with a source and recognizers that were chosen before."""
    hearing = ahead.hearing if ahead else REAL.hearing
    return replace(
        REAL, source=lambda ears, _: looked_for(ears.device, source), hearing=hearing, once_loaded=(give_back,)
    )
