"""A command grammar as the decoder takes it: JSGF text, without the words its dictionary lacks."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

Grammar: TypeAlias = Mapping[str, Sequence[str]]
"""Rule name -> alternatives in JSGF expansion syntax: words, (a | b), [optional], <rule>."""

TOP_RULE: Final = "command"
"""The rule whose alternatives are whole utterances."""

_TOKEN: Final = re.compile(r"<[^>\s]+>|[()\[\]|]|[^\s()\[\]|<>]+")

_CLOSING: Final = {"(": ")", "[": "]"}


def restrict(grammar: Grammar, knows: Callable[[str], bool]) -> dict[str, list[str]]:
    """Return what of the grammar can be said with known words, at every depth; rules left without anything are dropped.

    One unknown word makes the decoder refuse a whole grammar, and so does a rule that does not exist.
    Raises ValueError when brackets do not match.
    """
    left = {name: list(alternatives) for name, alternatives in grammar.items()}
    while True:
        kept: dict[str, list[str]] = {}
        for name, alternatives in left.items():
            sayable = [said for each in alternatives if (said := _Expansion(each.lower(), left, knows).sayable())]
            if sayable:
                kept[name] = sayable
        if kept == left:
            return kept
        left = kept


def jsgf(grammar: Grammar) -> str:
    """Return the grammar as JSGF text whose public rule is `TOP_RULE`."""
    rules = [
        f"{'public ' if name == TOP_RULE else ''}<{name}> = {' | '.join(f'({each})' for each in alternatives)};"
        for name, alternatives in grammar.items()
    ]
    return "\n".join(["#JSGF V1.0;", "grammar commands;", *rules, ""])


class _Expansion:
    """One alternative, read from left to right; what cannot be said is None."""

    def __init__(self, text: str, grammar: Grammar, knows: Callable[[str], bool]) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._grammar = grammar
        self._knows = knows

    def sayable(self) -> str | None:
        said = self._choice()
        if self._tokens:
            raise ValueError(f"unbalanced brackets in the command {self._text!r}")
        return said

    def _choice(self) -> str | None:
        """Return the choices that can be said, up to a closing bracket or the end."""
        choices = [self._sequence()]
        while self._tokens and self._tokens[0] == "|":
            self._tokens.pop(0)
            choices.append(self._sequence())
        sayable = [choice for choice in choices if choice is not None]
        return " | ".join(sayable) if sayable else None

    def _sequence(self) -> str | None:
        """Return the sequence if every part of it can be said."""
        parts: list[str | None] = []
        while self._tokens and self._tokens[0] not in {"|", ")", "]"}:
            parts.append(self._part(self._tokens.pop(0)))
        said = [part for part in parts if part is not None]
        return " ".join(part for part in said if part) if len(said) == len(parts) else None

    def _part(self, token: str) -> str | None:
        if token not in _CLOSING:
            is_known = token[1:-1] in self._grammar if token.startswith("<") else self._knows(token)
            return token if is_known else None
        inner = self._choice()
        if not self._tokens or self._tokens.pop(0) != _CLOSING[token]:
            raise ValueError(f"unbalanced brackets in the command {self._text!r}")
        if token == "[":
            return f"[{inner}]" if inner else ""
        return f"({inner})" if inner is not None else None
