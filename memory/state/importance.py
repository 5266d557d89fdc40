"""Importance of what was said, by rule; and its summary in two hundred characters."""

import re
from typing import Final

from msgspec import Struct

UNSET: Final = 0.5
"""What counts where nothing marks a thing."""

IMPORTANT: Final = 0.6
"""More than this is important."""

SUMMARY: Final = 200
"""Characters of a summary."""

FURTHER_CUE: Final = 0.05
"""What each cue beyond the strongest one adds."""


class Importance(Struct, frozen=True):
    """A judgement and its reason."""

    value: float
    """0 to 1."""
    reason: str
    """Which cues were found; no word of what was said."""


class Cue(Struct, frozen=True):
    """Something in what a person says that tells how much it matters."""

    name: str
    value: float
    pattern: re.Pattern[str]


def _cue(name: str, value: float, *patterns: str) -> Cue:
    return Cue(name, value, re.compile("|".join(patterns), re.IGNORECASE))


_MONTHS: Final = (
    "january|february|march|april|june|july|august|september|october|november|december|januar|februar|märz|juni|juli"
)

_CLAUSE: Final = r"(^|[.!?;,:] *|\b(please|and|now|also|then|so|okay|ok|hey) )"
"""Where an order begins."""
_PAST: Final = r"(time|times|day|days|night|summer|winter|spring|autumn|year|years|trip|way|guy|man|woman|one)\b"
"""What people remember together."""

CUES: Final = (
    _cue(
        "asked to remember",
        0.95,
        # An order to the agent, never talk of remembering: it begins a clause and is no question.
        rf"{_CLAUSE}remember\b(?!,? (when|how|where|who|what|why|which|(the|that|our|last) {_PAST}))(?![^.!]*\?)",
        rf"\b(can|could|will|would) you (please )?remember (that(?! {_PAST})|this|to|it)\b",
        r"\b(want|need|like|have) you to remember\b",
        r"(?<!\bi )(?<!\byou )(?<!\bwe )(?<!\bthey )\b(don'?t|do not) (you )?(ever )?forget\b",
        rf"{_CLAUSE}(never forget|keep in mind|bear in mind|(make|take) a note|note( down)? (that|this|:))",
        rf"{_CLAUSE}(merke? (dir|euch)|denke? (bitte )?(daran|dran)|(notiere?|schreibe?) (dir|bitte|auf))\b",
        r"\b(kannst|könntest) du (dir|euch)( \w+){0,3} merken\b|\bvergiss\b.{0,30}\b(nicht|nie)\b",
        r"[帮幫给給替]我[记記]|(?<![我他她们們没沒不总總])[记記]住(?!了?[吗嗎])|[记記]一下",
        r"(^|[，。！,!\s请請要定])[记記]得(?![吗嗎那当當上小我你])(?!.*[吗嗎])|(别|別|不要)忘",
    ),
    _cue(
        "a name",
        0.8,
        r"\b(my|our|his|her|their)( \w+)?('s)?( \w+)? (name is|is called|is named)\b",
        r"\b(my|his|her|their|our) name('s| is)\b|\b(i am|i'm|is) called\b|\bcall me\b|\bich heiße\b",
        r"(我|他|她|它|们|们的|的)(名字)?叫(?!你|做不)|名字是",
    ),
    _cue(
        "health",
        0.9,
        r"\b(allerg\w+|diabet\w+|medicine|medication|doctor says|hospital|pregnan\w+|asthma)\b",
        r"过敏|過敏|吃药|医院|糖尿病|怀孕",
    ),
    _cue(
        "a correction",
        0.75,
        r"\b(that'?s (wrong|not right|not true)|i meant|not .{1,30} but|no,? (it'?s|it is|i said)|actually,?)\b",
        r"我的意思是|不是.{1,12}(而)?是|说错|你错了|不对",
    ),
    _cue(
        "a date",
        0.75,
        rf"\b({_MONTHS}) \d|\b\d{{1,2}}(st|nd|rd|th)?\.? (of )?({_MONTHS})\b|\b\d{{4}}-\d{{2}}-\d{{2}}\b",
        r"\b(birthday|anniversary|wedding|funeral|geburtstag)\b|\b(was|were) born\b",
        r"生日|纪念日|結婚|结婚|\d{1,2}\s?月\s?\d{1,2}\s?[日号]|[一二三四五六七八九十]+月[一二三四五六七八九十]+[日号]",
    ),
    _cue(
        "a liking",
        0.7,
        r"\b(i|we|he|she|they) (really )?(love|hate|prefer|like|can'?t stand|dislike|detest)s?\b",
        r"\b(favou?rite|lieblings\w+)\b",
        r"喜欢|喜歡|讨厌|討厭|最爱",
    ),
    _cue(
        "emotion",
        0.7,
        r"\b(i'?m|i am|i feel|feeling|makes? me) (so |very |really )?"
        r"(sad|happy|angry|afraid|scared|lonely|worried|proud|anxious|depressed|heartbroken|excited)\b",
        r"\b(died|passed away|broke up|miss (him|her|them|you))\b",
        r"难过|難過|害怕|生气|伤心|心情|担心|去世|孤独|高兴",
    ),
    _cue("a promise", 0.7, r"\b(i|we) promise\b|\bpromise me\b", r"答应|答應|保证"),
)
"""What counts as mattering, in the languages the box is spoken to; the model's own judgement goes before it."""

_TRIFLE: Final = re.compile(
    r"(ok(ay)?|yes|no|thanks?( you)?( very much)?|hello|hi|hey|good (morning|night)|bye|sure|fine|right|stop|"
    r"好的?|谢谢|你好|再见|嗯|是的|不是|不用)[\s.!?,。！？，]*",
    re.IGNORECASE,
)
TRIFLE: Final = Importance(0.2, "a greeting, a thanks, a yes or no")

_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]*\s*")


def judged(words: str) -> Importance | None:
    """Return what the rule makes of a person's words; None where no cue is in them, so that they stay unset."""
    if _TRIFLE.fullmatch(words.strip()):
        return TRIFLE
    found = [cue for cue in CUES if cue.pattern.search(words)]
    if not found:
        return None
    value = max(cue.value for cue in found) + FURTHER_CUE * (len(found) - 1)
    return Importance(round(min(value, 1.0), 2), ", ".join(cue.name for cue in found))


def summary_of(words: str, longest: int = SUMMARY) -> str:
    """Return what was said in at most `longest` characters: whole if it fits, else its sentences with most cues.

    They stay in their order; a single sentence that is too long is cut at a word. Made without a model, so that it is
    there at once and costs nothing.
    """
    text = " ".join(words.split())
    if len(text) <= longest:
        return text
    sentences = [match.group().strip() for match in _SENTENCE.finditer(text)]
    by_weight = sorted(range(len(sentences)), key=lambda place: (-_weight(sentences[place]), place))
    taken: list[int] = []
    for place in by_weight:
        length = sum(len(sentences[other]) + 1 for other in taken) + len(sentences[place])
        if length <= longest:
            taken.append(place)
    if not taken or _weight(sentences[by_weight[0]]) > max(_weight(sentences[place]) for place in taken):
        return _cut(sentences[by_weight[0]] if sentences else text, longest)
    return " ".join(sentences[place] for place in sorted(taken))


def _weight(sentence: str) -> float:
    return sum(cue.value for cue in CUES if cue.pattern.search(sentence))


def _cut(text: str, longest: int) -> str:
    """Return the beginning of a text, ended at a space where one is near."""
    short = text[: longest - 1]
    words = short.rpartition(" ")[0]
    return f"{words if len(words) > longest // 2 else short}…"
