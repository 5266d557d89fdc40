"""What was meant: hassil over home-assistant-intents and our own sentences, in English and Chinese."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import home_assistant_intents
from hassil.recognize import RecognizeResult

from agent.intents.intent import TIMED, UNKNOWN, Intent, Language, Slot, language_of
from agent.intents.language.wording import (
    anywhere,
    beginning,
    ending,
    first_of,
    is_story,
    mended,
    plainer,
    request_in,
    sentence_file,
    without_fillers,
)
from agent.intents.reading.free_text import is_meant
from agent.intents.reading.matching import Matcher
from agent.intents.reading.reminding import Reading, rung_for, told_anew
from agent.intents.subjects.days import BYDAY
from memory.chinese import simplified

_OF_HOME_ASSISTANT: Final[Mapping[str, str]] = {
    "HassGetCurrentTime": "time",
    "HassGetCurrentDate": "date",
    "HassStartTimer": "timer_start",
    "HassCancelTimer": "timer_cancel",
    "HassCancelAllTimers": "timer_cancel_all",
    "HassTimerStatus": "timer_status",
    "HassSetVolume": "volume_set",
    "HassSetVolumeRelative": "volume_change",
    "HassNevermind": "never_mind",
}
"""Those of its intents that a box without a house to switch can fulfil, and our names for them."""

_FITTING: Final = re.compile(r"default|(hours|minutes|seconds|name)(_|$)")
"""Its sentences by combination of slots: none that name an area, a device, or a command to run later."""

_NOWHERE: Final = {name: {"values": ()} for name in ("area", "floor", "name")}
"""The lists that its sentences ask for, empty: there are no rooms and no devices."""

_EACH_OF_UNIT: Final[Mapping[str, str]] = {"each_days": "DAILY", "each_weeks": "WEEKLY"}
"""Slots of every so many days or weeks, and how a rule names these."""

_CODES: Final[Mapping[Language, str]] = {"en": "en", "zh": "zh-CN"}

_MARKS: Final = ",.?!，。？！;；:：、…¿¡—–"

_DROPPED: Final = frozenset(f" \t\n{_MARKS}")
"""What hassil leaves out between the characters of free text."""

_AROUND: Final = " \t\n,.?!，。？！;；:：、…\"'“”‘’"
"""What is cut off both ends of free text."""

_VAGUE: Final = frozenset({"unknown", "recall", "ask_when"})
"""What a sentence is taken for that may be more than that, without what is said around it or in another order."""

_NUMBER: Final = re.compile(r"[0-9]+")

_JOINED: Final = re.compile(r"[0-9]+(?:[:.][0-9]+)*")
"""A number in figures with what belongs to it: of 7:60 neither part is a time."""

_ANSWERS: Final = frozenset({"yes", "no", "never_mind"})
"""What nobody is asked to do: can you do that?"""

_OF_SENTENCES: Final = frozenset({"remember", "say_in", "list_add", "forget_other"})
"""What takes a whole sentence as free text, also one behind a comma."""


class Understanding:
    """The sentences of both languages, parsed. Making one takes some 50 ms; the import of this module 0.3 s."""

    def __init__(self) -> None:
        described = {language: _described(language) for language in _CODES}
        self._intents = {language: Matcher(each, _CODES[language]) for language, each in described.items()}
        self._times = {
            language: Matcher(each | {"intents": each["times"], "skip_words": []}, _CODES[language])
            for language, each in described.items()
        }

    def __call__(self, words: str) -> Intent:
        """Return what the words mean in their language; the reading that takes the least as free text wins.

        Where no sentence fits, also without what people say around it, its beginning may without what is only told
        behind it; and then it may ask to be rung for, in whatever order.
        """
        if is_story(words, language_of(words)):
            return UNKNOWN
        plain = simplified(words.replace("’", "'"))
        language = language_of(plain)
        plain = mended(plain, language)
        intent = self._best(plain, language)
        if intent.name not in _OF_SENTENCES and (first := first_of(plain, language)):
            less = self._best(first, language)
            # And I am stewing meat: that is what it is for.
            is_fuller = language == "zh" and less.name == intent.name == "timer_start"
            intent = intent if less.name in _VAGUE | {"hello"} or is_fuller else less
        if intent.name in _VAGUE and (order := request_in(plain, language)):
            asked = self._best(order, language)
            is_no_order = asked.name in _ANSWERS or (asked.name in _VAGUE and intent.name != UNKNOWN.name)
            intent = intent if is_no_order else asked
        if intent.name in _VAGUE:
            intent = rung_for(plain, lambda words: _readings(words, self._times)) or told_anew(plain) or intent
        # Five minutes before a time that was said is one; before something else it is none yet.
        is_told = intent.name == "alarm" and bool(intent.seconds())
        hangs = intent.name in TIMED and not is_told and anywhere(language, "relative").search(plain)
        return Intent("ask_when", {"label": intent.text("label")}) if hangs else _of_what_needs_it(intent)

    def _best(self, plain: str, language: Language) -> Intent:
        plainest = (*plainer(plain, language), _unbroken(without_fillers(plain, language)))
        best = self._least_free(plainest, plain)
        if best.name not in _OF_SENTENCES:
            return best
        # What is passed on or kept is a person's own, to its last word.
        as_said = self._least_free((plain, beginning("opening", language).sub("", plain, count=1)), plain)
        return as_said if as_said.name == best.name else best

    def _least_free(self, wordings: Iterable[str], said: str) -> Intent:
        readings = [reading for each in dict.fromkeys(wordings) for reading in self._readings(each, said)]
        return min(readings, key=lambda reading: reading[0], default=(0, UNKNOWN))[1]

    def _readings(self, plain: str, said: str) -> list[Reading]:
        return [each for each in _readings(plain, self._intents, said) if is_meant(each[1], said)]


def _of_what_needs_it(intent: Intent) -> Intent:
    """Return a timer of a thing without the word that it takes so long: of "the pasta needs" the pasta."""
    label = intent.text("label") if intent.name == "timer_start" else ""
    thing = ending("needing", language_of(label)).sub("", label)
    return Intent(intent.name, {**intent.slots, "label": thing}) if thing != label else intent


@cache
def load_understanding() -> Understanding:
    """Return the sentences, parsed once in a process: nothing changes them, and what was said stays nowhere in them."""
    return Understanding()


def _readings(plain: str, intents: Mapping[Language, Matcher], said: str = "") -> Iterator[Reading]:
    language = language_of(plain)
    for result in intents[language].match(plain):
        if _has_whole_numbers(result, plain) and (language == "zh" or _has_whole_words(result, plain)):
            yield _reading(result, said or plain)


def _has_whole_words(result: RecognizeResult, plain: str) -> bool:
    """Say whether free text ends where words do: hassil reads "the xyloph one" in "the xylophone"."""
    words = set(_words(plain))
    return all(set(_words(each.text)) <= words for each in result.entities_list if each.is_wildcard)


def _has_whole_numbers(result: RecognizeResult, plain: str) -> bool:
    """Say whether no number in figures is read by halves: hassil reads the 1st and five o'clock in "june 15"."""
    numbers, joined = set(_NUMBER.findall(plain)), set(_JOINED.findall(plain))
    return all(
        set(_JOINED.findall(each.text)) <= joined if each.is_wildcard else set(_NUMBER.findall(each.text)) <= numbers
        for each in result.entities_list
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _unbroken(plain: str) -> str:
    """Return Chinese without what is written between its parts: hassil fits no sentence across a comma."""
    return plain.translate(str.maketrans("", "", _MARKS)) if language_of(plain) == "zh" else plain


def _reading(result: RecognizeResult, words: str) -> Reading:
    """Return how many characters were taken as free text, and the intent."""
    slots: dict[str, Slot] = dict(result.intent_data.slots)
    free = 0
    for name, entity in result.entities.items():
        slots[name] = _as_said(entity.text, words) if entity.is_wildcard else entity.value
        free += len(entity.text) if entity.is_wildcard else 0
    days = _days_of_week(slots)
    if day_of_month := slots.pop("each_month", None):
        slots |= {"repeat": f"FREQ=MONTHLY;BYMONTHDAY={int(day_of_month)}", "date": int(day_of_month)}
    for slot, unit in _EACH_OF_UNIT.items():
        if number := slots.pop(slot, None):
            on = f";BYDAY={BYDAY[int(slots['weekday'])]}" if "weekday" in slots else ""
            slots["repeat"] = f"FREQ={unit};INTERVAL={int(number)}{on}"
    if days:
        slots["repeat"] = "FREQ=WEEKLY;BYDAY=" + ",".join(BYDAY[day] for day in days)
    return free, Intent(result.intent.name, slots)


_NO_WEEKDAYS: Final = {"each_month", *_EACH_OF_UNIT}


def _days_of_week(slots: dict[str, Slot]) -> list[int]:
    """Take the days of the week out of the slots that name several, and return them: Monday (0) to Thursday."""
    named = {name: int(slots.pop(name)) for name in [*slots] if name.startswith("each_") and name not in _NO_WEEKDAYS}
    if (first := named.pop("each_from", None)) is not None:
        return sorted((first + day) % 7 for day in range((named["each_to"] - first) % 7 + 1))
    return sorted(set(named.values()))


def _as_said(text: str, words: str) -> str:
    """Return a free text with the punctuation it had among the words (hassil's own spans are off after a list)."""
    places = [place for place, character in enumerate(words) if character not in _DROPPED]
    spoken = "".join(words[place] for place in places)
    sought = "".join(character for character in text if character not in _DROPPED)
    found = spoken.find(sought) if sought else -1
    while found >= 0:
        begins, ends = places[found], places[found + len(sought) - 1] + 1
        is_whole = not (words[begins - 1 : begins].isalnum() or words[ends : ends + 1].isalnum())
        if is_whole or language_of(text) == "zh":
            return words[begins:ends].strip(_AROUND)
        found = spoken.find(sought, found + 1)
    return text.strip(_AROUND)


def _described(language: Language) -> dict[str, Any]:
    """Return the sentences of a language, theirs and ours, for hassil; `times` are those of the second look."""
    theirs = home_assistant_intents.get_intents(_CODES[language]) or {}
    own = sentence_file(language)
    fitting = {
        ours: [
            # The area that they ask for is always the one we are in.
            {key: value for key, value in data.items() if key != "requires_context"}
            for data in theirs["intents"][name]["data"]
            if _FITTING.match(data["metadata"]["slot_combination"])
        ]
        for name, ours in _OF_HOME_ASSISTANT.items()
    }
    intents = {name: [*own["intents"].get(name, ()), *fitting.get(name, ())] for name in own["intents"] | fitting}
    lists: dict[str, object] = {name: {"wildcard": True} for name in own["free_text"]}
    for name, each in own["lists"].items():  # a range as it is, and values by what is said for them
        values = [{"in": said, "out": out} for said, out in each.items()]
        lists[name] = each if "range" in each else {"values": values}
    return {
        "language": own["language"],
        "intents": {name: _in_blocks(said) for name, said in intents.items()},
        "times": {name: _in_blocks(said) for name, said in own["times"].items()},
        "expansion_rules": {**theirs["expansion_rules"], **own["expansion_rules"]},
        "lists": {**theirs["lists"], **lists, **_NOWHERE},
        "skip_words": [*own["skip_words"], *theirs["skip_words"]],
        "settings": theirs.get("settings", {}),
    }


def _in_blocks(said: Iterable[object]) -> dict[str, object]:
    """Return an intent in hassil's form, where also a sentence without slots is a block."""
    return {"data": [{"sentences": [each]} if isinstance(each, str) else each for each in said]}
