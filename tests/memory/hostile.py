"""Statements that would write, escape, break or hang, and seeded mutations of honest ones: for both doors."""

import random
import re
from collections.abc import Iterator
from typing import Any, Final

from tests.memory.contract_reads import READS
from tests.memory.contract_values import VALUES
from tests.memory.contract_writes import WRITES
from tests.memory.graph.test_reader import ATTACKS, CURIOUS, HOSTILE, OPENERS, SCHEMA_WRITES
from tests.memory.graph.test_reader import WRITES as FORBIDDEN

_WORD: Final = re.compile(r"\w+")
_PIECES: Final = (
    *(
        "'",
        '"',
        "`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ";",
        "--",
        "->",
        "//",
        "/*",
        "*/",
        "\\",
        "\\u0027",
        "\x00",
        "$x",
        "|",
    ),
    *("\u200b", "\ufeff", "\uff03", "💥", "CREATE (:Hack)", "DETACH DELETE n", "SET n.x = 1", "MERGE (:Hack)"),
    *("*", "*1..", "null", "99999999999999999999", "1e999", "NaN", "RETURN", "MATCH (n)", "UNION", "CALL {", "WITH *"),
)


def hostile() -> list[str]:
    """Return more than 200 statements of which none may change anything through the reading door."""
    glued = [f"MATCH (a:A {{t: '{opener}{attack}'}}) RETURN a" for opener in OPENERS for attack in ATTACKS]
    curious = [f"MATCH (a:A) WHERE a.t = '{value}' RETURN a" for value in CURIOUS]
    changed = [case.cypher for case in WRITES if not case.params]
    return [*FORBIDDEN, *(each.format(kept="kept") for each in SCHEMA_WRITES), *HOSTILE, *glued, *curious, *changed]


def injections() -> list[str]:
    """Return 50 values and more that would alter a statement if they were written into it."""
    return [opener + attack for opener in OPENERS for attack in ATTACKS] + CURIOUS


def mutated(seed: int, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield so many broken variants of the contract's statements, with their parameters; the same for the same seed."""
    chance = random.Random(seed)
    cases = [*READS, *VALUES, *WRITES]
    for _ in range(count):
        case = chance.choice(cases)
        text = case.cypher
        for _ in range(chance.choice([1, 1, 1, 2, 4])):
            text = _mutation(text, chance.choice(cases).cypher, chance)
        is_honest = chance.random() < 0.7
        wrong: list[Any] = [None, [], {}, "x", -1]
        yield text, {name: value if is_honest else chance.choice(wrong) for name, value in case.params.items()}


def _mutation(text: str, other: str, chance: random.Random) -> str:
    """Return a text with a piece changed, or, to stay Cypher for longer, with another name or number in it."""
    return _torn(text, other, chance) if chance.random() < 0.6 else _renamed(text, other, chance)


def _torn(text: str, other: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.randint(1, 12))
    return chance.choice(
        [
            text[:start] + text[end:],
            text[:end] + text[start:end] * chance.randint(1, 20) + text[end:],
            f"{text[:start]} {chance.choice(_PIECES)} {text[start:]}",
            text[:start] + other[chance.randrange(len(other)) :],
            text[:start] + text[start:end][::-1] + text[end:],
            f"{text} {other}",
        ]
    )


def _renamed(text: str, other: str, chance: random.Random) -> str:
    words = [*_WORD.finditer(text)]
    if not words:
        return other
    word = chance.choice(words)
    instead: str = chance.choice([*_WORD.findall(other), "0", "-1", "99999999", "null", "茶"])
    return text[: word.start()] + instead + text[word.end() :]
