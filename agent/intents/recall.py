"""Remembering and finding again without a model: the journal holds every word, the graph is left to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agent.event import SELF_CREATED
from agent.intents.dialog_state import Action, DialogState
from agent.intents.intent import Intent, Language, Understand, language_of
from agent.intents.phrases import phrase
from agent.intents.spoken import to_second_person
from memory.json_value import Json

LOOKED_AT: Final = 20
"""Utterances of the journal that are looked at for one question."""

ENOUGH: Final = 0.6
"""Share of a question's words that a statement must have to be quoted: two of three, but not one of two."""

_KEEP: Final[Mapping[Language, str]] = {"en": "remember", "zh": "记住"}
"""Searched for first of all: what was to be remembered goes before the many times that it was asked for."""

_NOT_PEOPLE: Final = frozenset({"you", "self", "timer", "system", "loop"})
"""Who else the journal tells of, beside people."""

_EMPTY_WORD: Final = re.compile(
    "a|about|am|an|and|any|anything|are|arrive|arrives|at|be|been|by|call|called|can|code|come|comes|coming|could|did|"
    "do|does|for|from|get|go|goes|had|has|have|he|her|his|how|i|in|is|it|its|journal|keep|kept|know|leave|left|look|"
    "me|memory|mention|my|name|named|next|of|on|or|our|please|put|recall|remember|remind|said|say|search|she|should|"
    "so|some|talk|tell|that|the|their|them|there|they|this|to|told|us|want|was|we|were|what|what's|when|when's|where|"
    "where's|which|who|who's|will|with|would|you|your"
)
"""English words of which a question can be full without saying what it is about."""

_EMPTY_ZH: Final = re.compile(
    "什么时候|什么地方|什么名字|什么颜色|什么|星期几|周几|几点|几号|哪里|哪儿|哪天|哪个|哪种|哪|多少|谁|名字|关于|"
    "告诉过?|说[过了]|讲过|提过|记不?得|记住|知不?道|来着|我们|我|你|您|那个|这个|请问|放|在|叫|是|对|把|跟|和|最|"
    "有|还|的|了|吗|呢|啊|呀|些"
)
"""The same in Chinese, where words have no spaces between them; longer ones first."""

_WORD: Final = re.compile(r"[\w']+")
_ENDING: Final = re.compile(r"(?<=\w{3})('s|s|ed|ing)$")
_LONGEST_ENDING: Final = 3

_QUESTION: Final = re.compile(
    r"^\W*(what|where|who|when|why|how|which|do|does|did|is|are|can|could|will|would|tell)\b|[?？]\W*$|[吗呢么]\W*$|什么|哪",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """Something a person stated; the greatest is the best answer."""

    share: float
    """Of the words of the question."""
    was_to_be_kept: bool
    when: str
    """In our time format, which sorts by time, in seconds."""
    nearness: int
    """Of two at the same time the one found first is the newer: less for each place further down."""
    text: str


def remember(scene: DialogState, meaning: Intent) -> list[Action] | str:
    """Leave itself an event to write it to the memory, then say that it is kept: the journal has the words already."""
    fact = meaning.text("fact")
    told = to_second_person(fact, scene.language)
    noted = scene.result("create_event")
    if noted is None and scene.has("create_event"):
        task = f"Write into your memory what a person told you to keep while no model could be reached: “{fact}”"
        return [scene.move("create_event", type=SELF_CREATED, content=task)]
    if noted is not None and noted.has_failed:
        return phrase("remembered_here", scene.language, reason=noted.reason)
    return phrase("remembered", scene.language, fact=told)


def recall(scene: DialogState, understand: Understand) -> list[Action] | str:
    """Search the journal for the words that carry the question, and quote what the person said."""
    wanted = content_words(scene.words)
    if not wanted:
        return phrase("not_found", scene.language)
    found = scene.result("journal_search")
    if found is None or found.is_uncertain:
        words = " ".join([_KEEP[scene.language], *wanted])
        return [scene.move("journal_search", words=words, limit=LOOKED_AT)]
    if found.has_failed:
        return phrase("failed", scene.language, reason=found.reason)
    entries = found.value if isinstance(found.value, list) else []
    read = (_fact(entry, -place, wanted, understand) for place, entry in enumerate(entries))
    facts = [fact for fact in read if fact is not None]
    if not facts:
        return phrase("not_found", scene.language)
    text = max(facts).text
    return phrase("recalled", scene.language, fact=to_second_person(text, language_of(text)))


def content_words(question: str) -> list[str]:
    """Return the words of a question that say what it is about, in order, in English without their endings."""
    if language_of(question) == "zh":
        return [word for part in _EMPTY_ZH.split(question) for word in _WORD.findall(part)]
    words = [word for word in _WORD.findall(question.lower().replace("’", "'")) if not _EMPTY_WORD.fullmatch(word)]
    return list(dict.fromkeys(_ENDING.sub("", word) for word in words))


def share_of(wanted: list[str], statement: str) -> float:
    """Return how much of the words a statement has, 0.0 to 1.0: English words by their beginning, Chinese in pairs."""
    text = statement.lower()
    words = _WORD.findall(text)
    found = [
        piece in text if language_of(piece) == "zh" else any(_begins(word, piece) for word in words)
        for piece in (piece for word in wanted for piece in _pieces(word))
    ]
    return sum(found) / len(found) if found else 0.0


def _pieces(word: str) -> list[str]:
    if len(word) <= 2 or language_of(word) != "zh":
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)]


def _begins(word: str, piece: str) -> bool:
    return word.startswith(piece) and len(word) - len(piece) <= _LONGEST_ENDING


def _fact(entry: Json, nearness: int, wanted: list[str], understand: Understand) -> Fact | None:
    """Return what a person stated in an utterance about what is wanted, None when it is no statement of that."""
    if not isinstance(entry, dict) or entry.get("who") in _NOT_PEOPLE:
        return None
    words = str(entry.get("words", "")).strip()
    share = share_of(wanted, words)
    if share < ENOUGH:
        return None
    meaning, when = understand(words), str(entry.get("when", ""))
    if meaning.name == "remember":
        return Fact(share, True, when, nearness, meaning.text("fact"))
    is_statement = meaning.name == "unknown" and not _QUESTION.search(words)
    return Fact(share, False, when, nearness, words.rstrip(" .!。！")) if is_statement else None
