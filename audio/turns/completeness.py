"""Completeness: whether the words so far sound finished, which decides how long a silence ends the turn (en, zh)."""

import re
from enum import Enum
from typing import Final

SHORTEST_SILENCE: Final = 0.35
"""Seconds of silence that end a turn to which nothing can be added: "stop", "yes"."""

SURE_SILENCE: Final = 0.54
"""Seconds of silence that end a turn whose words or voice have ended; the pauses between phrases are shorter."""

LIKELY_SILENCE: Final = 0.95
"""Seconds of silence that end a turn whose voice or words have rather ended than not."""

LONGEST_SILENCE: Final = 1.25
"""Seconds of silence that end a turn whose words or voice ask for more."""

SURE: Final = 0.35
"""Evidence (log odds) from which the end is believed: of ends a little more than half have it, of pauses one in six."""

LIKELY: Final = -0.05
"""Evidence from which an end is as likely as not; below it more is to be expected."""

FINISHED_WEIGHS: Final = 0.5
"""The same that words bring which are finished: the voice can still say otherwise ("turn on the kitchen" light)."""

TONAL_LANGUAGES: Final = frozenset({"lo", "my", "th", "vi", "yue", "zh"})
"""ISO 639-1 or 639-3. There the pitch belongs to the word, and a voice that falls says nothing."""


class Completeness(Enum):
    """Whether more words are to be expected."""

    WHOLE = "whole"
    """Nobody adds to that: "stop", "yes", "what time is it"."""
    FINISHED = "finished"
    """A question or an order that can end here."""
    NEUTRAL = "neutral"
    """Nothing can be said: a statement, another language, no words."""
    UNFINISHED = "unfinished"
    """Nobody ends like that: "remind me to", "and", "um", 把."""


def commit_silence(completeness: Completeness, voice: float, neutral: float) -> float:
    """Return the silence in seconds that ends a turn.

    `voice` is the evidence of its prosody (`ending_heard`, 0 for none), `neutral` the silence where neither tells.
    """
    if completeness is Completeness.WHOLE:
        return SHORTEST_SILENCE
    if completeness is Completeness.UNFINISHED:
        return LONGEST_SILENCE
    if completeness is Completeness.NEUTRAL and not voice:
        return neutral
    ends = voice + (FINISHED_WEIGHS if completeness is Completeness.FINISHED else 0.0)
    if ends >= SURE:
        return min(SURE_SILENCE, neutral)
    return max(LIKELY_SILENCE, neutral) if ends > LIKELY else LONGEST_SILENCE


def completeness_of(text: str, language: str) -> Completeness:
    """Judge the words so far, punctuated or not; `language` is ISO 639-1, all but "en" and "zh" are neutral."""
    text = text.strip().lower().replace("’", "'")
    if not text:
        return Completeness.NEUTRAL
    if language in {"en", "zh"} and text.endswith(_TRAILS_OFF):
        return Completeness.UNFINISHED
    if language == "en":
        return _english(text)
    return _chinese(text) if language == "zh" else Completeness.NEUTRAL


_TRAILS_OFF: Final = ("...", "…", ",", "，", "、", ":", "：", "-", "—")
"""What recognizers write where the voice stays up."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in re.split(r"[|\n]", text))


_FILLERS: Final = _words("um uh uhm er erm ah hmm hm mm eh")
_OPEN_WORDS: Final = _FILLERS | _words(
    """a an the my your our their its every each another some any very really quite rather
    and or but nor because although though unless until since while whereas whether if than so then plus
    of at by from into onto with without between during against toward towards through under near to for
    want wants wanna need needs gonna going am"""
)
"""Nobody ends an order or a statement with one of these."""

_PARTICLES: Final = _words("on off up down in out over back about around")
"""End a sentence when their object came before: "turn it on", "what is it about"."""

_PLACES: Final = _words("in over about around")
"""Of those, what an order goes on with: "turn on the light in"."""

_OBJECTS: Final = _words("it them him her me us you this that come")

_PARTICLE_VERBS: Final = _words("turn switch put set pick look take give bring shut wake find talk tell think go come")
_WHOLE_WITH_PARTICLE: Final = _words("wake go come shut")
"""Of those, what needs no object: "go on", "wake up"."""

_AUXILIARIES: Final = _words(
    "is are was were be been can could would will shall should do does did has have had may might must"
)
_NEVER_LAST: Final = _words("might must may shall had has be been")
_ASKING: Final = _words("is are was can could would will shall should do does did has have may")
_PRONOUNS: Final = _words("i you he she it we they this that there")
_QUESTION_WORDS: Final = _words(
    "what who whose whom which where when why how what's who's where's when's how's whats whos wheres"
)
_COURTESIES: Final = _words("please hey ok okay well so now oh and then nakari just")
"""Said before the sentence itself; left out before it is judged."""

_ORDERS: Final = _words(
    """turn switch set play stop pause start open close call show tell give make add remove delete cancel put send
    read write find search list skip repeat go take bring lower raise dim mute unmute remember forget lock unlock
    increase decrease change buy order check wake shut let help explain say sing count translate"""
)
_NEEDS_OBJECT: Final = _ORDERS - _words("stop pause start repeat go mute unmute help skip cancel wake shut count sing")
_NEEDS_MORE: Final = _phrases(
    """can you|could you|would you|will you|i want|i would like|i'd like|i would|i think|i think that|i mean|you know
    let me|let me see|let me think|let's|lets|do you|are you|is it|is there|are there|what about|how about|how much
    how many|how long|how far|how old|what is|what's|who is|who's|where is|when is|what time|which one is|tell me
    tell me about|give me|show me|remind me|remember|remember that|i need you|wake me|wake me up|turn it|call|hey
    the thing is|there is|there are|it's|i'm|i am|so|okay so|well|please|could you please|can you please"""
)
_WHOLE: Final = _phrases(
    """yes|no|yeah|yep|nope|sure|okay|ok|stop|wait|cancel|thanks|thank you|thank you very much|hello|hi|goodbye|bye
    good morning|good night|good evening|never mind|nevermind|of course|not now|go on|be quiet|quiet|shut up|repeat
    louder|quieter|pause|continue|resume|mute|unmute|again|that's all|that is all|no thanks|no thank you|yes please
    i don't know|i do not know|all right|alright|got it|go away|come in|wake up|help
    what time is it|what's the time|what day is it|turn it off|turn it on|turn it up|turn it down"""
)
_DIGITS: Final = _words("zero oh one two three four five six seven eight nine")
_SUBORDINATORS: Final = _words("if unless although whereas whether")
"""Begin what a main clause has to follow."""

_SHORT_CLAUSE: Final = 8
"""Words; in more than these the main clause may be there."""

_NUMBERS: Final = _DIGITS | _words(
    """ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
    seventy eighty ninety hundred thousand half"""
)


def _english(text: str) -> Completeness:
    asks = text.endswith("?")
    words = re.findall(r"[a-z0-9']+", text)
    while len(words) > 1 and words[0] in _COURTESIES:
        words = words[1:]
    if not words:
        return Completeness.NEUTRAL
    if " ".join(words) in _WHOLE:
        return Completeness.WHOLE
    if " ".join(words) in _NEEDS_MORE or _is_open(words) or _is_dictated(words):
        return Completeness.UNFINISHED
    whole = (asks and len(words) > 2) or _is_whole_question(words) or _is_whole_order(words)
    return Completeness.FINISHED if whole or _is_polite_end(words) else Completeness.NEUTRAL


def _is_open(words: list[str]) -> bool:
    """Whether the last word asks for another one."""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    is_question = words[0] in _QUESTION_WORDS
    if words[0] in _SUBORDINATORS and len(words) <= _SHORT_CLAUSE:
        return True
    if last in _OPEN_WORDS:
        # "where is it from", "who is that for": a question leaves its preposition behind.
        return not (is_question and last in {"of", "at", "from", "with", "for", "to"} and len(words) > 3)
    if last in _PLACES and not is_question and before not in _OBJECTS:
        return True
    if last in _PARTICLES:
        return before in _PARTICLE_VERBS - _WHOLE_WITH_PARTICLE
    if last in _AUXILIARIES:
        # "I know what it is" may be all; "he was" is a beginning, and nobody ends with "he might".
        may_be_all = before in _PRONOUNS and len(words) > 2 and last not in _NEVER_LAST
        return not may_be_all and words[0] not in {"yes", "no"}
    return last == "that" and before in {"remember", "think", "say", "know", "tell", "so"}


def _is_dictated(words: list[str]) -> bool:
    """Whether the words end in the middle of a number, or before its unit."""
    run = 0
    while run < len(words) and _is_number(words[-1 - run]):
        run += 1
    if run == 0:
        return False
    if run == len(words):
        return run > 1
    before = words[-1 - run]
    spoken_digits = sum(len(word) if word.isdigit() else word in _DIGITS for word in words[-run:])
    # A run of digits is a telephone number or a code; "for ten" waits for its minutes.
    return spoken_digits >= 3 or before in {"for", "in", "number", "dial", "is", "plus", "pin", "code", "call"}


def _is_number(word: str) -> bool:
    return word.isdigit() or word in _NUMBERS


def _is_whole_question(words: list[str]) -> bool:
    """Whether the words begin as a question and go on with what is asked."""
    if words[0] in _QUESTION_WORDS:
        return len(words) > 2 or (len(words) > 1 and "'" in words[0])
    if words[0] not in _ASKING or len(words) < 3 or words[-1] in _AUXILIARIES:
        return False
    # "can you …" is an order in disguise.
    return words[2] not in _NEEDS_OBJECT or len(words) > 3


def _is_whole_order(words: list[str]) -> bool:
    """Whether the words begin with an order and have what it is given for."""
    if words[:2] == ["remind", "me"]:
        topic = next((at for at, word in enumerate(words) if word in {"to", "about", "that"}), len(words))
        return len(words) - topic > 2
    if words[:2] in (["set", "a"], ["set", "an"]):
        return "for" in words or "at" in words
    return words[0] in _ORDERS and len(words) > 1


def _is_polite_end(words: list[str]) -> bool:
    """Whether the words end in a courtesy, which comes last."""
    return len(words) > 2 and (words[-1] in {"please", "thanks"} or words[-2:] == ["thank", "you"])


_ZH_OPEN: Final = tuple(
    _words(
        """把 给 跟 和 与 或 或者 还是 但 但是 可是 不过 因为 所以 如果 要是 虽然 即使 只要 只有 除了 然后 还有 而且
        并且 以及 接着 就是 就是说 那个 那 嗯 呃 额 在 从 向 往 对 比 被 让 叫 用 为 为了 关于 请 请你 帮我 麻烦你 我想
        我要 我想要 你能 你可以 能不能 可不可以 提醒我 告诉我 记住 记得 一个 每 最 很 非常 更 也 都 打开 关闭 关掉 播放
        设置 设定 定 设 打电话给 怎么 哪个 哪一个 我的 你的 我觉得 我认为 的话 的时候 之前 之后 以后"""
    )
)
_ZH_WHOLE: Final = _words(
    """是 是的 对 对的 好 好的 好啊 行 可以 不 不是 不要 不用 没有 停 停止 停下 等等 等一下 取消 继续 暂停 再说一遍
    谢谢 谢谢你 你好 再见 早上好 晚上好 晚安 大声点 小声点 大声一点 小声一点 安静 闭嘴 静音 算了 没事 没关系 知道了
    明白 为什么 打开吧"""
)
_ZH_QUESTION_ENDS: Final = tuple(_words("吗 呢 吧 么 几点 几点了 多少 哪里 哪儿 谁 几度 多久 多远 怎么样 什么"))
_ZH_DONE_ENDS: Final = tuple(_words("了 呀 嘛 一下 一点 一遍 谢谢 起来 出来 好不好 行不行"))
_ZH_NOUN_ENDS: Final = tuple(_words("天气 音乐 时间 新闻 闹钟 灯 电视 空调 分钟 小时 秒 秒钟"))
_ZH_ORDERS: Final = tuple(_words("打开 关闭 关掉 关上 播放 停止 取消 设置 设 定 告诉我 给我 帮我 请"))
_ZH_BA_VERBS: Final = tuple(_words("打开 开 关 调 放 设 拿 给 发 写 记 删 换 移 停 锁 告诉 变"))
_ZH_TIMES: Final = tuple(_words("今天 明天 后天 早上 上午 中午 下午 晚上 点 分钟 小时"))
_ZH_NUMERALS: Final = "零一二三四五六七八九十百千万两〇0123456789"


def _chinese(text: str) -> Completeness:
    asks = text.endswith(("?", "？"))
    text = re.sub(r"[\s。．.！!？?]+", "", text)
    if not text:
        return Completeness.NEUTRAL
    if text in _ZH_WHOLE:
        return Completeness.WHOLE
    if _is_open_chinese(text):
        return Completeness.UNFINISHED
    is_order = len(text) > 3 and text.startswith(_ZH_ORDERS)
    is_request = len(text) > 3 and text.endswith(_ZH_NOUN_ENDS)
    is_handled = "把" in text  # its verb is there, or it would be open
    whole = asks or is_handled or is_order or is_request or text.endswith(_ZH_QUESTION_ENDS + _ZH_DONE_ENDS)
    return Completeness.FINISHED if whole else Completeness.NEUTRAL


def _is_open_chinese(text: str) -> bool:
    """Whether the last characters ask for more."""
    if text.endswith(("是什么", "为什么", "要那个", "要这个", "大一点", "小一点")):
        return False
    _, ba, acted_on = text.rpartition("把")
    if ba:  # "把灯" waits for what is to be done with it
        return not any(verb in acted_on[1:] for verb in _ZH_BA_VERBS)
    if "提醒我" in text and text.endswith(_ZH_TIMES):
        return True
    # 八 wants its 点, 一三八 the rest of the telephone number; 第一 and a bare number may be all.
    is_number = text[-1] in _ZH_NUMERALS and len(text) > 2 and "第" not in text[-3:]
    return is_number or text.endswith(_ZH_OPEN)
