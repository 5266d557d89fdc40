"""The answer to which of several is meant: the second one, the pasta one, both, neither; 第二个, 两个都."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.intent import Intent, Language, Slot, Understand
from agent.intents.language.questions import is_question
from agent.intents.language.wording import anywhere, bare, without_fillers
from agent.intents.saying.phrases import gaps
from agent.intents.subjects.rings.all_at_once import are_so_many
from agent.intents.subjects.rings.timers import timers_in
from agent.intents.subjects.rings.which_timer import Timer, meant, on_that_day

LONGEST: Final[dict[Language, int]] = {"en": 40, "zh": 14}
"""Characters of an answer that names one."""

_FRAMES: Final[dict[Language, tuple[str, ...]]] = {
    "en": (
        *("{0}", "cancel {0}", "cancel the {0}", "cancel the {0} one"),
        *("cancel {1} alarm", "cancel the {1} alarm", "cancel {0} alarm", "cancel the {0} alarm"),
    ),
    "zh": ("{0}", "取消{0}", "取消{0}那个", "取消{1}计时器"),
}
"""Whole sentences of which the name of one may be a part."""

_DAYS: Final = frozenset({"weekday", "on_day"})
"""Slots of the day by which several were named."""

_NOBODY: Final = "none"
"""An id that no timer has."""

_AT: Final = re.compile(r"^(?:the one )?(?:at|for|about) |^那个|^[就是那要]+(?!个)", re.IGNORECASE)
_ONE: Final = re.compile(r" one$|(?<=.)那个$", re.IGNORECASE)
"""What a time is said with that names one."""

_PLACES: Final = {"one": "first", "1": "first", "two": "second", "2": "second", "three": "third", "3": "third"}
_NUMBERED: Final = re.compile(r"^number (one|two|three|[123])$", re.IGNORECASE)
"""A place said as a number, and the places."""


def of_several(state: DialogState, before: Turn, understand: Understand) -> Iterator[Intent]:
    """Yield what an answer means to the question which of several is meant, where that was asked just before.

    What was asked of is looked up by its id: what rang meanwhile, or was cancelled, is found no more.
    """
    language, plain = state.language, without_fillers(bare(state.words), state.language)
    wanted = understand(before.words)
    listed = next((each for each in reversed(before.results) if each.tool == "list_timers"), None)
    is_asked = any(gaps("timer_several", reply, language) for reply in before.replies)
    if not is_asked or listed is None or wanted.name not in {"timer_cancel", "timer_change"}:
        return
    there = on_that_day(state, timers_in(listed), wanted)
    if anywhere(language, "none_of_them").fullmatch(plain):
        yield Intent("declined")
    elif all_ := anywhere(language, "all_of_them").fullmatch(plain):
        if wanted.name == "timer_cancel" and are_so_many(all_.group(), len(there)):
            ids = " ".join(str(each.get("id")) for each in there)
            yield Intent("timer_cancel_all", {"ids": ids, "of": before.words, **_as_wanted(wanted)})
        else:
            yield Intent(wanted.name, {**_as_wanted(wanted), "id": _NOBODY})
    elif not is_question(plain) and (of_it := _named(state, there, plain, understand)):
        is_other = anywhere(language, "not_that").search(plain)  # than the one that is named: it is asked again
        yield wanted if is_other else Intent(wanted.name, {**_as_wanted(wanted), "id": of_it})


def _as_wanted(intent: Intent) -> dict[str, Slot]:
    """Return the slots of what was wanted without the day that named several, which is still that of a skip."""
    is_left_out = intent.name == "timer_cancel"
    return {name: value for name, value in intent.slots.items() if is_left_out or name not in _DAYS}


def _named(state: DialogState, timers: Sequence[Timer], plain: str, understand: Understand) -> str:
    """Return the id of the one that the words name by its place, its name or its time; "" where it is not clear.

    A place that none of them has is nobody's.
    """
    language = state.language
    name = _AT.sub("", anywhere(language, "not_that").sub("", plain, count=1).strip())
    name = _NUMBERED.sub(lambda found: f"the {_PLACES[found[1].lower()]} one", name)
    if not name or len(name) > LONGEST[language]:
        return ""
    for frame in _FRAMES[language]:
        answer = understand(frame.format(name, _ONE.sub("", name)))
        if answer.name != "timer_cancel" or not answer.slots or _DAYS & answer.slots.keys():
            continue
        one = meant(state, timers, answer)
        if "ordinal" in answer.slots:
            return str(one.get("id")) if one else _NOBODY
        others = [each for each in timers if each is not one]
        if one is not None and meant(state, others, answer) is None:
            return str(one.get("id"))
    return ""
