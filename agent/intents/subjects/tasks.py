"""What waits, without a model: what is to be done, told and taken off the list, and how much there is of all."""

from collections.abc import Sequence
from typing import Final

from agent.event import PERSON_TYPES, TIMER
from agent.intents.dialog_state import Action, DialogState
from agent.intents.intent import Intent
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.needed import answer_of, worked
from memory.json_value import Json, fields, listed, objects

MOST_TOLD: Final = 3
"""Tasks told at a time; of more only how many there are."""

_TOLD_ELSEWHERE: Final = PERSON_TYPES | {TIMER}
"""What people said just now, and timers, which have sentences of their own."""


def told(state: DialogState, _: Intent) -> str:
    """Say what is on the list."""
    tasks = _tasks(answer_of(state, "mailbox", action="list").value)
    if not tasks:
        return phrase("tasks_none", state.language)
    words = ("；" if state.language == "zh" else "; ").join(task["words"] for task in tasks[:MOST_TOLD])
    more = len(tasks) - MOST_TOLD
    rest = phrase("listed_more", state.language, count=more) if more > 0 else ""
    return phrase("tasks", state.language, tasks=words + rest)


def take_off(state: DialogState, intent: Intent) -> list[Action] | str:
    """Cancel the task that is meant by a part of its words, if it is one alone."""
    last = answer_of(state, "mailbox", action="list")
    if len(state.results("mailbox")) > 1:
        return phrase("task_cancelled", state.language, task=last.result.partition(": ")[2])
    wanted = intent.text("label").casefold()
    found = [task for task in _tasks(last.value) if wanted in task["words"].casefold()]
    if len(found) != 1:
        return phrase("task_several" if found else "task_not_that", state.language)
    return [state.action("mailbox", action="cancel", id=found[0]["id"])]


def status(state: DialogState, _: Intent) -> list[Action] | str:
    """Count what is in the mailbox: what waits, was put aside or given up; and the timers."""
    mailbox, timers = state.result("check_mailbox"), state.result("list_timers")
    if mailbox is None or timers is None:
        return [state.action("check_mailbox"), state.action("list_timers")]
    counts = fields(fields(worked(state, mailbox).value).get("waiting"))
    told = {"pending": 0, "suspended": 0, "dead": 0, **counts, "timers": len(listed(worked(state, timers).value))}
    return phrase("status", state.language, well=phrase("how_are_you", state.language), **told)


def _tasks(told: Json) -> Sequence[dict[str, str]]:
    tasks = objects(fields(told).get("waiting"))
    own = [task for task in tasks if task.get("type") not in _TOLD_ELSEWHERE]
    return [{key: str(value) for key, value in task.items()} for task in own if task.get("words")]
