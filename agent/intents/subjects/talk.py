"""What is said of talking itself, without a model: again, in another room, be silent, and what it can do."""

from collections.abc import Callable
from typing import TypeAlias

from agent.context.history import last_asked, last_reply
from agent.intents.dialog_state import SAID_ELSEWHERE, Action, DialogState
from agent.intents.intent import Intent
from agent.intents.language.wording import bare
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.needed import answer_of, result_of
from agent.intents.subjects.rings import timers
from agent.intents.subjects.rings.which_timer import RINGING, spoken_of
from agent.replies import AWAY

Answer: TypeAlias = Callable[[DialogState, Intent], "list[Action] | str"]
"""Returns the tools to call first, or the words to say."""


def told_by(tool: str) -> Answer:
    """Return the answer that says what a tool says: of the last answer, of the last night."""
    return lambda state, _: answer_of(state, tool).result


def stop(state: DialogState, intent: Intent) -> str:
    """Be silent, with what rings; then a word that it was heard, and that what was spoken of runs on."""
    if state.has("device"):
        result_of(state, "device", do="stop")
    return never_mind(state, intent)


def never_mind(state: DialogState, _: Intent) -> str:
    """Say that it is well, and when that rings which was spoken of: "all right" alone might mean that it is off.

    Nothing is cancelled by it: what was just set or told rings on.
    """
    fine = phrase("fine", state.language)
    is_set = any(result.tool in RINGING | {"list_timers"} for turn in state.last_said() for result in turn.results)
    if not is_set or not state.has("list_timers"):
        return fine
    newest = spoken_of(state, timers.timers_in(result_of(state, "list_timers")))
    if newest is None:
        return fine
    rings = timers.status(state, Intent("timer_status", {"id": str(newest["id"]), "named": 1}))
    return f"{fine}{' ' * (state.language == 'en')}{rings}"


def not_caught(state: DialogState, _: Intent) -> str:
    """Say back what was hard to hear."""
    words = bare(state.words)
    return phrase("not_caught" if words else "not_heard", state.language, words=words)


def say_in(state: DialogState, intent: Intent) -> list[Action] | str:
    """Say something in another room, or in all; then a word that it was done, or which rooms there are."""
    result = state.result(SAID_ELSEWHERE)
    if result is None:
        return [state.action("reply", room=intent.text("room"), text=intent.text("message"))]
    if result.has_failed:
        name = "room_away" if AWAY in result.reason else "no_such_room"
        return phrase(name, state.language, rooms=result.reason.rpartition(": ")[2])
    return phrase("said_there", state.language)


def again(state: DialogState, intent: Intent) -> str:
    """Say the last reply once more, but for the word that it is louder now: for that one it was said too softly.

    Slots: `asked`, where it is rather what the person said last.
    """
    if intent.number("asked"):
        before = state.last_said()
        if words := before[0].words if before else last_asked(state.digest):
            return phrase("recalled", state.language, fact=bare(words))
    told = [turn for turn in state.earlier if all(each.tool != "set_volume" for each in turn.results)]
    said = [reply for turn in told or state.earlier for reply in turn.replies]
    if said:
        return said[-1]
    reply = last_reply(state.digest)
    return reply or phrase("nothing_said" if reply is None else "said_too_much", state.language)


def abilities(state: DialogState, _: Intent) -> str:
    """Tell what can be done without a model."""
    return phrase("help", state.language, abilities=phrase("abilities", state.language))


def spelled(state: DialogState, intent: Intent) -> str:
    """Say the letters of a word, as they were written by whoever heard it."""
    word = intent.text("word")
    letters = [", ".join(each.upper()) for each in word.split()]
    return phrase("spelled", state.language, word=word, letters="; ".join(letters))


def saying(name: str) -> Answer:
    """Return the answer that says a phrase."""
    return lambda state, _: phrase(name, state.language)
