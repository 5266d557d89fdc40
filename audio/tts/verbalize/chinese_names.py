"""How telephones, plates, versions and other numbers that name a thing are read in Chinese."""

import re
from typing import Final

from audio.tts.verbalize.numerals import chinese_cardinal, chinese_digits
from audio.tts.verbalize.rules import ROMAN, Rule, roman_value, rule

CALLED: Final = "密码|验证码|邮编|学号|工号|编号|房号|房间号|门牌号|卡号|尾号|航班号|代码|口令|账号|车牌号?"
"""Before these figures are read one by one."""

_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_DIALLED = "拨打?|打|呼叫|致电|联系|热线[是为：:]?|客服[是为：:]?"
_COUNTED = "个次元块折分人万千百度天年岁米发条只场件家名位多余"
_RULERS = "路易|亨利|爱德华|乔治|查理|威廉|腓力|保罗|伊丽莎白|理查|詹姆斯|亚历山大|尼古拉|彼得|叶卡捷琳娜|拿破仑"
_AND = "(?:[、或和及]|，[或和])"


def _dotted(found: re.Match[str]) -> str:
    return found[0].replace("@", " at ").replace(".", " 点 ").replace("_", " ")


def _path(found: re.Match[str]) -> str:
    return found[0].replace("/", " 斜杠 ").replace(".", " 点 ").replace("_", " ")


def _spelt(found: re.Match[str]) -> str:
    """Return the second group figure by figure, and what is no figure as it is."""
    return found[1] + re.sub(r"\d+", lambda figures: chinese_digits(figures[0], one="幺"), found[2])


def _version(found: re.Match[str]) -> str:
    said = "点".join(chinese_cardinal(int(part)) for part in found[1].split("."))
    return f"{said}{found[2]}" if found[2] else f"版本{said}"


def _ruler(found: re.Match[str]) -> str:
    return f"{found[1]}{chinese_cardinal(roman_value(found[2]))}{'' if found[1] == '路易' else '世'}"


def telephone(found: re.Match[str]) -> str:
    """Return a telephone number, each group by itself."""
    groups = [chinese_digits(group, one="幺") for group in re.findall(r"\d+", found[0])]
    return ("加" if found[0].startswith("+") else "") + "，".join(groups)


NAMES: Final[tuple[Rule, ...]] = (
    rule(r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", _dotted),
    rule(r"(?<![A-Za-z0-9_.])(?:[A-Za-z0-9][A-Za-z0-9_-]+\.)+[a-z]{2,6}(?![A-Za-z0-9_])", _dotted),
    rule(r"(?<![A-Za-z0-9_./])(?:/\.?[A-Za-z_][A-Za-z0-9_.-]*){2,}", _path),
    rule(rf"((?:{_DIALLED})\s?)(\d{{3,5}}(?:{_AND}\d{{3,5}})*)(?![\d.,-]|{_AND}\d|\s?[{_COUNTED}])", _spelt),
    rule(rf"(?<![\d.,])()(\d{{3,5}}(?:{_AND}\d{{3,5}})*)(?=(?:都|均|也)?(?:可以?|能)?[打拨](?!\d))", _spelt),
    rule(rf"(?<![\d.,])()(1(?:10|19|2[02])(?:{_AND}1(?:10|19|2[02]))+)(?![\d.,]|{_AND}\d|\s?[{_COUNTED}])", _spelt),
    rule(
        r"(?<![\d.,])()(1001\d|10086|12306|123[14]5|95\d{3})"
        r"(?=的?(?:客服|热线|电话|短信|网站|官网|投诉|营业厅|[购买订]))",
        _spelt,
    ),
    rule(r"([在上用])(12306)(?![\d.,])", _spelt),
    rule(rf"((?:{CALLED})(?:是|为|[：:])?\s?[A-Za-z]*)(\d{{2,}})(?![\d.])", _spelt),
    rule(rf"(?<=[{_PROVINCES}])([A-Z])·?(?=[A-Z]*\d)([A-Z0-9]{{5,6}})(?![A-Za-z0-9])", _spelt),
    rule(r"(?<![A-Za-z0-9])([a-z]+)(\d{3,})(?![A-Za-z0-9.])", _spelt),
    rule(r"(?<![A-Za-z])([Rr]oom\s|[Ff]light\s|[Gg]ate\s)(\d{3,4})(?![\d.,])", _spelt),
    rule(r"(?<![A-Za-z])([A-Z]{2}\s?)(\d{3,4})(?=航班|次|号|\W|$)(?![.,]\d|\s?[%:：])", _spelt),
    rule(r"(?<![\d.,])()(\d{3,4})(?=室|会议室|办公室|房间|号房|次列车|航班|路公交|路车)", _spelt),
    rule(r"(?<=[A-Z])()(\d{2,4})(?=次(?:列车)?(?![数元]))", _spelt),
    rule(r"(?<!\d)([5-9][05]|[01][05])(?=后(?![来悔面天续退备果]))", lambda found: chinese_digits(found[1])),
    rule(r"(?<![\d.])(985|211|996|007)(?=$|[^\d.,\w%]|[院高工大])", lambda found: chinese_digits(found[1])),
    rule(r"(\d)·(\d+)", lambda found: chinese_digits(found[1] + found[2])),
    rule(r"[Ⅰ-Ⅻ]", lambda found: chinese_cardinal(ord(found[0]) - ord("Ⅰ") + 1)),
    rule(rf"({_RULERS})((?=[IVX]{{2}}){ROMAN})世?(?![A-Za-z])", _ruler),
    rule(
        rf"(?:(?<=第)|(?<![A-Za-z第])(?=[IVX]{{2}})(?!XX))({ROMAN})(?=[世章期级型卷部代册类节幕集届])",
        lambda found: chinese_cardinal(roman_value(found[1])),
    ),
    rule(r"(?<![A-Za-z])[Nn][Oo]\.\s?(?=\d)", "第"),
    rule(r"(?<!\w)#(\d+)", r"\1号"),
    rule(r"(?<!\w)#([^\W\d]\w*)#?", r"话题\1"),
    rule(r"(?:(?<=[^A-Za-z0-9_.])|^)(?:版本\s?)?[vV](\d+(?:\.\d+)+)(?:\s?(版本?))?", _version),
)
