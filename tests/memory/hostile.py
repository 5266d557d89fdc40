"""Statements that would write, escape, break or hang, and seeded mutations of honest ones: for both doors."""

import random
from collections.abc import Iterator
from typing import Any, Final

from tests.memory.contract_reads import READS
from tests.memory.contract_values import VALUES
from tests.memory.contract_writes import WRITES
from tests.memory.test_graph_reader import ATTACKS, CURIOUS, HOSTILE, OPENERS, SCHEMA_WRITES
from tests.memory.test_graph_reader import WRITES as FORBIDDEN

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
    """Return a text with a piece taken out, doubled, put in, swapped with another's, or all of it repeated."""
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.randint(1, 12))
    match chance.randrange(6):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + text[start:end] * chance.randint(1, 20) + text[end:]
        case 2:
            return f"{text[:start]} {chance.choice(_PIECES)} {text[start:]}"
        case 3:
            return text[:start] + other[chance.randrange(len(other)) :]
        case 4:
            return text[:start] + text[start:end][::-1] + text[end:]
    return f"{text} {other}"
