"""What the people of a rehearsed life speak of: sentences in English and Chinese, values, and names."""

from typing import Final

from msgspec import Struct


class Wording(Struct, frozen=True):
    """The sentences of one topic in one language; `{who}` has it, `{v}` is what it is, `{old}` what it was."""

    told: tuple[str, ...]
    """Said by anybody of anybody."""
    change: str
    mended: str
    now: str
    before: str
    since: str
    who: str
    """Asks who said it."""
    own: str = ""
    """Said of oneself; "" where nobody would."""


class Topic(Struct, frozen=True):
    """Something that is so of a person or a thing, and may change."""

    values: tuple[tuple[str, str], ...]
    """In English and in Chinese."""
    wordings: tuple[Wording, Wording]
    """The same."""
    things: tuple[tuple[str, str], ...] = ()
    """What it is told of; people where there is none."""


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return what is given with commas between, each in English and, behind a space, in Chinese."""
    pairs = (each.rpartition(" ") for each in text.split(", "))
    return tuple((english, chinese) for english, _, chinese in pairs)


def _topic(values: str, table: str, things: str = "") -> Topic:
    """Return a topic by its sentences, one a line: a field of `Wording`, what is said in English, and in Chinese."""
    rows = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]

    def wording(language: int) -> Wording:
        told = tuple(row[language] for row in rows if row[0] == "told")
        return Wording(told, **{row[0]: row[language] for row in rows if row[0] != "told"})

    return Topic(_pairs(values), (wording(1), wording(2)), _pairs(things) if things else ())


CITY: Final = _topic(
    "Graz 格拉茨, Linz 林茨, Bremen 不来梅, Lyon 里昂, Turin 都灵, Leeds 利兹, Porto 波尔图, Ghent 根特, "
    "Chengdu 成都, Harbin 哈尔滨",
    """
    told   | {who} lives in {v}.                                        | {who}住在{v}。
    told   | By the way, {who} lives in {v}.                            | 对了，{who}住在{v}。
    own    | I live in {v}.                                             | 我住在{v}。
    change | {who} has moved to {v}.                                    | {who}搬到{v}了。
    mended | No, that was wrong: {who} does not live in {old} but in {v}. | 不对，{who}不住在{old}，住在{v}。
    now    | Where does {who} live now?                                 | {who}现在住在哪里？
    before | Where did {who} live before?                               | {who}以前住在哪里？
    since  | Since when does {who} live in {v}?                         | {who}什么时候搬到{v}的？
    who    | Who told you that {who} lives in {v}?                      | 谁告诉你{who}住在{v}的？
    """,
)

JOB: Final = _topic(
    "baker 面包师, nurse 护士, teacher 老师, carpenter 木匠, pilot 飞行员, gardener 园丁, lawyer 律师, cook 厨师, "
    "tailor 裁缝, plumber 水管工",
    """
    told   | {who} works as a {v}.                                 | {who}的工作是{v}。
    told   | You know, {who} works as a {v}.                       | 你知道吗，{who}的工作是{v}。
    own    | I work as a {v}.                                      | 我的工作是{v}。
    change | {who} has a new job and is a {v} now.                 | {who}换了工作，现在是{v}。
    mended | No, that was wrong: {who} is not a {old} but a {v}.   | 不对，{who}不是{old}，是{v}。
    now    | What does {who} work as now?                          | {who}现在做什么工作？
    before | What did {who} work as before?                        | {who}以前做什么工作？
    since  | Since when is {who} a {v}?                            | {who}什么时候当上{v}的？
    who    | Who told you that {who} is a {v}?                     | 谁告诉你{who}是{v}的？
    """,
)

DRINK: Final = _topic(
    "green tea 绿茶, coffee 咖啡, cocoa 可可, apple juice 苹果汁, milk 牛奶, lemonade 柠檬水, ginger tea 姜茶, "
    "pear juice 梨汁, oolong 乌龙茶",
    """
    told   | {who}'s favourite drink is {v}.                       | {who}最喜欢喝{v}。
    told   | {who}'s favourite drink is {v}, by the way.           | {who}最喜欢喝{v}，顺便说一下。
    own    | My favourite drink is {v}.                            | 我最喜欢喝{v}。
    change | {who} has had enough of {old}; the favourite drink is {v} now. | {who}喝腻了{old}，现在最喜欢喝{v}。
    mended | No, that was wrong: {who}'s favourite drink is not {old} but {v}. | 不对，{who}最喜欢喝的不是{old}，是{v}。
    now    | What is {who}'s favourite drink now?                  | {who}现在最喜欢喝什么？
    before | What was {who}'s favourite drink before?              | {who}以前最喜欢喝什么？
    since  | Since when is {v} {who}'s favourite drink?            | {who}什么时候开始最喜欢喝{v}的？
    who    | Who told you that {who}'s favourite drink is {v}?     | 谁告诉你{who}最喜欢喝{v}的？
    """,
)

PLACE: Final = _topic(
    "blue drawer 蓝色抽屉, cellar 地下室, attic 阁楼, hall cupboard 门厅柜子, green box 绿色盒子, garage 车库, "
    "top shelf 最上面的架子, shed 棚子",
    """
    told   | {who} is kept in the {v}.                             | {who}放在{v}里。
    told   | Just so you know, {who} is kept in the {v}.           | 跟你说一声，{who}放在{v}里。
    change | {who} is no longer in the {old}; it is kept in the {v} now. | {who}不在{old}里了，现在放在{v}里。
    mended | No, that was wrong: {who} is not kept in the {old} but in the {v}. | 不对，{who}不放在{old}里，放在{v}里。
    now    | Where is {who} kept now?                              | {who}现在放在哪里？
    before | Where was {who} kept before?                          | {who}以前放在哪里？
    since  | Since when is {who} kept in the {v}?                  | {who}什么时候放到{v}里的？
    who    | Who told you that {who} is kept in the {v}?           | 谁告诉你{who}放在{v}里的？
    """,
    "the spare key 备用钥匙, the drill 电钻, the first-aid kit 急救箱, the tent 帐篷, the sewing machine 缝纫机, "
    "the passport 护照",
)

TOPICS: Final = (CITY, JOB, DRINK, PLACE)

NAMES: Final = _pairs(
    "Anna 安娜, Boris 鲍里斯, Clara 克拉拉, David 大卫, Emma 艾玛, Felix 菲利克斯, Greta 格蕾塔, Hugo 雨果, "
    "Irene 艾琳, Jonas 约纳斯, Lena 莱娜, Max 马克斯, Nora 诺拉, Oscar 奥斯卡, Paula 保拉, Rosa 罗莎"
)
STRANGERS: Final = _pairs("Zelda 泽尔达, Yuri 尤里, Xenia 克谢尼娅, Walter 瓦尔特, Viola 薇奥拉")
"""Whom nobody ever speaks of."""

TRIVIA: Final = (
    *("It rained all morning.", "The tram was late again.", "I slept badly last night.", "The soup was too salty."),
    *("What a lovely sunset.", "The neighbours are having a party."),
    *("I have to go shopping.", "My back hurts a little."),
    *("今天地铁又晚点了。", "外面风好大。", "晚饭吃得太饱了。", "周末想去公园走走。", "邻居家的狗一直叫。"),
)

SECRET: Final = ("The code of {thing} is {v}.", "{thing}的密码是{v}。")
SECRET_ASKED: Final = ("What is the code of {thing}?", "{thing}的密码是多少？")
SECRET_THINGS: Final = _pairs(
    "the safe 保险箱, the garden gate 花园门, the bicycle lock 自行车锁, the alarm 报警器, the letter box 信箱, "
    "the cabin 小木屋, the laptop 笔记本电脑, the storeroom 储藏室"
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
