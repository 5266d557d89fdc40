"""A question whose yes is waited for, and what a person's next words are to it; deterministic, without a model."""

import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from agent.event import ASR_TRANSCRIPT, Event
from memory.chinese import simplified
from memory.json_value import Json, fields, read_as
from memory.state.journal import Stored

Consent = Literal["yes", "no", ""]
_AND: Final = r"(?:please|thanks|thank you)"

NAMES: Final = ("nakari", "那卡里")
"""What it is called, where nobody gave it another name."""

_CALLED: Final = re.compile(r"(?:(?:hey|ok|okay) )?(?:nabu|jarvis|mycroft|rhasspy|alexa)")
"""The usual wake words, which may stand in the same turn."""

_DO: Final = (
    r"(?:(?:please )?(?:do|do (?:it|that|so)|go (?:ahead|on)|you (?:may|can|should)|sure|of course|certainly)|"
    r"i am sure|i m sure|that s right|that is right|right|correct|okay|ok)"
)

_YES: Final = re.compile(
    rf"(?:{_AND} )?(?:(?:yes|yeah|yep|yup|aye)(?: (?:yes|yeah))?(?: {_DO})?|{_DO})(?: {_AND})*"
    r"|(?:是|是的|是啊|对|对的|对啊|好|好的|好啊|好吧|行|行啊|可以|可以的|可以啊|当然|当然可以|没问题|确认|确定|同意|请|要|要的)"
    r"(?:请|好的|可以|请便|请吧|做吧|去做吧|去吧|开始吧|谢谢)*"
)

_NO: Final = re.compile(
    rf"(?:{_AND} )?(?:(?:oh )?(?:no|nope|nah|never)(?: no)*|never ?mind|not now|stop|cancel|wait|"
    r"(?:no )?(?:please )?(?:do not|don t|dont|leave|forget|cancel|stop)(?: (?:do )?(?:it|that|so))?(?: alone)?|"
    rf"(?:no )?(?:better|rather) not)(?: {_AND})*"
    r"|(?:不|不了|不要|不用|不用了|不行|不可以|不是|别|别了|不必|不必了|先不要|先别|算了|算了吧|取消|停|停下|等等|等一下)"
    r"(?:谢谢|了|不要|不用|算了)*"
)

Verdict = Literal["yes", "no", "again", "doubtful", "late", "gone", "other", "beside"]
"""What words are to a question: a yes that counts; a no; a yes to be asked for again, or that is in doubt after that; a
yes too late; any other words when its time is over, or before, which ends it; words that were said before it was asked,
so that it still waits."""

WITHIN: Final = timedelta(seconds=60)
"""How long after the end of its question a yes counts, and how long after it was said it is acted upon."""

SURE_SCORE: Final = 0.7
"""Of all evidence that somebody said it; a yes with less is asked for once more."""

MOST_ECHO: Final = 0.3
"""Suspicion of its own voice up to which a yes is somebody else's."""

MOST_QUIETER_DB: Final = 8.0
"""How much quieter than the order a yes may be: whoever is further away is another, or a television."""


class Question(Struct, frozen=True):
    """A call that was not carried out, and the question that was asked instead."""

    id: str
    """Of its entry in the journal."""
    tool: str
    arguments: str
    """The JSON text of the call."""
    phrase: str
    """What it is about to do, as words after "to"."""
    asked_at: datetime
    """Aware; when the question was over."""
    clock: float
    """The same in seconds on the clock of the ears."""
    is_heard: bool
    """Whether it was heard to its end."""
    times: int = 1
    """How often it was asked."""
    level_dbfs: float | None = None
    """How loud the order was; None for a written one."""


def body_of(question: Question) -> dict[str, Json]:
    """Return what the journal keeps of a question."""
    kept = ("tool", "arguments", "phrase", "clock", "is_heard", "times", "level_dbfs")
    return {name: getattr(question, name) for name in kept}


def question_of(entry: Stored) -> Question | None:
    """Return the question of an entry, None for one that was erased."""
    try:
        return read_as({**entry.body, "id": entry.id, "asked_at": entry.at}, Question) if entry.is_whole else None
    except ValueError:  # the disk has changed it
        return None


def verdict_on(question: Question, event: Event, now: datetime, names: Collection[str] = NAMES) -> Verdict:
    """Return what a person's words are to a question of their own session; `names` are what they may call it."""
    said = consent_in(event.content, question.phrase, names)
    if event.created_at - question.asked_at > WITHIN or now - event.created_at > WITHIN:
        return "late" if said == "yes" else "gone"
    if said == "no":
        return "no"
    is_after = _begins_after(question, event)
    if not said:
        return "other" if is_after or not question.is_heard else "beside"
    if question.is_heard and is_after and _is_sure(question, event):
        return "yes"
    return "again" if question.times == 1 else "doubtful"


def level_of(event: Event) -> float | None:
    """Return how loud an event's words were (dBFS), None for words that were not heard."""
    return number(_evidence(event), "level_dbfs")


def _begins_after(question: Question, event: Event) -> bool:
    """Whether the words began when the question was over: for what was heard by the ears' own clock."""
    if event.type != ASR_TRANSCRIPT:
        return event.created_at >= question.asked_at
    began = number(fields(event.metadata.get("timing")), "speech_started")
    return began is not None and began >= question.clock


def _is_sure(question: Question, event: Event) -> bool:
    """Whether a yes was surely said, by whoever was asked, to nakari; what is written is."""
    if event.type != ASR_TRANSCRIPT:
        return True
    evidence = _evidence(event)
    score, echo, level = (number(evidence, name) for name in ("score", "echo_suspicion", "level_dbfs"))
    is_addressed = str(evidence.get("addressed", "unknown")) != "unknown"
    is_heard = evidence.get("confidence") == "normal" and score is not None and score >= SURE_SCORE
    is_no_echo = echo is not None and echo <= MOST_ECHO
    is_as_near = question.level_dbfs is None or (level is not None and question.level_dbfs - level < MOST_QUIETER_DB)
    return is_addressed and is_heard and is_no_echo and is_as_near


def _evidence(event: Event) -> Mapping[str, Json]:
    return fields(event.metadata.get("evidence"))


def number(told: Mapping[str, Json], name: str) -> float | None:
    """Return a number of a mapping, None where it is none."""
    value = told.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def consent_in(words: str, phrase: str = "", names: Collection[str] = NAMES) -> Consent:
    """Return whether the words are a yes or a no and nothing else; a yes may repeat the phrase that it was asked about.

    "yes", "yes please", "yes, unlock the front door", "好的"; not "yes but later", nor a yes about something else.
    It may be called by one of its `names` in them.
    """
    plain = _plain(words, names)
    if _NO.fullmatch(plain):
        return "no"
    asked = _plain(phrase, ())
    for ending in (asked, f"{asked} please"):
        if asked and plain.endswith(ending) and plain != ending:
            plain = plain.removesuffix(ending).strip()
    return "yes" if _YES.fullmatch(plain) else ""


def _plain(words: str, names: Collection[str]) -> str:
    """Return lower-case words with single spaces, and Chinese without any, in simplified characters."""
    spaced = f" {_spaced(words)} "
    for name in sorted(filter(str.strip, map(_spaced, names)), key=len, reverse=True):
        spaced = spaced.replace(f" {name} " if name.isascii() else name, " ")
    spaced = " ".join(_CALLED.sub(" ", spaced).split())
    return spaced if spaced.isascii() else spaced.replace(" ", "")


def _spaced(words: str) -> str:
    return re.sub(r"[\W_]+", " ", simplified(words.casefold())).strip()
