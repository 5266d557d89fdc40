"""What stands in the calendar, without a model: a day of it, what comes next, and reminders."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent, Language
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import clock, date, spoken_length
from agent.intents.subjects.needed import answer_of, now_at
from agent.tools.tool import unmarked
from memory.json_value import Json, fields, listed, objects, parse_json

INTENTS: Final = frozenset({"agenda", "agenda_next"})
TOOL: Final = "calendar_events"

MOST_TOLD: Final = 5
"""Entries told at a time; of more only how many there are."""

YEAR: Final = timedelta(days=365)

_UNITS: Final = (86_400, 3600, 60)

Entry = Mapping[str, Json]


def of_day(state: DialogState, intent: Intent) -> str:
    """Say what stands in the calendar on a day."""
    now, language = now_at(state), state.language
    then = now + timedelta(days=intent.number("day"))
    day = f"{then:%Y-%m-%d}"
    told = _told(answer_of(state, TOOL, start=day, end=day).result)
    found, named = _entries(told), _day_named(then, now, language)
    if not found:
        words = _unread(state, told) or phrase("agenda_none", language, day=named)
        return words + _stale(state, told)
    lines = [_line(each, day, language) for each in found[:MOST_TOLD]]
    more = max(0, len(found) - MOST_TOLD) + _number(told.get("more"))
    rest = phrase("listed_more", language, count=more) if more else ""
    said = phrase("agenda", language, day=named, events=("；" if language == "zh" else "; ").join(lines) + rest)
    return said + _stale(state, told)


def what_next(state: DialogState, _: Intent) -> str:
    """Say what begins next."""
    now, language = now_at(state), state.language
    result = answer_of(state, TOOL, start=f"{now:%Y-%m-%dT%H:%M}", end=f"{now + YEAR:%Y-%m-%d}")
    told, here = _told(result.result), now.replace(tzinfo=None)
    coming = [each for each in _entries(told) if _begin(each) > here]
    if not coming:
        return (_unread(state, told) or phrase("agenda_no_next", language)) + _stale(state, told)
    begin = _begin(coming[0])
    at = {"day": _day_named(begin, here, language), "title": _title(coming[0]), "clock": clock(begin, language)}
    return phrase("agenda_next_day" if _is_day(coming[0]) else "agenda_next", language, **at) + _stale(state, told)


def announce(state: DialogState) -> str:
    """Say what the event of a reminder reminds of."""
    each, language = _told(state.words), state.language
    if "begin" not in each or state.now is None:
        return phrase("agenda_something", language)
    here, begin = state.now.replace(tzinfo=None), _begin(each)
    if _is_day(each):
        return phrase("agenda_on", language, day=_day_named(begin, here, language), title=_title(each))
    left = round((begin - here).total_seconds() / 60) * 60
    if left < 60:
        return phrase("agenda_now", language, title=_title(each))
    return phrase("agenda_soon", language, length=spoken_length(left, language), title=_title(each))


def _told(result: str) -> Mapping[str, Json]:
    """Return what the tool told; nothing where it is none of its answers."""
    try:
        return fields(parse_json(unmarked(result)))
    except ValueError:
        return {}


def _entries(told: Mapping[str, Json]) -> Sequence[Entry]:
    return [each for each in objects(told.get("events")) if "begin" in each]


def _begin(each: Entry) -> datetime:
    """Return when it begins at home, without its zone."""
    return datetime.fromisoformat(str(each["begin"])).replace(tzinfo=None)


def _is_day(each: Entry) -> bool:
    return "T" not in str(each["begin"])


def _title(each: Entry) -> str:
    return " ".join(str(each.get("title", "")).split()).rstrip(".。") or "…"


def _line(each: Entry, day: str, language: Language) -> str:
    if _is_day(each) or not str(each["begin"]).startswith(day):  # it goes on since an earlier day
        return phrase("agenda_all_day", language, title=_title(each))
    return phrase("agenda_at", language, clock=clock(_begin(each), language), title=_title(each))


def _day_named(day: datetime, today: datetime, language: Language) -> str:
    days = (day.date() - today.date()).days
    return (
        phrase(f"on_day_{days}", language)
        if days in {0, 1, 2}
        else phrase("on_day", language, date=date(day, language))
    )


def _unread(state: DialogState, told: Mapping[str, Json]) -> str:
    """Return a sentence where no calendar was ever read, "" where what is known may be all there is."""
    lost = _lost(told)
    never = next((each for each in lost if not each.get("as_of")), None)
    if never is None or any(each.get("as_of") for each in lost):
        return ""
    return phrase("agenda_unread", state.language, calendar=never.get("calendar", ""), reason=never.get("reason", ""))


def _stale(state: DialogState, told: Mapping[str, Json]) -> str:
    """Return how old it is where that is worth a word, and whether some of it is missing; "" where neither is so."""
    old = next((each for each in _lost(told) if each.get("as_of")), None)
    gap = "" if state.language == "zh" else " "
    partly = map(str, listed(told.get("not_read_whole")))
    missing = "".join(f"{gap}{phrase('agenda_partly', state.language, calendar=each)}" for each in partly)
    if old is None or state.now is None:
        return missing
    seen = datetime.fromisoformat(str(old["as_of"]))
    age = max(60, int((state.now.replace(tzinfo=None) - seen).total_seconds()))
    unit = next(unit for unit in _UNITS if age >= unit)
    length = spoken_length(age // unit * unit, state.language)
    said = phrase("agenda_old", state.language, calendar=old.get("calendar", ""), length=length)
    return f"{gap}{said}{missing}"


def _lost(told: Mapping[str, Json]) -> Sequence[Entry]:
    return objects(told.get("not_up_to_date"))


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0
