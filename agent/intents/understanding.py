"""What was meant: hassil over home-assistant-intents and our own sentences, in English and Chinese."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import home_assistant_intents
import yaml
from hassil import recognize_all
from hassil.intents import Intents
from hassil.recognize import RecognizeResult

from agent.intents.intent import UNKNOWN, Intent, Language, Slot, language_of
from agent.intents.subjects.voices import names_somebody
from memory.chinese import simplified

LONGEST: Final = 500
"""Characters of what may be a command; what is longer is a story, and matching it would take long."""

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

_CODES: Final[Mapping[Language, str]] = {"en": "en", "zh": "zh-CN"}

_DROPPED: Final = r"[\s,.?!，。？！;；:：、…¿¡—–]*"
"""What hassil leaves out between the characters of free text."""

_AROUND: Final = " \t\n,.?!，。？！;；:：、…\"'“”‘’"
"""What is cut off both ends of free text."""


class Understanding:
    """The sentences of both languages, parsed. Making one takes some 50 ms; the import of this module 0.3 s."""

    def __init__(self) -> None:
        self._intents: dict[Language, Intents] = {language: _load(language) for language in _CODES}

    def __call__(self, words: str) -> Intent:
        """Return what the words mean in their language; the reading that takes the least as free text wins."""
        if len(words) > LONGEST:
            return UNKNOWN
        language = language_of(words)
        plain = simplified(words.replace("’", "'"))
        found = recognize_all(plain, self._intents[language], language=_CODES[language])
        readings = [_reading(result, plain) for result in found]
        readings = [reading for reading in readings if names_somebody(reading[1])]
        return min(readings, key=lambda reading: reading[0], default=(0, UNKNOWN))[1]


def _reading(result: RecognizeResult, words: str) -> tuple[int, Intent]:
    """Return how many characters were taken as free text, and the intent."""
    slots: dict[str, Slot] = dict(result.intent_data.slots)
    free = 0
    for name, entity in result.entities.items():
        slots[name] = _as_said(entity.text, words) if entity.is_wildcard else entity.value
        free += len(entity.text) if entity.is_wildcard else 0
    return free, Intent(result.intent.name, slots)


def _as_said(text: str, words: str) -> str:
    """Return a free text with the punctuation it had among the words (hassil's own spans are off after a list)."""
    found = re.search(_DROPPED.join(re.escape(character) for character in "".join(text.split())), words)
    return (found.group() if found else text).strip(_AROUND)


def _load(language: Language) -> Intents:
    described = home_assistant_intents.get_intents(_CODES[language]) or {}
    own = yaml.safe_load(files(__package__).joinpath(f"sentences/{language}.yaml").read_text(encoding="utf-8"))
    for theirs, ours in _OF_HOME_ASSISTANT.items():
        fitting = [
            # The area that they ask for is always the one we are in.
            {key: value for key, value in data.items() if key != "requires_context"}
            for data in described["intents"][theirs]["data"]
            if _FITTING.match(data["metadata"]["slot_combination"])
        ]
        own["intents"].setdefault(ours, {"data": []})["data"] += fitting
    own["expansion_rules"] = {**described["expansion_rules"], **own["expansion_rules"]}
    own["lists"] = {**described["lists"], **own["lists"], **_NOWHERE}
    own["skip_words"] = [*own["skip_words"], *described["skip_words"]]
    own["settings"] = described.get("settings", {})
    return Intents.from_dict(own)
