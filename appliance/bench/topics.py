"""What the people of a rehearsed life speak of: sentences in English and Chinese, values, and names."""

from typing import Final

from msgspec import Struct


class Wording(Struct, frozen=True):
    """The sentences of one topic in one language; `{who}` has it, `{v}` is what it is, `{old}` what it was."""

    told: tuple[str, ...]
    """Said by anybody of anybody."""
    own: str
    """Said of oneself; "" where nobody would."""
    changed: str
    corrected: str
    now: str
    before: str
    since: str
    who: str
    """Asks who said it."""


class Topic(Struct, frozen=True):
    """Something that is so of a person or a thing, and may change."""

    name: str
    values: tuple[tuple[str, str], ...]
    """In English and in Chinese."""
    english: Wording
    chinese: Wording
    things: tuple[tuple[str, str], ...] = ()
    """What it is told of; people where there is none."""


CITY: Final = Topic(
    "city",
    (
        *(("Graz", "格拉茨"), ("Linz", "林茨"), ("Bremen", "不来梅"), ("Lyon", "里昂"), ("Turin", "都灵")),
        *(("Leeds", "利兹"), ("Porto", "波尔图"), ("Ghent", "根特"), ("Chengdu", "成都"), ("Harbin", "哈尔滨")),
    ),
    Wording(
        ("{who} lives in {v}.", "By the way, {who} lives in {v}."),
        "I live in {v}.",
        "{who} has moved to {v}.",
        "No, that was wrong: {who} does not live in {old} but in {v}.",
        "Where does {who} live now?",
        "Where did {who} live before?",
        "Since when does {who} live in {v}?",
        "Who told you that {who} lives in {v}?",
    ),
    Wording(
        ("{who}住在{v}。", "对了，{who}住在{v}。"),
        "我住在{v}。",
        "{who}搬到{v}了。",
        "不对，{who}不住在{old}，住在{v}。",
        "{who}现在住在哪里？",
        "{who}以前住在哪里？",
        "{who}什么时候搬到{v}的？",
        "谁告诉你{who}住在{v}的？",
    ),
)

JOB: Final = Topic(
    "job",
    (
        *(("baker", "面包师"), ("nurse", "护士"), ("teacher", "老师"), ("carpenter", "木匠"), ("pilot", "飞行员")),
        *(("gardener", "园丁"), ("lawyer", "律师"), ("cook", "厨师"), ("tailor", "裁缝"), ("plumber", "水管工")),
    ),
    Wording(
        ("{who} works as a {v}.", "You know, {who} works as a {v}."),
        "I work as a {v}.",
        "{who} has a new job and is a {v} now.",
        "No, that was wrong: {who} is not a {old} but a {v}.",
        "What does {who} work as now?",
        "What did {who} work as before?",
        "Since when is {who} a {v}?",
        "Who told you that {who} is a {v}?",
    ),
    Wording(
        ("{who}的工作是{v}。", "你知道吗，{who}的工作是{v}。"),
        "我的工作是{v}。",
        "{who}换了工作，现在是{v}。",
        "不对，{who}不是{old}，是{v}。",
        "{who}现在做什么工作？",
        "{who}以前做什么工作？",
        "{who}什么时候当上{v}的？",
        "谁告诉你{who}是{v}的？",
    ),
)

DRINK: Final = Topic(
    "drink",
    (
        *(("green tea", "绿茶"), ("coffee", "咖啡"), ("cocoa", "可可"), ("apple juice", "苹果汁"), ("milk", "牛奶")),
        *(("lemonade", "柠檬水"), ("ginger tea", "姜茶"), ("pear juice", "梨汁"), ("oolong", "乌龙茶")),
    ),
    Wording(
        ("{who}'s favourite drink is {v}.", "{who}'s favourite drink is {v}, by the way."),
        "My favourite drink is {v}.",
        "{who} has had enough of {old}; the favourite drink is {v} now.",
        "No, that was wrong: {who}'s favourite drink is not {old} but {v}.",
        "What is {who}'s favourite drink now?",
        "What was {who}'s favourite drink before?",
        "Since when is {v} {who}'s favourite drink?",
        "Who told you that {who}'s favourite drink is {v}?",
    ),
    Wording(
        ("{who}最喜欢喝{v}。", "{who}最喜欢喝{v}，顺便说一下。"),
        "我最喜欢喝{v}。",
        "{who}喝腻了{old}，现在最喜欢喝{v}。",
        "不对，{who}最喜欢喝的不是{old}，是{v}。",
        "{who}现在最喜欢喝什么？",
        "{who}以前最喜欢喝什么？",
        "{who}什么时候开始最喜欢喝{v}的？",
        "谁告诉你{who}最喜欢喝{v}的？",
    ),
)

PLACE: Final = Topic(
    "place",
    (
        *(("blue drawer", "蓝色抽屉"), ("cellar", "地下室"), ("attic", "阁楼"), ("hall cupboard", "门厅柜子")),
        *(("green box", "绿色盒子"), ("garage", "车库"), ("top shelf", "最上面的架子"), ("shed", "棚子")),
    ),
    Wording(
        ("{who} is kept in the {v}.", "Just so you know, {who} is kept in the {v}."),
        "",
        "{who} is no longer in the {old}; it is kept in the {v} now.",
        "No, that was wrong: {who} is not kept in the {old} but in the {v}.",
        "Where is {who} kept now?",
        "Where was {who} kept before?",
        "Since when is {who} kept in the {v}?",
        "Who told you that {who} is kept in the {v}?",
    ),
    Wording(
        ("{who}放在{v}里。", "跟你说一声，{who}放在{v}里。"),
        "",
        "{who}不在{old}里了，现在放在{v}里。",
        "不对，{who}不放在{old}里，放在{v}里。",
        "{who}现在放在哪里？",
        "{who}以前放在哪里？",
        "{who}什么时候放到{v}里的？",
        "谁告诉你{who}放在{v}里的？",
    ),
    (
        *(("the spare key", "备用钥匙"), ("the drill", "电钻"), ("the first-aid kit", "急救箱")),
        *(("the tent", "帐篷"), ("the sewing machine", "缝纫机"), ("the passport", "护照")),
    ),
)

TOPICS: Final = (CITY, JOB, DRINK, PLACE)

NAMES: Final = (
    *(("Anna", "安娜"), ("Boris", "鲍里斯"), ("Clara", "克拉拉"), ("David", "大卫"), ("Emma", "艾玛")),
    *(("Felix", "菲利克斯"), ("Greta", "格蕾塔"), ("Hugo", "雨果"), ("Irene", "艾琳"), ("Jonas", "约纳斯")),
    *(("Lena", "莱娜"), ("Max", "马克斯"), ("Nora", "诺拉"), ("Oscar", "奥斯卡"), ("Paula", "保拉"), ("Rosa", "罗莎")),
)
STRANGERS: Final = (
    *(("Zelda", "泽尔达"), ("Yuri", "尤里"), ("Xenia", "克谢尼娅"), ("Walter", "瓦尔特"), ("Viola", "薇奥拉")),
)
"""Whom nobody ever speaks of."""

TRIVIA: Final = (
    *("It rained all morning.", "The tram was late again.", "I slept badly last night.", "The soup was too salty."),
    *("What a lovely sunset.", "The neighbours are having a party."),
    *("I have to go shopping.", "My back hurts a little."),
    *("今天地铁又晚点了。", "外面风好大。", "晚饭吃得太饱了。", "周末想去公园走走。", "邻居家的狗一直叫。"),
)

SECRET: Final = ("The code of {thing} is {v}.", "{thing}的密码是{v}。")
SECRET_ASKED: Final = ("What is the code of {thing}?", "{thing}的密码是多少？")
SECRET_THINGS: Final = (
    *(("the safe", "保险箱"), ("the garden gate", "花园门"), ("the bicycle lock", "自行车锁"), ("the alarm", "报警器")),
    *(("the letter box", "信箱"), ("the cabin", "小木屋"), ("the laptop", "笔记本电脑"), ("the storeroom", "储藏室")),
)

NEVER: Final = (
    ("What is {who}'s shoe size?", "{who}穿多大的鞋？"),
    ("When is {who}'s birthday?", "{who}的生日是哪天？"),
    ("Which school did {who} go to?", "{who}上的是哪所学校？"),
    ("What is the name of {who}'s dentist?", "{who}的牙医叫什么名字？"),
    ("How tall is {who}?", "{who}有多高？"),
    ("What is {who}'s car called?", "{who}的车叫什么名字？"),
)
"""Asks of somebody known what nobody ever said."""
