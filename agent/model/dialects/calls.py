"""One call in a model's text, from the mark it begins with to what closes it."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from agent.model.dialects.bodies import Body
from agent.model.dialects.elements import read_element
from agent.model.dialects.heads import read_head
from agent.model.dialects.marks import ACTION_LABELS, CALLS, CLOSERS, TURN_ENDS, beginnings, begun
from agent.model.dialects.parts import CallArguments, CallBegun, Part
from agent.model.dialects.react import read_action
from agent.model.messages import ToolSpec

_AFTER_CALL: Final = tuple(sorted(CLOSERS, key=len, reverse=True))
_AFTER_BEGUN: Final = beginnings(CLOSERS)

_NEXT_KEY: Final = re.compile(r'"([\w.-]{1,64})"\s*:\s*\{')
_KEY_BEGUN: Final = re.compile(r'"[\w.-]{0,64}"?\s*:?\s*')

Outcome = Literal["open", "none", "call", "last"]
"""Not at its end, no call after all, a call, or a call behind which the message ends."""


class CallReader:
    """Takes the text from the mark on in pieces, cut anywhere; each begins with the `rest` of the last."""

    def __init__(self, mark: str, tools: Mapping[str, ToolSpec], *, begins: bool) -> None:
        """`begins`: nothing was said before it (see `read_head`)."""
        self._mark = mark
        own = (f"</{mark[1:]}>",) if mark not in CALLS and mark.startswith("<") else ()
        self._closers = (*own, *_AFTER_CALL)
        self._tools = tools
        self._begins = begins
        self._body: Body | None = None
        self._state: Callable[[bool], Iterator[Part]] = self._head
        self.outcome: Outcome = "open"
        self.rest = ""
        """What is not taken yet: in the end what stands behind the call, or all of a text that is none."""

    def feed(self, text: str, *, is_last: bool) -> Iterator[Part]:
        """Yield what a piece adds."""
        self.rest = text
        state = None
        while self.outcome == "open" and state != self._state:
            state = self._state
            yield from state(is_last)

    def finish(self, *, is_cut: bool) -> Iterator[Part]:
        """Yield what an open body held back: nothing more will come."""
        if self._body is not None:
            yield from _told(self._body.finish(is_cut=is_cut))

    def _head(self, is_last: bool) -> Iterator[Part]:
        if self._mark in ACTION_LABELS or self._mark in self._tools:
            verdict = read_action(self.rest, self._tools, is_last=is_last)
        else:
            is_explicit = self._mark in CALLS
            verdict = read_head(self.rest, self._tools, is_explicit=is_explicit, begins=self._begins, is_last=is_last)
        if verdict == "none" and self.rest.startswith("<"):
            verdict = read_element(self.rest, self._tools, is_last=is_last)
        if verdict == "none":
            self.outcome = "none"
        elif verdict != "open":
            yield CallBegun(verdict.name)
            self._body, self.rest, self._state = verdict.body, verdict.rest, self._arguments

    def _arguments(self, is_last: bool) -> Iterator[Part]:
        assert self._body is not None
        yield from _told(self._body.feed(self.rest))
        self.rest = self._body.rest
        if self._body.is_done:
            self._body, self._state = None, self._behind
        elif self._body.is_broken:
            self._body, self._state = None, self._broken

    def _broken(self, is_last: bool) -> Iterator[Part]:
        """Give the rest of arguments that are no JSON as it stands, up to the mark that ends the call."""
        places = [place for mark in CLOSERS if (place := self.rest.find(mark)) >= 0]
        size = min(places, default=len(self.rest) - (0 if is_last else begun(self.rest, _AFTER_BEGUN)))
        yield from _told(self.rest[:size])
        self.rest = self.rest[size:]
        if places:
            self._state = self._behind

    def _behind(self, is_last: bool) -> Iterator[Part]:
        """Drop what closes a call or stands between two."""
        yield from ()
        while True:
            bare = self.rest = self.rest.lstrip(" \t\r\n,;]})")
            may_grow = not is_last and any(mark.startswith(bare) and mark != bare for mark in self._closers)
            mark = "" if may_grow else next((mark for mark in self._closers if bare.startswith(mark)), "")
            self.rest = bare[len(mark) :]
            if mark in TURN_ENDS:
                self.outcome = "last"
                return
            if not mark:
                break
        if bare.startswith('"') and (keyed := _NEXT_KEY.match(bare)) and keyed[1] in self._tools:
            self.rest, self.outcome = f"{CALLS[0]}{{{bare}", "call"  # another key of the same object
            return
        is_begun = any(mark.startswith(bare) for mark in self._closers) or bool(_KEY_BEGUN.fullmatch(bare))
        if is_begun and is_last:
            self.rest = ""
        elif not is_begun:
            self.outcome = "call"


def _told(arguments: str) -> Iterator[Part]:
    if arguments:
        yield CallArguments(arguments)
