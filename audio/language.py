"""Guesses the language of a sentence by its script."""

HAN_RANGES = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
"""Code points of Han characters (Unicode blocks CJK Unified Ideographs, extensions and compatibility)."""

KANA_RANGES = ((0x3041, 0x30FF),)
HANGUL_RANGES = ((0x1100, 0x11FF), (0xAC00, 0xD7AF))
FIRST_CJK = chr(HANGUL_RANGES[0][0])
"""The first of them all: a sentence of Latin letters, looked at with each token, costs a tenth for it."""


def is_cjk(character: str) -> bool:
    """Say whether a character is Han, kana or Hangul: written without spaces, and said in about a syllable."""
    if character < FIRST_CJK:
        return False
    return _is_among(character, HAN_RANGES) or _is_among(character, KANA_RANGES) or _is_among(character, HANGUL_RANGES)


def sentence_language(text: str, default: str) -> str:
    """Return the ISO 639-1 code of the language of `text`; `default` where its script does not tell.

    A `default` that is no language ("", "auto": the ears find out) is English, because somebody has to speak.
    Kana is Japanese, Hangul Korean, Han Chinese, unless words in Latin letters outnumber them. Latin letters alone are
    `default`, or English when `default` is a language that is not written with them.
    """
    default = "en" if default in ("", "auto") else default
    kana, hangul, han = (
        sum(_is_among(character, ranges) for character in text) for ranges in (KANA_RANGES, HANGUL_RANGES, HAN_RANGES)
    )
    latin_words = sum(word[0].isascii() and word[0].isalpha() for word in text.split())
    if latin_words > kana + hangul + han:
        return "en" if default in ("zh", "ja", "ko") and kana + hangul + han == 0 else default
    if kana:
        return "ja"
    if hangul:
        return "ko"
    if han:
        return default if default == "ja" else "zh"
    return default


def _is_among(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(character) <= last for first, last in ranges)
