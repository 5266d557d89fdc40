"""Numbers of things, dates and amounts as they are written in messages, each beside what only looks like one."""

import pytest

from audio.tts.verbalize.chinese import verbalize


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("请打110、119或120。", "请打幺幺零、幺幺九或幺二零。"),
        ("110、119或120都可以打。", "幺幺零、幺幺九或幺二零都可以打。"),
        ("有110、119或120个。", "有一百一十、一百一十九或一百二十个。"),
        ("电话（010）8888 6666", "电话零幺零，八八八八，六六六六"),
        ("400 800 1234", "四零零，八零零，幺二三四"),
        ("打10010，致电10086，10010元", "打幺零零幺零，致电幺零零八六，一万零一十元"),
        ("10086的客服，在12306买票", "幺零零八六的客服，在幺二三零六买票"),
        ("10010元，10086人，1001个", "一万零一十元，一万零八十六人，一千零一个"),
        ("打100分，联系300人", "打一百分，联系三百人"),
    ],
)
def test_telephones_are_read_figure_by_figure_and_counts_are_not(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("京A·12345，沪B12345，粤B·D1234", "京A幺二三四五，沪B幺二三四五，粤BD幺二三四"),
        ("北京A12区", "北京A十二区"),
        ("v2.0版本，v2.0，版本v3.1", "二点零版本，版本二点零，版本三点一"),
        ("密码是abc123，abc123，MP3", "密码是abc幺二三，abc幺二三，MP三"),
        ("Room 301，A4，502会议室", "Room 三零幺，A四，五零二会议室"),
        ("亨利VIII，路易XIV，伊丽莎白II世", "亨利八世，路易十四，伊丽莎白二世"),
        ("第Ⅲ章，第IV节，II型", "第三章，第四节，二型"),
        ("CD，MIX，VI设计，V型，XXL", "CD，MIX，VI设计，V型，XXL"),
        ("打开/etc/hosts文件", "打开斜杠 etc 斜杠 hosts文件"),
        ("ISBN 978-3-16-148410-0", "ISBN 九七八，三，幺六，幺四八四幺零，零"),
        ("x<=3，a!=b", "x小于等于三，a不等于b"),
    ],
)
def test_names_with_figures(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2/14是情人节，10/1放假", "二月十四号是情人节，十月一号放假"),
        ("5/6（周三）开会", "五月六号（周三）开会"),
        ("10/1是国庆节，12/25的票", "十月一号是国庆节，十二月二十五号的票"),
        ("3/4的人，1/2是一半", "四分之三的人，二分之一是一半"),
        ("5/13/2026", "二零二六年五月十三日"),
        ("第21:19局，比分21:19，3:2获胜", "第二十一比十九局，比分二十一比十九，三比二获胜"),
        ("第1局21:19，第1局", "第一局二十一比十九，第一局"),
        ("21:19开会", "二十一点十九分开会"),
    ],
)
def test_short_dates_and_scores(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("180°C/350°F", "一百八十摄氏度或三百五十华氏度"),
        ("12,50 €，1.000,50欧元，€3,5", "十二点五欧元，一千点五零欧元，三点五欧元"),
        ("1,250元，1,2和3", "一千两百五十元，一,二和三"),
        ("99¢", "九十九美分"),
        ("PM2.5是35μg/m³", "PM二点五是每立方米三十五微克"),
        ("5000元/平米，5元/kg，30元/小时", "五千元每平米，五元每公斤，三十元每小时"),
        ("3.5元/盒，2大勺，奥迪a6l", "三点五元每盒，两大勺，奥迪a六l"),
        ("男/女，美元/欧元", "男/女，美元/欧元"),
        ("8GB内存，5 lb，2磅", "八GB内存，五磅，两磅"),
        ("2勺盐，2茶匙糖，2滴", "两勺盐，两茶匙糖，两滴"),
        ("2级风，第2首，12勺", "二级风，第二首，十二勺"),
        ('30"屏，55″电视', "三十寸屏，五十五寸电视"),
        ('他说"我30"就走了', '他说"我三十"就走了'),
        ("5'10\"", "五英尺十英寸"),
    ],
)
def test_amounts_of_shops_and_recipes(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.parametrize("unit", ["/a", '1"', "110、", "打110、", "1/1", "v1.", "密码a1", "京A1", "1,1", "（010）"])
def test_the_longest_sentence_takes_no_time(unit: str) -> None:
    verbalize(unit * (8000 // len(unit)) + "x")
