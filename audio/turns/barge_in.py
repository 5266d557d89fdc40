"""Barge-in: pauses the reply when somebody speaks, then ends it or resumes it; backchannels do not end it. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from audio.echo.duplex import Mode
from audio.pcm import CHUNK_SECONDS
from audio.speech import RecognizedTurn
from audio.turns.endpointer import SPEECH_BEGINS

MOST_IN_A_ROW: Final = 4
""""Yeah, yeah, ok, right" is one; whoever says more wants to say something."""

_PHRASES: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        *("ok", "okay", "o k", "k", "okey", "alright", "all right", "right", "that s right"),
        *("yeah", "yes", "yep", "yup", "ya", "sure", "sure thing", "of course", "exactly", "indeed", "true"),
        *("i see", "got it", "i got it", "i know"),
        *("understood", "gotcha", "good", "great", "nice", "cool", "fine", "wow", "really", "interesting", "aha"),
        *("makes sense", "fair enough", "oh really", "oh wow", "oh i see", "oh nice"),
    ),
    "zh": (
        *("嗯", "恩", "唔", "呃", "额", "啊", "哦", "噢", "喔", "哎", "诶", "欸", "呵", "哈"),
        *("对", "对的", "对啊", "对呀", "對", "對的", "對啊", "是", "是的", "是啊", "是吗", "是嗎", "没错", "沒錯"),
        *("好", "好的", "好啊", "好吧", "好呀", "好嘞", "行", "行吧", "可以"),
        *("明白", "明白了", "懂了", "知道", "知道了"),
        *("了解", "这样", "这样啊", "這樣啊", "原来如此", "原來如此", "真的", "真的吗", "真的嗎"),
        *("不错", "不錯", "有意思"),
    ),
}
"""By language, folded; the zh set in both scripts, as recognizers write either."""

_SOUNDS: Final = r"m+(?: ?h+u?m+)*|m+h+m*|h+m+|u+h+(?: ?h+u+h+)*|u+m+|a+h+(?: ?h+a+h*)*|o+h+|h+uh+|e+r+m*|e+h+"
"""Mhm, mm-hmm, hm, uh-huh, um, ah, oh, huh, er, eh: the same in any language that writes them in Latin letters."""


def is_backchannel(text: str, language: str = "") -> bool:
    """Whether these words only accompany what somebody else says; of no words, False.

    `language` is ISO 639-1; without one, or with one that is not known here, the words of every known language count.
    """
    folded = _folded(text)
    row = _ROWS.get(language, _ANY_ROW)
    return bool(folded) and row.fullmatch(folded) is not None


def _folded(text: str) -> str:
    """Return the text in small letters and single spaces, without marks and without spaces between Han characters."""
    plain = re.sub(r"[\W_]+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return re.sub(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])", "", plain)


def _row(*phrases: str) -> re.Pattern[str]:
    """Return what matches a row of phrases and sounds; Han characters need no space between them."""
    longest_first = sorted(phrases, key=len, reverse=True)
    word = rf"(?:(?:{'|'.join(map(re.escape, longest_first))}|{_SOUNDS})(?:\b ?|(?<=[\u4e00-\u9fff])))"
    return re.compile(rf"{word}{{1,{MOST_IN_A_ROW}}}")


_ROWS: Final = {language: _row(*phrases, "ok", "okay") for language, phrases in _PHRASES.items()}
_ANY_ROW: Final = _row(*(phrase for phrases in _PHRASES.values() for phrase in phrases))


PATIENCE_SECONDS: Final = 2.0
"""Seconds of pause without a word until the reply goes on. A word that comes later still ends it."""

PEEK_AFTER_SECONDS: Final = 0.7
"""From the pause to the first look at the words: who still speaks then has said a word or two."""

PEEK_EVERY_SECONDS: Final = 0.5
"""Between two looks at the words so far."""

DUCKED_SPEECH_SECONDS: Final = 0.2
"""Seconds of speech that goes on after a doubtful beginning, or although the reply is ducked: no residual echo lasts so
long (`benchmarks/ears/duplex.py`)."""

NOISE_SECONDS: Final = 1.25
"""Seconds of pause after a sudden sound: if no speech has begun by then, and no reflex word was spotted, it was none.

A word under its voice is looked for after 1.1 s (`audio.reflexes.cutting`): with 0.6 s here 23 of 57 replies went on
for some words before "stop" ended them (docs/decisions/0147)."""

CALM_SECONDS: Final = 4.0
"""Seconds after a sudden sound that was no speech in which another one is ignored; twice as long each time."""


class Pause(Struct, frozen=True):
    """Pause, and keep what is left."""


class Duck(Struct, frozen=True):
    """Go on, quieter."""


class Resume(Struct, frozen=True):
    """Go on where it paused, as loud as before."""


class Peek(Struct, frozen=True):
    """Ask the listener for the words so far."""


class Commit(Struct, frozen=True):
    """End the reply: somebody has said words."""

    words: str


Action: TypeAlias = Pause | Duck | Resume | Peek | Commit
Actions: TypeAlias = tuple[Action, ...]


class BargeIn:
    """The state machine: takes events in order, answers with actions. `now` is in seconds, on the source's clock.

    In half duplex nobody is listened to while nakari speaks, so that speech is never paused; but words that came in a
    gap, or while somebody else had paused it, end the reply as they do in every mode.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        """May change at any time; holds from the next speech on."""
        self._reply_began: float | None = None
        """None while nothing is to be said."""
        self._speech_at: float | None = None
        """When the speech that is under way began; None while nobody speaks."""
        self._quiet: Pause | Duck | None = None
        """`Pause` or `Duck`, whichever is in effect; None while speech is as loud as usual."""
        self._quiet_since = 0.0
        self._peek_at = 0.0
        """When the words so far are asked for next."""
        self._doubted_speech: float | None = None
        """Seconds of speech since it was ducked, or began doubtfully; None while nothing is to be found out."""
        self._is_startled = False
        """Whether it paused for a sudden sound and nobody has begun to speak."""
        self._startled_at: float | None = None
        """When the sudden sound was for which it is paused; None where that was no sudden sound."""
        self._is_over = False
        """Whether what was said after that sound is over and no words: only a reflex word may still be found in it."""
        self._awaits_end = False
        """Whether words came in the open turn: paused until its end tells whether they were anybody's."""
        self._calm_until, self._calm = float("-inf"), CALM_SECONDS
        """Until when sudden sounds are ignored, and for how many seconds after the next false alarm."""
        self._ended_by = float("-inf")
        """When the turn began that ended a reply: the rest of it ends nothing more."""

    @property
    def is_over_reply(self) -> bool:
        """Whether what is said now is said over a reply."""
        return self._reply_began is not None

    @property
    def is_in_doubt(self) -> bool:
        """Whether speech is waited for that may be the residual of what is said: only then does a chunk count."""
        return self._doubted_speech is not None

    @property
    def is_quiet(self) -> bool:
        """Whether speech is paused or ducked."""
        return self._quiet is not None

    @property
    def due(self) -> float | None:
        """When `time_passed` has something to do next; None when it has not."""
        if self._quiet is None or self._awaits_end:
            return None
        return min(self._peek_at, self._gives_up_at) if self._waits_until is None else self._waits_until

    @property
    def _waits_until(self) -> float | None:
        """Until when a reflex word may be found in a sudden sound; None while somebody speaks, and without one."""
        is_waiting = self._is_startled or self._is_over
        return self._startled_at + NOISE_SECONDS if is_waiting and self._startled_at is not None else None

    @property
    def _gives_up_at(self) -> float:
        return self._quiet_since + PATIENCE_SECONDS

    def reply_began(self, now: float) -> Actions:
        """Begin a reply; nobody may have heard any of it yet."""
        self._reply_began = now
        return self._fall_quiet(now) if self._speech_at is not None else ()

    def reply_ended(self) -> Actions:
        """All of it was heard, or dropped."""
        self._reply_began = None
        return self._go_on()

    def speech_started(self, at: float, now: float, *, is_doubtful: bool = False) -> Actions:
        """Somebody speaks, or something sounds as if; since `at`.

        Where it `is_doubtful`, the rest of nakari's own voice sounds so too: full duplex waits for more of it.
        """
        self._speech_at, self._is_over = at, False
        if self._is_startled:
            self._is_startled, self._calm = False, CALM_SECONDS
        if not self.is_over_reply:
            return ()
        if is_doubtful and self.mode is Mode.FULL and self._quiet is None:
            self._doubted_speech = 0.0
            return ()
        return self._fall_quiet(now)

    def startled(self, now: float) -> Actions:
        """Take a sudden sound: pause for a moment, to find out what it is."""
        if not self.is_over_reply or self.mode is not Mode.FULL or self.is_quiet or now < self._calm_until:
            return ()
        self._is_startled, self._startled_at = self._doubted_speech is None, now
        return self._fall_quiet(now, Pause())

    def chunk_came(self, probability: float, now: float, explained: float = 0.0) -> Actions:
        """Take the probability of speech in the next 32 ms of sound, and which share its own voice explains of it."""
        if self._doubted_speech is None:
            return ()
        self._doubted_speech += CHUNK_SECONDS * (probability >= SPEECH_BEGINS) * (1.0 - explained)
        if self._doubted_speech < DUCKED_SPEECH_SECONDS:
            return ()
        return self._fall_quiet(now, Pause())

    def words_so_far(self, heard: RecognizedTurn) -> Actions:
        """Take words of a turn that is still open, if they pass for a person's: paused until its end.

        Only the end is sure: the whole turn may be a cough, another's or nobody's, and then the reply goes on.
        """
        if not self._ends_reply(heard):
            return ()
        was_paused, self._quiet = isinstance(self._quiet, Pause), Pause()
        self._awaits_end, self._is_startled, self._doubted_speech = True, False, None
        return () if was_paused else (self._quiet,)

    def turn_ended(self, heard: RecognizedTurn | None) -> Actions:
        """Take the end of a turn: its words, None when they were none, or nobody gets them."""
        is_newest = heard is None or self._speech_at is None or heard.utterance.started_at >= self._speech_at
        if is_newest:
            self._speech_at = None
        if heard is not None and self._ends_reply(heard):
            self._be_as_before()
            self._ended_by = heard.utterance.started_at
            return (Commit(heard.transcript.text),)
        if not is_newest:
            return ()
        if heard is None and self._startled_at is not None:
            self._is_over, self._awaits_end = True, False
            return ()
        return self._go_on()

    def time_passed(self, now: float) -> Actions:
        """Take the time; to be told at `due`."""
        if self._quiet is None or self._awaits_end:
            return ()
        if (until := self._waits_until) is not None:
            if now < until:
                return ()
            if self._is_startled:
                self._calm_until, self._calm = now + self._calm, self._calm * 2
            return self._go_on()
        if now >= self._gives_up_at:
            return self._go_on()
        if now < self._peek_at:
            return ()
        self._peek_at = now + PEEK_EVERY_SECONDS
        return (Peek(),)

    def _fall_quiet(self, now: float, how: Pause | Duck | None = None) -> Actions:
        if self.mode is Mode.HALF:
            return ()
        before = self._quiet
        if before is None or how is None:
            self._quiet_since, self._peek_at = now, now + PEEK_AFTER_SECONDS
        self._quiet = how or before or (Duck() if self.mode is Mode.DUCKED else Pause())
        if self._quiet == before:
            return ()
        self._doubted_speech = 0.0 if isinstance(self._quiet, Duck) else None
        return (self._quiet,)

    def _go_on(self) -> Actions:
        was_quiet = self._quiet is not None
        self._be_as_before()
        return (Resume(),) if was_quiet else ()

    def _be_as_before(self) -> None:
        self._quiet, self._is_startled, self._awaits_end, self._doubted_speech = None, False, False, None
        self._startled_at, self._is_over = None, False

    def _ends_reply(self, heard: RecognizedTurn) -> bool:
        """Whether these are words, said over the reply, and meant to be more than company."""
        if self._reply_began is None or heard.utterance.ended_at <= self._reply_began:
            return False
        text = heard.transcript.text
        is_new = heard.utterance.started_at > self._ended_by
        return is_new and bool(text.strip()) and not is_backchannel(text, heard.transcript.language)
