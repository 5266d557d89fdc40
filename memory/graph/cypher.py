"""What is looked at in a statement before any store sees it: its tokens, its literals, its reach."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from memory.errors import GraphRefused, TooLarge

LONGEST_STATEMENT: Final = 20_000
"""Characters: parsers were seen to hang on literals of 200,000 elements and on 800 nested CASE."""

LONGEST_LITERAL: Final = 80
"""Characters of a string literal that is still part of the statement and not a value written into it."""

TELLING_WORD: Final = 4
"""Letters of a word that, found in a literal and in the event, shows that the one was copied from the other."""

Kind: TypeAlias = Literal["word", "text", "name", "parameter", "comment", "mark"]

# The alternatives in the order in which Cypher's own lexer decides; what none takes is a mark of one character.
_TOKEN: Final = re.compile(
    r"""
      (?P<comment> //[^\r\n]* | /\*.*?\*/ )
    | (?P<text> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
    | (?P<name> `(?:[^`]|``)*` )
    | (?P<parameter> \$(?:\w+|`(?:[^`]|``)*`) )
    | (?P<word> \w+ )
    | (?P<unfinished> /\* | ['"`] )
    | (?P<mark> \S )
    """,
    re.VERBOSE | re.DOTALL,
)
_UNICODE_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SPACELESS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]+")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a statement; white space is none."""

    kind: Kind
    text: str
    """As written, with its quotes."""
    start: int
    """Offset in the statement."""

    @property
    def value(self) -> str:
        """What a text token says, its escapes resolved."""
        return _ESCAPE.sub(_resolved, self.text[1:-1])


def tokens(cypher: str) -> Iterator[Token]:
    """Yield the tokens of a statement, comments included.

    Raises `GraphRefused` where a string, a quoted name or a comment does not end.
    """
    for found in _TOKEN.finditer(cypher):
        match found.lastgroup:
            case "word" | "text" | "name" | "parameter" | "comment" | "mark" as kind:
                yield Token(kind, found[0], found.start())
            case _:
                raise GraphRefused(f"the {found[0]} at character {found.start() + 1} of the statement is never closed")


def check(cypher: str, longest: int = LONGEST_STATEMENT) -> None:
    """Refuse what no store may be asked: too long, empty, several statements, reaching out, escaping its transaction.

    Raises `TooLarge` for the length, else `GraphRefused`. What the statement does to the graph is not looked at: that
    it may or may not write is the store's to enforce.
    """
    if len(cypher) > longest:
        raise TooLarge(
            f"the statement has {len(cypher)} characters, {longest} are allowed: "
            "pass the values as params, rows as a list with UNWIND $rows AS row"
        )
    # Neo4j resolves these before it reads the statement, so that they can hide any keyword from a reader.
    plain = _UNICODE_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), cypher)
    for text in {cypher, plain}:
        _check_tokens([token for token in tokens(text) if token.kind != "comment" and not _is_invisible(token)])


def glued(cypher: str, spoken: str) -> list[Token]:
    """Return the string literals that are values and belong into the parameters.

    Those longer than `LONGEST_LITERAL`, and those that repeat what was spoken: the whole literal is said in it, or they
    share a word of `TELLING_WORD` letters, or two neighbouring characters of a script without spaces.
    """
    said = _phrase(spoken)
    words = _telling(spoken)
    return [
        token
        for token in tokens(cypher)
        if token.kind == "text" and (len(token.value) > LONGEST_LITERAL or _repeats(token.value, said, words))
    ]


def parameterised(cypher: str, literals: list[Token]) -> tuple[str, dict[str, str]]:
    """Return the statement with these literals of it turned into parameters, and their values."""
    taken = {token.text.strip("$`") for token in tokens(cypher) if token.kind == "parameter"}
    names = (f"text_{number}" for number in range(1, len(literals) + len(taken) + 1))
    values: dict[str, str] = {}
    pieces: list[str] = []
    end = 0
    for token, name in zip(literals, (name for name in names if name not in taken), strict=False):
        pieces += [cypher[end : token.start], f"${name}"]
        values[name] = token.value
        end = token.start + len(token.text)
    return "".join([*pieces, cypher[end:]]), values


def refuse_glued(cypher: str, spoken: str) -> None:
    """Refuse a statement with values written into it, with the parameterised form it should have.

    Raises `GraphRefused`.
    """
    literals = glued(cypher, spoken)
    if not literals:
        return
    statement, values = parameterised(cypher, literals)
    raise GraphRefused(
        "values are never written into the Cypher; it was not run. Call again with "
        f"cypher: {statement}  and these added to params: {json.dumps(values, ensure_ascii=False)}"
    )


def _check_tokens(found: list[Token]) -> None:
    words = [token.text.upper() if token.kind == "word" else token.text for token in found]
    if not words:
        raise GraphRefused("the statement is empty: write one Cypher statement")
    if ";" in words and set(words[words.index(";") :]) != {";"}:
        raise GraphRefused("one statement a call: split it at the ; into several calls, or join the parts with WITH")
    if ("LOAD", "CSV") in pairwise(words):
        raise GraphRefused(
            "LOAD CSV is off, it reads files and addresses outside the memory: "
            "read the rows with another tool and pass them as a list, with UNWIND $rows AS row"
        )
    # The brace, because `x IN transactions` is an honest test for membership.
    triples = zip(words, words[1:], words[2:], strict=False)
    if ("}", "IN", "TRANSACTIONS") in triples or ("CONCURRENT", "TRANSACTIONS") in pairwise(words):
        raise GraphRefused(
            "CALL { … } IN TRANSACTIONS is off, a call is one transaction: leave it out, or write in several calls"
        )


def _is_invisible(token: Token) -> bool:
    """Say whether a mark is one that lexers may skip as white space though Python's does not."""
    return token.kind == "mark" and unicodedata.category(token.text) in {"Cc", "Cf", "Zs"}


def _resolved(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def _phrase(text: str) -> str:
    """Return a text's words, lower case, with one space around each."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).casefold()))} "


def _telling(text: str) -> set[str]:
    """Return the words of a text by which a copy of it is known."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    runs = _SPACELESS.findall(folded)
    pairs = {run[index : index + 2] for run in runs for index in range(len(run) - 1)}
    return pairs | {word for word in _WORD.findall(_SPACELESS.sub(" ", folded)) if len(word) >= TELLING_WORD}


def _repeats(literal: str, said: str, words: set[str]) -> bool:
    whole = _phrase(literal)
    is_said = len(whole.strip()) > 1 and whole in said
    return is_said or not words.isdisjoint(_telling(literal))


def quoted(name: str) -> str:
    """Return a label, a type, a property key or an index's name as a statement takes any."""
    return f"`{name.replace('`', '``')}`"
