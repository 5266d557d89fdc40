"""One stretch of thinking in a model's text, from the mark that opened it to its end."""

from collections.abc import Generator, Iterator, Mapping

from agent.model.dialects.heads import Head, read_head
from agent.model.dialects.marks import CALLS, HARMONY, HIDDEN, PROMPT, REACT, REACT_ENDS, WEAK, beginnings_of, begun
from agent.model.dialects.parts import Thought
from agent.model.dialects.said import QUOTES
from agent.model.messages import ToolSpec


class Thinking:
    """Takes the text behind the mark in pieces, cut anywhere; each begins with the `rest` of the last."""

    def __init__(self, mark: str, ends: tuple[str, ...]) -> None:
        """`mark` is a tag, which may be nested, or a label; "" where another mark opened it."""
        self._mark = mark
        self._tag = mark if mark in HIDDEN else ""
        self._ends = ends
        self._nested = 0
        self._is_held = False
        """Whether what follows an end is held: some models only name the tag within, and no further end comes."""
        self._text: list[str] = []
        self.rest = ""
        """What is not taken yet: in the end what stands behind it."""
        self.is_done = False

    def feed(self, text: str, *, is_last: bool) -> Iterator[Thought]:
        """Yield what a piece adds; of what a weak label opened nothing, until it is known to be thinking."""
        self.rest, goes_on = text, True
        while goes_on and self.rest and not self.is_done:
            goes_on = self._is_further_end(is_last) if self._is_held else (yield from self._read(is_last))

    def left(self, tools: Mapping[str, ToolSpec], *, is_cut: bool, was_said: bool) -> tuple[str, bool]:
        """Return what of it is to be read again, or said (True), as no end came; `was_said`: words stand before it."""
        text = "".join(self._text)
        if self._mark in WEAK or (self._mark in REACT and was_said):  # no step follows: no label either
            return self._mark + text, True
        if is_cut:
            return "", False
        if self._mark in REACT or self._mark in PROMPT:  # a label or a tag names what its own line says
            return text.lstrip().partition("\n")[2], False
        place = min((place for mark in CALLS if (place := text.find(mark)) >= 0), default=len(text))
        verdict = read_head(text[place:], tools, is_explicit=True, is_last=True)
        return (text[place:] if isinstance(verdict, Head) else ""), False

    def _read(self, is_last: bool) -> Generator[Thought, None, bool]:
        marks = (*self._ends, self._tag) if self._tag else self._ends
        kept = len(self.rest) - (0 if is_last else begun(self.rest, beginnings_of(marks)))
        places = [(place, mark) for mark in marks if 0 <= (place := self.rest.find(mark)) <= kept]
        place, mark = min(places, default=(kept, ""))  # before `kept`: else a longer mark has begun there
        if place:
            self._text.append(self.rest[:place])
            yield Thought("" if self._mark in WEAK else self.rest[:place])
        # The head of the next message in harmony's format, and ReAct's next step, are looked at, not skipped.
        self.rest = self.rest[place + (0 if mark in HARMONY or mark in REACT_ENDS else len(mark)) :]
        if mark == self._tag != "":
            self._nested += "".join(self._text)[-1:] not in QUOTES
        elif places and self._nested:
            self._is_held = True
        elif places:
            yield Thought("".join(self._text) if self._mark in WEAK else "")
            self.is_done = True
        return bool(places)

    def _is_further_end(self, is_last: bool) -> bool:
        if self._ends[0] in self.rest:
            self._nested -= 1
            self._is_held = False
            return True
        self.is_done = is_last
        return is_last
