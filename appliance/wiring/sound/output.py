"""The mouth, put together: from a reply to the loudspeaker or to who asked in writing; and timers that ring."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from msgspec import Struct

from agent.context.situation import SituationProvider
from agent.event import ASR_TRANSCRIPT, Event
from agent.replies import ReplySink
from agent.unasked.announcements import Announcements
from appliance.output.company import Company, RoomTurns
from appliance.output.text import ReplyRouter, TextReplySink
from appliance.output.unasked import UnaskedReplySink
from appliance.output.voice import VoiceReplySink
from appliance.output.voices import speech_settings
from appliance.reflexes.kept import KeptSwitches
from appliance.remote.place import Places
from appliance.rooms.arbitration import Arbiter, RoomEars
from appliance.rooms.rooms import Room, Rooms, where
from appliance.rooms.voices import RoomVoices
from appliance.timers.due import DueTimers
from appliance.timers.ringer import Pace, Ringer
from appliance.wiring.environment import World
from audio.echo.self_echo import SelfEcho
from audio.interfaces import Player, Synthesizer
from audio.loops import Loop
from audio.playback.speech_output import SpeechOutput
from audio.recognizer.sharing import RecognizerTurns
from audio.turns.surroundings import SpeechActivity

SWITCHES: Final = "switches.json"
"""The file in the state folder that keeps mute and volume."""


class Output(Struct, frozen=True):
    """Everything that says something."""

    player: Player
    rooms: Rooms
    """Where it speaks: the box's own room, and those of satellites while they are paired."""
    speech: SpeechOutput
    """Of the box's own room, as `voice`."""
    voice: VoiceReplySink
    """Replies into sound."""
    voices: RoomVoices
    """Replies into the sound of the room that each belongs to."""
    recognizing: RecognizerTurns
    """Who of all ears has the recognizer."""
    arbiter: Arbiter
    """Lets one event come of what several rooms hear."""
    contest: RoomEars
    """Of the box's own ears."""
    own_words: SelfEcho
    """Keeps what it says in any room from being taken for somebody's words in this or another one."""
    text: TextReplySink
    """Replies to who asked in writing."""
    replies: ReplySink
    """The mind's way out: each reply goes to where its event came from; what nobody asked for waits for a gap."""
    ringer: Ringer | None
    """None in a box that lives for one question: it leaves timers to the next one; in a mind: its ears have them."""
    turns: RoomTurns
    """Of the box's own room; told by its ears, which write its activity too."""
    announcements: Announcements
    """What waits to be said unasked."""
    company: Company
    """Who is there to hear it; told by the ears."""
    lull: Callable[[], Awaitable[None]]
    """Waits until something may be said that is not kept."""
    switches: KeptSwitches
    remote: Places
    """Where else it hears and speaks."""

    @property
    def where(self) -> SituationProvider:
        """What the agent is told of the rooms."""
        return where(self.rooms, lambda: self.company.lately)

    def stop_speaking(self) -> None:
        """Silence the reply under way, wherever it sounds."""
        if not self.remote.stop_speaking() or self.voices.is_replying:
            self.voices.stop_speaking()

    def loops(self) -> Mapping[str, Loop]:
        """Return what speaks and rings, until cancelled."""
        remote: dict[str, Loop] = {"remote: pages and programs that hear and speak": self.remote.run}
        return {**self.speech.loops(), **(self.ringer.loops() if self.ringer else {}), **remote}


@asynccontextmanager
async def open_output(world: World) -> AsyncIterator[Output]:
    """Open the loudspeaker, or what takes its place, and join everything that speaks through it.

    Raises `OutputUnwritable` for a recording that cannot be written.
    """
    config, state, environment = world.config, world.state, world.environment
    player = await environment.player(config.voice, world.options)
    try:
        switches = KeptSwitches(config.state_folder / SWITCHES)
        volume = switches.volume_for(config.voice.volume)
        speech = SpeechOutput(
            environment.voice(speech_settings(config), config.state_folder), player, environment.clock, volume=volume
        )
        voice = VoiceReplySink(speech, state.bus, config.ears.language)
        text = TextReplySink(state.bus)
        quiet, now = config.quiet, environment.now
        urgent = config.announcements.urgent
        announcements = Announcements(state.mailbox, state.journal, state.bus, quiet, urgent, now)
        await announcements.load()
        state.mailbox.observe_arrivals(announcements.arrived)
        state.mailbox.observe_arrivals(partial(_asked_aloud, speech.voice))
        rooms = Rooms(Room(config.ears.room, speech, voice, lambda: environment.speaks))
        company = Company(announcements.changed, environment.clock)
        turns = company.turns_in(rooms.own.called, SpeechActivity(environment.clock))
        rooms.observe(company)
        recognizing = RecognizerTurns()
        arbiter = Arbiter(lambda: recognizing.is_wanted)
        own_words = SelfEcho(rooms, environment.clock)
        voices = RoomVoices(rooms, announcements.file, lambda: company.last_room)
        spoken = UnaskedReplySink(voices, announcements.file, company.sentence_over)
        lull = partial(company.lull, lambda: quiet is not None and quiet.until(now()) is not None)
        due, pace = DueTimers(state, now), Pace(environment.clock)
        rings = environment.speaks and not world.options.deaf
        ringer = Ringer(due, rooms, config.ears.language, company, pace) if rings else None
        places = Places()
        replies = ReplyRouter(voice=spoken, text=text, there=places.mouth_for)
        unasked = (announcements, company, lull)
        aloud = (rooms, speech, voice, voices, recognizing, arbiter, arbiter.ears(rooms.own.called), own_words)
        yield Output(player, *aloud, text, replies, ringer, turns, *unasked, switches, places)
    finally:
        await player.aclose()


def _asked_aloud(voice: Synthesizer, event: Event) -> None:
    """Have the voice get ready while somebody's words are thought about: an answer is likely to follow."""
    if event.type == ASR_TRANSCRIPT:
        voice.expect()
