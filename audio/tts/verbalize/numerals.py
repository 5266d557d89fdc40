"""Numbers in words; own tables, because unicode-rbnf drops zeros from Chinese years and from 亿零一百万."""

from typing import Final

ONES: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES: Final = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
IRREGULAR_ORDINALS: Final = {
    **{"one": "first", "two": "second", "three": "third", "five": "fifth"},
    **{"eight": "eighth", "nine": "ninth", "twelve": "twelfth"},
}

CHINESE_DIGITS: Final = "零一二三四五六七八九"
CHINESE_SCALES: Final = ((10**8, "亿"), (10**4, "万"), (1000, "千"), (100, "百"), (10, "十"))

LARGEST: Final = 10**15 - 1
"""Larger numbers are read digit by digit: nobody says them otherwise."""


def cardinal(number: int) -> str:
    """Return a number in English words, the American way: `one hundred five`. `number` is at least 0."""
    if number > LARGEST:
        return digits(str(number))
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")
    size, name = next(scale for scale in SCALES if number >= scale[0])
    whole, rest = divmod(number, size)
    return f"{cardinal(whole)} {name}" + (f" {cardinal(rest)}" if rest else "")


def ordinal(number: int) -> str:
    """Return an ordinal number: `first`, `twenty-second`, `one hundredth`."""
    words = cardinal(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[cut:]
    if last in IRREGULAR_ORDINALS:
        return words[:cut] + IRREGULAR_ORDINALS[last]
    return words[:cut] + (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")


def year(number: int) -> str:
    """Return a year as it is said: `nineteen ninety-nine`, `nineteen oh five`, `two thousand one`."""
    century, rest = divmod(number, 100)
    if not 1000 <= number <= 9999 or (century % 10 == 0 and rest < 10):
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {two_digits(rest)}"


def two_digits(number: int) -> str:
    """Return what follows the hour or the century: `oh five`, `thirty`."""
    return f"oh {ONES[number]}" if number < 10 else cardinal(number)


def digits(figures: str) -> str:
    """Return each digit by itself."""
    return " ".join(ONES[int(figure)] for figure in figures)


def decimal(figures: str) -> str:
    """Return `1,250.75`, `3` or `0.5` in words; a whole part with a leading zero is read digit by digit."""
    whole, _, fraction = figures.replace(",", "").partition(".")
    words = digits(whole) if len(whole) > 1 and whole[0] == "0" else cardinal(int(whole))
    return f"{words} point {digits(fraction)}" if fraction else words


def chinese_cardinal(number: int) -> str:
    """Return a number in Chinese: 十二, 一百零五, 两千, 一万两千. `number` is at least 0."""
    if number > LARGEST:
        return chinese_digits(str(number))
    if number < 10:
        return CHINESE_DIGITS[number]
    if number < 20:
        return "十" + (CHINESE_DIGITS[number % 10] if number % 10 else "")
    size, name = next(scale for scale in CHINESE_SCALES if number >= scale[0])
    whole, rest = divmod(number, size)
    count = "两" if whole == 2 and size > 10 else chinese_cardinal(whole)
    if rest == 0:
        return count + name
    between = ("零" if rest < size // 10 else "") + ("一" if 10 <= rest < 20 else "")  # after a larger unit 十 is 一十
    return count + name + between + chinese_cardinal(rest)


def chinese_digits(figures: str, *, one: str = "一") -> str:
    """Return each digit by itself; in telephone numbers `one` is 幺."""
    return "".join(one if figure == "1" else CHINESE_DIGITS[int(figure)] for figure in figures)


def chinese_decimal(figures: str) -> str:
    """Return `1,250.75`, `3` or `0.5` in Chinese; a whole part with a leading zero is read digit by digit."""
    whole, _, fraction = figures.replace(",", "").partition(".")
    leading = len(whole) > 1 and whole[0] == "0"
    words = chinese_digits(whole) if leading else chinese_cardinal(int(whole))
    return f"{words}点{chinese_digits(fraction)}" if fraction else words
