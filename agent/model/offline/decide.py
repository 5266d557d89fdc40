"""What to do next without a model: a pure function of the scene; rules, where she herself would think."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from agent.event import TIMER
from agent.model.offline import recall, timers
from agent.model.offline.meaning import Meaning
from agent.model.offline.phrases import phrase
from agent.model.offline.scene import Move, Scene
from agent.model.offline.spoken import clock, date

Understand: TypeAlias = Callable[[str], Meaning]
Skill: TypeAlias = Callable[[Scene, Meaning], "list[Move] | str"]
"""Returns the tools to call first, or the words to say."""

VOLUME_STEP: Final = 15
"""Percent by which louder and quieter change the volume."""

MODEL_AVAILABLE: Final = "model_available"
"""What her own events wait for while only the offline model is there."""

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


def decide(scene: Scene, understand: Understand) -> list[Move]:
    """Return the calls of the next answer; the last of them ends the event as soon as there is something to say."""
    if scene.turn.replies:
        return _after_words(scene)
    if not scene.turn.block.is_human:
        return _without_person(scene)
    meaning = _meant(scene, understand)
    if meaning is None:
        return say(scene, phrase("did_you_say", scene.language, words=_quoted(scene.words)), "asked back")
    if (tool := _NEEDS.get(meaning.name)) and not scene.has(tool):
        return say(scene, phrase("cannot", scene.language), f"{meaning.name}, without the tool for it")
    if meaning.name == "remember":
        moves, words = recall.remember(scene, meaning)
        return [*moves, *say(scene, words, "kept for later")]
    if meaning.name == "recall":
        outcome = recall.recall(scene, meaning, understand)
    else:
        outcome = _SKILLS.get(meaning.name, _unknown)(scene, meaning)
    return say(scene, outcome, meaning.name) if isinstance(outcome, str) else outcome


def say(scene: Scene, words: str, summary: str) -> list[Move]:
    """Return the reply and, where there is such a tool, the end of the event."""
    reply = Move("reply", {"text": words})
    return [reply, *_complete(scene, summary)]


def _complete(scene: Scene, summary: str) -> list[Move]:
    done = scene.move("complete_event", summary=f"offline: {summary}")
    return [done] if scene.has("complete_event") else []


def _after_words(scene: Scene) -> list[Move]:
    """End the event; if a model was lost in the middle of it, say so first."""
    if scene.turn.ends_in_words:
        return _complete(scene, "replied") or say(scene, phrase("fine", scene.language), "replied")
    return say(scene, phrase("lost_thread", scene.language), "broken off")


def _without_person(scene: Scene) -> list[Move]:
    """Announce a timer; put anything else back until a model can think about it."""
    block = scene.turn.block
    if block.event_type == TIMER:
        return say(scene, timers.announce(scene), "announced")
    if not scene.has("suspend_event"):
        return _complete(scene, "left undone, no model can be reached") or say(scene, scene.words, "told")
    note = block.situation.get("Note") or "No model could be reached; nothing was done yet."
    return [scene.move("suspend_event", note=note, wake_on=MODEL_AVAILABLE)]


def _meant(scene: Scene, understand: Understand) -> Meaning | None:
    """Return what the words mean; None when it must be asked first. A yes means what was asked back before."""
    meaning = understand(scene.words)
    asked = _asked_back(scene)
    if asked and meaning.name == "yes":
        return understand(asked)
    if asked and meaning.name == "no":
        return Meaning("declined")
    if not scene.is_doubtful:
        return meaning
    if meaning.name == "unknown":
        return Meaning("not_caught")
    is_repeated = bool(asked) and understand(asked) == meaning
    return None if meaning.name in _WITH_EFFECT and not is_repeated else meaning


def _asked_back(scene: Scene) -> str:
    """Return the words that were asked back in the turn before, "" when it was something else."""
    if not scene.earlier:
        return ""
    words = scene.earlier[-1].block.words
    questions = {phrase("did_you_say", language, words=_quoted(words)) for language in ("en", "zh")}
    return words if questions & set(scene.earlier[-1].replies) else ""


def _quoted(words: str) -> str:
    return words.strip().rstrip(".?!,。？！， ")


def _unknown(scene: Scene, _: Meaning) -> str:
    abilities = phrase("abilities", scene.language)
    told = phrase("needs_model", scene.language, abilities=abilities)
    said_before = any(told in turn.replies for turn in scene.earlier)
    return phrase("needs_model_still", scene.language) if said_before else told


def _time(scene: Scene, _: Meaning) -> str:
    if scene.now is None:
        return phrase("no_clock", scene.language)
    return phrase("time", scene.language, clock=clock(scene.now, scene.language))


def _date(scene: Scene, _: Meaning) -> str:
    if scene.now is None:
        return phrase("no_clock", scene.language)
    return phrase("date", scene.language, date=date(scene.now, scene.language))


def _volume_set(scene: Scene, meaning: Meaning) -> list[Move] | str:
    percent = meaning.number("percent") or meaning.number("volume_level")
    return _changed(scene, scene.move("set_volume", percent=percent), "volume_set", percent)


def _volume_change(scene: Scene, meaning: Meaning) -> list[Move] | str:
    steps = {"volume_up": VOLUME_STEP, "volume_down": -VOLUME_STEP}
    told = {"up": VOLUME_STEP, "down": -VOLUME_STEP}.get(meaning.text("volume_step"))
    change = steps.get(meaning.name) or told or meaning.number("volume_step")
    name = "volume_up" if change > 0 else "volume_down"
    return _changed(scene, scene.move("set_volume", change=change), name, change)


def _changed(scene: Scene, move: Move, name: str, percent: int) -> list[Move] | str:
    if not (results := scene.results("set_volume")):
        return [move]
    if results[-1].has_failed:
        return phrase("failed", scene.language, reason=results[-1].result)
    return phrase(name, scene.language, percent=percent)


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
    "volume_set": _volume_set,
    "volume_up": _volume_change,
    "volume_down": _volume_change,
    "volume_change": _volume_change,
    "never_mind": _saying("fine"),
    "stop": _saying("fine"),
    "who_are_you": _saying("who"),
    "what_can_you_do": _saying("abilities"),
    "hello": _saying("hello"),
    "how_are_you": _saying("how_are_you"),
    "goodbye": _saying("goodbye"),
    "thanks": _saying("welcome"),
    "yes": _saying("fine"),
    "no": _saying("left_alone"),
    "declined": _saying("left_alone"),
    "not_caught": _saying("not_caught"),
}
