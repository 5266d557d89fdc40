"""What a house could be asked to do: its devices, and the verbs that are of nothing else."""

import re
from collections.abc import Mapping
from typing import Final

from agent.intents.intent import Language
from agent.intents.language.wording import anywhere

_DEVICES: Final[Mapping[Language, str]] = {
    "en": (
        r"(?:lights?|lamps?|bulbs?|heating|heaters?|thermostat|radiators?|air ?con\w*|aircon|ac|fans?|tv|telly|"
        r"television|blinds?|curtains?|shutters?|plugs?|sockets?|kettle|boiler|doors?|gate|garage|locks?|windows?|oven|hob|stove|"
        r"dishwasher|washing machine|dryer|hoover|vacuum|humidifier|sprinklers?|geyser|temperature|brightness|channel|"
        r"station|scene|table|volume|radio|music|alarm system|(?:burglar|smoke|fire|car|house) alarm)"
    ),
    "zh": (
        "(?:灯|空调|冷气|电视|收音机|窗帘|百叶窗|卷帘|风扇|电扇|暖气|地暖|插座|热水器|加湿器|除湿机|净化器|扫地机|洗衣机|洗碗机|烤箱|"
        "电饭煲|水壶|音箱|门|窗户?|车库|锁|温度|亮度|频道|投影仪?|开关)"
    ),
}
"""What stands in a house, and is neither on a list nor what rings."""

_HOUSE_VERBS: Final[Mapping[Language, str]] = {
    "en": (
        r"(?:(?:un|dead)?lock|re-?lock|open|close|shut(?! up| your)|dim|brighten|arm|disarm|"
        r"(?:turn|switch|put)(?= on| off| (?:the|it|them|that|all|my|our)\b.* (?:on|off)\b))"
    ),
    "zh": "(?:打开|关[上掉闭]|[开关锁拉调](?!始|会|车|学|心|水|火|药))",
}


def is_of_house(words: str, language: Language) -> bool:
    """Say whether words order what a house could do: a verb of its own, or of one of its devices."""
    if anywhere(language, "ringing").search(words) and not re.search(
        r"alarm system|(?:burglar|smoke|fire|car) alarm", words
    ):
        return False
    edge = r"\b" if language == "en" else ""
    return re.search(rf"{edge}{_HOUSE_VERBS[language]}{edge}", words, re.IGNORECASE) is not None


def names_device(words: str, language: Language) -> bool:
    """Say whether words name what stands in a house: the heating, 空调."""
    edge = r"\b" if language == "en" else ""
    return re.search(rf"{edge}{_DEVICES[language]}{edge}", words, re.IGNORECASE) is not None
