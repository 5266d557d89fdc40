"""ReAct's notation of a call: the action's name behind one label, behind another its input, as JSON or plain words."""

import json
import re
from collections.abc import Mapping
from typing import Final

from agent.model.dialects.bodies import JsonBody
from agent.model.dialects.heads import MOST_UNDECIDED, Head, Verdict, only_text, read_head
from agent.model.dialects.marks import (
    ACTION_LABELS,
    ANSWER_LABELS,
    CALLS,
    FENCE,
    INPUT_LABELS,
    REACT,
    WEAK_LABELS,
    beginnings,
    begun,
)
from agent.model.dialects.names import known_name
from agent.model.messages import ToolSpec
from memory.json_value import listed

_LABEL: Final = re.compile("|".join(map(re.escape, sorted(ACTION_LABELS, key=len, reverse=True))))
_INPUT: Final = re.compile(rf"[^\n]*?(?:\n\s*)?(?:{'|'.join(map(re.escape, INPUT_LABELS))})[ \t]*\n?[ \t]*")
"""The rest of an action's line, and the label of its input."""

_FENCE: Final = re.compile(r"```\w*\s*|`(?=\{)")
_NAME: Final = re.compile(r"[^\W\d][\w.-]*")
_AROUND: Final = " \t\r\n`*\"'"
"""What models set around an action's name."""

_LABELS: Final = (*INPUT_LABELS, *REACT, *ANSWER_LABELS)
_ENDS: Final = (*(f"\n{label}" for label in (*REACT, *ANSWER_LABELS) if label not in WEAK_LABELS), "\nPAUSE")
_QUOTES: Final = "\"'"
_NOTHING: Final = ("none", "null", "n/a", "nothing", "无")
"""How models write that there is no input."""


class PlainBody:
    """Arguments as one text in plain words, up to the next label."""

    is_broken = False

    def __init__(self, key: str, *, ends: tuple[str, ...] = _ENDS, closer: str = "") -> None:
        """`key` is the argument that the text is, "" where the tool takes none; `closer` stands at its end."""
        self._key, self._ends, self._closer = key, ends, closer
        self._begun = beginnings(ends)
        self._held = self._quote = ""
        self._has_begun = self.is_done = False
        self.rest = ""

    def feed(self, text: str) -> str:
        """See `Body`."""
        self._held += text
        places = [place for mark in self._ends if (place := self._held.find(mark)) >= 0]
        kept = len(self._held) - begun(self._held, self._begun)
        if places and min(places) <= kept:
            self.is_done = True
            self.rest, self._held = self._held[min(places) + len(self._closer) :], self._held[: min(places)]
            return self._end()
        return self._words(len(self._held[:kept].rstrip(f"{_QUOTES} \t\r\n")))

    def finish(self, *, is_cut: bool) -> str:
        """See `Body`."""
        return self._words(len(self._held)) if is_cut else self._end()

    def _words(self, size: int) -> str:
        text, self._held = self._held[:size], self._held[size:]
        if not self._has_begun:
            text = text.lstrip()
            if not (text and self._key):
                return ""
            self._quote = text[0] if text[0] in _QUOTES else ""
            self._has_begun, text = True, text.removeprefix(self._quote)
            return f"{{{json.dumps(self._key)}: " + json.dumps(text, ensure_ascii=False)[:-1]
        return json.dumps(text, ensure_ascii=False)[1:-1]

    def _end(self) -> str:
        made = self._words(len(self._held.rstrip().removesuffix(self._closer).rstrip(_QUOTES)))
        rest = self._held.rstrip().removesuffix(self._closer).removesuffix(self._quote) if self._has_begun else ""
        return f'{made}{json.dumps(rest, ensure_ascii=False)[1:-1]}"}}' if self._has_begun else "{}"


def read_action(text: str, tools: Mapping[str, ToolSpec], *, is_last: bool) -> Verdict:
    """Judge a text that begins with the label of an action. With `is_last` nothing more will come."""
    verdict = _read(text, tools, is_last=is_last)
    return "none" if verdict == "open" and (is_last or len(text) > MOST_UNDECIDED) else verdict


def _read(text: str, tools: Mapping[str, ToolSpec], *, is_last: bool) -> Verdict:
    label = _LABEL.match(text)
    bare = text[label.end() if label else 0 :].lstrip()
    if bare.startswith(("{", FENCE)) or FENCE.startswith(bare):
        return read_head(CALLS[0] + bare, tools, is_explicit=True, is_last=is_last, begins=True)
    bare = bare.lstrip(_AROUND)
    found = _NAME.match(bare)
    if not found or (found.end() == len(bare) and not is_last):
        return "none" if bare and not found else "open"
    return _behind_name(found[0], bare[found.end() :], tools, is_labelled=label is not None, is_last=is_last)


def _behind_name(name: str, behind: str, tools: Mapping[str, ToolSpec], *, is_labelled: bool, is_last: bool) -> Verdict:
    """Judge what stands behind an action's name, to which without a label only a colon or arguments may belong."""
    tool, behind = tools.get(known_name(name, tools)), behind.lstrip("`*\"' \t" if is_labelled else " \t")
    if not is_labelled and behind[:1] in {*"({"}:
        return read_head(f"{CALLS[0]}{name}{behind}", tools, is_explicit=True, is_last=is_last)
    if not (is_labelled or (name in tools and behind[:1] in {"", "\n", ":", "："})):
        return "none"
    behind = behind.lstrip(":： \t")
    if told := _INPUT.match(behind):
        return _with_input(tool or name, behind[told.end() :], is_last=is_last)
    if tool is not None:
        return _without_label(tool, behind, is_last=is_last)
    _, newline, after = behind.partition("\n")
    return "none" if newline and not any(label.startswith(after.lstrip()) for label in INPUT_LABELS) else "open"


def _with_input(tool: ToolSpec | str, behind: str, *, is_last: bool) -> Verdict:
    """Judge what stands behind the label of an input; of a tool that there is not only JSON makes a call."""
    name = tool if isinstance(tool, str) else tool.name
    bare = behind.lstrip()
    if FENCE.startswith(bare) or _FENCE.fullmatch(bare):
        return Head(name, JsonBody(), "{}") if is_last else "open"
    bare = _FENCE.sub("", bare)
    line, newline, after = bare.partition("\n")
    if any(each.startswith(line.strip(" .").lower()) for each in _NOTHING):
        is_whole = line.strip(" .").lower() in _NOTHING
        if not (newline or is_last):
            return "open"
        bare = f"{{}}\n{after}" if is_whole else bare
    if bare.startswith("{"):
        return Head(name, JsonBody(), bare)
    return "none" if isinstance(tool, str) else Head(name, PlainBody(only_text(tool)), f"\n{bare}")


def _without_label(tool: ToolSpec, behind: str, *, is_last: bool) -> Verdict:
    """Judge what stands behind the name where no label has come: arguments, words, or nothing."""
    if behind.startswith(("(", "{")):
        verdict = read_head(f"{CALLS[0]}{tool.name}{behind}", {tool.name: tool}, is_explicit=True, is_last=is_last)
        if verdict != "none":
            return verdict
    if behind.startswith("[") and only_text(tool):
        return Head(tool.name, PlainBody(only_text(tool), ends=("]\n",), closer="]"), behind[1:])
    line, newline, after = behind.partition("\n")
    after = after.lstrip()
    if not is_last and (not newline or any(label.startswith(after) for label in _LABELS)):
        return "open"
    words = "" if after.startswith(_LABELS) else after if newline else line
    if words and only_text(tool):
        return Head(tool.name, PlainBody(only_text(tool)), f"\n{words}")
    is_whole = not listed(tool.parameters.get("required")) or (is_last and not after)
    return Head(tool.name, JsonBody(), f"{{}}\n{after}") if is_whole else "none"
