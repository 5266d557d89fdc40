"""What the text of an answer is parted into."""

from typing import TypeAlias

from msgspec import Struct


class Words(Struct, frozen=True):
    """More of what is meant for others."""

    text: str


class Thought(Struct, frozen=True):
    """More of what is not."""

    text: str


class WordsWereThought(Struct, frozen=True):
    """All words until here were thinking: its closing tag came, and no opening one."""


class CallBegun(Struct, frozen=True):
    """A call of a known tool; its arguments follow."""

    name: str


class CallArguments(Struct, frozen=True):
    """More of the last call's arguments, as JSON text."""

    text: str


Part: TypeAlias = Words | Thought | WordsWereThought | CallBegun | CallArguments
