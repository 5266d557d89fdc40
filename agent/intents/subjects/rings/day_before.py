"""A reminder on the day before something that was told: its date is looked for in the conversation and the journal."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from msgspec.structs import replace

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent
from agent.intents.language.lengths import number_chinese
from agent.intents.language.questions import is_question, pieces
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.days import days_ahead
from agent.intents.subjects.needed import result_of
from agent.intents.subjects.rings import timers
from memory.json_value import fields, objects

DATE: Final = re.compile(r"([\d一二三四五六七八九十]{1,3})月([\d一二三四五六七八九十]{1,3})[日号]?")
"""A date without its year, as it is said."""

LOOKED_AT: Final = 20
"""Utterances of the journal that are looked at."""


def alarm(state: DialogState, intent: Intent) -> str:
    """Set an alarm on the day before the one that was told of the topic, or last; the journal is asked first.

    Slots: those of a time of day, the topic, the label where it is another.
    """
    topic = intent.text("topic")
    if topic and state.has("recall"):
        result_of(state, "recall", words=topic, limit=LOOKED_AT)
    day = next(_told_days(state, topic), None)
    if day is None:
        return phrase("ask_when", state.language)
    before = day - timedelta(days=1)
    slots = {name: value for name, value in intent.slots.items() if name != "topic"}
    label = intent.text("label") or topic
    return timers.alarm(
        state, replace(intent, slots=slots | {"month": before.month, "date": before.day, "label": label})
    )


def _told_days(state: DialogState, topic: str) -> Iterator[date]:
    """Yield the days that were told of a topic, the newest first; without one those of the conversation."""
    searched = state.result("recall")
    hits = objects(fields(searched.value).get("hits")) if searched is not None else []
    told = sorted((str(each.get("at", "")), str(each.get("words", ""))) for each in hits)
    said = [words for turn in state.earlier for words in (turn.words, *turn.replies)]
    for words in reversed([words for _, words in told] if topic else said):
        found = DATE.search(words)
        if found is None or state.now is None or (topic and (is_question(words) or not _is_of(words, topic))):
            continue
        month, number = (int(number_chinese(each)) if not each.isdecimal() else int(each) for each in found.groups())
        today = state.now.date()
        named = Intent("date", {"month": month, "date": number})
        yield from (today + timedelta(days=ahead) for ahead in days_ahead(named, today)[:1])


def _is_of(words: str, topic: str) -> bool:
    """Say whether words have most of what a topic is called by."""
    parts = pieces(topic)
    return sum(part in words for part in parts) * 2 > len(parts)
