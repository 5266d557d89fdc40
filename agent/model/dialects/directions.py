"""Stage directions: what models write of a voice and a face that they play, and is not to be read out."""

import re
from collections.abc import Collection
from typing import Final

from agent.model.dialects.marks import DIRECTION_START

_PAIRS: Final = {"(": ")", "[": "]", "（": "）", "【": "】"}
"""Brackets; a run of asterisks, underlines or backticks ends with the same run."""

_QUOTES: Final = tuple("\"'“‘「『`")
"""What stands before a direction that is told of."""

_AT_STOP: Final = re.compile(r"(?:\A|[.!?…。！？~～;；]|\n[ \t]*\n)[\"'”’」』）)*_`\]】]*\s*\Z")
"""Words behind which a sentence begins; a line may only go on with one."""

_IN_SCRIPT: Final = re.compile(r"(?:[:：][*_]*|(?:\A|\n)[*_]*[A-Z][A-Z .'-]{2,}[*_]*\n?)[ \t]*\Z")
"""Words behind which somebody else speaks, in a play that people asked for: a colon, or a name in capitals."""

_BEGINS: Final = re.compile(r"[ \t]*(?:\Z|[\n<])|[ \t]+[^\W\d_a-z]")
"""What stands behind the last words of a sentence without a stop."""

MOST_OF_ONE: Final = 60
"""Characters of a direction; what is longer is told."""

_ACTS: Final = (
    "laugh chuckle giggle smile grin smirk wink nod sigh gasp blush shrug wave bow beam pause cough whisper hum yawn "
    "think frown blink clap cheer hug groan snicker sniffle sob exhale inhale snort pout wince squeal"
)
"""What a speaker is told to do, by the verb."""

_GESTURES: Final = (
    "clears? (?:his|her|their|its|my)?\\s*throat|(?:tilt|shake|scratch|nod)(?:e?s|ing)? (?:\\w+ )?head"
    "|roll(?:s|ing) (?:\\w+ )?eyes|rais(?:es|ing) (?:an? |\\w+ )?eyebrows?|tak(?:es|ing) a (?:\\w+ )?breath"
    "|lean(?:s|ing) (?:in|back|forward|closer)\\b.*|look(?:s|ing) (?:at|up|around|away|down|thoughtful|into)\\b.*"
)

_FOREIGN: Final = (
    "lacht|lächelt|zwinkert|nickt|seufzt|grinst|kichert|winkt|rit|sourit|soupire|r[ií]e|sonr[ií]e|suspira|ride|sorride"
)
"""The same in German, French, Spanish and Italian."""

_NOUNS: Final = frozenset(("Waves", "Bows", "Hugs", "Cheers", "Beams", "Smiles"))
"""What may be a title, or the first word of a sentence, where it is in emphasis."""

_MOODS: Final = (
    "happy|happily|sad|sadly|angry|angrily|excited|excitedly|cheerful|cheerfully|calm|calmly|curious|curiously|surprised"
    "|neutral|gentle|gently|warm|warmly|playful|playfully|sarcastic|sarcastically|serious|seriously|thoughtful"
    "|thoughtfully|soft|softly|quiet|quietly|enthusiastic|enthusiastically|friendly|laughter|joyful|joyfully|amused"
    "|silence|beat|short pause|long pause|brief pause|in an? [\\w ,-]* (?:tone|voice)|with an? [\\w ,-]*smile"
    "|(?:tone|emotion|mood|voice|style|expression)\\s*[:=].*"
)
"""How a speaker is told to speak; only in brackets, as in emphasis they are words."""

_CHINESE: Final = (
    "(?:轻声|开心|高兴|温柔|微|轻轻|无奈|害羞|大|偷|苦|笑着)*地?"
    "(?:笑|微笑|笑了笑|点头|点点头|点了点头|摇头|摇了摇头|叹气|叹了口气|眨眼|眨了眨眼|挥手"
    "|停顿|沉默|鼓掌|咳嗽|清嗓子|清了清嗓子|耸肩)(?:着|一下|起来|道)?"
)
_CHINESE_MOODS: Final = (
    "开心|高兴|难过|悲伤|生气|惊讶|兴奋|平静|温柔|害羞|疑惑|思考|严肃|俏皮|中性|语气.*|情绪.*"
    "|(?:轻声|温柔|开心|高兴|小声|兴奋|认真)地?"
)
"""The same two in Chinese."""


def _forms(verb: str) -> str:
    """Return a verb as directions have it: laughs, laughing; chuckles, chuckling."""
    stem = verb.removesuffix("e")
    return f"{verb}s|{stem}e?s|{stem}{stem[-1]}?ing"


_END: Final = re.compile(r"end(?: of (?:the )?(?:response|message|reply|conversation|turn|event))?", re.IGNORECASE)
"""What stands behind all words, or is one of them."""

_OVER: Final = "(?:completed?|closed|done|ended|handled|finished)"
_ASIDES: Final = (
    r"(?:thinking|thought|reasoning|internal|inner monologue|思考)\s*[:：].*"
    rf"|(?:note: )?(?:the |this )?event (?:is |was |has been )?(?:now )?{_OVER}\b.*"
    rf"|(?:note: )?(?:i |i have |i've )?(?:already )?(?:{_OVER}|answered|replied to|responded to|addressed) "
    r"(?:(?:the|this|their|your) )?(?:\w+'s )?(?:event|user|question|message|request)\b.*|the user\b.*"
    rf"|{_END.pattern}|no (?:further )?(?:response|reply|answer|action) (?:is )?(?:needed|required|necessary).*"
)
"""What a model notes for itself; only in brackets."""

_VERBS: Final = "|".join((*map(_forms, _ACTS.split()), _FOREIGN))
_DONE: Final = rf"(?:\w+ly )?(?:(?:{_VERBS})(?: (?!(?:is|are|was|at the)\b)[\w' ,-]*)?|{_GESTURES})"
_PLAYED: Final = re.compile(rf"{_DONE}(?: and [\w' ,-]*)?[.…!]*|{_CHINESE}", re.IGNORECASE)
_SPOKEN: Final = re.compile(
    rf"{_DONE}[.…!]*|(?:{_ACTS.replace(' ', '|')})|(?:\w+ly |very |slightly )?(?:{_MOODS})(?:(?:,| and|/) ?[a-z]+)?"
    rf"(?: (?:voice|tone|emoji|face|music))?[.…!]*|{_CHINESE}|{_CHINESE_MOODS}|{_ASIDES}",
    re.IGNORECASE,
)
_CALLED: Final = re.compile(r"([a-z]+(?:_[a-z]+)+)(?:\(.*\))?\.?")
_ENDINGS: Final = frozenset({"complete_event", "suspend_event"})
"""Our own tools that are named most in place of a call."""


def size_of_direction(text: str, before: str, names: Collection[str], *, is_last: bool) -> int | None:
    """Return how long the direction is that a text begins with, 0 where it is none; None where more of it tells.

    `before` is what was said, as far as it tells where a sentence begins; the name of a tool that there is, alone in
    emphasis or brackets, is a direction too. With `is_last` nothing more will come.
    """
    found = DIRECTION_START.match(text)
    opening = found[0] if found else ""
    if text == opening not in _PAIRS and not is_last:
        return None  # it may become a longer run
    closing = _PAIRS.get(opening, opening)
    most = MOST_OF_ONE + len(closing)
    inside = text[len(opening) : len(opening) + most]
    content, closed, _ = inside.partition(closing)
    if content[:1].isspace() or not {*"\n<{"}.isdisjoint(content) or (before[-1:].isascii() and before[-1:].isalnum()):
        return 0
    if not closed:
        return 0 if is_last or len(inside) == most else None
    size = len(opening) + len(content) + len(closing)
    called = _CALLED.fullmatch(content.strip("*`"))
    is_name = called is not None and (called[1] in names or called[1] in _ENDINGS)
    is_one = bool(_AT_STOP.search(before)) if is_name else _reads_as_one(opening, content)
    if not is_one or before[-1:] in _QUOTES or _IN_SCRIPT.search(before):
        return 0
    stands = _stands(opening, before, behind := text[size:], is_name=is_name, is_last=is_last)
    if stands and _END.fullmatch(content) and not is_last:
        stands = behind.lstrip()[:1] == "<" if behind.strip() else None
    return None if stands is None else size * stands


def _stands(opening: str, before: str, behind: str, *, is_name: bool, is_last: bool) -> bool | None:
    """Whether what reads as a direction stands where one does; None where what comes behind it tells."""
    is_at_stop = _AT_STOP.search(before) is not None
    if is_at_stop and not (is_name or opening == "["):
        return True
    if not (behind.strip(" \t") or is_last):
        return None
    if opening == "[" and is_at_stop:
        return behind[:1] not in {*"([:"}  # else a link
    return _BEGINS.match(behind) is not None


def _reads_as_one(opening: str, content: str) -> bool:
    """Whether a text in brackets or in emphasis reads as a direction; code never does."""
    bare = content.strip()
    inner = bare.strip("()[]（）【】")
    if opening in _PAIRS or inner != bare:
        return _SPOKEN.fullmatch(inner) is not None
    word = bare.strip(".!…")
    is_title = word.istitle() and " " not in word and (opening != "*" or word.endswith("ing") or word in _NOUNS)
    is_title = is_title or any(each[0].isupper() for each in word.split()[1:])
    return opening[0] != "`" and not is_title and _PLAYED.fullmatch(bare) is not None
