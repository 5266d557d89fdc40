"""Makes statements repeatable: the clock is bound as a parameter, and what chance decides is named."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from memory.graph.cypher import Statement, Token

PREFIX: Final = "at_that_time_"
"""Of the parameters that hold the clock."""

_CLOCKS: Final = {
    "DATETIME": lambda now: now.isoformat().replace("+00:00", "Z"),
    "LOCALDATETIME": lambda now: now.replace(tzinfo=None).isoformat(),
    "DATE": lambda now: now.date().isoformat(),
    "TIME": lambda now: now.timetz().isoformat().replace("+00:00", "Z"),
    "LOCALTIME": lambda now: now.time().isoformat(),
}
"""Functions that give the clock when they are called with nothing; both stores' zone is UTC unless somebody set it."""

_OF_A_STATEMENT: Final = ("TRANSACTION", "STATEMENT", "REALTIME")
_CHANCE: Final = {"RAND": "rand()", "RANDOMUUID": "randomUUID()", "UUID": "a random UUID"}
_IDS: Final = {"ELEMENTID": "elementId()", "ID": "id()"}
_CLAUSES: Final = frozenset({"MATCH", "WITH", "RETURN", "CREATE", "MERGE", "SET", "UNWIND", "DELETE", "REMOVE", "CALL"})


class Deterministic(Struct, frozen=True):
    """A statement as it is run and kept."""

    statement: Statement
    params: dict[str, object]
    """The clock's, to be added to its own."""
    inexact: tuple[str, ...] = ()
    """What in it may come out otherwise when it is run again on the same graph, each once; empty: nothing does."""


def deterministic(statement: Statement, now: datetime) -> Deterministic:
    """Return the statement with `datetime()` and its like bound to `now` (aware UTC), and what is still inexact.

    Within a transaction the clock stands still in Cypher too, so that the meaning stays.
    """
    params: dict[str, object] = {}
    changes: list[tuple[int, int, list[str]]] = []
    for first, last, name in _clock_calls(statement.tokens):
        parameter = f"{PREFIX}{name.lower()}"
        if name == "TIMESTAMP":
            params[parameter] = int(now.timestamp() * 1000)
            changes.append((first, last, [f"${parameter}"]))
        else:
            params[parameter] = _CLOCKS[name](now)
            changes.append((first, last, [statement.tokens[first].text, "(", f"${parameter}", ")"]))
    bound = statement.replaced(changes)
    return Deterministic(bound, params, tuple(dict.fromkeys(_inexact(bound.code))))


def _clock_calls(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield the indexes of the first and last token of each call of the clock, and the function's name in capitals."""
    code = [(index, token) for index, token in enumerate(tokens) if token.kind != "comment"]
    found = [token for _, token in code]
    for place, (index, token) in enumerate(code):
        name, end = token.text.upper(), place
        if token.kind != "word" or (name not in _CLOCKS and name != "TIMESTAMP") or _follows_dot(found, place):
            continue
        rest = [later.text.upper() for later in found[place + 1 : place + 5]]
        if rest[:1] == ["."] and len(rest) > 1 and rest[1] in _OF_A_STATEMENT:
            end, rest = end + 2, rest[2:]
        if rest[:2] == ["(", ")"]:
            yield index, code[end + 2][0], name


def _inexact(found: list[Token]) -> Iterator[str]:
    words = [token.text.upper() if token.kind in ("word", "mark") else "" for token in found]
    end = _last_return(words)
    clause, ordered = "", False
    for index, word in enumerate(words[:end]):
        called = words[index + 1 : index + 2] == ["("]
        if word in _CLAUSES:
            clause, ordered = word, False
        elif word == "ORDER":
            ordered = True
        elif word in ("LIMIT", "SKIP") and clause in ("WITH", "RETURN") and not ordered:
            yield f"{word} without ORDER BY"
        elif called and (what := _CHANCE.get(word) or (None if _follows_dot(found, index) else _IDS.get(word))):
            yield what
        elif called and word in ("TRUNCATE", *_CLOCKS) and _reads_the_clock(words, index):
            yield "the clock in another zone or unit"


def _last_return(words: list[str]) -> int:
    """Return the index of the RETURN that only reports, past which nothing changes the graph."""
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "{") - (word == "}")
        if word == "RETURN" and depth == 0 and "UNION" not in words[index:]:
            return index
    return len(words)


def _reads_the_clock(words: list[str], index: int) -> bool:
    """Whether a call of a time function with arguments leaves the moment itself to the clock."""
    inside = words[index + 2 : words.index(")", index)] if ")" in words[index:] else []
    if words[index] == "TRUNCATE":
        return "," not in inside
    return inside[:2] == ["{", "TIMEZONE"] and "," not in inside


def _follows_dot(found: list[Token], index: int) -> bool:
    return index > 0 and found[index - 1].text == "."
