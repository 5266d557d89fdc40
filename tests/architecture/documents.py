"""The documents as their readers use them: pages, links between them, and the commands that stand in them."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

from msgspec import Struct

from appliance.cli import nakari
from tests.architecture.source import ROOT, files

FRONT = Path("README.md")
NO_PAGES = ("agent/prompts/", "tests/data/")
"""Markdown that is read by a model, or lies beside data, and no document."""

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


class Command(Struct, frozen=True, order=True):
    """A command line that a document shows."""

    page: Path
    line: str
    """As it stands there."""
    words: tuple[str, ...]
    """What the shell would make of it, without sudo: the program and its arguments."""
    is_example: bool
    """Whether it stands in a block to be copied, complete as it is; else it is named in a sentence or a table."""


@cache
def pages() -> tuple[Path, ...]:
    """Return every document, relative to the root."""
    return tuple(path for path in files("*.md") if not path.as_posix().startswith(NO_PAGES))


@cache
def text(page: Path) -> str:
    """Return what a page says."""
    return (ROOT / page).read_text(encoding="utf-8")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield where each link or picture of a page leads: a path relative to the root, and the anchor, "" without."""
    for target in (*LINK.findall(prose(page)), *PICTURE.findall(prose(page))):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page.parent / name).resolve() if name else (ROOT / page).resolve()
        yield path.relative_to(ROOT), anchor


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(prose(page)))
    return set(plain)


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return FENCE.sub("", text(page))


def spans(page: Path) -> Iterator[str]:
    """Yield each piece of code within the sentences of a page."""
    yield from (" ".join(span.split()) for span in SPAN.findall(prose(page)))


def blocks(page: Path, language: str) -> Iterator[str]:
    """Yield each block of code in a language."""
    yield from (body for kind, body in FENCE.findall(text(page)) if kind == language)


def commands(page: Path) -> Iterator[Command]:
    """Yield every command line of a page: of `sh` blocks, of `console` blocks behind $, and what sentences name."""
    for block in blocks(page, "sh"):
        for line in filter(None, map(str.strip, block.replace("\\\n", " ").splitlines())):
            yield from (Command(page, line, words, is_example=True) for words in programs(line))
    for block in blocks(page, "console"):
        for line in (shown.removeprefix("$ ") for shown in block.splitlines() if shown.startswith("$ ")):
            yield from (Command(page, line, words, is_example=True) for words in programs(line))
    for span in spans(page):
        if re.match(r"(sudo )?(nakari |scripts/\w)", span):
            yield from (Command(page, span, words, is_example=False) for words in usages(span))


def programs(line: str) -> Iterator[tuple[str, ...]]:
    """Yield each program of a shell line with its arguments, without sudo and redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    tokens = [*lexer, ";"]
    for token, before in zip(tokens, ["", *tokens], strict=False):
        if set(token) <= set("&|;"):
            if words:
                yield tuple(words)
            words = []
        elif not (set(token) <= set("<>") or (set(before) <= set("<>") and before) or (token == "sudo" and not words)):
            words.append(token)


def shown_commands() -> set[str]:
    """Return the names of the commands that `nakari --help` lists, but for `version`, which is an option too."""
    return {name for name, command in nakari.commands.items() if not command.hidden} - {"version"}


def usages(span: str) -> Iterator[tuple[str, ...]]:
    """Yield the command lines that a usage stands for: optional parts are given, of `a|b` each one."""
    plain = span.replace("\\|", "|").replace("[", " ").replace("]", " ").replace("…", " ").removeprefix("sudo ")
    try:
        words = [word for word in shlex.split(plain) if word != "|"]
    except ValueError:
        words = [word for word in plain.split() if word != "|"]
    yield from product(*(word.split("|") for word in words))
