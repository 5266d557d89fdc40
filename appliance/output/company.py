"""Who is there and whether somebody speaks, gathered from ears and mouth: so that nothing is said over people."""

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Final

from agent.unasked.decide import COMPANY, GAP, nearest
from audio.interfaces import TurnObserver
from audio.playback.speech_output import SpeechObserver
from audio.speech import RecognizedTurn, SpeechStarted
from audio.turns.listener import REFLEX
from audio.turns.surroundings import SpeechActivity

HEARD: Final = frozenset({"", REFLEX, "backchannel"})
"""Why nobody got the words of a turn, where it was a person all the same who said them."""

LONGEST_TURN: Final = 30.0
"""Seconds without a voice after which an open turn counts as over, whatever became of it."""

LONGEST_HOLD: Final = 8.0
"""Seconds that what was asked for waits for the end of a sentence; a television never ends."""

LOOK_SECONDS: Final = 0.1
"""Between two looks whether that sentence has ended."""


class RoomTurns(TurnObserver):
    """Follows the turns of the ears of one room."""

    def __init__(self, room: str, activity: SpeechActivity, ended: Callable[[str, bool], None]) -> None:
        """Tell `ended` of each turn: the name of the room, and whether a person was understood."""
        self.room = room
        self.activity = activity
        self._ended = ended
        self._open = 0
        """Turns that began, and whose words are not known yet."""

    def speech_started(self, started: SpeechStarted) -> None:
        """Take that somebody begins to speak."""
        self._open += 1

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Take that a turn is over, and whether a person was heard in it."""
        self._open = max(0, self._open - 1)
        self._ended(self.room, heard is not None and suppressed in HEARD)

    def understood(self) -> None:
        """Take that a person was understood there, where only the words are known."""
        self._ended(self.room, True)

    @property
    def is_speaking(self) -> bool:
        """Whether somebody's sentence is under way there, or its words are still being recognized."""
        return self._open > 0 and self.activity.within(LONGEST_TURN)


class Company(SpeechObserver):
    """Follows the turns of all ears and what is spoken. On the event loop; all in seconds on one clock."""

    def __init__(self, stirred: asyncio.Event, clock: Callable[[], float] = monotonic) -> None:
        """Set `stirred` whenever somebody was heard; `clock` is the one of ears and mouth."""
        self._clock = clock
        self._rooms: list[RoomTurns] = []
        self._understood_at = float("-inf")
        self._spoke_at = float("-inf")
        """When its own voice ended last."""
        self._heard_at: dict[str, float] = {}
        self._ears: list[Callable[[], bool]] = []
        self._stirred = stirred

    def turns_in(self, room: str, activity: SpeechActivity) -> RoomTurns:
        """Return what follows the turns in a room of this name; its ears write `activity` at each chunk of speech."""
        turns = RoomTurns(room, activity, self._turn_ended)
        self._rooms.append(turns)
        return turns

    def leave(self, turns: RoomTurns) -> None:
        """Take that nothing hears there any more."""
        self._rooms.remove(turns)

    def listen_by(self, can_hear: Callable[[], bool]) -> None:
        """Take that there are ears, which say whether they can hear: while they can, nobody heard is nobody there."""
        self._ears.append(can_hear)

    def _turn_ended(self, room: str, is_person: bool) -> None:
        self._understood_at = self._clock()
        if is_person:
            self._heard_at[room] = self._clock()
            self._stirred.set()

    def speaking_changed(self, speaking: bool) -> None:
        """Take that its own voice has ended."""
        if not speaking:
            self._spoke_at = self._clock()

    @property
    def is_speaking(self) -> bool:
        """Whether somebody's sentence is under way anywhere, or its words are still being recognized."""
        return any(turns.is_speaking for turns in self._rooms)

    @property
    def silent_for(self) -> float:
        """Seconds since a voice was last heard, or its words were known."""
        return self._clock() - max([self._understood_at, *(turns.activity.last_at for turns in self._rooms)])

    @property
    def rested_for(self) -> float:
        """Seconds since its own voice ended."""
        return self._clock() - self._spoke_at

    @property
    def heard(self) -> Mapping[str, float] | None:
        """The rooms in which a person was understood, and how many seconds ago; None where nothing hears."""
        return self._ago if any(can_hear() for can_hear in self._ears) else None

    @property
    def lately(self) -> Mapping[str, float]:
        """The rooms in which a person was understood lately, and how many seconds ago."""
        return {room: ago for room, ago in self._ago.items() if ago <= COMPANY}

    @property
    def last_room(self) -> str:
        """The room in which a person was understood last, "" where that is long ago."""
        return nearest(self._ago)

    def is_spoken_to(self, room: str, seconds: float) -> bool:
        """Whether somebody speaks in a room of this name, or did so in the last so many seconds."""
        return any(turns.room == room and turns.activity.within(seconds) for turns in self._rooms)

    @property
    def _ago(self) -> dict[str, float]:
        now = self._clock()
        return {room: now - at for room, at in self._heard_at.items()}

    async def lull(self, is_quiet: Callable[[], bool]) -> None:
        """Return when nobody speaks, and nothing of its own sounded just now, outside of quiet hours."""
        while self.is_speaking or min(self.silent_for, self.rested_for) < GAP or is_quiet():  # noqa: ASYNC110  no event
            await asyncio.sleep(GAP)

    async def sentence_over(self) -> None:
        """Return when nobody is in the middle of a sentence, or has been for too long."""
        until = self._clock() + LONGEST_HOLD
        while self.is_speaking and self._clock() < until:  # noqa: ASYNC110  the end of a sentence is no event
            await asyncio.sleep(LOOK_SECONDS)
