"""How the simple-minded agent understands people: a few sentences by heart, in English and Chinese, and no more."""

import re
from typing import Final, Literal, TypeAlias

from msgspec import Struct

How: TypeAlias = Literal["told", "changed", "corrected"]
Asks: TypeAlias = Literal["now", "before", "since", "who"]


class Statement(Struct, frozen=True):
    """What somebody says that is so."""

    who: str
    """"" for whoever speaks."""
    topic: str
    value: str
    how: How = "told"


class Question(Struct, frozen=True):
    """What somebody wants to know."""

    who: str
    topic: str
    asks: Asks
    value: str = ""


_W, _V = r"(?P<who>[^,，:：]+?)", r"(?P<v>[^,，;；.。]+?)"
_OPENING: Final = re.compile(r"^(?:By the way, |You know, |Just so you know, |对了，|你知道吗，|跟你说一声，)")
_END: Final = r"(?:, by the way|，顺便说一下)?[.。]$"

_STATEMENTS: Final[tuple[tuple[str, How, str], ...]] = (
    ("city", "corrected", rf"^No, that was wrong: {_W} does not live in .+ but in {_V}"),
    ("city", "corrected", rf"^不对，{_W}不住在.+，住在{_V}"),
    ("job", "corrected", rf"^No, that was wrong: {_W} is not an? .+ but an? {_V}"),
    ("drink", "corrected", rf"^No, that was wrong: {_W}'s favourite drink is not .+ but {_V}"),
    ("drink", "corrected", rf"^不对，{_W}最喜欢喝的不是.+，是{_V}"),
    ("job", "corrected", rf"^不对，{_W}不是.+，是{_V}"),
    ("place", "corrected", rf"^No, that was wrong: {_W} is not kept in the .+ but in the {_V}"),
    ("place", "corrected", rf"^不对，{_W}不放在.+里，放在{_V}里"),
    ("city", "changed", rf"^{_W} has moved to {_V}"),
    ("city", "changed", rf"^{_W}搬到{_V}了"),
    ("job", "changed", rf"^{_W} has a new job and is an? {_V} now"),
    ("job", "changed", rf"^{_W}换了工作，现在是{_V}"),
    ("drink", "changed", rf"^{_W} has had enough of .+; the favourite drink is {_V} now"),
    ("drink", "changed", rf"^{_W}喝腻了.+，现在最喜欢喝{_V}"),
    ("place", "changed", rf"^{_W} is no longer in the .+; it is kept in the {_V} now"),
    ("place", "changed", rf"^{_W}不在.+里了，现在放在{_V}里"),
    ("city", "told", rf"^(?:I|{_W}) lives? in {_V}"),
    ("city", "told", rf"^(?:我|{_W})住在{_V}"),
    ("job", "told", rf"^(?:I|{_W}) works? as an? {_V}"),
    ("job", "told", rf"^(?:我|{_W})的工作是{_V}"),
    ("drink", "told", rf"^(?:My|{_W}'s) favourite drink is {_V}"),
    ("drink", "told", rf"^(?:我|{_W})最喜欢喝{_V}"),
    ("place", "told", rf"^{_W} is kept in the {_V}"),
    ("place", "told", rf"^{_W}放在{_V}里"),
    ("code", "told", rf"^The code of {_W} is {_V}"),
    ("code", "told", rf"^{_W}的密码是{_V}"),
)

_QUESTIONS: Final[tuple[tuple[str, Asks, str], ...]] = (
    ("city", "now", rf"^Where does {_W} live now\?"),
    ("city", "now", rf"^{_W}现在住在哪里？"),
    ("city", "before", rf"^Where did {_W} live before\?"),
    ("city", "before", rf"^{_W}以前住在哪里？"),
    ("city", "since", rf"^Since when does {_W} live in {_V}\?"),
    ("city", "since", rf"^{_W}什么时候搬到{_V}的？"),
    ("city", "who", rf"^Who told you that {_W} lives in {_V}\?"),
    ("city", "who", rf"^谁告诉你{_W}住在{_V}的？"),
    ("job", "now", rf"^What does {_W} work as now\?"),
    ("job", "now", rf"^{_W}现在做什么工作？"),
    ("job", "before", rf"^What did {_W} work as before\?"),
    ("job", "before", rf"^{_W}以前做什么工作？"),
    ("job", "since", rf"^Since when is {_W} an? {_V}\?"),
    ("job", "since", rf"^{_W}什么时候当上{_V}的？"),
    ("job", "who", rf"^Who told you that {_W} is an? {_V}\?"),
    ("drink", "now", rf"^What is {_W}'s favourite drink now\?"),
    ("drink", "now", rf"^{_W}现在最喜欢喝什么？"),
    ("drink", "before", rf"^What was {_W}'s favourite drink before\?"),
    ("drink", "before", rf"^{_W}以前最喜欢喝什么？"),
    ("drink", "since", r"^Since when is (?P<v>.+) (?P<who>\S+)'s favourite drink\?"),
    ("drink", "since", rf"^{_W}什么时候开始最喜欢喝{_V}的？"),
    ("drink", "who", rf"^Who told you that {_W}'s favourite drink is {_V}\?"),
    ("drink", "who", rf"^谁告诉你{_W}最喜欢喝{_V}的？"),
    ("place", "now", rf"^Where is {_W} kept now\?"),
    ("place", "now", rf"^{_W}现在放在哪里？"),
    ("place", "before", rf"^Where was {_W} kept before\?"),
    ("place", "before", rf"^{_W}以前放在哪里？"),
    ("place", "since", rf"^Since when is {_W} kept in the {_V}\?"),
    ("place", "since", rf"^{_W}什么时候放到{_V}里的？"),
    ("place", "who", rf"^Who told you that {_W} is kept in the {_V}\?"),
    ("place", "who", rf"^谁告诉你{_W}放在{_V}里的？"),
    ("job", "who", rf"^谁告诉你{_W}是{_V}的？"),
    ("code", "now", rf"^What is the code of {_W}\?"),
    ("code", "now", rf"^{_W}的密码是多少？"),
)

_COMMON: Final = frozenset(
    re.findall(
        "[a-z]+",
        "a an and are as at did do does go have he her his how i in is it its me my now of on or s she tell that the "
        "their they to was we what when where which who whom whose with you your called name",
    )
)
"""Words that say nothing of what a sentence is about."""


def statement(words: str) -> Statement | None:
    """Return what a sentence says that is so, None where it says nothing of the kind."""
    plain = _OPENING.sub("", words.strip())
    for topic, how, pattern in _STATEMENTS:
        if found := re.search(pattern + _END, plain):
            return Statement((found.groupdict().get("who") or "").lower(), topic, found["v"], how)
    return None


def question(words: str) -> Question | None:
    """Return what a sentence asks, None where it is not among those known by heart."""
    for topic, asks, pattern in _QUESTIONS:
        if found := re.search(pattern + r"$", words.strip()):
            return Question(found["who"].lower(), topic, asks, found.groupdict().get("v") or "")
    return None


def is_question(words: str) -> bool:
    """Whether a sentence asks anything."""
    return words.strip().endswith(("?", "？"))


def is_chinese(words: str) -> bool:
    """Whether there is a Chinese character in it."""
    return re.search(r"[\u4e00-\u9fff]", words) is not None


def content_words(words: str) -> set[str]:
    """Return the words that say what it is about; of Chinese the pairs of characters."""
    english = {each for each in re.findall(r"[a-z]+", words.lower()) if each not in _COMMON and len(each) > 1}
    chinese = re.findall(r"[\u4e00-\u9fff]+", words)
    return english | {run[at : at + 2] for run in chinese for at in range(len(run) - 1)}
