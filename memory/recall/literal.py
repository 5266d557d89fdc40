"""What holds some words literally, for who wants all of it: no word is too common, and nothing is weighed."""

import re
import sqlite3
from collections.abc import Callable

from memory.chinese import has_chinese
from memory.recall.question import AGENT
from memory.recall.terms import is_common


def holding(words: str) -> Callable[[str], bool]:
    """Return what tells whether a text holds all of these words, whatever their capitals; of no words none does.

    A word counts within a longer one, but for one of one or two letters of an alphabet: that has to stand alone.
    """
    found = [re.compile(_standing(word)) for word in words.casefold().split()]
    return lambda text: bool(found) and all(each.search(text.casefold()) for each in found)


def _standing(word: str) -> str:
    is_short = len(word) <= 2 and word.isalnum() and not has_chinese(word)
    return rf"(?<!\w){re.escape(word)}(?!\w)" if is_short else re.escape(word)


def ids_with(connection: sqlite3.Connection, words: str, owner_key: str) -> set[str]:
    """Return the ids of the events of which one item holds all of these words, common ones too.

    What the agent said itself is looked at for words that tell something only: "I will keep that" is about nobody.
    """
    is_held, tells = holding(words), not is_common(words)
    rows = connection.execute("SELECT event_id, speaker, words FROM recall_item WHERE owner_key = ?", (owner_key,))
    return {row["event_id"] for row in rows if (tells or row["speaker"] != AGENT) and is_held(row["words"])}
