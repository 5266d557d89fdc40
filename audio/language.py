"""Guesses the language of a sentence by its script."""

import re

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""The Unicode blocks CJK Unified Ideographs, extensions and compatibility."""

KANA = re.compile("[\u3041-\u30ff]")
HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7af]")

ALPHABETS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile("[\u0400-\u052f]+"), ("ru", "uk", "bg", "be", "sr", "mk", "kk", "ky", "tg", "mn")),
    (re.compile("[\u0370-\u03ff]+"), ("el",)),
    (re.compile("[\u0590-\u05ff]+"), ("he", "yi")),
    (re.compile("[\u0600-\u06ff]+"), ("ar", "fa", "ur", "ps")),
    (re.compile("[\u0900-\u097f]+"), ("hi", "mr", "ne")),
    (re.compile("[\u0e00-\u0e7f]+"), ("th",)),
)
"""Words in other letters, and the languages that are written with them: the first where nothing else tells."""

NOT_IN_LATIN = {"zh", "ja", "ko", *(language for _, languages in ALPHABETS for language in languages)} - {"sr"}


def is_cjk(character: str) -> bool:
    """Say whether a character is Han, kana or Hangul: written without spaces, and said in about a syllable."""
    return character >= "\u1100" and any(script.match(character) for script in (HAN, KANA, HANGUL))  # Latin is quick


def sentence_language(text: str, default: str) -> str:
    """Return the ISO 639-1 code of the language of `text`; `default` where its script does not tell.

    A `default` that is no language ("", "auto": the ears find out) is English, because somebody has to speak.
    Kana is Japanese, Hangul Korean, Han Chinese, unless words in Latin letters outnumber them. Another alphabet is the
    `default` where that is written with it, else the most spoken language that is: a voice spells letters that it does
    not know. Latin letters alone are `default`, or English when `default` is a language not written with them.
    """
    default = "en" if default in ("", "auto") else default
    kana, hangul, han = (len(script.findall(text)) for script in (KANA, HANGUL, HAN))
    latin_words = sum(word[0].isascii() and word[0].isalpha() for word in text.split())
    others = [(len(words.findall(text)), languages) for words, languages in ALPHABETS] if not text.isascii() else []
    most, languages = max(others, default=(0, ()))
    if most > max(latin_words, kana + hangul + han):
        return default if default in languages else languages[0]
    if latin_words > kana + hangul + han:
        return "en" if default in NOT_IN_LATIN and most + kana + hangul + han == 0 else default
    if kana:
        return "ja"
    if hangul:
        return "ko"
    if han:
        return default if default == "ja" else "zh"
    return default
