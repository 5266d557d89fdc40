"""What is true at the moment of an event, as tags of its block: a new fact is one more function in the list."""

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo

from agent.event import TIMER
from agent.mailbox import InHand
from agent.tools.timers import late_seconds

SituationProvider = Callable[[InHand], Mapping[str, str]]
"""Returns tag names and texts; an empty mapping when there is nothing to say."""

WORTH_MENTIONING = 60.0
"""Seconds an event may have waited before she is told."""


def place_in_time(zone: tzinfo, now: Callable[[], datetime]) -> SituationProvider:
    """Return a provider of the household's zone with its present offset, e.g. `Europe/Berlin (UTC+02:00)`."""

    def timezone(hand: InHand) -> Mapping[str, str]:
        moment = (hand.event.created_at if hand.event.is_from_person else now()).astimezone(zone)
        offset = moment.strftime("%z")
        return {"Timezone": f"{zone} (UTC{offset[:3]}:{offset[3:5]})"}

    return timezone


def waited(now: Callable[[], datetime]) -> SituationProvider:
    """Return a provider that says when a person's words are old, or a timer rings late, because the machine was off."""

    def delay(hand: InHand) -> Mapping[str, str]:
        event = hand.event
        if event.type == TIMER:
            late = late_seconds(event, now())
            return {"Late_Seconds": f"{late:.0f}"} if late > WORTH_MENTIONING else {}
        age = (now() - event.created_at).total_seconds()
        return {"Waited_Seconds": f"{age:.0f}"} if event.is_from_person and age > WORTH_MENTIONING else {}

    return delay


def rang(hand: InHand) -> Mapping[str, str]:
    """Provide that a timer rings, or rang, beside her: the room knows its name, whether or not she says it."""
    return {"Rang": "yes"} if hand.event.type == TIMER else {}
