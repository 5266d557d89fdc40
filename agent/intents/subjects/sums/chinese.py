"""Chinese sums in digits and operators: 两斤半 as 2.5斤, 五花肉十四块八一斤，二十斤 as 14.8 times 20."""

import re
from typing import Final

from agent.intents.language.lengths import number_chinese

OPERATORS: Final = (
    (r"([\d.]+)的百分之([\d.]+)", r"\1*\2/100"),
    (r"百分之([\d.]+)", r"\1/100"),
    (r"([\d.]+)的[一1]半", r"\1/2"),
    (r"([\d.]+)个?人(?:平?分|平摊)([\d.]+)(?:块钱?|元)?(?:每个?人|一个?人)?(?:[要该]?[付出给]?多少钱?)?", r"\2/\1"),
    (r"([\d.]+)的([\d.]+)分之([\d.]+)", r"\1*\3/\2"),
    (r"([\d.]+)分之([\d.]+)", r"(\2/\1)"),
    (r"([\d.]+)(?:块钱?|元)?[的打]([1-9])折", r"\1*\2/10"),
    (r"([\d.]+)(?:块钱?|元)?[的打]([1-9]{2})折", r"\1*\2/100"),
    (
        r"([\d.]+)(?:块钱?|元)?([\d.]+)个?人(?:平?分|平摊|aa制?)(?:每个?人|一个?人)?(?:[要该]?[付出给]?多少钱?)?",
        r"\1/\2",
    ),
    (r"([\d.]+)的平方根", r"(\1)**0.5"),
    (r"([\d.]+)的平方", r"(\1)**2"),
    (r"加上?", "+"),
    (r"减去?", "-"),
    (r"乘以?|的(?=[\d.]+倍)", "*"),
    (r"除以", "/"),
    (r"倍|(?<=\d)(?:块钱?|元)", ""),
)
"""How Chinese says what a sum does, in the order in which it is read."""

_EACH_ZH: Final = "(?P<each>斤|公斤|千克|克|个|瓶|箱|盒|袋|张|本|杯|份|米|天|小时|次|人|只|条)"

_SOME_ZH: Final = "[零一二两三四五六七八九十百千万半\\d.]+"

_TOLD_ZH: Final = (
    (
        rf"^.*?({_SOME_ZH})(单|个|份|斤|瓶|箱|盒|袋|张|本|杯|次|只|条|件)[^，,]{{0,6}}[，,]一\2(.{{1,6}}?)[，,]"
        "(?:一共|总共)?(?:是|要)?多少钱?$",
        r"\1乘以\3",
    ),
    (
        rf"^.*?({_SOME_ZH})个[^，,]{{1,6}}[，,](?:一人|每人|一个人)({_SOME_ZH})[^，,]{{1,6}}[，,]?"
        "(?:总共|一共)要?(?:几|多少).*$",
        r"\1乘以\2",
    ),
    (
        rf"^.*?({_SOME_ZH})(?:块钱?|元|镑)?[，,]?({_SOME_ZH})个?人(?:平)?分[，,]?(?:一个人|每个?人|一人)多少.*$",
        r"\1除以\2",
    ),
    (
        r"(?<=[\d一二三四五六七八九十百千万])(?:块钱?|元|毫升|公斤|公里|克|斤|升|米)"
        r"(?=的(?:百分之|[\d一二三四五六七八九十]+分之|一半))",
        "",
    ),
    (rf"^.*?(?:原价|价格|定价|卖)({_SOME_ZH})(?:块钱?|元)?[，,]?打(.{{1,2}})折.*$", r"\1打\2折"),
)
"""Sums that are told: 二十六个小朋友，一人三张，总共要几张; 六百八十镑，三个人分，一个人多少."""

_TOTAL_ZH: Final = re.compile(
    "[，。](?:那)?(?:一共|总共|加起来|合起来)(?:是|有|要)?(?:多少|几)[个只口人条颗枚]{0,2}.{0,3}$"
)
"""What asks for all that was counted, clause by clause: 今天九个，昨天七个，一共多少."""

_COUNTED_ZH: Final = re.compile(rf"({_SOME_ZH})[个只口人条颗枚]")

_RATES_ZH: Final = (
    (rf"^.*?([\d.]+){_EACH_ZH}每(?P=each)([\d.]+)[^\d]{{0,4}}$", r"\1*\3"),
    (rf"^.*?([\d.]+)(?:块钱?|元)?每{_EACH_ZH}([\d.]+)(?P=each)$", r"\1*\3"),
)
"""The same in Chinese: 62公斤，每公斤15毫克; 十四块八一斤，二十斤."""

_AROUND_ZH: Final = (
    r"\s+|请问|计算|帮我算|算一下|等于多少|(?:一共|总共)?(?:[是要得]多少钱?|多少钱)$|等于几|等于$|一共多少[^\d]*$"
    "|[?？。，,]"
)
"""What is said around a sum, and between its parts."""

LIANG: Final = "liang"
"""A tenth of a 斤, where the same character is no number."""

_HALVES_ZH: Final = (
    (r"(?<![\d.])(\d+)块(\d)(?![\d个人])", r"\1.\2"),
    (r"(摄氏|华氏)(-?\d+(?:\.\d+)?)度?(?=[是等有合换])", r"\2\1"),
    (r"(?<=[度里斤])[是有]?(摄氏|华氏)多少度?$", r"是多少\1"),
    (r"(\d)[是有]?(摄氏|华氏)多少度?$", r"\1是多少\2"),
    (r"(?<![\d.])(\d+)(斤|米|度|升)(\d{1,2})(?:liang)?(?=[是等有合换])", r"\1.\3\2"),
    (r"(?<![\d.])(\d+)个?(小时|钟头|坪|斤|公斤|公里|米|升|天|年|分钟|磅|英里)半", r"\1.5\2"),
    (r"(?<![\d.])(\d+)个半(?=小时|钟头|月|星期)", r"\1.5"),
    (r"^半个?(?=[^\d])", "0.5"),
)

_FEET_ZH: Final = re.compile(r"(\d+)英?尺(\d+(?:\.\d+)?)英?寸")
"""How halves and tenths are said behind a unit or before it, and the number they make."""

_NUMBER_ZH: Final = re.compile("(?:[零〇一二两三四五六七八九十千万亿]|百(?!分之))+(?:点[零〇一二三四五六七八九]+)?")


def in_digits_chinese(text: str) -> str:
    """Return a Chinese sentence with its numbers in digits: 两斤半 as 2.5斤, 一米七五 as 1.75米."""
    text = _added_up(text.replace("零下", "-"))
    for told, asked in _TOLD_ZH:
        text = re.sub(told, asked, text)
    text = re.sub(rf"(块[一二三四五六七八九]?|元)一(?={_EACH_ZH})", r"\1每", text)
    text = re.sub(_AROUND_ZH, "", text)
    text = re.sub(r"(?<=[一二两三四五六七八九十\d])两(?=[是等有合换])", LIANG, text)
    text = _NUMBER_ZH.sub(lambda found: number_chinese(found.group()), text)
    for pattern, instead in _HALVES_ZH:
        text = re.sub(pattern, instead, text)
    text = _FEET_ZH.sub(
        lambda two: (
            f"{(12 if '英' in two[0] else 10) * int(two[1]) + float(two[2]):g}{'英寸' if '英' in two[0] else '寸'}"
        ),
        text,
    )
    for pattern, instead in _RATES_ZH:
        text = re.sub(pattern, instead, text)
    return text


def _added_up(text: str) -> str:
    """Return the sum of what is counted in the clauses before a question for all of it; other words as they are."""
    plain = text.replace(",", "，")
    asked = None if re.search("每|一人|一个人", plain) else _TOTAL_ZH.search(plain)
    counted = [_COUNTED_ZH.findall(clause) for clause in re.split("[，。；]", plain[: asked.start()])] if asked else []
    told = [each for each in counted if each]
    return "加".join(each[0] for each in told) if len(told) > 1 and all(len(each) == 1 for each in told) else text
