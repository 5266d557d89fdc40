"""What is put on a list, as words enumerate it: each thing, with how much of it is wanted, and what was taken back."""

import re
from typing import Final

from agent.intents.intent import Language, language_of
from agent.intents.language.enumerations import each_of, with_pairs_kept, with_pairs_told
from agent.intents.language.patterns import patterns

_BETWEEN: Final = re.compile(
    r"\s*(?:,\s*and\s+|,|，|、|;|；|\band\b|\bplus\b|还有|以及|和|跟|\s(?=not (?!too|so|very))|"
    r"(?<=[^，,、])(?=不要(?!.{0,6}了$)|不是|别买))\s*"
)
"""What stands between the things of a list."""

_ARTICLE: Final = re.compile(
    r"^(?:(?:(?:nearly|almost|all|also|running) )*(?:out of|low on|short of)\b|"
    r"(?:some(?! of\b)|the|any|more|an?(?= few\b)|also|oh|yeah|yes|um|uh)\b|"
    r"一些|一点|点|买(?=[一二两三四五六七八九十半几\d]))\s*",
    re.IGNORECASE,
)
"""What a thing is said with and does not stand on the list."""

_NOTHING: Final = re.compile(r"^(?:哦|对了|还有)$|^(?:哦|对)+")
_AS_WELL: Final = re.compile(
    " (?:as well|too)$|[也都]?(?:(?:要|买|加)(?:一下|上|了)?|快?(?:没有?|用完|吃完|喝完|剩?不多)了)?$", re.IGNORECASE
)
"""What is said between and behind things, and does not stand on the list."""

_WHOM: Final = re.compile(r"^for [\w' ]+:\s*", re.IGNORECASE)
"""What a list is for, said before the things."""

_DIGIT: Final = "one|two|three|four|five|six|seven|eight|nine"
_TENS: Final = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_COUNT: Final = (
    rf"(?:\d+|(?:an?|{_DIGIT}) hundred(?: and [\w ]+?)?|(?:{_TENS})(?:[ -](?:{_DIGIT}))?|"
    rf"{_DIGIT}|ten|eleven|twelve|\w+teen|half|dozen)"
)
_MEASURES: Final = (
    "(?:kilos?|kg|grams?|lit(?:re|er)s?|bags?|box(?:es)?|bits?|packs?|packets?|bottles?|tins?|cans?|jars?|bunch(?:es)?|"
    "loaf|loaves|pints?|pounds?|rolls?|cups?)"
)
_COUNTS_ZH: Final = "一二两三四五六七八九十百半几0123456789"
_MUCH_ZH: Final = rf"[{_COUNTS_ZH}\d]+(?:公斤|[把瓶斤个箱盒袋包条只块份碗罐桶打双支卷张本根颗棵片串])"
_AMOUNT: Final = patterns(
    en=rf"^(?:the )?(?:an? |{_COUNT}\s+)?(?:half |few |dozen )?(?:{_MEASURES} (?:of )?)?",
    zh=rf"^{_MUCH_ZH}",
)
"""How much of a thing is wanted, said before it."""

_BEHIND_ZH: Final = re.compile(rf"{_MUCH_ZH}$")
"""The same, said behind it."""

_MORE_OF_IT: Final = re.compile(
    r"^(?:size \w+|(?:the )?(?:large|small|big|medium|little|long|short|thick|thin)(?: ones?)?|"
    rf"(?:an? )?{_COUNT} (?!loa(?:f|ves)$)(?:{_MEASURES}|of (?:them|those|it)))$",
    re.IGNORECASE,
)
"""What tells more of the thing before it, and is none by itself."""

_SO_MANY: Final = re.compile(rf"make (?:it|that|them) ({_COUNT})", re.IGNORECASE)
"""What tells how much is wanted of the thing before it: milk, and make it two."""

_REASON: Final = re.compile(
    r"^(?:it's|he's|she's|they're|i'm|i've|we're|we've|that's|because|cos|i|we|he|she|they|"
    r"(?:forget|scrap) (?:it|that)|never ?mind|(?:the )?\w+ (?:is|are|has|have))\b",
    re.IGNORECASE,
)
"""What only tells why, behind a thing."""

_UNWANTED: Final = re.compile(
    r"^(?:not|no|but (?:not|no)|without|don't|do not|never)\b|^(?:但是?)?(?:不要|不用|别|不买|不加|不需要|不是)",
    re.IGNORECASE,
)
"""What says of a thing that it is not to stand there."""

_NOT_THAT: Final = re.compile(r"^not [^,]+, *(?:but )?", re.IGNORECASE)
"""What is said once more of a thing that was taken back, before what is wanted instead."""

_TAKEN_BACK: Final = re.compile(
    r"[, ]+(?:no,? )?(?:hang on|hold on|wait|sorry|i mean|actually|no)\b[, ]+(?:no[, ]+)?|"
    "[，,]?[啊哦呃]?(?:等等|不对|错了|说错了|(?<=[啊哦呃])不是)[，,]?是?(?=.)"
)
"""What stands between a thing and what is wanted instead: a box of fifty mil screws, no, hang on, sixty mil."""

_OF_SORT_ZH: Final = re.compile(r"[^，。]{1,6}的(\w+)")
"""Of which sort a thing is wanted: 全麦的面包."""


def core_of(item: str, language: Language) -> str:
    """Return a thing without how much of it is wanted: the chairs of eighty chairs, 小葱 of 一把小葱."""
    core = _AMOUNT[language].sub("", item, count=1)
    return (_BEHIND_ZH.sub("", core) if language == "zh" else core) or item


def with_amount(item: str, amount: str, language: Language) -> str:
    """Return a thing with so much of it wanted, in the measure and the order that it stood there with."""
    core = core_of(item, language)
    if language == "en":
        is_count = re.fullmatch(_COUNT, amount, re.IGNORECASE)
        counted = re.match(rf"(?:{_COUNT}|an?)\b", item, re.IGNORECASE) if is_count else None
        return f"{amount}{item[counted.end() :]}" if counted else f"{amount} {core}"
    before, behind = _AMOUNT["zh"].match(item), _BEHIND_ZH.search(item)
    there = before or behind
    measure = there.group().lstrip(_COUNTS_ZH) if there and not amount.strip(_COUNTS_ZH) else ""
    return f"{amount}{measure}{core}" if before else f"{core}{amount}{measure}"


def instead_of(item: str, said: str) -> str:
    """Return a thing corrected by two words of which one is its own: sixty mil for fifty mil; "" where none is."""
    words = said.split()
    if len(words) != 2:
        return ""
    first, second = (re.escape(word) for word in words)
    for pattern in (rf"\b{first} \w+", rf"\b\w+ {second}\b"):
        if re.search(pattern, item, re.IGNORECASE):
            return re.sub(pattern, lambda _: said, item, count=1, flags=re.IGNORECASE)
    return ""


def things(said: str) -> list[str]:
    """Return the things of an enumeration, each without its article, and with what was said of it behind a comma."""
    before, *after = _TAKEN_BACK.split(said)
    split = _BETWEEN.split(with_pairs_kept(_WHOM.sub("", before)))
    parts = [_ARTICLE.sub("", with_pairs_told(part).strip(" .!?。！？啊")) for part in split]
    wanted = [each for each in parts if not _UNWANTED.match(each)] or parts  # "no salt crackers" alone is a name
    found: list[str] = []
    for part in (_AS_WELL.sub("", _NOTHING.sub("", each)) for each in wanted):
        if found and _REASON.match(part):
            continue
        if found and (so_many := _SO_MANY.fullmatch(part)):
            found[-1] = with_amount(found[-1], so_many[1], "en")
        elif found and _MORE_OF_IT.match(part):
            found[-1] = f"{found[-1]} {part}"
        elif part:
            found = _with_each(found, each_of(part))
    for unwanted in parts if wanted != parts else ():
        found = _without(found, unwanted) if unwanted not in wanted else found
    for said_instead in after if found else ():
        correction = _NOT_THAT.sub("", said_instead).strip(" .!?")
        left = _without(found, correction)
        if _REASON.match(correction):  # oh wait, we've still got some
            return found[:-1]
        if left != found or _UNWANTED.match(correction):  # no wait, not the glue
            return left
        found[-1] = instead_of(found[-1], correction) or correction
    return found


def _with_each(found: list[str], more: list[str]) -> list[str]:
    """Return things with more of them; of one that stands there, how much is wanted: milk, eggs, two boxes of eggs."""
    named = {_core(each): each for each in more if _core(each) != each.casefold()}
    named |= {sort[1]: each for each in more if (sort := _OF_SORT_ZH.fullmatch(each))}
    cores = {_core(each) for each in found}
    told = {each for core, each in named.items() if core in cores}
    return [*(named.get(_core(each), each) for each in found), *(each for each in more if each not in told)]


def _without(found: list[str], said: str) -> list[str]:
    """Return things without those that are named as not wanted, or named once more alone: actually no ham."""
    names = _BETWEEN.split(_UNWANTED.sub("", said, count=1))
    gone = {_ARTICLE.sub("", each.strip(" .!?。！？")).casefold() for each in names}
    return [each for each in found if not {each.casefold(), _core(each)} & gone]


def _core(item: str) -> str:
    return core_of(item, language_of(item)).casefold()
