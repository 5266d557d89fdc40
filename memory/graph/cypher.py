"""Cypher statements, parsed once: tokens, literals, parameters, and what no store may be asked."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

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


class Token(Struct, frozen=True):
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


class Statement(Struct, frozen=True):
    """A Cypher statement, tokenized once; tools, writer, graph and store pass it along."""

    text: str
    tokens: tuple[Token, ...]
    """All of them, comments included, in order."""

    @classmethod
    def parse(cls, cypher: "str | Statement", longest: int = LONGEST_STATEMENT) -> Self:
        """Return a statement that may be sent to a store; one that is parsed already as it is.

        Refused are: too long, empty, several statements, reaching out, escaping its transaction. Raises `TooLarge` for
        the length, else `GraphRefused`. What it does to the graph is not looked at: that it may or may not write is the
        store's to enforce.
        """
        if isinstance(cypher, cls):
            return cypher
        text = str(cypher)
        if len(text) > longest:
            raise TooLarge(
                f"the statement has {len(text)} characters, {longest} are allowed: "
                "pass the values as params, rows as a list with UNWIND $rows AS row"
            )
        statement = cls(text, tuple(_tokens(text)))
        _check_tokens(statement.tokens)
        # Neo4j resolves these before it reads the statement, so that they can hide any keyword from a reader.
        plain = _UNICODE_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
        if plain != text:
            _check_tokens(tuple(_tokens(plain)))
        return statement

    @property
    def code(self) -> list[Token]:
        """Its tokens without comments."""
        return [token for token in self.tokens if token.kind != "comment"]

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters, each as often as it stands there."""
        return [token.text.strip("$`") for token in self.tokens if token.kind == "parameter"]

    @property
    def names(self) -> set[str]:
        """Whatever may be a label, a type or a key in it; keywords and variables too."""
        return {unquoted(token.text) for token in self.tokens if token.kind in ("word", "name")}

    @property
    def without_comments(self) -> str:
        """Its text with a space in the place of each comment."""
        return self._spliced((token, " ") for token in self.tokens if token.kind == "comment")

    def copied_values(self, spoken: str) -> list[Token]:
        """Return the string literals that are values and belong into the parameters.

        Those longer than `LONGEST_LITERAL`, and those that repeat what was spoken: the whole literal is said in it, or
        they share a word of `TELLING_WORD` letters, or two neighbouring characters of a script without spaces.
        """
        texts = [token for token in self.tokens if token.kind == "text"]
        if not texts:
            return []
        said, words = _phrase(spoken), _telling(spoken)
        return [token for token in texts if len(token.value) > LONGEST_LITERAL or _repeats(token.value, said, words)]

    def parameterised(self, literals: Sequence[Token]) -> tuple[str, dict[str, str]]:
        """Return the text with these literals turned into parameters, and their values."""
        taken = set(self.parameters)
        numbered = (f"text_{number}" for number in range(1, len(literals) + len(taken) + 1))
        free = [name for name in numbered if name not in taken]
        values = {name: token.value for token, name in zip(literals, free, strict=False)}
        return self._spliced((token, f"${name}") for token, name in zip(literals, free, strict=False)), values

    def refuse_copied_values(self, spoken: str) -> None:
        """Refuse it with values written into it, with the parameterised form that it should have.

        Raises `GraphRefused`.
        """
        if literals := self.copied_values(spoken):
            statement, values = self.parameterised(literals)
            raise GraphRefused(
                "values are never written into the Cypher; it was not run. Call again with "
                f"cypher: {statement}  and these added to params: {json.dumps(values, ensure_ascii=False)}"
            )

    def replaced(self, changes: Iterable[tuple[int, int, Sequence[str]]]) -> "Statement":
        """Return it with other tokens in the place of those from one index to another, both included.

        Nothing is tokenized again. The changes are in order. A new token is a word, a parameter or a mark.
        """
        text, tokens, end, done = "", list[Token](), 0, 0
        for first, last, pieces in changes:
            start, behind = self.tokens[first].start, self.tokens[last].start + len(self.tokens[last].text)
            tokens += [replace(token, start=token.start + len(text) - end) for token in self.tokens[done:first]]
            text += self.text[end:start]
            for piece in pieces:
                kind: Kind = "parameter" if piece.startswith("$") else "word" if piece.isidentifier() else "mark"
                tokens.append(Token(kind, piece, len(text)))
                text += piece
            end, done = behind, last + 1
        if not done:
            return self
        tokens += [replace(token, start=token.start + len(text) - end) for token in self.tokens[done:]]
        return Statement(text + self.text[end:], tuple(tokens))

    def _spliced(self, changes: Iterable[tuple[Token, str]]) -> str:
        pieces, end = list[str](), 0
        for token, text in changes:
            pieces += [self.text[end : token.start], text]
            end = token.start + len(token.text)
        return "".join([*pieces, self.text[end:]])


def _tokens(cypher: str) -> Iterator[Token]:
    """Yield the tokens of a statement, comments included.

    Raises `GraphRefused` where a string, a quoted name or a comment does not end.
    """
    for found in _TOKEN.finditer(cypher):
        match found.lastgroup:
            case "word" | "text" | "name" | "parameter" | "comment" | "mark" as kind:
                yield Token(kind, found[0], found.start())
            case _:
                raise GraphRefused(f"the {found[0]} at character {found.start() + 1} of the statement is never closed")


def _check_tokens(tokens: Iterable[Token]) -> None:
    found = [token for token in tokens if token.kind != "comment" and not _is_invisible(token)]
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


def unquoted(name: str) -> str:
    """Return what a name in a statement says, quoted or not."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
