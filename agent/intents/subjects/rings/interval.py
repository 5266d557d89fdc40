"""What rings again and again within a day without a model: every hour, every twenty minutes until four."""

from datetime import timedelta
from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.days import next_moment
from agent.intents.subjects.needed import now_at
from agent.intents.subjects.rings.timers import LONGEST_LABEL, alarm_at

SHORTEST: Final = 60
"""Seconds between two rings that people mean; what comes more often is asked about."""


def ring_each(state: DialogState, intent: Intent) -> str:
    """Set an alarm that rings first when so much time is over, and so on until the moment in the slots of a time."""
    seconds, now = intent.seconds(), now_at(state)
    if seconds < SHORTEST or seconds % 60:
        return phrase("ask_when", state.language)
    rule = (
        f"FREQ=HOURLY;INTERVAL={seconds // 3600}" if seconds % 3600 == 0 else f"FREQ=MINUTELY;INTERVAL={seconds // 60}"
    )
    first = now.replace(second=0, microsecond=0) + timedelta(seconds=seconds)
    if {"hour", "exact_hour"} & intent.slots.keys():
        last = next_moment(intent, now)
        count = int((last - now).total_seconds()) // seconds if last is not None else 0
        if count < 1:
            return phrase("time_past", state.language)
        rule = f"{rule};COUNT={count}"
    return alarm_at(state, first, intent.text("label")[:LONGEST_LABEL], rule)
