"""A model's text as it arrives, parted into words, thinking and tool calls; and the words of a reply within one."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from agent.model.dialects import marks
from agent.model.dialects.calls import CallReader
from agent.model.dialects.directions import size_of_direction
from agent.model.dialects.heads import recipient_of
from agent.model.dialects.names import known_name
from agent.model.dialects.parts import Part, Words, WordsWereThought
from agent.model.dialects.said import NOTHING, QUOTES, Said, heard, speaks_behind
from agent.model.dialects.thinking import Thinking
from agent.model.messages import ToolSpec, is_wordless

MOST_OF_A_HEAD: Final = 200
"""Characters of a harmony message's head; known ones have 70."""


class TextReader:
    """Takes one answer's text in pieces, cut anywhere.

    What only looks like a call (no known tool, no arguments) is words. Thinking stands where a sentence may begin; at
    the beginning, after thinking or after a call a call may stand without any mark. Thinking that is never closed is
    thinking to the end, except for a call after it. Where a turn ends, or another's begins, the answer is at its end.
    """

    def __init__(self, tools: Sequence[ToolSpec], *, begins_thinking: bool = False) -> None:
        """With `begins_thinking` the text is held until a closing tag tells that it began as thinking, or its end.

        Without it so is a text that begins as thinking does.
        """
        self._tools = {tool.name: tool for tool in tools}
        self._marks, self._starts = marks.marks_of(tuple(self._tools))
        if tools:
            self._tools[marks.PACKER] = ToolSpec(marks.PACKER, "Several calls.", {})
        self._held = ""
        self._parts: list[Part] = []
        self._state: Callable[[bool], bool] = self._undecided if begins_thinking else self._opening
        self._is_line_start = True
        self._may_think = True
        """Whether nothing was said since the beginning, other thinking or a call."""
        self._blanks = ""
        """What stands before the next words: said with them, but never before the first."""
        self._is_bare = False
        """Whether a stage direction was left out here: blanks behind it are left out too."""
        self._said = Said()
        self._has_called = False
        self._has_labels = False
        """Whether it thinks in ReAct's notation."""
        self.is_over = False
        """Whether more came behind the end of the answer, which is nobody's to hear."""
        self._has_thought = False
        self._thinking = Thinking("", ())
        """The last or the open one."""
        self._mark = ""
        self._call: CallReader | None = None

        self._judges = (
            (marks.HIDDEN, self._open_thinking),
            (marks.THOUGHT_ENDS, self._stray_end),
            (marks.TURNS, self._turn),
            (marks.REACT, self._react),
            (marks.HARMONY, self._harmony),
        )

    @property
    def is_undecided(self) -> bool:
        """Whether all text is still held, because it may have begun within thinking."""
        return self._state in (self._undecided, self._opening)

    def trust(self) -> None:
        """Take the text as words from here on, although it may begin within thinking: the server parts the two."""
        if self.is_undecided:
            self._state = self._words

    def feed(self, text: str) -> Iterator[Part]:
        """Yield what a piece adds."""
        self._held += text
        self._run(is_last=False)
        yield from self._taken()

    def finish(self, *, is_cut: bool) -> Iterator[Part]:
        """Yield what was held back; with `is_cut` the model did not come to its end."""
        self._run(is_last=True)
        if self._call is not None:
            self._parts += self._call.finish(is_cut=is_cut)
        if self._state == self._thought:
            self._recover(is_cut=is_cut)
        self._run(is_last=True)
        yield from self._taken()

    def _run(self, *, is_last: bool) -> None:
        while self._held and self._state(is_last):
            pass

    def _taken(self) -> list[Part]:
        parts, self._parts = self._parts, []
        return parts

    def _opening(self, is_last: bool) -> bool:
        """Look whether the text begins as only thinking does."""
        bare = self._held.lstrip().lower()
        if not is_last and any(opening.startswith(bare) for opening in marks.OPENINGS):
            return False
        self._state = self._undecided if bare.startswith(marks.OPENINGS) else self._words
        return True

    def _words(self, is_last: bool) -> bool:
        """Say everything before the next mark, and look at the mark."""
        found = self._marks.search(self._held)
        while found is not None and not self._stands_right(found):
            place = found.start()
            found = marks.DIRECTION_START.match(self._held, place) or self._marks.search(self._held, place + 1)
        if found is None or marks.DIRECTION_START.fullmatch(found[0]):
            certain = len(self._held) - (0 if is_last else self._begun())
            if found is None or found.start() >= certain:  # it stands in what may become a mark
                self._say(certain)
                return False
        self._mark = found[0].lstrip(" \t")
        self._say(found.end() - len(self._mark))
        if self._held in self._starts and not is_last:
            return False  # it may become a longer mark
        for those, judge in self._judges:
            if self._mark in those:
                return judge(is_last)
        return self._begin_call(self._mark) if self._may_be_call() else self._direction(is_last)

    def _stands_right(self, found: re.Match[str]) -> bool:
        mark = found[0].lstrip(" \t")
        before = self._held[: found.start()]
        if mark != found[0] and not (before or self._is_line_start):  # what is held does not begin a line
            return False
        is_element = mark[0] == "<" and mark not in marks.FIXED and not marks.TOKEN.fullmatch(mark)
        if mark in marks.HIDDEN or mark == marks.ROLE or is_element:
            before = self._blanks + before
            return self._said.is_at_stop(before) and not self._said.is_quoting(before)
        if mark in marks.LABELS:
            is_at_start = self._is_line_start or "\n" in before
            return is_at_start and not before.strip(" \t").rpartition("\n")[2] and self._said.may_label(mark, before)
        if mark in marks.THOUGHT_ENDS:
            is_first = self._may_think and not before.strip()
            return is_first or not (self._has_thought or self._said.has_opened(mark, before))
        if mark in self._tools:  # a name alone at the beginning of a line, which a list of the tools has too
            is_first = not (self._said.has_begun or before.strip())
            return (bool(before) or self._is_line_start) and (is_first or self._said.may_turn(before))
        return not mark.endswith("to=functions.") or (self._may_think and not before.strip())

    def _may_be_call(self) -> bool:
        """Whether the mark behind what was said may begin a call: a bare one only where nothing else would."""
        mark = self._mark
        if not self._tools or mark in marks.CALLS or mark in self._tools or mark[0] == "<":
            return bool(self._tools)
        if marks.DIRECTION_START.fullmatch(mark) and mark not in {"[", marks.FENCE}:
            return False
        is_line = mark == "[" or mark[0] not in "[{`"  # stands for a call only at the beginning of a line
        return self._is_line_start or not (is_line or (mark[0] == "[" and self._said.is_quoting()))

    def _direction(self, is_last: bool) -> bool:
        """Leave out a stage direction, and a special token that begins no call; anything else is said."""
        if marks.TOKEN.fullmatch(self._mark):
            return self._turn(is_last)
        may_be_one = marks.DIRECTION_START.match(self._mark) is not None and not self._said.is_fenced
        size = size_of_direction(self._held, self._said.tail, self._tools, is_last=is_last) if may_be_one else 0
        if size is None:
            return False
        if size:
            self._held, self._is_bare = self._held[size:], True
        else:
            self._say(len(self._mark))
        return True

    def _begun(self) -> int:
        """Return how many characters at the end may become a mark; all of them while they may be nothing."""
        if self._may_think and any(each.startswith(self._held.strip()) for each in NOTHING):
            return len(self._held)
        line = self._held.rpartition("\n")[2]
        if line != self._held or self._is_line_start:
            bare = line.lstrip(" \t")
            may_be_call = bool(bare and self._tools) and marks.may_begin_call(bare, self._tools)
            if may_be_call or bare.rstrip() in marks.LABEL_STARTS:
                return len(line)
        token = marks.TOKEN_BEGUN.search(self._held)
        return len(token[0]) if token else marks.begun(self._held, self._starts)

    def _say(self, size: int) -> None:
        text, self._held = self._blanks + self._held[:size], self._held[size:]
        if self._may_think and (is_wordless(text) or text.strip() in NOTHING):
            self._blanks, line = text, text.rpartition("\n")[2]
            self._is_line_start = not line.strip()
        elif text:
            text = text if self._said.has_begun else text.lstrip()
            if self._is_bare:
                tail = self._said.tail
                text = text.lstrip(" \t") if not tail.strip() or tail[-1].isspace() else text
                self._is_bare = not text
            self._blanks, self._may_think = "", False
            line = text.rpartition("\n")[2]
            self._is_line_start = not line.strip() and (line != text or self._is_line_start)
            self._said.add(text)
            self._parts += [Words(text)] if text else []

    def _open_thinking(self, is_last: bool) -> bool:
        self._held, self._blanks = self._held[len(self._mark) :], ""
        self._think(marks.HIDDEN[self._mark], self._mark)
        return True

    def _think(self, ends: tuple[str, ...], mark: str = "") -> None:
        self._thinking = Thinking(mark, ends)
        self._has_thought, self._state = True, self._thought

    def _thought(self, is_last: bool) -> bool:
        """Read on in thinking, and go on behind it."""
        self._parts += self._thinking.feed(self._held, is_last=is_last)
        self._held = self._thinking.rest
        if self._thinking.is_done:
            self._resume()
        return self._thinking.is_done

    def _recover(self, *, is_cut: bool) -> None:
        """Look for a call, or for words, in thinking that was never closed."""
        self._held, is_told = self._thinking.left(self._tools, is_cut=is_cut, was_said=self._said.has_begun)
        if is_told:
            self._state = self._words
            self._say(len(self._held))
        elif self._held:
            self._resume()

    def _undecided(self, is_last: bool) -> bool:
        """Hold everything until it shows whether the text began within thinking."""
        bare = self._held.lstrip()
        if tag := next((tag for tag in marks.HIDDEN if bare.startswith(tag)), ""):
            self._held, self._mark = bare, tag
            return self._open_thinking(is_last)
        if any(end in self._held for end in marks.THOUGHT_ENDS):
            self._think(marks.THOUGHT_ENDS)
            return True
        if is_last:
            self._state = self._words
        return is_last

    def _stray_end(self, is_last: bool) -> bool:
        """Judge a closing tag without an opening one: thinking ends there, unless the tag is quoted."""
        behind = self._held[len(self._mark) :]
        if not behind and not is_last:
            return False
        if behind[:1] in QUOTES:
            self._say(len(self._mark))
            return True
        self._held = behind
        if not self._has_thought:  # else it is the same end once more
            self._parts.append(WordsWereThought())
            self._said = Said()
        self._has_thought = True
        self._resume()
        return True

    def _turn(self, is_last: bool) -> bool:
        """Judge a mark of turns: what it is to be dropped, or the end of the answer, or only told of."""
        mark, behind = self._mark, self._held[len(self._mark) :]
        has_answered = self._said.has_begun or self._has_called
        speaks = mark not in marks.OTHERS_LABELS or not has_answered or speaks_behind(behind, is_last=is_last)
        if speaks is None:
            return False
        is_mark = mark not in marks.LABELS and self._said.has_begun
        if is_mark and not is_last and not (behind.strip() if self._said.is_quoting() else behind):
            return False  # what comes behind tells whether people are told of it
        if not speaks or (is_mark and self._said.mentions(mark, behind)):
            self._say(len(mark))
            return True
        self._held = behind
        self._is_line_start = True
        if has_answered and mark in marks.END_ANSWER:
            self._state = self._after_end if mark in marks.TURN_ENDS else self._over
        elif mark in marks.OTHERS_TURNS:
            self._think(marks.OTHERS_TURN_ENDS)
        elif mark in marks.OTHERS_LABELS:
            self._think(marks.WEAK_ENDS, mark)
        return True

    def _react(self, is_last: bool) -> bool:
        """Read a step of ReAct's; a result is made up, and what follows one of a call is another's turn."""
        mark = self._mark
        if mark in marks.ACTION_LABELS:
            return self._begin_call(mark)
        if mark in marks.RESULT_LABELS and not (self._has_called or self._has_labels):
            self._say(len(mark))
            return True
        self._held = self._held[len(mark) :]
        self._has_labels = True
        if mark in marks.RESULT_LABELS and self._has_called:
            self._state = self._over
        else:
            self._think(marks.WEAK_ENDS if mark in marks.WEAK else marks.REACT_ENDS, mark)
        return True

    def _after_end(self, is_last: bool) -> bool:
        """Go on behind the end of a message only with a further one of the same answer."""
        bare = self._held.lstrip()
        if not is_last and any(mark.startswith(bare) for mark in marks.GOES_ON):
            return False
        self._held = bare
        self._state = self._harmony if bare.startswith(marks.GOES_ON) else self._over
        return True

    def _over(self, is_last: bool) -> bool:
        """Drop what stands behind the end of the answer: it is another's turn."""
        self.is_over = self.is_over or bool(self._held.strip())
        self._held = ""
        return False

    def _harmony(self, is_last: bool) -> bool:
        """Read the head of a message in gpt-oss's format, and hide what is not meant for others."""
        found = marks.HEAD_END.search(self._held)
        if found is None:
            if not is_last and len(self._held) < MOST_OF_A_HEAD:
                return False
            self._state = self._words
            self._say(len(self._mark))
            return True
        head, behind = self._held[: found.end()], self._held[found.end() :]
        name = known_name(recipient_of(head), self._tools)
        if name and not (is_last or behind.strip()):
            return False  # what comes behind tells whether it is a call
        self._held = behind
        if name in self._tools:
            self._held = f"{marks.CALLS[0]}{name}{behind}"
            return self._begin_call(marks.CALLS[0])
        if name not in {"", "assistant"} and behind.lstrip().startswith("{"):  # of no tool, or several in one
            self._held, self._may_think = f'{marks.CALLS[0]}{{"name": "{name}", "arguments": {behind}', True
            return self._begin_call(marks.CALLS[0])
        if name or "<|channel|>analysis" in head:
            self._think(marks.HARMONY_ENDS)
        else:
            self._resume()
        return True

    def _in_call(self, is_last: bool) -> bool:
        """Read on in a call, and go on behind it."""
        assert self._call is not None
        parts = [*self._call.feed(self._held, is_last=is_last)]
        self._parts += parts
        self._held, outcome = self._call.rest, self._call.outcome
        self._has_called = self._has_called or bool(parts)
        if outcome == "open":
            return False
        self._call = None
        if outcome == "none" and self._mark in marks.ACTION_LABELS and self._has_labels:
            self._held = self._held[len(self._mark) :]
            self._think(marks.REACT_ENDS, self._mark)  # an action of no tool's, and its input
            return True
        if outcome == "none":
            self._state = self._words
            return self._direction(is_last)
        self._resume()
        if outcome == "last":
            self._state = self._after_end
        return True

    def _begin_call(self, mark: str) -> bool:
        self._mark = mark
        self._call = CallReader(mark, self._tools, begins=self._may_think)
        self._state = self._in_call
        return True

    def _resume(self) -> None:
        self._state, self._blanks = self._words, ""
        self._is_line_start = self._may_think = True


class ReplyText:
    """Takes the text of one reply in pieces, cut anywhere.

    What looks like a call stays as it is. Only marks tell thinking: a reply may begin with any words.
    """

    def __init__(self) -> None:
        self._reader = TextReader(())
        self._reader.trust()

    def feed(self, text: str) -> str:
        """Return the words that a piece adds."""
        return _words(self._reader.feed(text)) if (text := heard(text)) else ""

    def finish(self) -> str:
        """Return the words that were held back, once the text is whole."""
        return _words(self._reader.finish(is_cut=False))


def words_of(text: str) -> str:
    """Return the words of a whole text."""
    reply = ReplyText()
    return reply.feed(text) + reply.finish()


def _words(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Words))
