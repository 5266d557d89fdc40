"""Makes written text speakable: no markup, figures in words, no addresses letter by letter, no emoji."""

import html
import json
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
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

_MEANT: Final = (
    ("👍👌✅✔☑🆗", {"en": "Okay.", "zh": "好的。"}),
    ("👎❌🚫", {"en": "No.", "zh": "不。"}),
    ("🙏", {"en": "Thank you.", "zh": "谢谢。"}),
)
"""Pictograms that answer by themselves, and what a person would say in their place."""

MOST_NAMED = 3
"""Pictograms that are named of an answer without words."""

_OF_A_NAME = re.compile(r"\b(?:heavy|black|white) | (?:sign|symbol)$")
_JOINS = re.compile(r"^(?:emoji modifier|variation selector|zero width|combining|space|tag )")

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)

_FENCED_WORDS = re.compile(r"```(?:text|markdown)?\s*\n([^\W\d_a-z][^`;={}<>]*[.!?。！？]\s*)(?:```)?")
"""Sentences, which some models set into a block as if they were code."""

_FENCED_JSON = re.compile(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.DOTALL | re.IGNORECASE)

_WRITTEN_BREAKS = re.compile(r"(?<=[.!?。！？])(?:\\[rn])+|(?:\\r)?(?:\\n){2,}")
"""Line breaks of a text that was put into JSON twice: where a sentence ends, or several; `\\n` alone may be code."""

_ANSWER_KEYS = frozenset({"text", "response", "answer", "reply", "message", "content"})
"""What some models name their whole answer in JSON that nobody asked for."""

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
_FOOTNOTE = re.compile(r"\[\^[^\]]*\](?:\s*:)?")
_ADDRESS = re.compile(
    r"<?(?:https?://|www\.)(?:www\.)?([^\s/?#<>（），。]+)[^\s<>（），。]*?(?=[.,;:!?)\]'\"]*(?:[\s>（），。]|$))>?"
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_SHOWN_TAG = re.compile(r"</?([A-Za-z][\w-]*)[^<>]*>")
_FIELD = re.compile(r'^\s*"([^"\\]+)"\s*:\s*("?)(.*?)\2\s*,?\s*$', re.MULTILINE)
"""A line of JSON that is written over several."""
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
    fenced = _FENCED_JSON.fullmatch(sentence)
    sentence = (_answer_in(fenced[1]) if fenced else "") or _FENCED.sub(
        lambda block: _block_said(block[0], language), sentence
    )
    sentence = _without_json(_WRITTEN_BREAKS.sub("\n", sentence))
    if "$" in sentence or "\\" in sentence:
        from audio.tts.formulas.reading import with_formulas_read

        sentence = with_formulas_read(sentence, language)
    said = " ".join(_with_pauses(sentence.splitlines(), language).split())
    if not any(character.isalnum() for character in said):
        return ""
    return _reader(language)(said) if language in READ else said


def pictograms_named(text: str, language: str) -> str:
    """Return what a text means or shows that is nothing but pictograms, the first few once; empty in some languages."""
    meant = (words.get(language) for signs, words in _MEANT if any(sign in signs for sign in text))
    if said := next(filter(None, meant), ""):
        return said
    if language == "zh":
        return "一个表情。" if _PICTOGRAMS.search(text) else ""
    if language != "en":
        return ""
    names = (unicodedata.name(sign, "").lower() for sign in dict.fromkeys(text) if _PICTOGRAMS.match(sign))
    shown = [_OF_A_NAME.sub("", name) for name in names if name and not _JOINS.search(name)]
    return ", ".join(shown[:MOST_NAMED])


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


def _block_said(block: str, language: str) -> str:
    words = _FENCED_WORDS.fullmatch(block)
    return words[1] if words else CODE_SAID.get(language, "")


def _without_json(sentence: str) -> str:
    """Return what JSON says, where a sentence is nothing else: its names and values."""
    if answer := _answer_in(sentence):
        return answer
    bare = sentence.strip()
    if bare[:1] in {"{", "["} and bare[-1:] in {"}", "]"}:
        with suppress(ValueError, RecursionError):
            return _told(json.loads(bare))
    return _FIELD.sub(r"\1: \3", sentence)


def _answer_in(text: str) -> str:
    """Return the words of an answer that is an object with nothing else in it; "" for all other texts."""
    if not text.lstrip().startswith("{"):
        return ""
    with suppress(ValueError, RecursionError):
        match json.loads(text):
            case {**named} if len(named) == 1 and _ANSWER_KEYS.issuperset(named):
                return "".join(value for value in named.values() if isinstance(value, str))
    return ""


def _told(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_told(each)}".replace("_", " ") for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_told, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


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
    # A tag that is written with entities is there to be read.
    text = _SHOWN_TAG.sub(r" \1 ", html.unescape(_TAG.sub(" ", text)))
    text = _CODE.sub(lambda code: re.sub(r"(?<=\w)_+(?=\w)", " ", code[2]), text)
    for _ in range(2):  # emphasis may stand inside emphasis
        text = _EMPHASIS.sub(lambda found: found[2] or found[4], text)
    return _PICTOGRAMS.sub(" ", _STRAY_MARKS.sub("", text))
