"""What to do next without a model: a pure function of the scene; rules, where the agent itself would think."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final, TypeAlias

from agent.event import MODEL_AVAILABLE, TIMER
from agent.intents import recall, timers
from agent.intents.dialog_state import Action, DialogState, Turn
from agent.intents.intent import Intent, Understand
from agent.intents.phrases import phrase
from agent.intents.spoken import clock, date

Skill: TypeAlias = Callable[[DialogState, Intent], "list[Action] | str"]
"""Returns the tools to call first, or the words to say."""

VOLUME_STEP: Final = 15
"""Percent by which louder and quieter change the volume."""

_NOTHING_DONE: Final = "No model could be reached; nothing was done yet."
"""The note that its own events are put back with."""

A_CONVERSATION: Final = timedelta(seconds=120)
"""A yes answers a question that was asked no longer ago (DESIGN: Session, Epoch, Conversation)."""

_NEEDS: Final[Mapping[str, str]] = {
    "timer_start": "set_timer",
    "timer_cancel": "cancel_timer",
    "timer_cancel_all": "cancel_timer",
    "timer_status": "list_timers",
    "alarm": "set_alarm",
    "volume_set": "set_volume",
    "volume_up": "set_volume",
    "volume_down": "set_volume",
    "volume_change": "set_volume",
    "recall": "journal_search",
}
"""The tool without which there is no use in trying."""

_WITH_EFFECT: Final = frozenset(_NEEDS) - {"timer_status", "recall"} | {"remember"}
"""Meanings that are asked back when they were hard to hear."""


def decide(scene: DialogState, understand: Understand) -> list[Action]:
    """Return the calls of the next answer; the last of them ends the event as soon as there is something to say."""
    if scene.turn.ends_in_words:
        return _complete(scene, "replied") or _say(scene, phrase("fine", scene.language), "replied")
    if not scene.turn.block.is_human:
        return _without_person(scene)
    meaning = _meant(scene, understand)
    if meaning.name == "recall" and scene.has("journal_search"):
        outcome = recall.recall(scene, understand)
    elif (tool := _NEEDS.get(meaning.name)) and not scene.has(tool):
        outcome = phrase("no_volume" if tool == "set_volume" else "cannot", scene.language)
    else:
        outcome = _SKILLS.get(meaning.name, _unknown)(scene, meaning)
    if isinstance(outcome, str):
        return _say(scene, outcome, meaning.name)
    if not all(scene.has(move.tool) for move in outcome):
        return _say(scene, phrase("cannot", scene.language), meaning.name)
    return outcome


def _say(scene: DialogState, words: str, summary: str) -> list[Action]:
    """Return the reply and, where there is such a tool, the end of the event."""
    return [Action("reply", {"text": words}), *_complete(scene, summary)]


def _complete(scene: DialogState, summary: str) -> list[Action]:
    done = scene.move("complete_event", summary=f"offline: {summary}")
    return [done] if scene.has("complete_event") else []


def _without_person(scene: DialogState) -> list[Action]:
    """Announce a timer that did not ring by itself; put anything else back until a model can think about it."""
    block = scene.turn.block
    if block.event_type == TIMER:
        if block.situation.get("Rang") and scene.has("complete_event"):
            return _complete(scene, "it rang")
        return _say(scene, timers.announce(scene), "announced")
    if not scene.has("suspend_event"):
        return _complete(scene, "left undone, no model can be reached") or _say(scene, _NOTHING_DONE, "left undone")
    return [scene.move("suspend_event", note=block.situation.get("Note") or _NOTHING_DONE, wake_on=MODEL_AVAILABLE)]


def _meant(scene: DialogState, understand: Understand) -> Intent:
    """Return what the words mean after what was said before: a yes means what was asked back."""
    meaning = understand(scene.words)
    asked = _asked_back(scene)
    if asked and meaning.name == "yes":
        return understand(asked)
    if asked and meaning.name == "no":
        return Intent("declined")
    if not scene.is_doubtful:
        return meaning
    if meaning.name == "unknown":
        return Intent("not_caught")
    is_said_twice = bool(asked) and understand(asked) == meaning
    return Intent("doubtful") if meaning.name in _WITH_EFFECT and not is_said_twice else meaning


def _asked_back(scene: DialogState) -> str:
    """Return the words of the person that were asked back just before, "" when it was something else."""
    before = next((turn for turn in reversed(scene.earlier) if turn.block.is_human), None)
    if before is None or not _is_recent(before, scene.turn):
        return ""
    words = before.block.words
    questions = {phrase("did_you_say", language, words=_bare(words)) for language in ("en", "zh")}
    return words if questions & set(before.replies) else ""


def _is_recent(before: Turn, turn: Turn) -> bool:
    then, now = before.block.time, turn.block.time
    return then is None or now is None or now - then <= A_CONVERSATION


def _bare(words: str) -> str:
    return words.strip().rstrip(".?!,。？！， ")


def _unknown(scene: DialogState, _: Intent) -> str:
    abilities = phrase("abilities", scene.language)
    told = phrase("needs_model", scene.language, abilities=abilities)
    if not _is_beginning("".join(scene.turn.replies[-1:]), told):  # a model began another answer, and broke off
        return phrase("lost_thread", scene.language)
    said_before = any(told in turn.replies for turn in scene.earlier)
    return phrase("needs_model_still", scene.language) if said_before else told


def _is_beginning(part: str, whole: str) -> bool:
    """Say whether a text is the beginning of another, whatever its white space."""
    return "".join(whole.split()).startswith("".join(part.split()))


def _time(scene: DialogState, _: Intent) -> str:
    if scene.now is None:
        return phrase("no_clock", scene.language)
    return phrase("time", scene.language, clock=clock(scene.now, scene.language))


def _date(scene: DialogState, meaning: Intent) -> str:
    if scene.now is None:
        return phrase("no_clock", scene.language)
    days = meaning.number("day")
    told = date(scene.now + timedelta(days=days), scene.language)
    return phrase(f"date_{days}" if days else "date", scene.language, date=told)


def _volume_set(scene: DialogState, meaning: Intent) -> list[Action] | str:
    percent = meaning.number("percent") or meaning.number("volume_level")
    return _changed(scene, scene.move("set_volume", percent=percent), "volume_set", percent)


def _volume_change(scene: DialogState, meaning: Intent) -> list[Action] | str:
    steps = {"volume_up": VOLUME_STEP, "volume_down": -VOLUME_STEP}
    told = {"up": VOLUME_STEP, "down": -VOLUME_STEP}.get(meaning.text("volume_step"))
    change = steps.get(meaning.name) or told or meaning.number("volume_step")
    name = "volume_up" if change > 0 else "volume_down"
    return _changed(scene, scene.move("set_volume", change=change), name, change)


def _changed(scene: DialogState, move: Action, name: str, percent: int) -> list[Action] | str:
    result = scene.result("set_volume")
    if result is None:
        return [move]
    if result.has_failed:
        return phrase("failed", scene.language, reason=result.reason)
    return phrase(name, scene.language, percent=percent)


def _doubtful(scene: DialogState, _: Intent) -> str:
    return phrase("did_you_say", scene.language, words=_bare(scene.words))


def _not_caught(scene: DialogState, _: Intent) -> str:
    words = _bare(scene.words)
    return phrase("not_caught" if words else "not_heard", scene.language, words=words)


def _again(scene: DialogState, _: Intent) -> str:
    """Say the last reply once more."""
    said = [reply for turn in scene.earlier for reply in turn.replies]
    return said[-1] if said else phrase("nothing_said", scene.language)


def _saying(name: str) -> Skill:
    return lambda scene, _: phrase(name, scene.language)


_SKILLS: Final[Mapping[str, Skill]] = {
    "time": _time,
    "date": _date,
    "timer_start": timers.start,
    "timer_cancel": timers.cancel,
    "timer_cancel_all": timers.cancel_all,
    "timer_status": timers.status,
    "alarm": timers.alarm,
    "ask_when": _saying("ask_when"),
    "volume_set": _volume_set,
    "volume_up": _volume_change,
    "volume_down": _volume_change,
    "volume_change": _volume_change,
    "never_mind": _saying("fine"),
    "stop": _saying("fine"),
    "repeat": _again,
    "remember": recall.remember,
    "who_are_you": _saying("who"),
    "what_can_you_do": _saying("abilities"),
    "hello": _saying("hello"),
    "how_are_you": _saying("how_are_you"),
    "good_night": _saying("good_night"),
    "goodbye": _saying("goodbye"),
    "thanks": _saying("welcome"),
    "yes": _saying("fine"),
    "no": _saying("left_alone"),
    "declined": _saying("left_alone"),
    "doubtful": _doubtful,
    "not_caught": _not_caught,
}
