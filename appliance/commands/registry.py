"""The registry of commands: a name in two languages each, what it tells, who may; an unknown one gets the nearest."""

import re
from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from appliance.api.caller import Caller
from appliance.api.requests.box import CommandedBox
from appliance.errors import Exit, Problem

Language: TypeAlias = Literal["en", "zh"]

_COMMAND: Final = re.compile(r"/([^\W\d_][\w-]*)(?:\s+(.*))?\Z", re.DOTALL)
"""A slash and a word at the very beginning. "/etc/passwd …", "/ 5" and " /so" are words for the agent."""


class Asking(Struct, frozen=True):
    """A command as somebody gave it."""

    box: CommandedBox
    caller: Caller
    session: str
    """The context in which it was typed; an owner's own."""
    language: Language
    words: str = ""
    """What stands behind its name."""

    def say(self, english: str, chinese: str) -> str:
        """Return one of two sentences, by the language of the command."""
        return chinese if self.language == "zh" else english


class Command(Struct, frozen=True):
    """One command."""

    names: tuple[str, str]
    """English and Chinese; in which it is given, it is answered."""
    arguments: str
    """As they are shown, "" for none."""
    tells: tuple[str, str]
    """What it does, in both languages."""
    run: Callable[[Asking], Awaitable[str]]
    """Does it and returns what is told. Raises `Problem`."""
    is_for_all: bool = True
    """Whether every owner may, of what is theirs; else only the household."""

    def line(self, language: Language) -> str:
        """Return its line in /help."""
        which = language == "zh"
        return f"{f'/{self.names[which]} {self.arguments}'.strip()} — {self.tells[which]}"


class Commands:
    """All of them; works while no model does."""

    def __init__(self, commands: Sequence[Command], house: str) -> None:
        """`house` is the language of the house (ISO 639-1), for what is no command in any."""
        self._commands = [*commands, Command(("help", "帮助"), "[NAME]", HELP, self._help)]
        self._house: Language = "zh" if house == "zh" else "en"
        self._named = {name: each for each in self._commands for name in each.names}

    def name_in(self, text: str) -> str:
        """Return the name of the command that a text gives, known or not, "" where it is no command."""
        found = _COMMAND.match(text)
        return found[1].lower() if found else ""

    async def answer(self, text: str, box: CommandedBox, caller: Caller, session: str) -> str:
        """Do what a command asks, and return what is told, at most some lines. Raises `Problem`."""
        found = _COMMAND.match(text)
        if found is None:
            raise Problem("a command is one word, and what it is about: ping, or history 5", Exit.USAGE)
        name = found[1].lower()
        command = self._named.get(name)
        language = self._language(name)
        asking = Asking(box, caller, session, language, (found[2] or "").strip())
        if command is None:
            return self._unknown(name, asking)
        if not (command.is_for_all or caller.is_household):
            raise Problem(asking.say(f"/{name} is for the household.", f"/{name} 只有家里人能用。"), Exit.NOT_ALLOWED)
        return await command.run(asking)

    def _language(self, name: str) -> Language:
        if name.isascii():
            return "en" if name in self._named else self._house
        return "zh"

    def _unknown(self, name: str, asking: Asking) -> str:
        close = get_close_matches(name, self._named, n=1, cutoff=0.5)
        near = asking.say(f" Did you mean /{close[0]}?", f"是不是 /{close[0]}？") if close else ""
        return asking.say(
            f"There is no command /{name[:40]}.{near} /help lists what there is; put a space before a text that is to "
            "begin with a slash.",
            f"没有 /{name[:40]} 这个命令。{near}/帮助 列出所有命令；要以斜杠开头的话，前面加一个空格。",
        )

    async def _help(self, asking: Asking) -> str:
        if asking.words:
            command = self._named.get(asking.words.removeprefix("/").lower())
            return command.line(asking.language) if command else self._unknown(asking.words.removeprefix("/"), asking)
        may = [each for each in self._commands if each.is_for_all or asking.caller.is_household]
        return "\n".join(sorted(each.line(asking.language) for each in may))


HELP: Final = ("What commands there are, or what one does.", "有哪些命令，或某个命令做什么。")
