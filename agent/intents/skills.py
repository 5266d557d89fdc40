"""What answers each intent, the tool that it needs, and how careful to be where its words were hard to hear."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from agent.intents.follow_up.meaning import asked_back
from agent.intents.language.wording import bare
from agent.intents.saying.phrases import phrase
from agent.intents.subjects import (
    agenda,
    almanac,
    chance,
    device,
    lists,
    recall,
    talk,
    tasks,
    unknown,
    voices,
    weather,
)
from agent.intents.subjects.rings import all_at_once, day_before, interval, pausing, skipping, timers


class Skill(Struct, frozen=True):
    """How an intent is answered."""

    answer: talk.Answer
    tool: str = ""
    """The one without which there is no use in trying; "" where it can always be answered."""
    has_effect: bool = False
    """Whether it is asked back where its words were hard to hear."""
    is_final: bool = False
    """Whether no word takes it back: a yes that was hard to hear is asked once more."""


def _acting(answer: talk.Answer, tool: str = "", *, is_final: bool = False) -> Skill:
    return Skill(answer, tool, has_effect=True, is_final=is_final)


NO_SKILL: Final = Skill(unknown.told)
"""What answers an intent that has none of its own."""

SKILLS: Final[Mapping[str, Skill]] = {
    "time": Skill(almanac.time_here),
    "time_there": Skill(lambda state, intent: almanac.time_there(state, intent) or unknown.told(state, intent)),
    "date": Skill(almanac.told_date),
    "days_until": Skill(almanac.days_until),
    "weeks_until": Skill(almanac.weeks_until),
    "time_until": Skill(almanac.time_until),
    "days_of_month": Skill(almanac.days_of_month),
    "leap_year": Skill(almanac.leap_year),
    "week": Skill(almanac.week),
    "spell": Skill(talk.spelled),
    "coin": Skill(chance.coin),
    "draw": Skill(chance.number),
    "timer_start": _acting(timers.start, "set_timer"),
    "timer_cancel": _acting(skipping.cancel, "cancel_timer", is_final=True),
    "timer_cancel_all": _acting(all_at_once.cancel_all, "cancel_timer", is_final=True),
    "alarm_skip": _acting(skipping.skip, "cancel_timer", is_final=True),
    "timer_change": _acting(timers.change, "set_timer", is_final=True),
    "timer_pause": _acting(pausing.pause, "cancel_timer"),
    "timer_resume": _acting(pausing.go_on, "set_timer"),
    "timer_status": Skill(pausing.status, "list_timers"),
    "alarm": _acting(timers.alarm, "set_alarm"),
    "alarm_before": _acting(day_before.alarm, "set_alarm"),
    "ring_each": _acting(interval.ring_each, "set_alarm"),
    "ask_when": _acting(timers.without_time),
    "agenda": Skill(agenda.of_day),
    "agenda_next": Skill(agenda.what_next),
    "weather": Skill(weather.told),
    "tasks": Skill(tasks.told, "mailbox"),
    "task_cancel": _acting(tasks.take_off, "mailbox", is_final=True),
    "list_add": _acting(lists.add),
    "list_remove": _acting(lists.remove, "recall"),
    "list_tell": Skill(lists.tell, "recall"),
    "list_names": Skill(lists.names, "recall"),
    "list_clear": _acting(lists.clear),
    "list_start": Skill(lists.start),
    "list_change": _acting(lists.change),
    "recall": Skill(unknown.told, recall.TOOL),
    "remember": _acting(recall.remember),
    "put_right": _acting(recall.remember),
    "volume_set": _acting(device.volume_set, "set_volume"),
    "volume_told": Skill(device.volume_told, "set_volume"),
    "volume_up": _acting(device.volume_change, "set_volume"),
    "volume_down": _acting(device.volume_change, "set_volume"),
    "volume_change": _acting(device.volume_change, "set_volume"),
    "stop": Skill(talk.stop),
    "wait": Skill(device.acting("wait"), "device"),
    "go_on": Skill(device.acting("go on"), "device"),
    "snooze": Skill(device.acting("snooze"), "device"),
    "mute_microphone": _acting(device.acting("mute"), "device", is_final=True),
    "forget_last": _acting(device.acting("forget"), "device", is_final=True),
    "forget_other": _acting(device.forget_about, "device"),
    "repeat": Skill(talk.again),
    "say_in": Skill(talk.say_in),
    "status": Skill(tasks.status, "check_mailbox"),
    "why_slow": Skill(talk.told_by("why_slow"), "why_slow"),
    "dreamt": Skill(talk.told_by("last_night"), "last_night"),
    "voice_learn": Skill(voices.acting("learn", "voice_learnt")),
    "voice_who": Skill(voices.who),
    "voice_correct": Skill(voices.acting("correct", "voice_corrected")),
    "voice_forget": Skill(voices.acting("forget", "voice_forgotten")),
    "who_are_you": Skill(talk.saying("who")),
    "why_not": Skill(lambda state, _: unknown.abilities_and_need(state)),
    "what_can_you_do": Skill(talk.abilities),
    "outside": Skill(unknown.outside),
    **{name: Skill(talk.saying(name)) for name in ("hello", "how_are_you", "good_night", "goodbye")},
    **{name: Skill(talk.saying(name)) for name in ("distress", "forget_all", "privacy")},
    "thanks": Skill(talk.saying("welcome")),
    "yes": Skill(talk.saying("fine")),
    "no": Skill(talk.saying("left_alone")),
    "never_mind": Skill(talk.never_mind),
    "declined": Skill(talk.saying("left_alone")),
    "doubtful": Skill(lambda state, _: phrase("did_you_say", state.language, words=bare(state.words))),
    "unsure_yes": Skill(lambda state, _: phrase("to_be_sure", state.language, words=bare(asked_back(state)[0]))),
    "not_caught": Skill(talk.not_caught),
}
