"""What is said while a timer rings: by the box, its name; by people, that it is enough, or for how long."""

import re
from collections.abc import Sequence
from typing import Final

from agent.event import Event
from agent.intents.saying.spoken import spoken_length
from agent.tools.timers import REMINDS, label_of
from appliance.timers.due import DueTimer
from audio.language import sentence_language
from audio.playback.speech_output import SpokenSentence
from audio.reflexes.words import PHRASES, plain, spoken_number

WORTH_SAYING: Final = 60.0
"""Seconds a ring may be late without a word about it."""

_DUE: Final = {
    "timer": ("Timer: {label}.", "计时器：{label}。"),
    "alarm": ("Alarm: {label}.", "闹钟：{label}。"),
    "reminder": ("Reminder: {label}.", "提醒：{label}。"),
    "": ("Time is up.", "时间到了。"),
    "late": ("It was due {length} ago.", "{length}前就该响了。"),
    "missed": ("And {count} more times since.", "之后还有{count}次。"),
    "missed once": ("And once more since.", "之后还有一次。"),
}

_STOPS: Final = frozenset(
    (
        *PHRASES["stop"],
        *("stop ringing", "stop the timer", "stop the alarm", "stop timer", "stop alarm", "dismiss"),
        *("cancel", "cancel it", "cancel the timer", "cancel the alarm", "off", "turn it off", "switch it off"),
        *("别响", "别响了", "不要响了", "别吵", "别吵了", "取消", "关掉", "关了", "关闭"),
        *("关闹钟", "关掉闹钟", "关掉计时器", "停止计时器", "停止闹钟"),
    )
)
"""What is silence at any time, and what is only where something rings."""

_FILLERS: Final = frozenset({"please", "now", "ok", "okay", "hey", "nakari", "oh", "请", "好了", "好的"})
_ENDINGS: Final = re.compile("(?<=.)[吧啊啦]$")


def is_stop(words: str) -> bool:
    """Whether somebody who hears a timer ring and says this wants silence, and nothing else."""
    spoken = re.sub(r"[\W_]+", " ", words.casefold()).split()
    # "Stop, stop!" is one stop.
    told = " ".join(dict.fromkeys(word for word in spoken if word not in _FILLERS))
    return _ENDINGS.sub("", told.removeprefix("请")) in _STOPS


def is_stop_for_today(words: str) -> bool:
    """Whether it is to be silent, and what repeats is not to ring again today: "stop for today", "今天别响了"."""
    said = re.sub(r"[\W_]+", " ", words.casefold()).strip()
    if said in {"not today", "no more today", "enough for today"}:
        return True
    rest = said.removesuffix(" for today").removeprefix("今天")
    return rest != said and is_stop(rest)


def told(timers: Sequence[DueTimer], language: str) -> SpokenSentence:
    """Return what is said after the bell: each timer's name, and how late it is when that is worth a word.

    `language` (ISO 639-1) is for names that do not tell theirs by their script.
    """
    text = " ".join(dict.fromkeys(_named(timer, language) for timer in timers))
    return SpokenSentence("", 0, text, sentence_language(text, language))


def _named(timer: DueTimer, language: str) -> str:
    label = label_of(timer.event).strip()
    code = sentence_language(label, language)
    name = _phrase(_kind(timer) if label else "", code).format(label=label)
    if timer.late_seconds < WORTH_SAYING:
        return name
    unit = 3600 if timer.late_seconds >= 3600 else 60
    length = spoken_length(int(timer.late_seconds // unit) * unit, "zh" if code == "zh" else "en")
    late = _phrase("late", code).format(length=length)
    if not timer.missed:
        return f"{name} {late}"
    return f"{name} {late} {_phrase('missed once' if timer.missed == 1 else 'missed', code).format(count=timer.missed)}"


def is_alarm(timer: Event) -> bool:
    """Whether it was set for a time of the clock: what wakes people, where a timer's are awake."""
    return timer.content.startswith("Alarm")


def _kind(timer: DueTimer) -> str:
    if is_alarm(timer.event):
        return "alarm"
    return "reminder" if timer.event.metadata.get(REMINDS) else "timer"


def _phrase(name: str, language: str) -> str:
    english, chinese = _DUE[name]
    return chinese if language == "zh" else english


USUAL_MINUTES: Final = 5.0
LONGEST_MINUTES: Final = 12 * 60.0

_NUMBER_EN: Final = r"(?P<number>half an|\d+|[a-z]+(?: [a-z]+)??)"
_UNIT_EN: Final = r"(?:more )?(?P<unit>minute|hour|second)s?(?: more| longer)?"
_FORMS: Final = (
    re.compile(r"(?:snooze|later|remind me (?:again )?later|ring again later|not now)(?: it| the alarm| the timer)?"),
    re.compile(
        rf"(?:(?:snooze|ring|remind me)(?: it| the alarm| the timer)?(?: again)?(?: for| in)? |again in |in )?"
        rf"{_NUMBER_EN} {_UNIT_EN}"
    ),
    re.compile("稍后(?:提醒|再响|再说)?(?:我)?|等会儿再(?:响|叫我|提醒我?)|过一会儿再(?:响|叫我|提醒我?)|贪睡"),
    re.compile(
        "(?:再?过|再睡|再等|推迟)?(?P<number>半|[\\d零一二三四五六七八九两十]+)个?(?P<unit>分钟|小时|钟头|秒钟?)"
        "(?:后|以后|之后)?(?:再)?(?:响|叫我|提醒|提醒我)?"
    ),
)
_MINUTES: Final = {"minute": 1.0, "hour": 60.0, "second": 1 / 60, "分钟": 1.0, "小时": 60.0, "钟头": 60.0, "秒": 1 / 60}


def snooze_minutes(words: str) -> float | None:
    """Return for how many minutes, None when the words ask for something else; 5 where no time is said."""
    said = plain(words)
    for form in _FORMS:
        if found := form.fullmatch(said):
            told = found.groupdict()
            if "number" not in told:
                return USUAL_MINUTES
            count = _count(told["number"])
            minutes = count * _MINUTES[told["unit"].removesuffix("钟") if "秒" in told["unit"] else told["unit"]]
            return minutes if 0 < minutes <= LONGEST_MINUTES else None
    return None


def _count(number: str) -> float:
    """Return the number a text says, 0 when it says none."""
    if number in {"半", "half an"}:
        return 0.5
    return 1.0 if number in {"a", "an"} else float(spoken_number(number) or 0)
