import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.tts.verbalize.chinese import UNITS, verbalize
from audio.tts.verbalize.numerals import chinese_cardinal, chinese_digits


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("现在是9:05。", "现在是九点零五分。"),
        ("现在是21:30。", "现在是二十一点三十分。"),
        ("9:00开会", "九点开会"),
        ("2:05", "两点零五分"),
        ("9:00-10:30", "九点到十点三十分"),
        ("7:15:30", "七点十五分三十秒"),
        ("今天是2026-11-21。", "今天是二零二六年十一月二十一日。"),
        ("2026年2月2日", "二零二六年二月二日"),
        ("2026/13/45", "两千零二十六/十三/四十五"),
        ("2020–2024年", "二零二零到二零二四年"),
        ("90年代", "九零年代"),
        ("20年前", "二十年前"),
    ],
)
def test_times_and_dates(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2个人，2小时，2千米", "两个人，两小时，两千米"),
        ("2点半，他2岁", "两点半，他两岁"),
        ("2楼，第2个", "二楼，第二个"),
        ("12个，22个，200个", "十二个，二十二个，两百个"),
        ("1,234,567", "一百二十三万四千五百六十七"),
        ("100000000", "一亿"),
        ("3.14和0.5", "三点一四和零点五"),
        ("-5", "负五"),
        ("45%", "百分之四十五"),
        ("10-20%", "百分之十到二十"),
        ("3–5个", "三到五个"),
        ("1/2，1½杯，3/4", "二分之一，一又二分之一杯，四分之三"),
        ("比分3:2", "比分三比二"),
        ("007", "零零七"),
        ("¥20，￥1,250", "二十元，一千两百五十元"),
        ("$3.50，€5", "三点五美元，五欧元"),
        ("50万元，$1.5亿", "五十万元，一点五亿美元"),
        ("20 °C", "二十摄氏度"),
        ("气温-5°C", "气温负五摄氏度"),
        ("15℃～20℃，￥99.9元", "十五摄氏度到二十摄氏度，九十九点九元"),
        ("CO₂和x^2，2^10", "CO二和x的平方，二的十次方"),
        ("5 km/h", "每小时五公里"),
        ("3 kg，1.5 l，10 GB", "三公斤，一点五升，十GB"),
        ("3-5 km", "三到五公里"),
    ],
)
def test_amounts(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("电话13800138000", "电话幺三八零零幺三八零零零"),
        ("010-12345678", "零幺零，幺二三四五六七八"),
        ("版本1.2.3", "版本一点二点三"),
        ("v2.0", "版本二点零"),
        ("请写信给a.b@example.com。", "请写信给a 点 b at example 点 com。"),
        ("#你好 #5", "话题你好五号"),
        ("A4纸，MP3，5G网络", "A四纸，MP三，五G网络"),
        ("iPhone 15", "iPhone 十五"),
        ("1. 起床", "第一，起床"),
        ("5+3=8，5 - 3 = 2", "五加三等于八，五减三等于二"),
        ("2×3，x<5，±2，5²", "二乘以三，x小于五，正负二，五的平方"),
        ("~5个人", "约五个人"),
        ("你好！！！", "你好！"),
    ],
)
def test_names_and_signs(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("每次吃1/2 mg，加1/2茶匙盐。", "每次吃二分之一毫克，加二分之一茶匙盐。"),
        ("请拨打110，或者打12345。", "请拨打幺幺零，或者打幺二三四五。"),
        ("需要1h 30m。", "需要一小时三十分钟。"),
        ("7-3=4", "七减三等于四"),
        ("x² - 3", "x的平方减三"),
        ("今天是22.11.2026，昨天是2026.11.21。", "今天是二零二六年十一月二十二日，昨天是二零二六年十一月二十一日。"),
        ("市值$1.2T，融资€750M", "市值一万两千亿美元，融资七亿五千万欧元"),
        ("~5 min", "约五分钟"),
        ("气温-5到-2度", "气温负五到负二度"),
        ("-5~-2°C", "负五到负二摄氏度"),
        ("我住3号楼502室。", "我住三号楼五零二室。"),
        ("他是90后，她是00后。", "他是九零后，她是零零后。"),
        ("10后来了三个人", "十后来了三个人"),
        ("验证码：482913", "验证码：四八二九幺三"),
        ("CA1234航班，101路公交", "CA幺二三四航班，幺零幺路公交"),
        ("比分3-1", "比分三比一"),
        ("周一-周五，3月-5月", "周一到周五，三月到五月"),
        ("2024-2025赛季", "二零二四到二零二五赛季"),
        ("血压120/80", "血压一百二十比八十"),
    ],
)
def test_what_recipes_sums_and_papers_write(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V19")
@pytest.mark.parametrize("unit", sorted(set(UNITS) - {"°"}))
def test_a_part_of_every_unit_is_a_part(unit: str) -> None:
    assert verbalize(f"用1/2 {unit}。") == f"用二分之一{UNITS[unit]}。"
    assert verbalize(f"用2 3/4{unit}。") == f"用二又四分之三{UNITS[unit]}。"


@pytest.mark.shows("V19")
@pytest.mark.parametrize("before", ["", "现在", "气温：", "（", "到"])
@pytest.mark.parametrize("after", ["度", "°C", "%", "到-2度", "到3度"])
def test_a_minus_is_a_minus(before: str, after: str) -> None:
    said = verbalize(f"{before}-7{after}")
    assert "负七" in said or "负百分之七" in said


@pytest.mark.shows("V19")
@given(st.integers(1, 28), st.integers(1, 12), st.integers(1950, 2049))
def test_a_date_is_the_same_date_in_every_order_that_is_plain(day: int, month: int, of: int) -> None:
    said = f"{chinese_digits(str(of))}年{chinese_cardinal(month)}月{chinese_cardinal(day)}日"
    for written in (f"{of}-{month:02}-{day:02}", f"{of}/{month}/{day}", f"{of}.{month}.{day}", f"{day}.{month}.{of}"):
        assert verbalize(f"在{written}") == f"在{said}"


@given(st.text(alphabet=st.sampled_from("0123456789.,:-/ $¥%°Ckmgh年月日点个第二两()+#@\u2013½²"), max_size=50))
def test_no_figure_is_ever_left(text: str) -> None:
    assert not any(character in "0123456789½²" for character in verbalize(text))


@given(st.text(alphabet=st.sampled_from("今天很好你我，。"), max_size=60))
def test_words_stay_as_they_are(text: str) -> None:
    assert verbalize(text) == text


@pytest.mark.parametrize("unit", ["+1", "1-", "1 ", "1,", "1.", "a.", "a@", "-1 ", "1:", "1/", "$1"])
def test_the_longest_sentence_takes_no_time(unit: str) -> None:
    """An hour, not milliseconds, is what a pattern that tries every way would need: the test would not end."""
    verbalize(unit * (800 // len(unit)) + "x")
