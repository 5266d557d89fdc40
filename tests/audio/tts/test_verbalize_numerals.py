"""Numbers in words against unicode-rbnf, which has the rules of Unicode's CLDR, where those are right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unicode_rbnf import FormatPurpose, RbnfEngine

from audio.tts.verbalize.numerals import LARGEST, cardinal, chinese_cardinal, chinese_decimal, decimal, ordinal, year

ENGLISH, CHINESE = RbnfEngine.for_language("en"), RbnfEngine.for_language("zh")
numbers = st.integers(0, LARGEST) | st.integers(0, 100_000)


@given(numbers)
def test_english_numbers_are_those_of_the_cldr(number: int) -> None:
    assert cardinal(number) == ENGLISH.format_number(number).text_by_ruleset["spellout-cardinal"]
    assert ordinal(number) == ENGLISH.format_number(number, FormatPurpose.ORDINAL).text


@given(st.integers(1000, 2999))
def test_english_years_are_those_of_the_cldr(number: int) -> None:
    assert year(number) == ENGLISH.format_number(number, FormatPurpose.YEAR).text.replace("oh-", "oh ")


@given(st.integers(3, 99_999_999))
def test_chinese_numbers_are_those_of_the_cldr(number: int) -> None:
    assert chinese_cardinal(number) == CHINESE.format_number(number).text_by_ruleset["spellout-cardinal-alternate2"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "零"),
        (2, "二"),
        (10, "十"),
        (12, "十二"),
        (110, "一百一十"),
        (100_000_005, "一亿零五"),
        (801_769_951, "八亿零一百七十六万九千九百五十一"),
        (200_000_000, "两亿"),
        (10**12, "一万亿"),
        (10**15, "一" + "零" * 15),
    ],
)
def test_chinese_numbers_the_cldr_has_otherwise(number: int, words: str) -> None:
    assert chinese_cardinal(number) == words


def test_decimals_are_read_digit_by_digit() -> None:
    assert decimal("1,250.705") == "one thousand two hundred fifty point seven zero five"
    assert decimal("007") == "zero zero seven"
    assert decimal(str(10**15)) == "one" + " zero" * 15
    assert chinese_decimal("1,250.705") == "一千两百五十点七零五"
    assert chinese_decimal("007") == "零零七"
