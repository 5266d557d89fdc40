"""Remembering and finding again without a model: the journal holds every word, her graph is left to her."""

import re
from collections.abc import Callable
from typing import Any, Final

from agent.model.offline.meaning import Meaning, language_of
from agent.model.offline.phrases import phrase
from agent.model.offline.scene import Move, Scene
from agent.model.offline.spoken import to_second_person

LOOKED_AT: Final = 20
"""Utterances of the journal that are looked at for one question."""

_EMPTY_WORD: Final = re.compile(
    "a|about|an|and|any|are|at|be|by|called|did|do|does|for|from|had|has|have|he|her|his|i|in|is|it|its|me|my|name|of|"
    "on|or|our|say|said|she|that|the|their|them|there|they|this|to|was|we|were|what|when|where|which|who|will|with|you|"
    "your"
)
_EMPTY_ZH: Final = re.compile("我们的?|我的?|你的?|那个|这个|关于|什么|的")
_WORD: Final = re.compile(r"[\w']+")

_QUESTION: Final = re.compile(
    r"^\W*(what|where|who|when|why|how|which|do|does|did|is|are|can|could|will|would|tell)\b|[?？]\W*$|[吗呢么]\W*$|什么|哪",
    re.IGNORECASE,
)


def remember(scene: Scene, meaning: Meaning) -> tuple[list[Move], str]:
    """Leave herself an event to write it to her memory, and say that it is kept: the journal has the words already."""
    fact = meaning.text("fact")
    task = f"While no model could be reached, a person asked you to remember: “{fact}”. Write it to your memory."
    moves = [scene.move("create_event", type="self_created", content=task)] if scene.has("create_event") else []
    return moves, phrase("remembered", scene.language, fact=to_second_person(fact, scene.language))


def recall(scene: Scene, meaning: Meaning, understand: Callable[[str], Meaning]) -> list[Move] | str:
    """Search the journal for the words that carry the question, and quote what the person said."""
    wanted = content_words(meaning.text("topic"))
    if not wanted:
        return phrase("not_found", scene.language)
    if not (results := scene.results("journal_search")):
        return [scene.move("journal_search", words=" ".join(wanted), limit=LOOKED_AT)]
    for entry in results[-1].value if isinstance(results[-1].value, list) else []:
        if fact := _fact(entry, wanted, understand):
            return phrase("recalled", scene.language, fact=to_second_person(fact, language_of(fact)))
    return phrase("not_found", scene.language)


def content_words(topic: str) -> list[str]:
    """Return the words of a question that an answer must share, without the s of a plural."""
    if language_of(topic) == "zh":
        return [word for word in _EMPTY_ZH.split(topic) if word.strip()]
    words = [word.lower().removesuffix("'s") for word in _WORD.findall(topic)]
    return [_singular(word) for word in words if not _EMPTY_WORD.fullmatch(word)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _fact(entry: Any, wanted: list[str], understand: Callable[[str], Meaning]) -> str:
    """Return what a person stated in an utterance about what is wanted, "" when it is no statement of that."""
    if not isinstance(entry, dict) or entry.get("who") == "you":
        return ""
    words = str(entry.get("words", "")).strip()
    if not all(word in words.lower() for word in wanted):
        return ""
    meaning = understand(words)
    if meaning.name == "remember":
        return meaning.text("fact")
    is_statement = meaning.name == "unknown" and not _QUESTION.search(words)
    return words.rstrip(" .!。！") if is_statement else ""
