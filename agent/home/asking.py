"""Sentences that Home Assistant understands and carries out itself: its own words, areas, names and languages."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agent.errors import ToolFailed
from agent.home.consent import RECOGNIZE, Consent
from agent.home.guard import READING
from agent.home.home import Home
from agent.intents.intent import Language, language_of
from agent.tools.mcp.schema import plain
from agent.tools.tool import from_outside
from memory.chinese import simplified
from memory.json_value import Json, fields, listed, objects

AGENT: Final = "conversation.home_assistant"
"""Its own conversation agent, which needs no cloud; another one may be set up there as the usual one."""

CHINESE: Final = "zh-CN"

LONGEST: Final = 500
"""Characters of a sentence; what is longer is a story."""

_ANSWER: Final = 1_000
"""Characters of its answer."""

MOST_UNJUDGED: Final = 20
"""Sentences that are kept because nobody could tell what they are about to do."""

OWN: Final = frozenset({"HassGetCurrentTime", "HassGetCurrentDate", "HassNevermind", "HassRespond", "HassBroadcast"})
"""Intents that are no business of the house."""

_ABSENT: Final = ("{names} cannot be reached.", "{names}现在连不上。")

_SUCCESS: Final = re.compile(r'"success":\s*\[[^]]*\]')
_IDS: Final = re.compile(r'"id":\s*"([a-z0-9_]+\.[a-z0-9_]+)"')

NOT_UNDERSTOOD: Final[Mapping[str, Json]] = {"understood": False}


class Sentences:
    """Hands sentences to Home Assistant, which are understood first, and carried out only then."""

    def __init__(self, home: Home, consent: Consent, language: str) -> None:
        """`language` is the house's (ISO 639-1), where the words are not Chinese."""
        self._home = home
        self._consent = consent
        self._language = language
        self._unjudged: list[str] = []
        """Sentences of which Home Assistant could not be asked, and that are not carried out unasked a moment later."""

    async def asks_first(self, sentence: str) -> str:
        """Return what a sentence is about to open, as words after "to"; "" for nothing, and where it fails anyway."""
        try:
            _, understood = await self._understood(sentence)
            return await self._consent.sentence(sentence, understood, language_of(sentence)) if understood else ""
        except ToolFailed:
            self._unjudged = [*self._unjudged[-MOST_UNJUDGED:], sentence]
            return ""

    async def carry_out(self, sentence: str) -> Json:
        """Have a sentence carried out; return whether it was understood, and what is answered.

        Raises `ToolFailed` while Home Assistant is away.
        """
        if sentence in self._unjudged:
            self._unjudged.remove(sentence)
            raise ToolFailed(f"unavailable: Home Assistant: {self._home.reason or 'it was away just now'}")
        form, understood = await self._understood(sentence)
        if not understood:
            return dict(NOT_UNDERSTOOD)
        told = await self._home.ask("conversation/process", text=form, language=self._spoken(sentence), agent_id=AGENT)
        return await self._answered(told, language_of(sentence))

    async def _understood(self, sentence: str) -> tuple[str, Mapping[str, Json]]:
        """Return the form of a sentence that is understood there, and how; nothing where none is.

        Its Chinese is zh-CN. What is heard in traditional characters is tried as it is first, for the sentences and
        names that somebody wrote there so.
        """
        if not sentence.strip() or len(sentence) > LONGEST:
            return sentence, {}
        for form in dict.fromkeys((sentence, simplified(sentence))):
            told = await self._home.ask(RECOGNIZE, sentences=[form], language=self._spoken(sentence))
            first = next(iter(listed(fields(told).get("results"))), None)
            if isinstance(first, dict) and _is_meant(first):
                return form, first
        return sentence, {}

    async def _answered(self, told: Json, language: Language) -> Json:
        response = fields(told).get("response")
        if not isinstance(response, dict):
            raise ToolFailed("Home Assistant gave an answer that breaks its protocol; look whether it was done")
        is_error = response.get("response_type") == "error"
        if is_error and fields(response.get("data")).get("code") == "no_intent_match":
            return dict(NOT_UNDERSTOOD)
        is_done = response.get("response_type") == "action_done"
        absent = await self._home.absent(_done(response)) if is_done else []
        spoken = plain(fields(fields(response.get("speech")).get("plain")).get("speech"), _ANSWER)
        words = " ".join(filter(None, [spoken, absence(absent, language)]))
        if absent and len(absent) == len(_done(response)):
            words = absence(absent, language)
        return {
            "understood": True,
            "done": not is_error and len(absent) < max(1, len(_done(response))),
            "answer": from_outside(words, "home") if words else "",
        }

    def _spoken(self, sentence: str) -> str:
        return CHINESE if language_of(sentence) == "zh" else self._language


def _is_meant(understood: Mapping[str, Json]) -> bool:
    """Whether a sentence is one for the house: not one that was only guessed, and changes nothing that is there.

    Home Assistant takes "tell me a joke" for a question of the time, and "make it dark" for one of the temperature, by
    its own word not exactly.
    """
    name = str(fields(understood.get("intent")).get("name", ""))
    is_guessed = understood.get("fuzzy_match") is True and (name in READING or not understood.get("targets"))
    return understood.get("match") is True and name not in OWN and not is_guessed


def _done(response: Mapping[str, Json]) -> list[str]:
    """Return the ids of what was acted upon, as it says."""
    acted_upon = objects(fields(response.get("data")).get("success"))
    return [str(one.get("id")) for one in acted_upon if one.get("type") == "entity"]


def absence(names: Sequence[str], language: Language) -> str:
    """Return the sentence about devices that nobody can reach; "" for none."""
    joined = ("、" if language == "zh" else ", ").join(names)
    return _ABSENT[language == "zh"].format(names=joined) if names else ""


async def left_out(home: Home, said: str) -> str:
    """Return of what a tool of Home Assistant acted upon what cannot be reached, marked; it says that it was done."""
    done = _SUCCESS.search(said)
    names = await home.absent(_IDS.findall(done.group())) if done else []
    return (
        from_outside(f"cannot be reached, so that nothing happened there: {', '.join(names)}", "home") if names else ""
    )
