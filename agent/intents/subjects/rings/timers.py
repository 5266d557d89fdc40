"""Timers and alarms without a model: what is asked for becomes calls of the timer tools, their results become words."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from agent.intents.dialog_state import Action, DialogState, ToolResult
from agent.intents.intent import Intent, Slot
from agent.intents.language.questions import is_statement, read_question
from agent.intents.language.wording import anywhere, bare, beginning, is_story, mended, without_fillers
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import (
    clock,
    every,
    is_length,
    length,
    length_timer,
    seconds_told,
    spoken_length,
    to_second_person,
)
from agent.intents.subjects.days import BYDAY, but_for, last_day, names_day, next_moment
from agent.intents.subjects.needed import First, done, now_at, result_of, worked
from agent.intents.subjects.rings.hours import nearest_hour, of_its_part, usual_hour, without_part
from agent.intents.subjects.rings.telling import at_change, day_added, left_of
from agent.intents.subjects.rings.which_timer import (
    BY_LIST,
    IT,
    OTHER,
    RINGING,
    Timer,
    as_said,
    due_of,
    is_nameless,
    label_of,
    meant,
    of_kind_said,
    on_that_day,
    spoken_of,
    wakes,
)
from memory.json_value import fields, objects

NIGHT_ENDS: Final = 6
DAY_BEGINS: Final = 9
"""Hours: below the first one nobody means the early morning who has just set something for the second or later."""

MONTHLY: Final = "FREQ=MONTHLY;BYMONTHDAY="

_REMINDS: Final = re.compile(r"\bremind|\bforget\b|提醒|别让我忘", re.IGNORECASE)
"""What asks for a reminder, and for no timer, though it counts down."""

_ONE_DAY: Final = re.compile(r"BYDAY=[A-Z]{2}(?![A-Z,])")
"""The day of the week of what repeats on no other."""

LONGEST_LABEL: Final = 200
"""Characters of a label that the timer tools take."""


def start(state: DialogState, intent: Intent) -> str:
    """Set a timer; without a name its length is its label, so that it can be named by it."""
    language, seconds = state.language, intent.seconds()
    named = _what_for(state, intent.text("label") or intent.text("name"))
    left, label = max(1, seconds - state.waited), named or length(seconds, language)
    reminds = {"reminder": True} if named and _REMINDS.search(state.words) else {}
    result = result_of(state, "set_timer", seconds=left, label=label, **reminds)
    if worked(state, result).is_uncertain:
        return _look(state)
    told = {"length": spoken_length(seconds, language), "label": to_second_person(named, language)}
    return phrase("timer_set_for" if named else "timer_set", language, **told)


def alarm(state: DialogState, intent: Intent) -> str:
    """Set an alarm at the next time of day that fits what was said, or so much earlier as the slots of a length say."""
    now = now_at(state)
    intent = of_its_part(intent, state.words, now)
    due, label = next_moment(intent, now), _what_for(state, without_part(intent.text("label")))
    if due is None:
        return phrase("no_such_day", state.language)
    due -= timedelta(seconds=intent.seconds())
    repeat = intent.text("repeat")
    said = label if label in state.words else ""  # what was only told before the order is no name
    if not repeat and (moved := _in_its_place(state, due, said)):
        return moved
    last = last_day(intent, due.date(), now.date()) if repeat else None
    return alarm_at(state, due, label, f"{repeat};UNTIL={last:%Y%m%d}T235959" if last else repeat)


def _in_its_place(state: DialogState, due: datetime, label: str) -> str:
    """Move what was just set, or that of the day of `due`, to it where another time is wanted; "" where none is.

    It is for the same thing (`label`), or as that for nothing but to wake.
    """
    words, language = mended(state.words, state.language), state.language
    set_ = [each.value for turn in state.last_said() for each in turn.results if each.tool == "set_alarm"]
    just_set = {fields(each).get("id") for each in set_} if beginning("objecting", language).match(words) else set()
    if not (just_set or anywhere(language, "instead").search(words)) or not state.has("list_timers"):
        return ""
    alike = [each for each in timers_in(listed(state)) if (label_of(each) == label if label else wakes(each))]
    once = [(each, due_of(each)) for each in alike if "repeats" not in each]
    of_day = [str(each["id"]) for each, at in once if at is not None and at.date() == due.date()]
    ids = [str(each["id"]) for each, _ in once if each["id"] in just_set] or of_day
    slots = {"exact_hour": due.hour, "minute": due.minute, "date": due.day, "month": due.month}
    if len(ids) != 1:
        return ""
    moved = change(state, Intent("timer_change", {**slots, "id": ids[0]}))
    if not isinstance(moved, str):
        raise First(moved)
    return moved


def _what_for(state: DialogState, label: str) -> str:
    """Return what something is to ring for: "it" is what was told just before, where something was."""
    if label.lower() in IT:
        label = next((bare(turn.words) for turn in state.last_said() if is_statement(turn.words)), "")
    return label[:LONGEST_LABEL]


def alarm_at(state: DialogState, due: datetime, label: str, repeat: str) -> str:
    """Set an alarm for a moment, which repeats by a rule where it is not ""; then say for when it is set."""
    again = {"repeat": repeat} if repeat else {}
    result = result_of(state, "set_alarm", at=f"{due:%Y-%m-%dT%H:%M}", label=label, **again)
    if result.has_failed and "is past" in result.reason:
        return phrase("time_past", state.language)
    if worked(state, result).is_uncertain:
        return _look(state)
    changed = "" if repeat else at_change(state, due)
    really = (due_of(fields(result.value)) if changed else None) or due  # not the time that was said
    return " ".join(filter(None, (_set(state, really, label, repeat), changed)))


def without_time(state: DialogState, intent: Intent) -> str:
    """Set a reminder of a coming day at the usual time of it, which is said back; ask for the time of any other."""
    hour, part = usual_hour(intent, state.words)
    is_later = part and state.now is not None and state.now.hour < hour  # this evening, tonight
    is_of_day = names_day(intent) or intent.text("repeat") or is_later
    is_today = intent.slots.get("day") == 0 and not is_later
    if not is_of_day or is_today or not intent.text("label") or not state.has("set_alarm"):
        return phrase("ask_when", state.language)
    slots = {name: value for name, value in intent.slots.items() if name != "period"}
    label = without_part(intent.text("label"), anywhere=True)
    return alarm(state, Intent("alarm", {**slots, "exact_hour": hour, "label": label}))


def _set(state: DialogState, due: datetime, label: str, repeat: str) -> str:
    """Say for when an alarm is set, and how it repeats."""
    language = state.language
    told = {"clock": clock(due, language), "day": day_added(state, due), "label": to_second_person(label, language)}
    name = "alarm_repeats" if repeat else "alarm_set"
    again = every(repeat, language) if repeat else ""
    return phrase(f"{name}_for" if label else name, language, every=again, **told)


def cancel(state: DialogState, intent: Intent) -> list[Action] | str:
    """Cancel the timer that is meant, else the next one; the list is looked at where its name alone does not tell."""
    language, listed, tried = state.language, _listed(state), state.results("cancel_timer")
    named = intent.text("label") or intent.text("name")
    is_other = OTHER.fullmatch(named) is not None
    if not tried and listed is None and BY_LIST.isdisjoint(intent.slots) and not is_other:
        return [state.action("cancel_timer", which=named or length(intent.seconds("start_"), language))]
    if tried and tried[-1].is_uncertain:
        return _look(state)
    if tried and not tried[-1].has_failed:
        return _cancelled(state, tried[-1])
    if listed is None and not any("no timer is set" in each.result for each in tried):
        return [state.action("list_timers")]
    timers = timers_in(listed) if listed is not None else []
    is_open = is_other or not intent.slots.keys() - {"weekday", "on_day"}
    if is_open and (several := _several(state, timers, intent)):
        return several
    timer = meant(state, timers, intent) if len(tried) < 2 else None
    none = phrase("timer_not_that" if timers else "timer_none", language)
    return none if timer is None else [state.action("cancel_timer", which=timer["id"])]


def _several(state: DialogState, timers: Sequence[Timer], intent: Intent) -> str:
    """Ask which is meant of several on the day that names one, or that are the other one; "" where it is plain."""
    of_day = on_that_day(state, timers, intent) if {"weekday", "on_day"} & intent.slots.keys() else []
    if OTHER.fullmatch(intent.text("label")) and meant(state, timers, intent) is None:
        of_day = [*timers]
    last = spoken_of(state, of_day)
    if last and last == meant(state, of_day, intent) and not spoken_of(state, [x for x in of_day if x != last]):
        return ""  # the only one that this conversation is about
    told = " ".join(left_of(state, each) for each in of_day)
    return phrase("timer_several", state.language, told=told) if len(of_day) > 1 else ""


def _each(state: DialogState, timers: Sequence[Timer], intent: Intent) -> str:
    """Ask which is meant where each of several is to be changed at one word; "" where the words name no several."""
    if len(timers) < 2 or anywhere(state.language, "each_of_several").search(as_said(state, intent)) is None:
        return ""
    return phrase("timer_several", state.language, told=" ".join(left_of(state, each) for each in timers))


def _cancelled(state: DialogState, result: ToolResult) -> str:
    """Say which one was cancelled: by its length, its name, or when it would have rung."""
    language, gone = state.language, fields(fields(result.value).get("cancelled"))
    label, due = label_of(gone), due_of(gone)
    if is_length(label):
        return phrase("timer_cancelled_length", language, label=length_timer(label, language))
    if label or due is None:
        told = to_second_person(label, language)
        return phrase("timer_cancelled_named" if label else "timer_cancelled", language, label=told)
    return phrase("alarm_cancelled", language, clock=clock(due, language), day=day_added(state, due))


def change(state: DialogState, intent: Intent) -> list[Action] | str:
    """Set a timer anew at another time, or under another name, and then cancel it as it was.

    Slots beside those of `meant`: a length, which `adds` counts on from what is left, or a moment, or `count` minutes
    or the hour, or what it is `called`; `anew` for a moment of whatever day comes first.
    """
    if isinstance(timer := _to_change(state, timers_in(listed(state)), intent), str):
        return start(state, intent) if "begins" in intent.slots else timer
    anew = next((each for each in state.turn.results if each.tool in RINGING), None)
    if anew is None:
        return _moved(state, timer, intent)
    changed = fields(done(state, anew).value)
    result_of(state, "cancel_timer", which=timer["id"])
    return phrase("timer_changed", state.language, told=_as_changed(state, changed, _rule(timer, intent)))


def _as_changed(state: DialogState, timer: Timer, rule: str) -> str:
    """Say of a timer that was set anew how long it has left, or how it repeats."""
    due = due_of(timer)
    return _set(state, due, label_of(timer), rule) if every(rule, state.language) and due else left_of(state, timer)


def _to_change(state: DialogState, timers: Sequence[Timer], intent: Intent) -> Timer | str:
    """Return the timer that is to be changed, or the word that there is none; of those that repeat, for their rule."""
    of_kind = of_kind_said(state, timers, intent)
    if timers and not of_kind:
        return none_of_kind(state)
    fitting = [each for each in of_kind if "without" not in intent.slots or "repeats" in each]
    if several := _several(state, fitting, intent) or _each(state, fitting, intent):
        return several
    timer = _running(state, fitting, intent) or meant(state, fitting, intent)
    if timer is not None and not _may_be_moved(timer, intent):
        return phrase("not_done", state.language)
    return timer or phrase("timer_not_that" if timers else "timer_none", state.language)


def _running(state: DialogState, timers: Sequence[Timer], intent: Intent) -> Timer | None:
    """Return the timer spoken of last that counts down, where more time is wanted, and no alarm was just set."""
    if intent.slots.keys() - {"adds", "hours", "minutes", "seconds"} or "adds" not in intent.slots:
        return None
    if any(result.tool == "set_alarm" for turn in state.last_said() for result in turn.results):
        return None
    return spoken_of(state, [each for each in timers if each.get("kind") != "alarm" and "repeats" not in each])


def _moved(state: DialogState, timer: Timer, intent: Intent) -> list[Action] | str:
    """Return the call that sets a timer as it is to be; what to say where there is no such time."""
    label, due, now = intent.text("called") or label_of(timer), due_of(timer), state.now
    left = seconds_told(str(timer.get("left", "")))
    is_alarm = not is_length(label_of(timer)) and (left >= 3600 or "hour" in intent.slots or "repeats" in timer)
    if intent.number("count"):
        intent = Intent(intent.name, {"hour" if is_alarm and due else "minutes": intent.number("count")})
    rule = _rule(timer, intent)
    seconds, again = intent.seconds(), {"repeat": rule} if rule else {}
    if (
        is_alarm
        and due is not None
        and ("adds" in intent.slots or not intent.slots.keys() - {"called", "label", "newest"})
    ):
        return [
            state.action("set_alarm", at=f"{due + timedelta(seconds=seconds):%Y-%m-%dT%H:%M}", label=label, **again)
        ]
    if seconds or "called" in intent.slots:
        total = seconds + (left if "adds" in intent.slots or not seconds else 0)
        if total <= 0:
            return phrase("time_past", state.language)
        whole = seconds + seconds_told(label) if "adds" in intent.slots and is_length(label) else total
        named = length(whole, state.language) if is_length(label) and "called" not in intent.slots else label
        return [state.action("set_timer", seconds=total, label=named[:LONGEST_LABEL])]
    if now is None or due is None:
        return phrase("no_clock", state.language)
    if "hour" not in intent.slots and "exact_hour" not in intent.slots:
        intent = Intent(intent.name, {"minute": due.minute, **intent.slots, "exact_hour": nearest_hour(intent, due)})
    else:  # of the same half of the day as before
        intent = Intent(intent.name, same_half(dict(intent.slots), due))
    if not names_day(intent) and due.date() != now.date() and "anew" not in intent.slots:
        intent = Intent(intent.name, {**intent.slots, "date": due.day, "month": due.month})
    moment = next_moment(intent, now)
    if moment is None:
        return phrase("no_such_day", state.language)
    named = "" if is_length(label) else label
    return [state.action("set_alarm", at=f"{moment:%Y-%m-%dT%H:%M}", label=named, **again)]


def _rule(timer: Timer, intent: Intent) -> str:
    """Return how a timer is to repeat: as it does, as is wanted now, or but for one day of the week (`without`)."""
    rule = intent.text("repeat") or str(timer.get("repeats", ""))
    if rule.startswith(MONTHLY) and "date" in intent.slots and "month" not in intent.slots:
        return f"{MONTHLY}{intent.number('date')}"
    if "weekday" in intent.slots and "repeat" not in intent.slots:
        return _ONE_DAY.sub(f"BYDAY={BYDAY[intent.number('weekday')]}", rule)
    return but_for(rule, intent.number("without")) if rule and "without" in intent.slots else rule


def _may_be_moved(timer: Timer, intent: Intent) -> bool:
    """Say whether it is plain what becomes of a rule by which it repeats: one of several days names no other day."""
    rule = str(timer.get("repeats", ""))
    if not rule or "repeat" in intent.slots or not names_day(intent):
        return True
    is_of_date = rule.startswith(MONTHLY) and "date" in intent.slots
    return is_of_date or ("weekday" in intent.slots and rule.startswith("FREQ=WEEKLY") and "," not in rule)


def same_half(slots: dict[str, Slot], due: datetime) -> dict[str, Slot]:
    """Return an hour of the clock as that of the day which is the nearer to when it was to ring; the later of two."""
    hour = int(slots.get("hour", 0))
    if "period" in slots or not 0 < hour <= 12:
        return slots
    halves = [hour % 12 + 12] if hour < NIGHT_ENDS and due.hour >= DAY_BEGINS else [hour % 12, hour % 12 + 12]
    nearest = min(reversed(halves), key=lambda each: abs(each - due.hour - due.minute / 60))
    return {**slots, "exact_hour": nearest} if nearest else slots


def status(state: DialogState, intent: Intent) -> str:
    """Say how long each timer still has, and for when each alarm is set; of one that is named of it alone.

    "" where none is called so: what sounded like a timer's name may be something that was told.
    """
    found = listed(state)
    if "named" not in intent.slots or found.has_failed:
        return _told(state, found)
    timer = meant(state, timers_in(found), intent)
    none = phrase("timer_none", state.language) if is_nameless(intent.text("label")) else ""
    return left_of(state, timer) if timer is not None else none


def none_of_kind(state: DialogState) -> str:
    """Say that nothing is set of the kind that was named, and what is."""
    return f"{phrase('timer_not_that', state.language)} {all_of_them(state)}"


def all_of_them(state: DialogState) -> str:
    """Say of every timer how long it has left, "" where none was listed."""
    found = _listed(state)
    return _told(state, found) if found is not None and timers_in(found) else ""


def due(state: DialogState) -> str:
    """Say when the thing that is asked for will ring; "" where no time is asked for, or nothing is called so."""
    if is_story(state.words, state.language):
        return ""
    question = read_question(without_fillers(state.words, state.language))
    words = " ".join(word for word, weight in question.words if weight == 1.0)
    if question.asked != "when" or not words:
        return ""
    timer = meant(state, timers_in(listed(state)), Intent("timer_status", {"label": words}))
    return left_of(state, timer) if timer is not None else ""


def listed(state: DialogState) -> ToolResult:
    """Return the list of timers. Raises First with the call while it is still to be asked for."""
    found = _listed(state)
    if found is None:
        raise First([state.action("list_timers")])
    return found


def _listed(state: DialogState) -> ToolResult | None:
    """Return the list of timers, None when it is still to be asked for."""
    listed = state.result("list_timers")
    return None if listed is None or listed.is_uncertain else listed


def _look(state: DialogState) -> str:
    """After a crash in the middle of a call: look whether it took effect, and tell what is set."""
    return phrase("interrupted", state.language, timers=_told(state, listed(state)))


def _told(state: DialogState, found: ToolResult) -> str:
    if found.has_failed:
        return phrase("failed", state.language, reason=found.reason)
    return " ".join(left_of(state, timer) for timer in timers_in(found)) or phrase("timer_none", state.language)


def timers_in(found: ToolResult) -> Sequence[Timer]:
    """Return the timers that the tool list_timers told of."""
    return [timer for timer in objects(found.value) if "id" in timer]
