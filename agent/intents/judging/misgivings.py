"""What is not done though a sentence fits: one was told not to, it was only talked of, or not all of it was read."""

import re
from difflib import get_close_matches
from typing import Final

from agent.intents.dialog_state import DialogState
from agent.intents.intent import TIMED, Intent, Language, Understand
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.lengths import NUMBER, NUMBER_ZH
from agent.intents.language.patterns import patterns
from agent.intents.language.questions import asks_behind, is_question
from agent.intents.language.wording import RUNG_FOR, anywhere, beginning, mended, without_fillers
from agent.intents.reading.run_together import are_too_many, holds_another
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.days import names_day, names_span

_CANCELLING: Final = frozenset({"timer_cancel", "timer_cancel_all", "alarm_skip", "timer_pause"})

_CHANGING: Final = TIMED | {
    *("ask_when", "ring_each", "alarm_before", "timer_change", *_CANCELLING),
    *("list_add", "list_remove", "list_clear", "list_change", "task_cancel"),
}
"""Intents by which something is set, changed or gone afterwards."""

_UNITS: Final = ("minute", "minutes", "hour", "hours", "second", "seconds")

_NO_UNITS: Final = frozenset({"house", "houses", "our", "ours", "four", "minus", "mince", "tour", "tours"})
"""Words that are like a unit and are none."""

_NOT_READ: Final = patterns(
    en=rf"^(?:an? )?(?:(?:{NUMBER}|zero|minus|point|hundred|thousand|million|and|half|quarter|to|[\d.,-]+)\b\s*)*"
    r"(?:$|(?:hours?|minutes?|seconds?|weeks?|days?|months?|million|hundred|thousand|zero|minus|point)\b)"
    rf"|^(?!one to one){NUMBER} (?:to|or|for)\b|\b(?:an?|the|or|set|not)$|^(?:next|this) year\b"
    r"|^(?:both|each time|both times|them both|both of them)$"
    r"|^(?:no|nope|sorry|i mean|i meant|wait|not(?! to\b)|except|but|why|should|did)\b",
    zh=rf"^(?:{NUMBER_ZH}|半|点|[个又零])*(?:$|小时|钟头|分钟?(?![享给])|秒|刻钟|点半?$|半?钟$)"
    "|^(?:[每下上这本]?个?(?:周|星期|礼拜)[一二三四五六日天][、和跟]?)+$|^负|^[明后今]年|^(?:算了|取消|但是|不过|到了再)|^[哦噢啊]?(?:不要?是|不对|不(?=[，,]|$)|错了|我是说)|^除[了去]|^刚才|也(?:是|一样)$|的话.{0,6}点|[，,].{0,4}(?:不用|不要|不必)(?:叫|响|提醒)?了$|^(?:周末|周[一二三四五六日天]|星期[一二三四五六日天])"
    "(?:就|都)?(?:不|别)",
)
"""What the name of something that rings is none of: a number or a unit that was left over, or a word taken back."""

_EXCEPTION: Final = patterns(
    en=r"\b(?:except(?:ing)?|excluding|apart from|aside from|other than|(?:all|every\w*|any(?:thing|one|body)?) but|"
    r"but (?:not(?! (?:past|after|later))|keep|leave)|(?:weekends?|days?) off)\b",
    zh="除了|除去|除开|以外|之外|除外|(?:但是?|不过|，|,)(?:周末|周.|星期.|礼拜.|节假日)(?:就|都)?(?:不|别)",
)
"""Something that is left out of what is wanted."""

_SPAN: Final = patterns(
    en=rf"\b(?:(?:this|next|all|(?:for|of) the|an?(?: whole)?) (?:week|month)|(?:this|next) weekend|until|till|"
    rf"for (?:the next |another )?(?:{NUMBER}|an? (?:few|couple)(?: of)?|some) (?:days?|weeks?|nights?|mornings?)|"
    rf"(?:over|for|during) (?:the |my |our )?(?:holidays?|weekend)|while (?:i|we)(?:'m|'re)?|"
    rf"from (?:now|tomorrow|{WEEKDAY}))\b",
    zh="(?:这|下|本)个?(?:周|星期|礼拜)(?![一二三四五六日天末])|(?:这|接下来|最近)[几两一二三四五六七八九十]?天|[明今]后两?天|"
    "(?:周|星期|礼拜)[一二三四五六日天]?(?:之|以)前|(?:[今明后大]天|号)(?:之|以)前|直到|为止|(?:放假|假期|出差)(?:的时候|期间)",
)
"""Days on end on which something is not to ring, where one day alone, or all, can be left out."""

_FEAST: Final = patterns(
    en=r"\b(?:(?:chinese|lunar) new year|thanksgiving|passover|ramadan|eid|diwali|hanukkah|(?:mother|father)'?s'? day|"
    r"(?:ash wednesday|palm sunday|maundy thursday|whit \w+|shrove tuesday|pancake day|labou?r day|memorial day|"
    r"independence day|bank holiday)|(?<=on )(?:my|our|his|her|[\w]+'s) (?:birthday|anniversary))\b",
    zh="除夕|春节|中秋|端午|元宵|清明节|重阳|七夕|冬至|腊八|小年|大年|农历|阴历|(?:母亲|父亲|感恩|复活)节|[腊正]月|(?<![最当月])初[一二三四五六七八九十]",
)
"""Days of which nobody here knows when they are."""

_DAY: Final = patterns(en=rf"\b{WEEKDAY}\b", zh="(?:周|星期|礼拜)[一二三四五六日天]|(?<!大)后天")
"""A day, which must have been read where something is to ring at an hour; the next one comes tomorrow anyhow."""

_AGAIN: Final = patterns(
    en=r"\b(?:every|(?:first|second|third|fourth|last) \w+day of (?:the|each|every) month|"
    r"(?:dai|week|month|year|fortnight)ly|(?:week|(?:school|work|working) )days|weekends)\b",
    zh="每(?!个?(?:人|次|样|轮|组|圈|杯|份|家|边))|隔[一天周月年两]|逢",
)
"""What shows that it is to ring again and again, and must have been read as a rule."""

_CONDITION: Final = patterns(
    en=r"\b(?:unless|once (?:it|that|they)(?:'s|'re| is| are) (?!been|done|up|over|finished|gone|rung)|"
    r"provided|providing|as long as|depending on|in case of|"
    r"(?<!check )(?<!see )(?<!ask )(?<!asking )(?<!know )(?<!decide )(?<!wonder )(?<!out )(?<!me )(?<!what )"
    r"(?<!as )if(?! (?:you (?:can|could|would|will|want|like|don't mind|please|wouldn't mind|get a chance)|"
    r"(?:it's|it is|that's|that is) (?:ok\w*|fine|possible|all right|alright|not too much)|possible|need be|i may|"
    r"i can|i could|so\b|not\b)))\b",
    zh="如果(?!可以|方便|行|能|不麻烦)|要是(?!可以|方便|行|能|不麻烦)|假如|除非|(?<![可以方便行能烦])的话|只有.{1,8}才",
)
"""What says in which case alone something is wanted: nobody here looks whether it is so."""

_OTHERWISE: Final = patterns(
    en=rf"[,;.] (?:but |and )?(?:on )?(?:the )?(?:{WEEKDAY}s?|weekends?)\b",
    zh="[，,。](?:但是?|不过)?(?:每个?)?(?:(?:周|星期|礼拜)[一二三四五六日天]|周末|双休日)",
)
"""A clause of some days behind what is to come again: 周五可以晚半小时."""

_TIMES_OVER: Final = re.compile(r"\b(?:twice|(?:two|three|four) times)$|[两三四]遍$", re.IGNORECASE)
"""How often something is put on a list, which has each thing once."""

_TIMES_A_DAY: Final = re.compile(
    r"\b(?:twice|(?:two|three|four) times) (?:a|every) day\b|早晚|早中晚|一[日天][两三四]次|每天[两三四]次",
    re.IGNORECASE,
)
"""How often it is to ring in a day, where one rule rings once."""

_PASSED_ON: Final = patterns(
    en=r"^(?:(?:oh|so|well|and|but|hey|please|um),? )*(?!(?:i|we|you|it|who|what|nobody)\b)"
    r"(?:(?:my|our|the|his|her|your) )?[a-z]+ "
    r"(?:says?|said|thinks?|thought|wants?|wanted|reckons|asks?|asked|told|tells|would like)"
    r"(?: (?:that|me|us|you|to|if|should|could|can|would|please))* (?P<order>(?!to\b).+?)[.!]?$",
    zh="^(?![我你请别不听跟给对告帮再])[^，。说]{1,5}?(?:说(?:让|叫|要|请)?你?|[让叫要]你)(?P<order>[^，。]+)[。！]?$",
)
"""What somebody else wants, as it is told: mum says wake her at seven."""


def passed_on(state: DialogState, understand: Understand) -> str:
    """Return the order of somebody else that the words tell of, which changes what rings; "" where they do not."""
    language = state.language
    found = _PASSED_ON[language].match(mended(state.words, language))
    order = found["order"] if found else ""
    is_order = (
        language == "zh" or re.match(r"be woken\b", order) or anywhere("en", *RUNG_FOR).match(mended(order, "en"))
    )
    is_order = is_order or beginning("ordering", language).match(order)
    changes = {*TIMED, *_CANCELLING, "timer_change", "list_clear"}
    return order if order and is_order and understand(order).name in changes else ""


def told_not_to(state: DialogState) -> bool:
    """Say whether the words keep from doing something: don't clear the list; 不要取消计时器."""
    plain = without_fillers(mended(state.words, state.language), state.language)
    return beginning("keeping_from", state.language).match(plain) is not None


def is_talk(state: DialogState, intent: Intent) -> bool:
    """Say whether a change was only asked about, or told of: should I set an alarm for seven; I did, didn't I."""
    words, language = mended(state.words, state.language), state.language
    plain = without_fillers(words, language)
    if intent.name in {*TIMED, "ask_when"} and beginning("not_rung_for", language).match(plain):
        return True
    if intent.name in _CHANGING and (asks_behind(words) or beginning("musing", language).match(plain)):
        return True
    if intent.name not in _CHANGING or anywhere(language, "asked_all_the_same").search(words):
        return False
    if intent.name not in TIMED:
        return beginning("only_asked", language).match(plain) is not None and is_question(plain)
    return bool(beginning("only_asked", language).match(plain) or anywhere(language, "only_told").search(words))


def not_read(state: DialogState, intent: Intent) -> str:
    """Return what is said where something in the words was not read, by which they mean something else; else ""."""
    words, language = mended(state.words, state.language), state.language
    if are_too_many(words):
        return phrase("too_many", language)
    if intent.name not in _CHANGING or intent.text("but"):
        return ""
    if _is_conditional(words, intent, language) or (intent.name == "list_add" and _TIMES_OVER.search(words)):
        return phrase("not_done", language)
    is_read = names_span(intent) or not intent.slots.keys().isdisjoint({"weekday", "on_day"})
    if intent.name in _CANCELLING and not is_read and _SPAN[language].search(words):
        return phrase("not_done", language)
    is_left_out = _EXCEPTION[language].search(words) is not None and not _has_exception(intent, language)
    is_unread = intent.name in {*TIMED, "ask_when"} and _has_left_over(words, intent, language)
    return phrase("not_done", language) if is_left_out or is_unread else ""


def has_condition(words: str, language: Language) -> bool:
    """Say whether words say in which case alone something is wanted, or how often."""
    return any(each.search(words) for each in (_CONDITION[language], _TIMES_OVER, _TIMES_A_DAY))


def _is_conditional(words: str, intent: Intent, language: Language) -> bool:
    """Say whether it is to be done in some case alone; what somebody is reminded of may have a condition of its own."""
    found = _CONDITION[language].search(words)
    if found is None:
        return False
    label = intent.text("label")
    if language == "zh":
        cue = anywhere(language, "remind", "wake").search(words)
        return cue is None or found.start() < cue.start()
    return intent.name not in {*TIMED, "ask_when"} or label.find(found.group()) < 1


def _has_exception(intent: Intent, language: Language) -> bool:
    """Say whether what is left out was read: in a rule, in the middle of what somebody is reminded of."""
    if "without" in intent.slots or (intent.text("repeat").count(",") == 5 and not names_day(intent)):
        return True
    found = _EXCEPTION[language].search(intent.text("label"))
    return intent.name not in {"timer_cancel", "timer_change"} and found is not None and found.start() > 0


def _has_left_over(words: str, intent: Intent, language: Language) -> bool:
    """Say whether a part of the time was taken for what it is for, or behind a number stands what is like a unit."""
    label = intent.text("label")
    day = _DAY[language].search(words) if intent.name == "alarm" and not names_day(intent) else None
    is_day_unread = day is not None and day.group() not in label and not intent.text("repeat")
    if is_day_unread or _is_rule_unread(words, intent, language) or _is_span_unread(words, intent, language):
        return True
    feast = _FEAST[language].search(words)
    named = re.escape(feast.group()) if feast else ""
    is_time = re.match(rf"(?:at|on|for|by) {named}", label) or re.search(rf"{named}[^，。]{{0,6}}点", words)
    if feast and (is_time or feast.group() not in label):
        return True
    if (often := _TIMES_A_DAY.search(words)) and intent.name in TIMED and often.group() not in label:
        return True
    if label and (_NOT_READ[language].search(label) or holds_another(label)):
        return True
    if language == "zh":
        return False
    behind = re.findall(rf"\b{NUMBER}[ -]([a-z]+)", words, re.IGNORECASE)
    return (
        any(_is_like_unit(word.lower()) for word in behind)
        or re.search(r"\b(?:for|at|in|of|an?) (?:minus|zero) ", words) is not None
    )


def _is_rule_unread(words: str, intent: Intent, language: Language) -> bool:
    """Say whether how often it rings was not read, or that it is otherwise on some days: and on Sunday at nine."""
    label = intent.text("label")
    if not intent.text("repeat"):
        again = _AGAIN[language].search(words)
        return again is not None and (again.group() not in label or label.startswith(again.group()))
    is_of_one = intent.text("repeat") == "FREQ=DAILY" and "weekday" in intent.slots
    return is_of_one or _OTHERWISE[language].search(label) is not None


def _is_span_unread(words: str, intent: Intent, language: Language) -> bool:
    """Say whether days on end on which it is to ring were not read: for the next three days; until six is a time."""
    found = _SPAN[language].search(words)
    if found is None or intent.name != "alarm" or names_day(intent) or any("until_" in slot for slot in intent.slots):
        return False
    if intent.text("repeat") and re.match(r"from\b|.*weekend$", found.group(), re.IGNORECASE):
        return False
    cue = anywhere(language, *RUNG_FOR).search(words, found.end())
    if found.start() and cue and re.search("[,;.，。；]", words[found.end() : cue.start()]):
        return False  # I'm on nights this week, wake me at five
    is_hour = re.match(rf" (?:at |about |around )?(?:{NUMBER}|half|(?:a )?quarter|noon|mid|\d)", words[found.end() :])
    begins = language == "en" and intent.text("label").startswith(found.group())
    return not is_hour and (begins or found.group() not in intent.text("label"))


def _is_like_unit(word: str) -> bool:
    return word not in {*_UNITS, *_NO_UNITS} and bool(get_close_matches(word, _UNITS, 1, 0.83))
