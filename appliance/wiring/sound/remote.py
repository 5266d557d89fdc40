"""Remote places, put together: what pages and programs that hear and speak share with the room."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial

from msgspec import Struct

from agent.event import Event
from appliance.api.event_intake import EventIntake
from appliance.input.hearing.choose import hearing_settings
from appliance.input.pending_turns import PendingTurns
from appliance.remote.ears import Mind, Recognizing
from appliance.remote.mouth import Speaking
from appliance.remote.place import House
from appliance.wiring.agent.agent import Agent
from appliance.wiring.environment import World
from appliance.wiring.sound.input import Input
from appliance.wiring.sound.output import Output
from appliance.wiring.sound.speakers import SpeakerSide
from audio.interfaces import Recognizer
from audio.recognizer.faster_whisper import no_hotwords
from audio.recognizer.wrapped import WrappedRecognizer
from audio.turns.vad import never_plain
from memory.errors import StateUnusable


def house_of(
    world: World, output: Output, hears: Input, agent: Agent, letters: EventIntake, side: SpeakerSide | None
) -> House:
    """Join what places elsewhere share with the room."""
    config, environment, ears = world.config, world.environment, hears.ears
    recognizer: Recognizer = (
        ears.hearing.recognizer
        if ears is not None
        else OnDemand(lambda: environment.hearing(hearing_settings(config), no_hotwords).recognizer)
    )
    recognizing = Recognizing(
        side.heard_by(recognizer) if side else recognizer,
        output.recognizing,
        partial(environment.detector, never_plain),
        ThreadPoolExecutor(1, "remote-ears"),
        config.ears.language,
        config.ears.commit_silence,
        environment.clock,
    )
    speaking = Speaking(output.speech.voice, output.text, world.state.bus, config.ears.language, environment.clock)
    filing, typed = Filing(letters, hears.turns), hears.reflexes.typed
    most = config.economy.asr_transcript
    marks = side.voices.marks if side else lambda heard: {}
    mind = Mind(filing, agent.loop.interrupt, typed, world.state.bus, most, marks, look_ahead=agent.recalled.look_ahead)
    return House(recognizing, speaking, mind)


class Filing(Struct, frozen=True):
    """The way of remote words into the mailbox: that of the doors, and where the disk refuses, that of the room."""

    letters: EventIntake
    turns: PendingTurns

    async def file(self, event: Event) -> None:
        """File an event, or keep it for later, which is told in the room. Raises `Problem` for a visitor's too many."""
        try:
            await self.letters.put(event)
        except StateUnusable:
            await self.turns.file(event)


class OnDemand(WrappedRecognizer):
    """A recognizer that is chosen when somebody speaks: the box itself has no microphone."""

    def __init__(self, choose: Callable[[], Recognizer]) -> None:
        self._choose = choose

    @cached_property
    def _recognizer(self) -> Recognizer:  # type: ignore[override]  # mypy takes it for read-only
        return self._choose()
