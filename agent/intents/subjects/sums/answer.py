"""Sums and units without a model: what is 17 times 23, 五英里是多少公里; numbers in words or digits."""

import re
from typing import Final

from agent.intents.intent import Language, language_of
from agent.intents.language.wording import anywhere
from agent.intents.saying.phrases import phrase
from agent.intents.saying.spoken import spoken_number
from agent.intents.subjects.sums import chinese, english
from agent.intents.subjects.sums.units import converted

MOST_CLAUSES: Final = 4
"""Of a sentence, of which one may be a sum."""

LONGEST: Final = 120
"""Characters of what may be a sum."""

_THINGS: Final = re.compile(
    r"(?<=\d) (?:kilos?|kilograms?|grams?|milligrams?|pounds?|euros?|dollars?|bucks|quid|lit(?:re|er)s?|met(?:re|er)s?|"
    r"miles|inches|feet|cups?|hours?|minutes?)(?: of [a-z]+)?\b"
)
"""What is counted in a sum, which does not change it."""

_SUM: Final = re.compile(r"[\d.+\-*/() ]+")
_HAS_OPERATOR: Final = re.compile(r"[\d)] *[+\-*/]+ *[\d(]")

_AND_THEN: Final = re.compile(r"再|\bthen\b")
_GOES_ON: Final = re.compile(r"\s*(?:(?:and )?then\b|再|然后|接着)", re.IGNORECASE)
"""What stands before the next step of a sum."""


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
    if anywhere(language_of(words), "of_all").search(words):
        return ""  # of what is enumerated, which is no clause of its own
    clauses = re.split(r"[，。；！？]|[,;.!?]\s+", words)
    if any(_GOES_ON.match(clause) for clause in clauses[1:]):
        return ""  # which is a half of the answer
    found = [told for clause in clauses[:MOST_CLAUSES] if (told := answer_sum(clause))] if len(clauses) > 1 else []
    return found[0] if len(found) == 1 else ""


def _in_digits(words: str, language: Language) -> str:
    """Return a sentence in small letters with its numbers in digits, without what leads up to them."""
    text = words.lower().replace("’", "'").strip(" \t\n.,?!。？！")
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return chinese.in_digits_chinese(text) if language == "zh" else english.in_digits_english(text)


def _calculated(text: str, language: Language) -> str:
    *before, last = _AND_THEN.split(text)  # is done to all before it
    text = "".join(["(" * len(before), *(f"{each})" for each in before), last])
    for pattern, operator in chinese.OPERATORS if language == "zh" else english.OPERATORS:
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
