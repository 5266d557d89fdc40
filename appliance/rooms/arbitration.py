"""One event for a sentence that several rooms hear: the ears that heard it best have it, the others heard its echo."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from difflib import SequenceMatcher
from typing import Final

import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from agent.event import new_id
from audio.echo.self_echo import words_of
from audio.speech import RecognizedTurn, SpeechStarted, Transcript
from audio.turns.sound_print import SoundPrint, print_likeness, sound_print
from memory.chinese import simplified
from memory.json_value import Json

log = structlog.get_logger()

ECHO: Final = "heard better in another room"
"""Why nobody gets the words of a turn that is another room's as well."""

PATIENCE: Final = 0.5
"""Seconds that words wait for those of a turn in another room that was open at the same time."""

LONGEST_PATIENCE: Final = 2.0
"""Seconds that they wait at most while words are being recognized: the other room's come after theirs."""

LOOK_AGAIN: Final = 0.1
"""Seconds between two looks whether they are."""

SKEW: Final = 0.4
"""Seconds by which the same sound may be heard earlier or later elsewhere: chunks of a device, and its network."""

SAME_TIME: Final = 0.5
"""Share of the shorter of two turns that the other one covers, at least, where both are the same speech."""

SAME_WORDS: Final = 0.6
"""Share of letters in common, in order, from which on two transcripts are of the same words, misheard ones too."""

SAME_SOUND, SAME_SHORT_SOUND, SHORT = 0.74, 0.84, 1.5
"""Of `print_likeness`, from which on two sounds are one, whatever a recognizer made of them; and where one is shorter
than so many seconds. Set on all pairs of benchmarks/room/two_rooms.py, where others have 0.70 and 0.82."""

KEPT, KEPT_SECONDS = 16, 60.0
"""Newest turns that a later one may be the echo of, and how long before it they may have begun."""

NO_LOGPROB: Final = -0.5
"""Stands for the log-probability of a recognizer that tells none."""

MOST_SNR_DB: Final = 40.0
"""More is no better hearing."""

DB_OF_A_NAT: Final = 10.0
"""What a nat of log-probability counts against the signal-to-noise ratio."""

DB_OF_A_GUESS: Final = 30.0
"""What is taken from words that the recognizer itself trusts little."""


class Hearing(Struct, frozen=True):
    """A turn as it is kept for comparison: without its samples."""

    turn: RecognizedTurn
    sound: SoundPrint

    @classmethod
    def of(cls, heard: RecognizedTurn) -> "Hearing":
        """Return what is kept of a turn."""
        samples = heard.utterance.samples
        return cls(replace(heard, utterance=replace(heard.utterance, samples=samples[:0].copy())), sound_print(samples))


class Claim(Struct, eq=False):
    """A turn with words that asks to be the event of what was said."""

    ears: "RoomEars"
    heard: Hearing
    id: str = field(default_factory=new_id)
    """Of its event."""
    has_won: bool = False

    @property
    def began(self) -> float:
        """When it began, in seconds on the clock of the ears."""
        return self.heard.turn.utterance.started_at


class Arbiter:
    """Decides between the ears of all rooms. On the event loop; one pair of ears alone never waits."""

    def __init__(self, is_recognizing: Callable[[], bool]) -> None:
        """`is_recognizing` tells whether words of any ears are on their way."""
        self._is_recognizing = is_recognizing
        self._ears: list[RoomEars] = []
        self._claims: deque[Claim] = deque(maxlen=KEPT)
        """Those that wait, and the newest that won."""
        self._changed = asyncio.Event()

    def ears(self, room: str) -> "RoomEars":
        """Return what follows the turns of more ears, in a room of this name."""
        ears = RoomEars(self, room)
        self._ears.append(ears)
        return ears

    def remove(self, ears: "RoomEars") -> None:
        """Take that these hear no more."""
        self._ears.remove(ears)
        self.tell()

    @property
    def is_alone(self) -> bool:
        """Whether there is one pair of ears, with which nobody disagrees."""
        return len(self._ears) < 2

    def tell(self) -> None:
        """Have those who wait look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def settle(self, claim: Claim) -> Claim:
        """Return who has the event: this claim or, where others heard the same, the best; waits for the others."""
        while self._claims and claim.began - self._claims[0].began > KEPT_SECONDS:
            self._claims.popleft()
        self._claims.append(claim)
        self.tell()
        try:
            await self._until_nobody_is_awaited(claim)
            while (best := self._best(claim)) is not claim and not best.has_won:  # it may go away before it is decided
                await self._changed.wait()
            claim.has_won = best is claim
        finally:
            if not claim.has_won and claim in self._claims:
                self._claims.remove(claim)
            self.tell()
        return best

    async def _until_nobody_is_awaited(self, claim: Claim) -> None:
        """Return when all have been heard that may have the same, or they take too long."""
        clock = asyncio.get_running_loop().time
        patient_until, longest = clock() + PATIENCE, clock() + LONGEST_PATIENCE
        while self._is_awaited(claim):
            until = min(longest, max(patient_until, clock() + LOOK_AGAIN * self._is_recognizing()))
            if until <= clock():
                return
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._changed.wait()

    def is_open_elsewhere(self, claim: Claim) -> bool:
        """Whether another room's turn may be the same words, or is."""
        return self._is_awaited(claim) or self._best(claim) is not claim

    def forget(self) -> None:
        """Keep no words of turns that are decided."""
        waiting = [claim for claim in self._claims if not claim.has_won]
        self._claims = deque(waiting, maxlen=KEPT)
        for ears in self._ears:
            ears.forget()

    def _is_awaited(self, claim: Claim) -> bool:
        """Whether a turn elsewhere is open that may turn out to be the same, and nobody has won it yet."""
        if any(other.has_won for other in self._rivals(claim)):
            return False
        return any(ears is not claim.ears and ears.may_have(claim.heard) for ears in self._ears)

    def _best(self, claim: Claim) -> Claim:
        """Return who won already, else who heard it best so far."""
        rivals = self._rivals(claim)
        if won := [rival for rival in rivals if rival.has_won]:
            return won[0]
        return max([claim, *rivals], key=lambda each: merit_of(each.heard.turn))

    def _rivals(self, claim: Claim) -> list[Claim]:
        return [other for other in self._claims if other.ears is not claim.ears and is_same(other.heard, claim.heard)]


class RoomEars:
    """A `TurnObserver` of the ears of one room, and a `Contest` of their intake."""

    def __init__(self, arbiter: Arbiter, room: str) -> None:
        self.room = room
        self._arbiter = arbiter
        self._open: deque[float] = deque()
        """When the turns began whose words were neither settled nor held back yet, in seconds on the ears' clock."""
        self._so_far: Hearing | None = None
        """Words of the newest of them, so far."""
        self._settled: RecognizedTurn | None = None
        self._verdict: tuple[Transcript, Claim, Claim] | None = None
        """Of the newest turn that was settled: its claim and the one that won."""

    def speech_started(self, started: SpeechStarted) -> None:
        """Take that a turn began."""
        self._so_far = None
        self._open.append(started.at)

    def words_so_far(self, heard: RecognizedTurn) -> None:
        """Take the words of the open turn: others need not wait for what is something else."""
        if not self._arbiter.is_alone:
            self._so_far = Hearing.of(heard)
            self._arbiter.tell()

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Take that nobody gets a turn, or that it was settled."""
        if heard is None or heard is not self._settled:
            self._close()
            self._arbiter.tell()
        self._settled = None

    async def settle(self, heard: RecognizedTurn) -> str:
        """Return why nobody gets the words, "" where the event is theirs; waits only while others hear something."""
        self._close()
        self._settled = heard
        if self._arbiter.is_alone:
            return ""
        claim = Claim(self, Hearing.of(heard))
        winner = await self._arbiter.settle(claim)
        self._verdict = (heard.transcript, claim, winner)
        if winner is claim:
            return ""
        log.info("echo_of_another_room", room=self.room, event_id=winner.id, heard_in=winner.ears.room)
        return ECHO

    def id_of(self, heard: RecognizedTurn) -> str:
        """Return the id of the event that a turn becomes."""
        verdict = self._verdict
        return verdict[1].id if verdict is not None and verdict[0] is heard.transcript else new_id()

    def told(self, heard: RecognizedTurn) -> Mapping[str, Json]:
        """Return what the journal keeps of an echo: of which event, where that was heard, and why it counts more."""
        if self._verdict is None or self._verdict[0] is not heard.transcript or self._verdict[2].ears is self:
            return {}
        winner = self._verdict[2]
        better = {"better": _told(winner.heard.turn), "here": _told(heard)}
        return {"echo_of": winner.id, "heard_in": winner.ears.room, **better}

    def dispute(self, heard: RecognizedTurn) -> str:
        """Return why words of an open turn end no reply yet, "" when they may: another room may hear the same."""
        is_alone = self._arbiter.is_alone
        return "" if is_alone or not self._arbiter.is_open_elsewhere(Claim(self, Hearing.of(heard))) else ECHO

    def forget(self) -> None:
        """Keep no words."""
        self._so_far = self._verdict = None

    def may_have(self, heard: Hearing) -> bool:
        """Whether a turn is open here that may be the same words as those heard elsewhere."""
        is_near = any(at <= heard.turn.utterance.ended_at + SKEW for at in self._open)
        return is_near and (self._so_far is None or len(self._open) > 1 or is_same(self._so_far, heard))

    def _close(self) -> None:
        if self._open:
            self._open.popleft()
        if not self._open:
            self._so_far = None


class Undisputed:
    """A `Contest` of ears that hear nothing of what others do: a page somewhere, and whoever holds a button."""

    async def settle(self, heard: RecognizedTurn) -> str:
        """Give them the event."""
        return ""

    def id_of(self, heard: RecognizedTurn) -> str:
        """Return the id of the event that a turn becomes."""
        return new_id()

    def told(self, heard: RecognizedTurn) -> Mapping[str, Json]:
        """Return nothing: it is the echo of nothing."""
        return {}


def merit_of(heard: RecognizedTurn) -> float:
    """Return how well a turn was heard, in dB: how far speech is above the background, and how likely the words.

    The level itself is no evidence between two microphones: each has a gain of its own.
    """
    utterance, transcript = heard.utterance, heard.transcript
    snr_db = min(utterance.level_dbfs - utterance.noise_dbfs, MOST_SNR_DB)
    doubt = DB_OF_A_GUESS if transcript.confidence == "low" else 0.0
    return snr_db + DB_OF_A_NAT * transcript.evidence.get("avg_logprob", NO_LOGPROB) - doubt


def is_same(one: Hearing, other: Hearing) -> bool:
    """Whether two rooms heard the same speech: at the same time, and the same words, or what sounds the same.

    A recognizer may make other words of what comes from afar; how its sound rises and falls stays.
    """
    if not is_same_time(one.turn, other.turn):
        return False
    if likeness(one.turn.transcript.text, other.turn.transcript.text) >= SAME_WORDS:
        return True
    is_short = min(_seconds(one.turn), _seconds(other.turn)) < SHORT
    return print_likeness(one.sound, other.sound) >= (SAME_SHORT_SOUND if is_short else SAME_SOUND)


def is_same_time(one: RecognizedTurn, other: RecognizedTurn) -> bool:
    """Whether most of the shorter turn is covered by the longer one, `SKEW` aside."""
    ours, theirs = one.utterance, other.utterance
    shorter = min(_seconds(one), _seconds(other))
    common = min(ours.ended_at, theirs.ended_at) - max(ours.started_at, theirs.started_at)
    return common + SKEW > 0 and common + SKEW >= SAME_TIME * shorter


def likeness(one: str, other: str) -> float:
    """Return the share of letters, or Chinese characters, that two transcripts have in common, in order; 0 to 1."""
    ours, theirs = (simplified(" ".join(words_of(text))) for text in (one, other))
    if not ours or not theirs:
        return 0.0
    return SequenceMatcher(None, ours, theirs, autojunk=False).ratio()


def _seconds(heard: RecognizedTurn) -> float:
    return heard.utterance.ended_at - heard.utterance.started_at


def _told(heard: RecognizedTurn) -> dict[str, Json]:
    logprob = heard.transcript.evidence.get("avg_logprob")
    return {
        "snr_db": round(heard.utterance.level_dbfs - heard.utterance.noise_dbfs, 1),
        "level_dbfs": round(heard.utterance.level_dbfs, 1),
        **({} if logprob is None else {"avg_logprob": round(logprob, 3)}),
    }
