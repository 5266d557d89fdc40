"""Reflex words in English and Chinese; only a whole utterance counts, never a part of a sentence."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final, Literal, TypeAlias, get_args

from audio.chinese import simplified

Reflex: TypeAlias = Literal["stop", "wait", "go on", "quieter", "louder", "repeat", "mute", "unmute", "forget"]

REFLEXES: Final[tuple[Reflex, ...]] = get_args(Reflex)

NAMES: Final = ("nakari", "那卡里")
"""What it is called, where nobody gave its another name."""

PHRASES: Final[Mapping[Reflex, tuple[str, ...]]] = {
    "stop": (
        *("stop", "stop it", "stop that", "stop talking", "stop speaking", "quiet", "be quiet", "silence", "hush"),
        *("shut up", "enough", "that s enough", "that is enough", "never mind stop"),
        *("停", "停下", "停下来", "停止", "停一下", "别说了", "别说话", "不要说了", "住口", "闭嘴", "安静", "够了"),
        *("别讲了", "不要讲了", "不用说了"),
    ),
    "wait": (
        *("wait", "wait a moment", "wait a second", "wait a minute", "hold on", "hold on a second", "hang on", "pause"),
        *("one moment", "a moment", "等等", "等一下", "等一等", "稍等", "等会儿", "等一会儿", "暂停", "先等等"),
    ),
    "go on": (
        *("go on", "continue", "resume", "carry on", "keep going", "go ahead"),
        *("继续", "继续说", "接着说", "继续讲", "说下去", "接着讲", "往下说"),
    ),
    "quieter": (
        *("quieter", "softer", "not so loud", "too loud", "turn it down", "volume down", "turn the volume down"),
        *("turn down the volume", "speak quieter", "speak softer", "speak more quietly", "lower the volume"),
        *("小声", "小声点", "小声一点", "轻点", "轻一点", "小点声", "声音小一点", "声音小点", "音量小一点", "调小声"),
        *("太大声", "太吵", "声音太大"),
    ),
    "louder": (
        *("louder", "speak up", "turn it up", "volume up", "turn the volume up", "turn up the volume", "too quiet"),
        *("speak louder", "raise the volume"),
        *("大声", "大声点", "大声一点", "大点声", "声音大一点", "声音大点", "音量大一点", "调大声"),
        *("听不见", "声音太小"),
    ),
    "repeat": (
        *("repeat", "repeat that", "repeat it", "say that again", "say it again", "say again", "once more", "pardon"),
        *("what did you say", "come again"),
        *("再说一遍", "再说一次", "重复", "重复一遍", "再讲一遍", "你说什么", "刚才说什么", "没听清", "没听清楚"),
    ),
    "mute": (
        *("mute", "mute yourself", "stop listening", "don t listen", "do not listen", "microphone off", "go deaf"),
        *("turn off the microphone", "turn the microphone off"),
        *("关闭麦克风", "关掉麦克风", "静音", "别听了", "不要听了"),
    ),
    "unmute": (
        *("unmute", "unmute yourself", "start listening", "listen again", "microphone on", "turn on the microphone"),
        *("turn the microphone on", "打开麦克风", "取消静音", "继续听", "开始听"),
    ),
    "forget": (
        *("forget that", "forget it all", "forget what you just heard", "forget what you heard", "forget what i said"),
        *("forget what i just said", "forget what we said", "forget what we just said", "forget the last thing i said"),
        *("delete what you just heard", "delete what i just said", "did not hear that", "didn t hear that"),
        *("忘掉", "忘掉刚才的话", "忘掉刚才听到的", "忘记刚才的话", "忘记刚才听到的", "忘了刚才的话", "忘了刚才听到的"),
        *("忘掉我刚才说的", "忘记我刚才说的", "忘了我刚才说的", "忘掉我刚才说的话", "忘掉刚才说的话", "当我没说"),
    ),
}
"""Each a whole utterance, as `plain` leaves it."""

FILLERS: Final = frozenset(
    {"please", "now", "ok", "okay", "hey", "oh", "uh", "um", "well", "and", "just", "you", "can", "could", "would"}
)
"""English words around an order that change nothing about it: "could you please repeat that"."""

_COURTEOUS_BEGINNING: Final = re.compile("^(?:请你?|麻烦你?|你?能不能|可以|好了|好的|好|喂|嗯|那|你|快)+(?=.)")
_ONLY_COURTESY: Final = re.compile("好了|好的|好|喂|嗯|那|快|请|谢谢")
_SOFTENING_END: Final = re.compile("(?<=.)(?:吧|啊|啦|呀|吗|嘛|了|哦|谢谢)+$")
_NO_WORD: Final = re.compile(r"[\W_]+")
_HAN: Final = re.compile("[\u3400-\u9fff]")


def plain(words: str, names: Collection[str] = NAMES) -> str:
    """Return an utterance in small letters without punctuation, names, courtesies and repetition.

    "Please stop, stop!" is "stop". Fillers are taken off both ends only, so that what stands between two other words
    keeps its meaning. Chinese comes in simplified characters.
    """
    spoken = _NO_WORD.sub(" ", simplified(words.casefold())).strip()
    for name in sorted(names, key=len, reverse=True):
        if spoken.isascii() and not name.casefold().isascii():
            continue  # it cannot be in there; and only who speaks Chinese needs the table of its characters
        called = re.escape(_NO_WORD.sub(" ", simplified(name.casefold())).strip())
        edge = r"(?:^|(?<=\s)){}(?=\s|$)" if called.isascii() else "{}"
        spoken = re.sub(edge.format(called), " ", spoken)
    if _HAN.search(spoken):
        return _plain_chinese(spoken)
    kept = spoken.split()
    while kept and kept[0] in FILLERS:
        kept.pop(0)
    while kept and kept[-1] in FILLERS:
        kept.pop()
    return _once(kept)


def asked(words: str, active: Collection[str] = REFLEXES, names: Collection[str] = NAMES) -> Reflex | None:
    """Return the reflex that an utterance is, None when it says anything else, or anything besides."""
    reflex = _OF_PHRASE.get(plain(words, names))
    return reflex if reflex in active else None


def volume_asked(words: str, names: Collection[str] = NAMES) -> int | None:
    """Return the percent of an utterance that is nothing but a volume ("volume thirty", "音量调到百分之五十")."""
    found = next((each for form in _VOLUME if (each := form.fullmatch(plain(words, names)))), None)
    if found is None:
        return None
    number = found["number"].strip()
    percent = 50 if number in {"half", "a half"} else spoken_number(number)
    return percent if percent is not None and percent <= 100 else None


def spoken_number(number: str) -> int | None:
    """Return a number in figures, nine at most, or in words up to a hundred, as `plain` leaves it; None for any other.

    In words it may be English or Chinese: "twenty five", "a hundred", "二十五".
    """
    return int(number) if number.isdecimal() and len(number) < 10 else _numbers().get(number)


def calls(words: str, names: Collection[str] = NAMES) -> bool:
    """Whether an utterance names it."""
    spoken = f" {_NO_WORD.sub(' ', simplified(words.casefold()))} "
    told = (simplified(name.casefold()) for name in names if name.strip())
    return any((f" {name} " if name.isascii() else name) in spoken for name in told)


def _plain_chinese(spoken: str) -> str:
    """Return what `plain` does, for text that holds Han characters; `spoken` has its pieces between spaces."""
    pieces = [piece for piece in spoken.split() if not _ONLY_COURTESY.fullmatch(piece)]
    said = [
        piece if piece in _OF_PHRASE else _SOFTENING_END.sub("", _COURTEOUS_BEGINNING.sub("", piece))
        for piece in pieces
    ]
    once = said[0] if len(set(said)) == 1 else "".join(said)
    return once if once in _OF_PHRASE else _once(list(once), "")


def _once(kept: list[str], between: str = " ") -> str:
    """Return the words joined; where they are one order said several times ("go on go on"), that order once."""
    for size in range(1, len(kept) // 2 + 1):
        if len(kept) % size == 0 and kept == kept[:size] * (len(kept) // size):
            return between.join(kept[:size])
    return between.join(kept)


_OF_PHRASE: Final[Mapping[str, Reflex]] = {phrase: reflex for reflex, phrases in PHRASES.items() for phrase in phrases}

_VOLUME: Final = (
    re.compile(
        r"(?:(?:set|turn|put|change) )?(?:the |your )?volume (?:up |down )?(?:to |at )?"
        r"(?P<number>[a-z\d ]+?)(?: percent)?"
    ),
    re.compile(
        r"(?:把|将)?(?:音量|声音)(?:调|设|开|调整|设置)?(?:到|成|为)?(?:百分之)?(?P<number>[\d零一二两三四五六七八九十百]+)"
    ),
)


@cache
def _numbers() -> Mapping[str, int]:
    """Return the numbers up to a hundred by how they are said; made when one is, as the service starts without them."""
    from audio.tts.verbalize.numerals import cardinal, chinese_cardinal

    return {
        **{cardinal(number).replace("-", " "): number for number in range(101)},
        **{chinese_cardinal(number): number for number in range(101)},
        **{"hundred": 100, "a hundred": 100, "百": 100, "两": 2},
    }
