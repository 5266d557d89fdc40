"""What a question is about: its content words with their weights, and what kind of answer it wants."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agent.intents.intent import Language, language_of
from agent.tables import table

Kind: TypeAlias = Literal["which", "whether", "all"]
"""Wants a missing piece; wants yes or no; wants all that is known of something, or of everything."""

Asked: TypeAlias = Literal["", "where", "when", "who", "color", "number", "measure"]
"""Of which sort the missing piece is, where the question says it."""

LIGHT: Final = 0.3
"""Weight of a word that an answer may well lack: the color of "what color is my bike"."""

SELF: Final = "i"
"""The word that stands for the person who speaks, whether it was I, me or my."""


class Token(Struct, frozen=True):
    """A word of a sentence."""

    stem: str
    """Without its ending, small, in American spelling; `i` for every first person, `not` for every negation."""
    is_owner: bool = False
    """Whether it was said with a possessive ending: Ada's."""


class Question(Struct, frozen=True):
    """A question as recalling sees it."""

    kind: Kind
    asked: Asked
    words: tuple[tuple[str, float], ...]
    """Content words and their weights, in order; Chinese as the pieces between empty words."""
    tokens: tuple[Token, ...]
    """All of it; empty for Chinese."""
    text: str
    language: Language

    @property
    def is_personal(self) -> bool:
        """Whether it is about the person who asks."""
        return any(token.stem == SELF for token in self.tokens) or "我" in self.text


_WORD: Final = re.compile(r"[\w']+")

_APART: Final = (
    (re.compile(r"\b(who|what)(?:'s| has) got\b"), r"\1 has"),
    (re.compile(r"\b(can|won|shan)'?t\b"), r"\1 not"),
    (re.compile(r"n't\b|\bcannot\b"), " not"),
    (re.compile(r"\b(he|she|that|there|who|what|where|when)s\b"), r"\1 is"),
    (re.compile(r"\b(what|where|when|who|how|which|that|there|it|he|she)'s\b"), r"\1 is"),
    (re.compile(r"'(re|m|ve|ll|d)\b"), r" \1"),
)
"""Contractions and what they stand for."""

_FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours"})
_NEGATIONS: Final = frozenset({"not", "never", "no", "nor", "cannot"})

_BRITISH: Final = frozenset(("colour", "favour", "favourit", "flavour", "harbour", "humour", "labour", "neighbour"))
"""Stems that are spelled otherwise in America."""

_WH: Final = frozenset({"what", "which", "whose", "how"})
_AUXILIARIES: Final = frozenset(
    (
        *("is", "are", "am", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"),
        *("would", "should", "shall", "must", "may", "might"),
    )
)
_QUESTION_WORDS: Final = frozenset({"what", "where", "who", "whom", "when", "why", "how", "which", "whose"})

_EMBEDDED: Final = re.compile(
    r"^.*?\b(?:(?:do|can|could|would|have) you|tell me|remind me|i (?:wonder|forgot|forget))\b(?:(?!\babout\b).)*?\b"
    r"(?=(?:what|where|who|when|how|which|whose)\b)"
)
"""Before a question inside a question: do you know where my keys are."""

_TAG: Final = re.compile(r"^(\w+) not\b")
"""A negation that asks for a yes: isn't my bike red."""

_OF_MEMORY: Final = re.compile(
    r"\b(you|i|we)\b.*"
    r"\b(remember(ed)?|recall|know|tell|told|ask|asked|say|said|mention(ed)?|noted?|kept?|keep|forget)\b|"
    r"^(any|some)thing about\b|"
    r"^(please )?(list|show|recite|tell me|give me|remind me|search|look)\b"
)
_REQUEST: Final = re.compile(
    r"^(?:please )?(list|recite|search|look)\b|^(?:please )?(?:show|tell|give|remind|read) me "
    r"(the|my|our|about|what|where|when|who|which|how|all|every\w*)\b"
)

_ASKS_ZH: Final = re.compile(
    r"[吗呢么嘛][?？]?\W*$|什么|啥|哪|谁|(?<!茶)几|多少|多[大远高长久]|怎么|为什么|是不是|有没有|记不记得"
)
_V_NOT_V_ZH: Final = re.compile(r"(?!好不好|行不行|可不可以|能不能|成不成|会不会)([\u4e00-\u9fff]{1,2})[不没]\1(?!可)")
"""A verb with itself and a "not" between: 吃不吃, 加没加; those that ask for something to be done are none."""

_TAG_ZH: Final = re.compile(r"(?:对吧|是吧|对不对|是不是|对吗|是吗|不是吗)\W*$")

_TAGGED: Final = re.compile(
    r"\S (?:is|are|was|were|do|does|did|has|have|had|should|ought|am|will|would|can|could) not "
    r"(?:i|we|you|it|he|she|they|there)$|\S is it not$|\S is (?:it|that) (?:right|correct|enough)$|"
    r"\b(?:not|never|nothing|nobody|no|none)\b.*(?<! to) "
    r"(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|am) "
    r"(?:i|we|you|it|he|she|they|there)$"
)
"""What asks at the end of a sentence that tells: I have put eggs on, haven't I; I haven't got eggs, have I.

Without a "not" before it, it is no question: remind me to do it.
"""

_WHEN_IT_WAS: Final = re.compile(r"when (?:i|we|he|she|they) (?:was|were|had|got|went|lived)\b")
"""The beginning of a story, where a question has its verb first: when I was a kid."""

_ORDERED_NOT: Final = re.compile(r"do not (?:you dare|(?!(?:i|you|we|they|he|she|it|the|my|our|these|those|people)\b))")
"""What keeps from something, and asks for nothing: don't remind me."""

_WANTS_ZH: Final = re.compile(
    "(?:那|那么)?你?(?:现在)?(?:能不能|能|可不可以|可以|会)(?:直接)?(?:帮|给|替)我(?!.*(?:什么|啥|哪|谁|几|多少|记|想))"
)
"""What asks for something to be done, in the form of a question."""

_WHETHER_ZH: Final = re.compile(r"[吗嘛]\W*$|是不是|有没有")
_OF_MEMORY_ZH: Final = re.compile(
    r"你.*(记得|记着|知道|记住|记了)|[我咱].*(让|叫|要|请)你.*记|我.*(告诉|跟你说|对你说|和你说|说过)|列出"
)

_STATES: Final = re.compile(
    r"^\S+'s (?:the |a |an |my |our )?\w+|"
    r"^(?:(?:my|our|his|her|their|the) \S+|i|we|he|she|they|\S+'s|\w+) (?:\S+ ){0,6}?"
    r"(?:is|are|am|was|were|has|have|had|comes?|came|puts?|lent|left|gave|likes?|loves?|hates?|lives?|moved|bought|parked|"
    r"keeps?|kept|needs?|wears?|works?|plays?|drives?|turns?|starts?|ends?|gets?|got|eats?|ate|takes?|took|costs?|paid|"
    r"goes|went|does|did|owes?|owed|comes|coming|planted|fed|told|sold|made|weighs?|opens?|closes?|leaves|\w{3,}ed)\b"
)
"""What tells rather than asks or orders: somebody, or something of somebody's, and a verb that says so."""

_STATES_ZH: Final = re.compile(
    "^(?:我|我们|咱们|他|她|.{1,6}的).{0,8}(?:是|在|有|放|借|给|喜欢|住|叫|停|买|讨厌|姓|属|爱|怕|不吃|不能吃|过敏|搬|换)"
    r"|^\w{1,5}(?:住|姓|属|对.{1,6}过敏|不?喜欢|讨厌|不吃|爱吃|怕|搬到|的?(?:生日|电话|密码|地址)(?:是|在|的)|的生日|的电话)"
    r"|^(?!把|请|帮|打开|关|给|放|拿|去)\w{1,8}在\w{1,12}[里上下面边旁处层]$"
)

_RUN_ZH: Final = r"[A-Za-z0-9']+|[^\W_A-Za-z0-9]+"
"""What is looked for as one: letters and digits apart from the characters beside them."""

_EMPTY_ZH: Final = re.compile(
    "什么时候|什么地方|什么名字|什么颜色|什么|啥|星期几|周几|几点钟?|几号|(?<!茶)几|哪里|哪儿|哪天|哪个|哪种|哪些|哪|多少|多大|多远|"
    "(?:放|搁|挪|收|藏|停|摆|存|塞|忘|丢|扔)(?:在|到|去)?(?=哪|什么地方)|多[重高长宽深厚快]|几岁|现在|目前|如今|那么|"
    r"[里上下](?:面|边|头)?(?=[吗嘛么]?\W*$)|"
    "谁|名字|关于|颜色|时候|告诉过?你?|说[过了]|讲过|提过|记不?得|记[住着了下]?|知不?道|来着|我们|我|你|您|那个|这个|请问|所有|"
    "全部|列出|东西|事情?|让|放|在|叫|是不是|是|对|把|跟|和|最|有没有|有|还|的|了|吗|嘛|呢|啊|呀|些|都|去"
)
"""The same in Chinese, where words have no spaces between them; longer ones first."""

_ASKED_ZH: Final[tuple[tuple[Asked, str], ...]] = (
    ("color", "什么颜色|颜色"),
    ("when", "什么时候|几点|哪天|几号|星期几|周几|哪一?[天年月]"),
    ("where", "哪里|哪儿|在哪|什么地方|哪"),
    ("who", "谁"),
    ("measure", "多[重高长宽深厚快]|几岁|多大"),
)


def is_question(words: str) -> bool:
    """Say whether a sentence asks for something that somebody may have told."""
    if language_of(words) == "zh":
        asks = _ASKS_ZH.search(words) or _V_NOT_V_ZH.search(words)
        return asks is not None and _WANTS_ZH.match(words) is None
    text = _plain(words)
    if _WHEN_IT_WAS.match(text):
        return False
    if _ORDERED_NOT.match(text):
        return words.rstrip().endswith("?")
    first = text.split(" ", 1)[0]
    return (
        first in _QUESTION_WORDS | _AUXILIARIES | {"anything", "something"}
        or _REQUEST.search(text) is not None
        or words.rstrip().endswith("?")
        or asks_behind(words)
    )


def asks_behind(words: str) -> bool:
    """Say whether a sentence tells something and asks at its end whether it is so: …, haven't I; …对吧."""
    if language_of(words) == "zh":
        return _TAG_ZH.search(words) is not None
    text = _plain(words)
    first = text.partition(" ")[0]
    return first not in _QUESTION_WORDS | _AUXILIARIES and _TAGGED.search(text) is not None


def is_statement(words: str) -> bool:
    """Say whether a sentence tells something of a person, or of what is theirs, that somebody may ask for."""
    if is_question(words):
        return False
    return (_STATES_ZH if language_of(words) == "zh" else _STATES).search(_plain(words)) is not None


def read_question(words: str) -> Question:
    """Return what a question is about; any sentence may be asked."""
    if language_of(words) == "zh":
        return _read_chinese(words)
    whole = _plain(words)
    text = _EMBEDDED.sub("", whole)
    text = _TAG.sub(r"\1", text)
    said, plain = tokens(text), text.split()
    starts_whether = bool(plain) and plain[0] in _AUXILIARIES
    asked = _asked(plain)
    kind: Kind = "whether" if starts_whether else "which"
    if _OF_MEMORY.search(text):
        kind, asked = "all", ""
    weights = {each.stem: _weight(each.stem, kind, asked) for each in said if each.stem not in word_classes()["empty"]}
    weights |= {stem: LIGHT for stem in _sort_named(plain) if stem in weights}
    if "park" in weights and "car" in weights:  # nobody says of what they parked that it is one
        weights["car"] = LIGHT
    if not weights and ("name" in plain or plain[:3] == ["who", "am", "i"]):
        weights["name"] = 1.0
    _weigh_self(weights, plain, kind, asked)
    return Question(kind, asked, tuple(weights.items()), tuple(said), words, "en")


def content_words(words: str) -> str:
    """Return the words that say what it is about, as far as other forms of them begin alike: "the keys" is "key".

    All of them where they say nothing.
    """
    if language_of(words) == "zh":
        return " ".join(run for run, _ in read_question(words).words) or words
    wanted = [word.removesuffix("'s").strip("'") for word in _WORD.findall(_plain(words))]
    empty = word_classes()["empty"] | {SELF, "not"}
    told = [(word, stem(word)) for word in wanted if stem(word) not in empty]
    return " ".join(root if word.startswith(root) else word for word, root in told) or words


def tokens(text: str) -> list[Token]:
    """Return the words of an English sentence, with contractions taken apart."""
    found = []
    for word in _WORD.findall(_plain(text)):
        is_owner = word.endswith(("'s", "s'"))
        found.append(Token(stem(word.removesuffix("'s").strip("'")), is_owner))
    return [token for token in found if token.stem]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return a small word without its ending, in American spelling: colours and color are the same."""
    from snowballstemmer.english_stemmer import EnglishStemmer

    if word in _FIRST_PERSON:
        return SELF
    if word in _NEGATIONS:
        return "not"
    word = _irregular().get(word, word)
    american = re.sub(r"(?<=\w\w)our(?=(s|ed|ing|ite|ites|ful)?$)", "or", word).replace("grey", "gray")
    american = re.sub(r"(?<=\w\w)tre(?=s?$)", "ter", american)
    return str(EnglishStemmer().stemWord(american))


def spellings(stem: str) -> list[str]:
    """Return a stem as it may begin in what was said: color and colour."""
    british = re.sub(r"(?<=\w\w)or(?=$|it$)", "our", stem).replace("gray", "grey")
    return list(dict.fromkeys([stem, british])) if british in _BRITISH or "grey" in british else [stem]


def pieces(run: str) -> list[str]:
    """Return the pairs of characters of a Chinese run; anything short or not Chinese whole."""
    if len(run) <= 2 or language_of(run) != "zh":
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _plain(words: str) -> str:
    text = words.lower().replace("’", "'").strip(' \t\n.,!?"“”')
    for pattern, apart in _APART:
        text = pattern.sub(apart, text)
    return " ".join(re.sub(r"[^\w' ]+", " ", text).split()).removeprefix("please ")


@lru_cache(maxsize=1)
def word_classes() -> Mapping[str, frozenset[str]]:
    """Return the stems of the words in `words.yaml`, by their class; read at first use."""
    listed = table(__package__, "words.yaml")
    return {
        name: frozenset(token.stem for token in tokens(words)) for name, words in listed.items() if name != "irregular"
    }


@lru_cache(maxsize=1)
def _irregular() -> Mapping[str, str]:
    """Return the words by their irregular forms."""
    lines = (line.split() for line in table(__package__, "words.yaml")["irregular"])
    return {form: word for word, *forms in lines for form in forms}


def _asked(plain: Sequence[str]) -> Asked:
    """Return which sort of thing is missing, by the first words."""
    first, second = (*plain[:2], "", "")[:2]
    sort = [stem(word) for word in plain[1:3]]
    if first in {"where", "who"}:
        return "where" if first == "where" else "who"
    if first == "whose":
        return "who"
    if first == "when" or (first in {"what", "which"} and second in {"day", "time", "date", "month", "year"}):
        return "when"
    if first in {"what", "which"} and ("color" in sort or _of_color(plain)):
        return "color"
    if first == "how" and second in {"many", "much"}:
        return "number"
    is_measure = first == "how" and second not in _AUXILIARIES | {"often", "come", "about", "i", "to", ""}
    return "measure" if is_measure else ""


def _of_color(plain: Sequence[str]) -> bool:
    """Say whether the color of something is asked for at the end: what is the color of, what is my bike's color."""
    return "color" in [stem(word) for word in plain] and "favorit" not in [stem(word) for word in plain]


def _sort_named(plain: Sequence[str]) -> list[str]:
    """Return the words between what or how and the verb, which say of which sort the answer is."""
    if not plain or plain[0] not in _WH:
        return []
    sort: list[str] = []
    for word in plain[1:]:
        if word in _AUXILIARIES:
            return sort
        if word in {"many", "much"}:
            return []
        sort.append(stem(word))
    return []


def _weight(word: str, kind: Kind, asked: Asked) -> float:
    if kind == "whether":
        return 1.0
    if word in word_classes()["attributes"]:
        return LIGHT
    return LIGHT if word in word_classes()["weak_verbs"] and asked != "who" else 1.0


def _weigh_self(weights: dict[str, float], plain: Sequence[str], kind: Kind, asked: Asked) -> None:
    """Add the person who asks where little else says whom it is about; and keep one word that must be there."""
    if weights and all(weight == LIGHT for weight in weights.values()):
        weights.update(dict.fromkeys(weights, 1.0))
    if kind == "all" or not _FIRST_PERSON & set(plain):
        return
    is_subject = bool({"i", "we"} & set(plain)) and asked in {"", "who", "color"}
    strong = sum(weight == 1.0 for weight in weights.values())
    weights[SELF] = 0.8 if is_subject and strong <= 1 else 0.2


def _read_chinese(words: str) -> Question:
    kind: Kind = "whether" if _WHETHER_ZH.search(words) else "which"
    asked: Asked = next((name for name, pattern in _ASKED_ZH if re.search(pattern, words)), "")
    if _OF_MEMORY_ZH.search(words):
        kind = "which" if asked else "all"
    if re.search("我(?:姓什么|姓啥|叫(?:什么|啥)|的?名字)", words):  # whose words are all empty ones
        return Question("which", "", (("我姓" if "姓" in words else "我叫", 1.0),), (), words, "zh")
    runs = [run.lower() for part in _EMPTY_ZH.split(words) for run in re.findall(_RUN_ZH, part)]
    place = words.rfind("在") if kind == "whether" else len(words)
    weights = tuple((run, LIGHT if 0 < place < words.lower().find(run) else 1.0) for run in runs)
    return Question(kind, asked, weights, (), words, "zh")
