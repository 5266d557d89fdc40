"""All that rings cancelled at one word: of the kind that was named, of a day, and but for what was to stay."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from agent.intents.dialog_state import Action, DialogState
from agent.intents.intent import Intent, Language
from agent.intents.language.wording import anywhere
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.listed_things import things
from agent.intents.subjects.rings.timers import all_of_them, listed, timers_in
from agent.intents.subjects.rings.which_timer import Timer, as_said, kind_of, kinds_in, meant, of_one_day, on_that_day

MOST_CANCELLED: Final = 8
"""Timers cancelled at one word; the budget of an event is ten calls."""

_TOLD: Final[dict[Language, dict[str, str]]] = {
    "en": {"timer": "{} timer", "alarm": "{} alarm", "reminder": "{} reminder"},
    "zh": {"timer": "{}个计时器", "alarm": "{}个闹钟", "reminder": "{}个提醒"},
}


def cancel_all(state: DialogState, intent: Intent) -> list[Action] | str:
    """List the timers, then cancel each that is meant; what is left over is told.

    Slots: those of a day, `but` for what stays, `of` for the words without that, and how many of the `first` or the
    `last` of them alone are meant.
    """
    there, kinds = timers_in(listed(state)), kinds_in(intent.text("of") or state.words)
    wanted = of_kinds(_named(state, there, intent), kinds)
    spared = _spared(state, wanted, intent.text("but"))
    wanted = _so_many(wanted, intent)
    if spared is None or not wanted:
        return phrase("timer_not_that" if there else "timer_none", state.language)
    counted = anywhere(state.language, "each_of_several").search(as_said(state, intent))
    if counted and not are_so_many(counted.group(), len(wanted)):
        return phrase("timer_several", state.language, told=all_of_them(state))
    wanted = [each for each in wanted if each not in spared]
    if not (results := state.results("cancel_timer")):
        calls = [
            state.action("cancel_timer", which=each["id"], **of_one_day(each, intent))
            for each in wanted[:MOST_CANCELLED]
        ]
        return calls or phrase("left_alone", state.language)
    goes_on = any(of_one_day(each, intent) for each in wanted)
    gone = [each for each, result in zip(wanted, results, strict=False) if not result.has_failed]
    told = _told(gone, len(wanted) - len(results), state.language)
    return phrase("rings_go_on", state.language, told=told) if goes_on else told


def of_kinds(timers: Sequence[Timer], kinds: set[str]) -> list[Timer]:
    """Return those of these kinds, all for none; what counts down to remind is a timer where there is no other."""
    found = [each for each in timers if not kinds or kind_of(each) in {*kinds, ""}]
    return found or ([each for each in timers if each.get("kind") == "reminder"] if "timer" in kinds else [])


def _named(state: DialogState, timers: Sequence[Timer], intent: Intent) -> list[Timer]:
    """Return the timers with these `ids`, or those of the day that names them, or all."""
    if ids := intent.text("ids").split():
        return [each for each in timers if each.get("id") in ids]
    return on_that_day(state, timers, intent)


def are_so_many(words: str, count: int) -> bool:
    """Say whether what is said of all of them fits how many there are: both of two, 三个都 of three."""
    two, three = (re.search(pattern, words) for pattern in ("both|two|两|俩", "three|三"))
    return (not two or count == 2) and (not three or count == 3)


def _so_many(timers: Sequence[Timer], intent: Intent) -> list[Timer]:
    """Return the first, or the last, so many of the timers; none where there are fewer, and all where none is said."""
    first, last = intent.number("first"), intent.number("last")
    if max(first, last) > len(timers):
        return []
    return [*timers[:first]] if first else [*timers[-last:]] if last else [*timers]


def _told(gone: Sequence[Timer], left: int, language: Language) -> str:
    """Say how many of each kind were cancelled, and how many are left."""
    counts = Counter(kind_of(each) or "timer" for each in gone)
    if len(gone) == 1 and not left:
        return phrase("timer_cancelled", language)
    each = [
        _TOLD[language][kind].format(count) + "s" * (language == "en" and count > 1) for kind, count in counts.items()
    ]
    what = "、".join(each) if language == "zh" else " and ".join(each)
    told = phrase("rings_cancelled", language, what=what or _TOLD[language]["timer"].format(0))
    more = phrase("rings_left", language, count=left) if left else ""
    return f"{told} {more}".strip() if language == "en" else told + more


def _spared(state: DialogState, timers: Sequence[Timer], but: str) -> list[Timer] | None:
    """Return what is to stay, by its kind or its names; None where something of it is not there."""
    if kinds := kinds_in(but):
        return [each for each in timers if kind_of(each) in kinds] or None
    found = [meant(state, timers, Intent("timer_cancel", {"label": name})) for name in things(but)]
    return [each for each in found if each is not None] if all(found) else None
