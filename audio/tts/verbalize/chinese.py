"""Text normalization for Chinese."""

import re
from decimal import Decimal
from typing import Final

from audio.tts.verbalize.chinese_names import NAMES, telephone
from audio.tts.verbalize.numerals import chinese_cardinal, chinese_decimal, chinese_digits
from audio.tts.verbalize.rules import (
    DECIMAL_COMMA,
    MINUS_BEFORE_EQUALS,
    MINUS_IN_A_SUM,
    NUMBER,
    RANGE,
    Rule,
    apply,
    bounds,
    either,
    rule,
    with_point,
)

MONEY: Final = {
    **dict.fromkeys(("$", "US$", "USD"), "美元"),
    **dict.fromkeys(("¥", "￥", "CNY", "RMB"), "元"),
    **{"€": "欧元", "EUR": "欧元", "£": "英镑", "GBP": "英镑", "JPY": "日元", "HK$": "港元"},
    **{"¢": "美分", "₩": "韩元", "₹": "卢比"},
}

UNITS: Final = {
    **{"°C": "摄氏度", "°F": "华氏度", "°": "度"},
    **{"km": "公里", "cm": "厘米", "mm": "毫米", "m": "米", "km²": "平方公里", "m²": "平方米", "㎡": "平方米"},
    **{"m³": "立方米", "kg": "公斤", "mg": "毫克", "g": "克", "ml": "毫升", "mL": "毫升", "l": "升", "L": "升"},
    **{"μg": "微克", "µg": "微克", "μm": "微米", "µm": "微米", "lb": "磅", "lbs": "磅", "oz": "盎司"},
    **{"ft": "英尺", "inch": "英寸", "mi": "英里", "tsp": "茶匙", "tbsp": "汤匙", "dl": "分升", "cl": "厘升"},
    **{"KB": "KB", "kB": "KB", "MB": "MB", "GB": "GB", "TB": "TB", "Mbps": "兆比特每秒"},
    **{"GHz": "吉赫兹", "MHz": "兆赫兹", "kHz": "千赫兹", "Hz": "赫兹", "kWh": "千瓦时", "kW": "千瓦", "W": "瓦"},
    **{"mAh": "毫安时", "V": "伏", "dB": "分贝", "hPa": "百帕", "kcal": "千卡", "bpm": "次每分钟", "rpm": "转每分钟"},
    **{"ms": "毫秒", "s": "秒", "sec": "秒", "min": "分钟", "h": "小时", "hr": "小时", "hrs": "小时"},
}

MAGNITUDES: Final = {
    **{"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6},
    **{"B": 10**9, "bn": 10**9, "T": 10**12, "tn": 10**12},
}
"""What may follow an amount of money at once."""

PER: Final = {
    **{"km/h": ("每小时", "公里"), "kph": ("每小时", "公里"), "m/s": ("每秒", "米"), "MB/s": ("每秒", "MB")},
    **{"μg/m³": ("每立方米", "微克"), "µg/m³": ("每立方米", "微克"), "mg/m³": ("每立方米", "毫克")},
    **{"mmol/L": ("每升", "毫摩尔"), "mg/L": ("每升", "毫克"), "g/L": ("每升", "克")},
    **dict.fromkeys(("mg/dL", "mg/dl"), ("每分升", "毫克")),
    **{"mph": ("每小时", "英里"), "Mbit/s": ("每秒", "兆比特"), "kbit/s": ("每秒", "千比特")},
}
"""Sign -> what is said before the number, and after it."""

MEASURES: Final = (
    *"个位名只条张本杯瓶碗盘块片件双对次遍场台辆架把支颗粒棵朵家间座层套份顿步句段种类岁年天周点倍米斤升元百千万亿",
    *"勺匙包袋罐盒听根首滴桶壶锅串束枚幅副笔封项款批磅",
    *("茶匙", "汤匙", "平米", "盎司", "英寸", "英尺", "英里", "毫升", "大勺", "小勺", "大杯", "小杯", "大碗", "小碗"),
    *("部手机", "部电影", "头牛", "头猪", "节课"),
    *("小时", "分钟", "秒钟", "公里", "公斤", "千克", "厘米", "毫米", "平方", "美元", "欧元", "英镑"),
)
"""Before these two is 两 and not 二."""

SIGNS: Final = {
    **{"=": "等于", "≠": "不等于", "<": "小于", ">": "大于", "≤": "小于等于", "≥": "大于等于", "≈": "约等于"},
    **{"+": "加", "−": "减", "×": "乘以", "÷": "除以", "±": "正负", "&": "和", "∞": "无穷大", "√": "根号", "π": "派"},
}


def verbalize(text: str) -> str:
    """Return one line of Chinese with every figure and sign in words; no ASCII digit is left."""
    return apply(_RULES, text)


def _count(figures: str) -> str:
    """Return a number of things: two is 两."""
    return "两" if figures == "2" else chinese_decimal(figures)


def _counts(figures: str) -> str:
    return "到".join(_count(figure) for figure in bounds(figures))


def _month_and_day(found: re.Match[str]) -> str:
    return f"{chinese_cardinal(int(found[1]))}月{chinese_cardinal(int(found[2]))}号"


def _no_part(found: re.Match[str]) -> str:
    """Return a date where a part of something is unlikely: `2/14是`, `10/1是`, and not `3/4是`."""
    return found[0] if int(found[1]) < int(found[2]) <= 12 else _month_and_day(found)


def _version(found: re.Match[str]) -> str:
    return "点".join(chinese_cardinal(int(part)) for part in found[1].split("."))


def _lasting(found: re.Match[str]) -> str:
    """Return a length of time: `1h 30m`, `5m 30s`."""
    parts = zip(found.groups(), ("小时", "分钟", "秒"), strict=True)
    return "".join(f"{_count(str(int(figures)))}{name}" for figures, name in parts if figures)


def _magnitude(figures: str, sign: str) -> str:
    """Return `3.5` and `M` as 三百五十万."""
    many = Decimal(figures.replace(",", "")) * MAGNITUDES[sign]
    return _counts(f"{many.normalize():f}")


def _date(found: re.Match[str]) -> str:
    year, month, day = found[1], int(found[2]), int(found[3])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return found[0]
    return _day_of(year, month, day)


def _day_of(year: str, month: str | int, day: str | int) -> str:
    return f"{chinese_digits(year)}年{chinese_cardinal(int(month))}月{chinese_cardinal(int(day))}日"


def _time(found: re.Match[str]) -> str:
    hour, minute, second = found[1].lstrip("0") or "0", int(found[2]), found[3]
    said = f"{_count(hour)}点"
    if minute or second:
        said += ("零" if 0 < minute < 10 else "") + f"{chinese_cardinal(minute)}分"
    return said + (f"{chinese_cardinal(int(second))}秒" if second else "")


def _money(found: re.Match[str]) -> str:
    sign, size = found["sign"], found["size"] or ""
    if size in MAGNITUDES and len(bounds(found["n"])) == 1:
        return f"{'负' if found['minus'] else ''}{_magnitude(found['n'], size)}{MONEY[sign]}"
    figures = re.sub(r"(\.\d*?)0+(?!\d)", r"\1", found["n"]).replace(".–", "–").rstrip(".")
    return f"{'负' if found['minus'] else ''}{_counts(figures)}{size}{MONEY[sign]}"


def _amount(found: re.Match[str]) -> str:
    return f"{_counts(found[1])}{UNITS[found[2]]}"


def _inches(found: re.Match[str]) -> str:
    return f"{_count(found[1])}寸" if found[1] else found[0]


def _per(found: re.Match[str]) -> str:
    before, after = PER[found[2]]
    return f"{before}{_counts(found[1])}{after}"


def _percent(found: re.Match[str]) -> str:
    return f"{'百' if found[2] == '%' else '千'}分之{'到'.join(chinese_decimal(figure) for figure in bounds(found[1]))}"


def _part(found: re.Match[str]) -> str:
    return f"{_fraction(found)}{UNITS[found[4]]}"


def _fraction(found: re.Match[str]) -> str:
    whole = f"{chinese_cardinal(int(found[1]))}又" if found[1] else ""
    if int(found[3]) < 2 or int(found[2]) >= int(found[3]):
        return f"{whole}{chinese_cardinal(int(found[2]))}比{chinese_cardinal(int(found[3]))}"
    return f"{whole}{chinese_cardinal(int(found[3]))}分之{chinese_cardinal(int(found[2]))}"


_SIZE = rf"(?:\s?(?P<size>[千百]?[万亿]|[千百]|(?:{either(MAGNITUDES)})(?![A-Za-z])))?"
_DATED = "[（(]?周|[（(]?星期|放假|上午|下午|早上|晚上|开始|开学|截止|到期|出发|过生日"
_WON = "获胜|取胜|战胜|击败|险胜|大胜|领先|落后|战平"
_PER_COUNTED = "平方?米|小时|分钟?|秒|天|日|周|月|年|个|人|斤|公斤|千克|瓶|盒|包|袋|份|件|次|度|升|公里|晚|张|位"
_YEAR = r"(?:19|20)\d\d"
_MEASURES = "|".join(MEASURES)
_CURRENCY_SIGN = either(sign for sign in MONEY if not sign.isalpha())

_RULES: Final[tuple[Rule, ...]] = (
    rule(r"\s*(?:-+|=+)>\s*", "，"),
    rule(r"!=(?=\s?[\w-])", "≠"),
    rule(r"^(\d{1,2})[.)、]\s+(?!\d)", lambda found: f"第{chinese_cardinal(int(found[1]))}，"),
    *NAMES,
    rule(
        rf"(?<![A-Za-z0-9.])(3[01]|[12]\d|0?[1-9])\.(1[0-2]|0?[1-9])\.({_YEAR})(?!\d|\.\d)",
        lambda found: _day_of(found[3], found[2], found[1]),
    ),
    rule(
        rf"(?<![\d.])({_YEAR})\.(1[0-2]|0?[1-9])\.(3[01]|[12]\d|0?[1-9])(?!\d|\.\d)",
        lambda found: _day_of(found[1], found[2], found[3]),
    ),
    rule(r"(?<![A-Za-z0-9_.])(\d+(?:\.\d+){2,})(?!\d|\.\d)", _version),
    rule(r"(?<=版本)(\d+(?:\.\d+)+)", _version),
    # Dates and times
    rule(
        r"(?<![\d./-])(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])/((?:19|20)\d\d)(?![\d/])",
        lambda found: _day_of(found[3], found[1], found[2]),
    ),
    rule(rf"(?<![\d./,-])(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])(?=\s?(?:{_DATED}))", _month_and_day),
    rule(r"(?<![\d./,-])(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])(?=[是的])", _no_part),
    rule(r"(?<=第)(\d+)[:：](\d+)(?=局)", r"\1比\2"),
    rule(r"((?:比分|总分)(?:是|为|[:：])?\s?)(\d+)[:：](?=\d)", r"\1\2比"),
    rule(rf"(?<![\d:：.])(\d+)[:：](\d+)(?=\s?(?:{_WON}))|(?<=局)(\d+)[:：](\d+)", r"\1\3比\2\4"),
    rule(r"(?<![\d-])(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:T(?=\d))?(?![\d-]{2})", _date),
    rule(
        r"(?<!\d)(\d{4})\s?[–—~～-]\s?(\d{4})(?=\s?年)",
        lambda found: f"{chinese_digits(found[1])}到{chinese_digits(found[2])}",
    ),
    rule(r"(?<!\d)(\d{4}|\d{2})(?=\s?年(?!前|后|间|内|以|来|级|龄|轻))", lambda found: chinese_digits(found[1])),
    rule(
        rf"(?<![\d-])({_YEAR})\s?[–—~～-]\s?({_YEAR})(?![\d-])",
        lambda found: f"{chinese_digits(found[1])}到{chinese_digits(found[2])}",
    ),
    rule(r"(?<=[一二三四五六日末])\s?[–—~～-]\s?(?=周|星期)", "到"),
    rule(r"(?<=\d)\s?[–—~～-]\s?(?=\d?\d[:：]\d\d)", "到"),
    rule(r"(?<![\d:.])([01]?\d|2[0-4])[:：]([0-5]\d)(?:[:：]([0-5]\d))?(?![\d:：])", _time),
    rule(r"(?<=[年月日号页点时分周天岁一二三四五六])\s?[–—~～-]\s?(?=\d)", "到"),
    # Sums: before amounts, whose ranges have the same dashes
    rule(MINUS_BEFORE_EQUALS, "减"),
    rule(MINUS_IN_A_SUM, "减"),
    rule(r"(?<=\d)\s?(?:[~～–—]|到|至)\s?[-−](?=\d)", "到负"),
    rule(r"(?<=比分)(?:是|为)?\s?(\d+)\s?[-–]\s?(?=\d)", r"\1比"),
    # Amounts
    rule(rf"{DECIMAL_COMMA}(?=\s?(?:{either({*UNITS, *MONEY})}|欧元|%)(?![A-Za-z]))", with_point),
    rule(rf"(?<=[€$£]){DECIMAL_COMMA}", with_point),
    rule(rf"(?<=\d)(\s?(?:{either(UNITS)}))\s?/\s?(?=\d)", r"\1或"),
    rule(r"(?<![\w.,])(\d+)'\s?(\d+)\"", r"\1英尺\2英寸"),
    rule(rf"(?<!\d)\"[^\"]*\"|(?<![A-Za-z0-9.])({NUMBER})\s?[\"″](?![A-Za-z0-9])", _inches),
    rule(r"约?(?<![\d%°CF])\s?[~～]\s?(?=[$€£¥]?\d)", "约"),
    rule(r"(?<![A-Za-z0-9.,])(\d+)\s?h\s?(\d+)\s?(?:m(?:in)?)(?:\s?(\d+)\s?s)?(?![A-Za-z])", _lasting),
    rule(rf"(?<![\d./,-])(?:(\d+) )?(\d{{1,2}})/(\d{{1,2}})\s?({either(UNITS)})(?![A-Za-z/²³])", _part),
    rule(r"(%|°[CF]?)\s?[–—~～-]\s?(?=\d)", r"\1到"),
    rule(rf"(?<![\d.,])(?P<minus>[-−])?(?P<sign>{_CURRENCY_SIGN})\s?(?P<n>{RANGE}){_SIZE}(?:\s?元)?", _money),
    rule(rf"(?<![\d.,])(?P<minus>[-−])?(?P<n>{RANGE}){_SIZE}\s?(?P<sign>{either(MONEY)})(?![A-Za-z])", _money),
    rule(rf"(?<![\w.,)-])[-−](?={NUMBER})|(?<=[\u4e00-\u9fff])[-−](?={NUMBER}\s?(?:°|%|度|到))", "负"),
    rule(rf"(?<!\d)({RANGE})\s?({either(PER)})(?![A-Za-z/])", _per),
    rule(rf"(?<![A-Za-z\d])({RANGE})\s?({either(UNITS)})(?![A-Za-z/²³])", _amount),
    rule(rf"(?<=[元镑块角里米升克])\s?/\s?(?={_PER_COUNTED})", "每"),
    rule(rf"(?<=元)/({either(UNITS)})(?![A-Za-z])", lambda found: f"每{UNITS[found[1]]}"),
    rule(rf"(?<!\d)({RANGE})\s?([%‰])", _percent),
    rule(r"(?<![\d./,-])24/7(?![\d/])", "全天候"),
    rule(r"(?<![\d./,-])()([1-9]\d{2})/([1-9]\d{1,2})(?![\d/])", _fraction),
    rule(r"(?<![\d/,-])(\d+\.\d+)/(\d{1,2})(?![\d/])", r"\1，满分\2"),
    rule(r"(?<![\d./,-])(?:(\d+) )?(\d{1,2})/(\d{1,2})(?![\d/])", _fraction),
    # Numbers
    rule(r"[（(]0\d{2,3}[)）]\s?\d{3,4}[ -]?\d{4}(?!\d)", telephone),
    rule(
        r"(?<![A-Za-z0-9_.])(?:\+\d{1,3}[ -]?)?"
        r"(?:1\d{2}[ -]?\d{4}[ -]?\d{4}|[48]00[ -]\d{3,4}[ -]\d{3,4}|97[89](?:-\d{1,7}){3}-\d"
        r"|0\d{2,3}[- ]\d{4} ?\d{3,4}|0\d{2,3}-\d{7,8}|(?:\d{3}-)?\d{3,4}-\d{4})(?!\d)",
        telephone,
    ),
    rule(r"(?<=[\w)])\^2(?!\d)|²", "的平方"),
    rule(r"(?<=\d)x(?=\s?[-+=*/)−加减])", " x"),
    rule(r"(?<=\d)x(?![A-Za-z\d])", "倍"),
    rule(r"(?<=[\w)])\^3(?!\d)|³", "的立方"),
    rule(r"(?<=[\w)])\^(\d+)", r"的\1次方"),
    rule(r"(?<=\d)\s?[x*]\s?(?=\d)", "乘以"),
    rule(r"(?<=\d)\s+/\s+(?=\d)", "除以"),
    rule(r"(?<=\d):(?=\d)", "比"),
    rule(r"(?<=\d)\s?[–—~～-]\s?(?=\d)", "到"),
    rule(r"(?<!\w)[~～](?=\s?\d)|(?<=[\u4e00-\u9fff])[~～](?=\s?\d)", "约"),
    rule(rf"\s*({either(SIGNS)})\s*", lambda found: SIGNS[found[1]]),
    rule(rf"(?<![\d.第])2(?=\s?(?:{_MEASURES}))(?!\s?点[一二三四五六七八九零])", "两"),
    rule(r"(?<=[A-Za-z])-(?=\d)", " "),
    rule(NUMBER, lambda found: chinese_decimal(found[0])),
    # Signs
    rule(r"负两(?=[摄华]|度)", "负二"),
    rule(r"%", "百分号"),
    rule(r"°", "度"),
    rule(r"(?<=[\u4e00-\u9fff。，])\s+(?=[\u4e00-\u9fff])", ""),
    rule(r"\s+-{1,3}\s+", "，"),
    rule(r"([!?！？])\1+", r"\1"),
)
"""In this order: the longer and surer reading first; what is only a number comes late."""
