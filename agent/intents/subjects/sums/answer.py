"""Sums and units without a model: what is 17 times 23, 五英里是多少公里; numbers in words or digits."""

import re
from typing import Final

from agent.intents.intent import Language, language_of
from agent.intents.phrases import phrase
from agent.intents.spoken import spoken_number
from agent.intents.subjects.sums.chinese import in_digits_chinese
from agent.intents.subjects.sums.english import in_digits_english
from agent.intents.subjects.sums.units import converted

MOST_CLAUSES: Final = 4
"""Of a sentence, of which one may be a sum."""

LONGEST: Final = 120
"""Characters of what may be a sum."""

_OPERATORS: Final = (
    (r"([\d.]+) plus ([\d.]+) (?:percent|per cent)", r"\1*(1+\2/100)"),
    (r"([\d.]+) (?:minus|less) ([\d.]+) (?:percent|per cent)", r"\1*(1-\2/100)"),
    (r"([\d.]+) (?:percent|per cent) off ([\d.]+)", r"\2*(1-\1/100)"),
    (r"([\d.]+) out of ([\d.]+)(?: as a (?:percentage|percent)| in percent)?", r"\1/\2*100"),
    (r"([\d.]+) lakhs?", r"\1*100000"),
    (r"([\d.]+) crores?", r"\1*10000000"),
    (r"(?:percent|per cent)(?: [a-z]+)? (?:of|on)", "/100*"),
    (r"percent|per cent", "/100"),
    (r"(?:a |one |1 )?half of", "1/2*"),
    (r"(?:a |one |1 )?(?:third|3rd) of", "1/3*"),
    (r"(?:a |one |1 )?(?:quarter|fourth|4th) of", "1/4*"),
    (r"([\d.]+) (?:quarters|fourths) of", r"\1/4*"),
    (r"([\d.]+) (?:thirds|3rds) of", r"\1/3*"),
    (r"(?:the )?square root of ([\d.]+)", r"(\1)**0.5"),
    (r"(?:the )?cube root of ([\d.]+)", r"(\1)**(1/3)"),
    (r"(?:twice|double) (?=[\d.])", "2*"),
    (r"to the power of|to the", "**"),
    (r"squared", "**2"),
    (r"cubed", "**3"),
    (r"multiplied by|times|x", "*"),
    (r"divided by|over", "/"),
    (r"plus|added to|add|and", "+"),
    (r"minus|less|take away", "-"),
)
"""How English says what a sum does, in the order in which it is read."""

_OPERATORS_ZH: Final = (
    (r"([\d.]+)的百分之([\d.]+)", r"\1*\2/100"),
    (r"百分之([\d.]+)", r"\1/100"),
    (r"([\d.]+)的一半", r"\1/2"),
    (r"([\d.]+)的([\d.]+)分之([\d.]+)", r"\1*\3/\2"),
    (r"([\d.]+)分之([\d.]+)", r"(\2/\1)"),
    (r"([\d.]+)(?:块钱?|元)?[的打]([1-9])折", r"\1*\2/10"),
    (r"([\d.]+)(?:块钱?|元)?[的打]([1-9]{2})折", r"\1*\2/100"),
    (
        r"([\d.]+)(?:块钱?|元)?([\d.]+)个?人(?:平?分|平摊|aa制?)(?:每个?人|一个?人)?(?:[要该]?[付出给]?多少钱?)?",
        r"\1/\2",
    ),
    (r"([\d.]+)的平方根", r"(\1)**0.5"),
    (r"([\d.]+)的平方", r"(\1)**2"),
    (r"加上?", "+"),
    (r"减去?", "-"),
    (r"乘以?|的(?=[\d.]+倍)", "*"),
    (r"除以", "/"),
    (r"倍|(?<=\d)(?:块钱?|元)", ""),
)
_THINGS: Final = re.compile(
    r"(?<=\d) (?:kilos?|kilograms?|grams?|milligrams?|pounds?|euros?|dollars?|bucks|quid|lit(?:re|er)s?|met(?:re|er)s?|"
    r"miles|inches|feet|cups?|hours?|minutes?)(?: of [a-z]+)?\b"
)
"""What is counted in a sum, which does not change it."""

_SUM: Final = re.compile(r"[\d.+\-*/() ]+")
_HAS_OPERATOR: Final = re.compile(r"[\d)] *[+\-*/]+ *[\d(]")


def answer_sum(words: str) -> str:
    """Return the sentence that answers a sum or a conversion, "" when the words are neither."""
    if len(words) > LONGEST or len(re.findall("等于|是多少", words)) > 1:  # two sums are none
        return ""
    language = language_of(words)
    text = _in_digits(words, language)
    if not re.search(r"\d|\b(?:in|is|are) an? |^an? [a-z]+ (?:in|to|into) ", text) or re.fullmatch(
        r"[\d.]+ (?:percent|per cent)", text
    ):
        return ""
    found = converted(text, language) or _calculated(text, language)
    return found or _calculated(_THINGS.sub("", text), language)


def answer_clause(words: str) -> str:
    """Return the answer to the one clause of a sentence that is a sum or a conversion; "" where none is, or several."""
    clauses = re.split(r"[，。；！？]|[,;.!?]\s+", words)
    found = [told for clause in clauses[:MOST_CLAUSES] if (told := answer_sum(clause))] if len(clauses) > 1 else []
    return found[0] if len(found) == 1 else ""


def _in_digits(words: str, language: Language) -> str:
    """Return a sentence in small letters with its numbers in digits, without what leads up to them."""
    text = words.lower().replace("’", "'").strip(" \t\n.,?!。？！")
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return in_digits_chinese(text) if language == "zh" else in_digits_english(text)


def _calculated(text: str, language: Language) -> str:
    *before, last = text.split("再")  # what is done again is done to all before it
    text = "".join(["(" * len(before), *(f"{each})" for each in before), last])
    for pattern, operator in _OPERATORS_ZH if language == "zh" else _OPERATORS:
        bounded = pattern if language == "zh" or pattern.startswith("(") else rf"\b(?:{pattern})\b"
        text = re.sub(bounded, operator, text)
    if not _SUM.fullmatch(text) or not _HAS_OPERATOR.search(text):
        return ""
    from simpleeval import simple_eval

    try:
        value = float(simple_eval(text))
    except ZeroDivisionError:
        return phrase("sum_zero", language)
    except Exception:  # noqa: BLE001  a sum may be wrong, or too large, in as many ways as Python has
        return ""
    said, is_rounded = spoken_number(value)
    return phrase("sum_about" if is_rounded else "sum", language, value=said)
