"""Sentence splitting of streamed text."""

import re
from itertools import chain

from audio.language import is_cjk

LONGEST = 200
"""Latin letters after which a sentence without an end is cut at a clause mark or a space."""

CJK_WEIGHT = 2.5
"""How many Latin letters one CJK character counts for: 80 of them are as long to listen to as 200 letters."""

LONGEST_WORD = 4 * LONGEST
"""Letters after which even a word without a space is cut: longer than any address worth waiting for."""

TINY = 12
"""Letters and digits below which a sentence is said together with the next one."""

NEVER_LAST = re.compile(
    r"mr|mrs|ms|mx|dr|prof|st|mt|rev|gen|col|sgt|capt|lt|gov|sen|rep|hon|messrs|mme|mlle|e\.g|i\.e|cf|vs|viz|approx|ca|"
    r"incl|excl|[a-z]|ej|z\.b|d\.h|u\.a|vgl|bzw|sog|ggf|evtl|inkl"
)
"""Abbreviations that something always follows; matched whole, in lower case. A letter by itself is one: "z. B."."""

SELDOM_LAST = re.compile(
    r"etc|a\.m|p\.m|inc|ltd|co|corp|jr|sr|bros|no|nr|fig|pp|vol|ch|art|sec|dept|est|min|max|hrs|tel|"
    r"ave|blvd|rd|temp|avg|oz|lbs?|tsp|tbsp|ft|hr|mon|tues?|thu(?:rs)?|fri|"
    r"jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|ph\.d|b\.c|a\.d"
)
"""Abbreviations that end a sentence only when what follows does not begin with a small letter or a digit."""

SHORTEST_CLAUSE = 20
"""Letters and digits below which no clause is said before the rest of its sentence: under two seconds of speech."""

FENCE = "```"
CJK_STOPS = "。！？；"
CLAUSE_MARKS = ",;:—，、：；"
_CLAUSE_ENDS = CLAUSE_MARKS.replace("、", "")
"""Where somebody who reads aloud may wait for the next words; between what is only listed nobody does."""
_PAIRS = ("()", "[]", "{}", "（）", "【】", "《》", "“”", "「」")
_TWINS = '"`*_~$|'
"""Marks of quotations, emphasis, code and tables: what stands between two is no clause."""
_CANDIDATE = re.compile(r"\n|```|(?P<stops>[.!?…。！？；]+)(?P<closers>[\"'”’」』）)\]】》〉»*_~]*)")
_LAST_WORD = re.compile(r"(?:°|\w['’])?[A-Za-z0-9À-ɏ.]+$")
"""With the degree sign and the apostrophe: neither the C of 20 °C nor the t of "don't" stands by itself."""
_LIST_MARK = re.compile(r"\W*(\d{1,3}|[A-Za-z])")
_INITIALS = re.compile(r"[A-Z](\.[A-Z])*")


class SentenceSplitter:
    """Cuts text that arrives in pieces into sentences, each as soon as it has certainly ended.

    How the text was cut into pieces changes nothing: the sentences are a function of the whole text, and together they
    are the whole text but for white space. A sentence ends at its stop once the character after it was seen, at the end
    of a line, or where it has become too long to wait for. Fenced code is one sentence. The first sentence is never
    kept back; later ones that are tiny come together with the one after them, unless a line ends between them.
    """

    def __init__(self) -> None:
        self._rest = ""
        self._first = True

    def feed(self, text: str) -> list[str]:
        """Append text; return the sentences that ended with it, stripped, in order."""
        return self._take(self._rest + text, final=False)

    def clause(self) -> str:
        """Return the beginning of a first sentence that has no end yet, as far as it can be said by itself; "" if not.

        For whoever waits too long for that end. It ends at a clause mark and leaves nothing open: no bracket, no
        emphasis, no code. What follows is cut as behind a sentence.
        """
        end = _clause_end(self._rest) if self._first else 0
        clause, self._rest = self._rest[:end], self._rest[end:].lstrip()
        self._first = self._first and not clause
        return clause

    def finish(self) -> list[str]:
        """Say that the text is whole; return what is left of it and begin anew."""
        sentences = self._take(self._rest, final=True)
        if rest := self.cut():
            sentences.append(rest)
        return sentences

    def cut(self) -> str:
        """Drop the unfinished sentence, return it stripped, and begin anew."""
        rest = self._rest.strip()
        self._rest, self._first = "", True
        return rest

    def _take(self, text: str, *, final: bool) -> list[str]:
        sentences: list[str] = []
        text = text.lstrip()
        while end := sentence_end(text, first=self._first, final=final):
            sentences.append(text[:end].rstrip())
            self._first = self._first and _letters(sentences[-1]) == 0
            text = text[end:].lstrip()
        self._rest = text
        return sentences


def sentence_end(text: str, *, first: bool, final: bool) -> int | None:
    """Return the index after the first sentence of `text`; None while that cannot be known, or when it has no end.

    `text` begins with no white space; `first` says that nothing was said before it, `final` that nothing follows it.
    Whatever is returned for `text` is returned for every text that begins with it.
    """
    if text.startswith(FENCE):
        closing = text.find(FENCE, len(FENCE))
        return None if closing < 0 else closing + len(FENCE)
    limit = _limit(text)
    for candidate in _CANDIDATE.finditer(text, 0, limit):
        verdict = _ends(text, candidate, first, final)
        if verdict is None:
            return None
        if verdict:
            return candidate.end() if candidate["stops"] else candidate.start()
    return _break(text, limit) if limit < len(text) else None


def _limit(text: str) -> int:
    """Return the index at which the text has become too long for one sentence; its length when it has not."""
    if len(text) * CJK_WEIGHT <= LONGEST:
        return len(text)
    weight = 0.0
    for index, character in enumerate(text):
        weight += CJK_WEIGHT if is_cjk(character) else 1.0
        if weight > LONGEST:
            return index
    return len(text)


def _break(text: str, limit: int) -> int | None:
    """Return where a sentence that is too long is cut: after a clause mark, else where a word begins."""
    for index in range(limit, int(limit * 0.4), -1):
        mark = text[index - 1]
        if mark in CLAUSE_MARKS and (not mark.isascii() or text[index].isspace()):
            return index
    for index in chain(range(limit, 0, -1), range(limit, min(len(text), LONGEST_WORD))):
        if text[index].isspace() or is_cjk(text[index]):
            return index
    return LONGEST_WORD if len(text) > LONGEST_WORD else None


def _clause_end(text: str) -> int:
    """Return the index after the last clause of an unfinished sentence that can be said by itself; 0 without one."""
    ends = [index for index, mark in enumerate(text, 1) if mark in _CLAUSE_ENDS]
    return next((end for end in reversed(ends) if _is_clause(text[:end], text[end:])), 0)


def _is_clause(text: str, rest: str) -> bool:
    following = rest.lstrip()[:1]
    if not following or following.isdigit():  # "on May 3, 2026" and "1, 2, 3" are read in one go
        return False
    if text[-1].isascii() and not rest[0].isspace():
        return False
    return _letters(text) >= SHORTEST_CLAUSE and not _leaves_open(text)


def _leaves_open(text: str) -> bool:
    return any(text.count(pair[0]) != text.count(pair[1]) for pair in _PAIRS) or any(
        text.count(mark) % 2 for mark in _TWINS
    )


def _ends(text: str, candidate: re.Match[str], first: bool, final: bool) -> bool | None:
    """Say whether the sentence ends at the candidate; None while the text after it is not there yet."""
    before = text[: candidate.start()]
    if not candidate["stops"]:
        return before != "" and (_letters(before) > 0 or candidate[0] == FENCE)
    if candidate.end() == len(text):
        return True if final else None
    if _letters(before) < (1 if first else TINY):
        return False
    return _stops(text, candidate, before, final)


def _stops(text: str, candidate: re.Match[str], before: str, final: bool) -> bool | None:
    """Say whether these stop marks, with text before and after them, end a sentence."""
    stops, after = candidate["stops"], text[candidate.end()]
    if any(mark in CJK_STOPS for mark in stops):
        return True
    if not after.isspace() and not is_cjk(after):
        return False
    kind = _full_stop(before) if stops == "." else "ends"
    if kind == "ends" and not (candidate["closers"] or "…" in stops or ".." in stops):
        return True
    if kind == "goes on":
        return False
    following = _following(text, candidate.end())
    if following == "":
        return True if final else None
    return not following.islower() and not (kind == "seldom ends" and following.isdigit())


def _full_stop(before: str) -> str:
    """Return what a single full stop after this text does: `ends`, `seldom ends` or `goes on`."""
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    if NEVER_LAST.fullmatch(word.lower()) or _INITIALS.fullmatch(word) or _LIST_MARK.fullmatch(before):
        return "goes on"
    return "seldom ends" if SELDOM_LAST.fullmatch(word.lower()) else "ends"


def _following(text: str, index: int) -> str:
    """Return the first visible character from `index` on, a line break before it included; empty when none is there."""
    return next((character for character in text[index:] if character == "\n" or not character.isspace()), "")


def _letters(text: str) -> int:
    """Count letters and digits, CJK characters by their weight (rounded up)."""
    return sum(3 if is_cjk(character) else 1 for character in text if character.isalnum())
