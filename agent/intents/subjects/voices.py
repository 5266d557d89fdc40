"""Who speaks, without a model: a name that somebody gives, whose voice it is, and whose words they were."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from agent.event import UNKNOWN
from agent.intents.dialog_state import DialogState
from agent.intents.intent import UNKNOWN as UNKNOWN_INTENT
from agent.intents.intent import Intent, Language
from agent.intents.language.dates import WEEKDAY
from agent.intents.saying.phrases import phrase
from agent.intents.subjects.needed import answer_of
from agent.tools.voices import VoiceVerb
from memory.json_value import fields

TOOL: Final = "voice"
INTENTS: Final = frozenset({"voice_learn", "voice_who", "voice_correct", "voice_forget"})

MY_NAME: Final[Mapping[Language, str]] = {"en": "my name is ", "zh": "我叫"}
_ASKED: Final[Mapping[Language, str]] = {"en": "what is my name", "zh": "我叫什么名字"}

_SURNAMES: Final = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔"
    "钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤安艾"
)
"""With which a name begins that stands behind no word that says it is one."""

_TIME: Final = re.compile(
    rf"\b{WEEKDAY}|"
    r"\b(?:today|tomorrow|yesterday|noon|midnight|o'clock|the \w+(?:st|nd|rd|th))\b|"
    r"\d|(?:周|星期|礼拜)[一二三四五六日天]|[今明后昨]天|[零一二两三四五六七八九十百]+(?:号|点|天|月|日|分|块|斤|个|岁)",
    re.IGNORECASE,
)
"""What is a time or a number, and nobody."""

_LATIN: Final = re.compile(r"[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*){0,2}")
_ANY_LATIN: Final = re.compile(r"[A-Za-zÀ-ÿ][\w'’-]*(?: [A-Za-zÀ-ÿ][\w'’-]*){0,2}")
_HAN: Final = re.compile("[\u3400-\u9fff·]{2,8}")
_HAN_NAME: Final = re.compile(f"[{_SURNAMES}][\u3400-\u9fff]{{1,2}}")


def names_somebody(intent: Intent) -> bool:
    """Whether an intent may be meant: what stands in a name's place is one, unlike in "I am tired"."""
    if intent.name not in {"voice_learn", "voice_correct"}:
        return True
    forms = (_ANY_LATIN, _HAN) if intent.number("told") else (_LATIN, _HAN_NAME)
    if any(_TIME.search(intent.text(slot)) for slot in ("person", "other")):
        return False  # not the twelfth, it was the tenth
    return any(form.fullmatch(intent.text("person")) for form in forms)


def may_act(state: DialogState, intent: Intent) -> bool:
    """Whether something is known of voices here; what was typed has none to be learnt."""
    return state.has(TOOL) and (intent.name != "voice_learn" or bool(state.turn.block.evidence))


def as_told(state: DialogState, intent: Intent) -> tuple[DialogState, Intent]:
    """Return what a name is where no voice can be known by it: kept as it was told, and asked of what was told."""
    language = state.language
    if intent.name == "voice_learn" and intent.number("told"):
        name = intent.text("person")
        return state, Intent("remember", {"fact": f"{MY_NAME[language]}{name}", "name": name})
    if intent.name == "voice_who" and re.search(r"who i am|who am i|我是谁", state.words, re.IGNORECASE):
        return state.in_words(_ASKED[language]), Intent("recall")
    return state, UNKNOWN_INTENT


def acting(verb: VoiceVerb, told: str) -> Callable[[DialogState, Intent], str]:
    """Return the skill that acts by the tool `voice`, and says so by a phrase.

    It has the voice of whoever speaks learnt, who is asked before; or somebody else have said what was said last; or a
    voice forgotten, one's own without a name.
    """

    def act(state: DialogState, intent: Intent) -> str:
        name = intent.text("person")
        answer_of(state, TOOL, do=verb, name=name)
        return phrase(told, state.language, who=name)

    return act


def who(state: DialogState, _: Intent) -> str:
    """Say who speaks."""
    name = str(fields(answer_of(state, TOOL, do="who").value).get("speaker", UNKNOWN))
    return phrase("voice_unknown" if name == UNKNOWN else "voice_is", state.language, who=name)
