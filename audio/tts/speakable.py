"""Makes written text speakable: no markup, figures in words, no addresses letter by letter, no emoji."""

import html
import re
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Final

CODE_SAID = {"en": "Here is some code.", "zh": "这里有一段代码。"}
"""What is said in place of fenced code; nothing in other languages."""

READ: Final = ("en", "zh")
"""The languages in which figures and signs are put in words here; in others the voice does."""

_PICTOGRAMS = re.compile(
    "[\u200d\u20e3\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\ufe0e\ufe0f"
    "\U0001f000-\U0001faff\U000e0020-\U000e007f\ud800-\udfff]+"
)
"""Emoji, arrows, dingbats and what joins them (Unicode blocks from Arrows to Symbols and Pictographs Extended-A); and
halves of characters, as a command line has them that is no UTF-8: no voice can be given them."""

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

_LINE_MARKS = re.compile(
    r"^\s*(?:>(?!\s*=|\d|\s*\d[\d.,]*\s?[^\s\d]{0,4}$)\s*)*(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?)?"
)
"""What begins a quotation, a heading or an item; a sign before a number alone compares: `>5`."""

_APART = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s|[-*+•]\s|\d{1,3}[.)]\s|\|)")
"""What begins a line that is read by itself: a heading, an item, the row of a table."""

_STOP = {"zh": "。"}
_COMMA = {"zh": "，"}
_RULE = re.compile(r"^[\s|:=*_-]+$")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_FOOTNOTE = re.compile(r"\[\^[^\]]*\]")
_ADDRESS = re.compile(
    r"<?(?:https?://|www\.)(?:www\.)?([^\s/?#<>（），。]+)[^\s<>（），。]*?(?=[.,;:!?)\]'\"]*(?:[\s>（），。]|$))>?"
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_CODE = re.compile(r"(`+)(.+?)\1")
_EMPHASIS = re.compile(
    r"(?<![\w*_~])(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\1(?![\w*_~])|(\*{2,3}(?=\S)|\*(?=[^\s\d]))(.+?)(?<=\S)\3"
)
_STRAY_MARKS = re.compile(
    r"\*{2,}|~{2,}|`+|(?<!\w)_+|_+(?!\w)"
    r"|(?<!\w)\*(?=[^\s\d])|(?<=[^\s\d])\*(?!\w)|(?<=[\u3041-\u9fff])\*|\*(?=[\u3041-\u9fff])"
)
"""What is left of marks whose other half is in another sentence."""

_WORD = re.compile(
    "[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]|[^\\W_\u3041-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
"""A word, or a character where words are not written apart."""


def speakable(sentence: str, language: str) -> str:
    """Return the sentence as it should be said, on one line; empty when nothing in it can be said.

    Punctuation stays, because a voice reads its melody from it; what is only to be looked at goes. `language`
    (ISO 639-1) decides how figures and signs are read, and what is said where something is left out.
    """
    sentence = _FENCED.sub(CODE_SAID.get(language, ""), sentence)
    said = " ".join(_with_pauses(sentence.splitlines(), language).split())
    if not any(character.isalnum() for character in said):
        return ""
    return _reader(language)(said) if language in READ else said


def load() -> None:
    """Load the tables of all languages now, and not with the first sentence: 0.2 s on a small machine. Blocking."""
    for language in READ:
        _reader(language)


def _reader(language: str) -> Callable[[str], str]:
    """Return what puts figures and signs of a language of `READ` in words; imported late, for speech only."""
    if language == "zh":
        from audio.tts.verbalize.chinese import verbalize
    else:
        from audio.tts.verbalize.english import verbalize
    return verbalize


def written_part(sentence: str, said: str, heard: str) -> str:
    """Return the beginning of a written sentence that was heard: whole words only, none that was said in part.

    `said` is how the sentence was said (`speakable`), and `heard` the beginning of that which was heard.
    """
    if said == sentence or not heard:
        return heard
    written, spoken = list(_WORD.finditer(sentence)), list(_WORD.finditer(said))
    count = sum(word.end() <= len(heard) for word in spoken)
    if count == len(spoken):
        return sentence if heard == said else sentence[: written[-1].end()] if written else ""
    matcher = SequenceMatcher(None, [word[0] for word in written], [word[0] for word in spoken], autojunk=False)
    done = 0  # words of `sentence` whose every spoken word was heard
    for change, start, end, first, after in matcher.get_opcodes():
        if after <= count and (first < after or after < count):
            done = end
            continue
        if change == "equal":
            done = start + count - first
        break
    return sentence[: written[done - 1].end()] if done else ""


def _with_pauses(lines: list[str], language: str) -> str:
    """Return the lines as one; where no mark ends a line, one stands between it and an item or a row."""
    said, apart = "", False
    for line in lines:
        if not (shown := _line(line, language).strip()):
            continue
        apart, was_apart = _APART.match(line) is not None, apart
        if (apart or was_apart) and said[-1:].isalnum():
            said += _STOP.get(language, ".")
        said += f" {shown}"
    return said


def _line(line: str, language: str) -> str:
    if _RULE.match(line):
        return ""
    line = _LINE_MARKS.sub("", line, count=1)
    if line.startswith("|"):
        cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
        line = f"{_COMMA.get(language, ',')} ".join(filter(None, cells))
    return _inline(line)


def _inline(text: str) -> str:
    """Return one line without links, code marks, emphasis, tags and pictograms, each replaced by what it shows."""
    text = _FOOTNOTE.sub("", _IMAGE_OR_LINK.sub(r"\1", text))
    text = _ADDRESS.sub(r"\1", text)
    text = html.unescape(_TAG.sub(" ", text))
    text = _CODE.sub(lambda code: re.sub(r"(?<=\w)_+(?=\w)", " ", code[2]), text)
    for _ in range(2):  # emphasis may stand inside emphasis
        text = _EMPHASIS.sub(lambda found: found[2] or found[4], text)
    return _PICTOGRAMS.sub(" ", _STRAY_MARKS.sub("", text))
