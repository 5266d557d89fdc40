"""What words that no sentence fits probably want: done where the network is sure, asked back where it is likely."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.intents.dialog_state import DialogState
from agent.intents.intent import Intent, Language, Understand, language_of
from agent.intents.judging.dropped import wants_else
from agent.intents.judging.misgivings import has_condition
from agent.intents.language.enumerations import USED_UP_ZH, names_things
from agent.intents.language.questions import is_question, is_statement
from agent.intents.language.wording import anywhere, bare, beginning, is_story, mended, without_fillers
from agent.intents.learned.network import Reading, network
from agent.intents.learned.plain import plainly
from agent.intents.subjects.home import HOME_SAY
from agent.intents.subjects.sums.answer import answer_sum

_ONLY_TOLD: Final = frozenset(
    {"ring_left", "ring_list", "time", "date", "days_until", "list_tell", "list_has", "repeat", "quiet", "convert"}
)
"""Wishes that change nothing: a wrong guess costs a sentence."""

_ASKED_FIRST: Final = frozenset({"ring_cancel_all", "list_clear", "mute"})
"""Wishes that take away much, or the ears."""

_OF_ALL: Final = frozenset({"ring_cancel_all", "list_clear"})
_SPARING: Final = re.compile(
    r"\b(?:but|except\w*|apart|aside|other than|bar|barring|save|besides|leav(?:e|ing)|keep(?:ing)?|not|without)\b"
    "|除|留|别动|别碰|以外|之外",
    re.IGNORECASE,
)
"""What shows that not all of them are meant, however it is said."""

_OF_NO_MORE: Final = frozenset({"list_remove", "list_clear", "ring_left"})
"""The wishes for which it is taken that there is no more of something."""

_OF_THINGS: Final = frozenset({"list_add", "list_remove"})
_AND_LAST: Final = re.compile(
    r"(?P<and>[和跟、]|以及|还有| and )"
    r"(?P<thing>[^，。！？和、吧了]{1,6}|(?:(?:some|the) )?[a-z'-]+(?: [a-z'-]+)?)[吧了。！.!]*",
    re.IGNORECASE,
)
"""The last of several things, which ends a sentence: 我们要买酱油和醋."""

SURE: Final[Mapping[Language, float]] = {"en": 0.6, "zh": 0.5}
"""Certainty from which what was read is done at once."""

LIKELY: Final[Mapping[Language, float]] = {"en": 0.3, "zh": 0.3}
"""Certainty from which it is asked back; what changes nothing is told at once."""

SURE_ASKED: Final = 0.8
"""Certainty from which a question is taken for one about what rings, or lists: most ask for what nobody told."""

_ELSEWHERE: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    "time": (
        re.compile(
            r"\b(?:for|set|did|do i|does(?! the (?:clock|time))|was|were|will|would|should|must|need|leave|go|going|he|"
            r"she|they|we|my|appointment|start\w*|open\w*|clos\w*|meet\w*|com(?:e|es|ing)|arriv\w*|finish\w*|ends?)\b|"
            r"\b(?:in|on) (?!the (?:clock|moment)|your|it\b|there\b)\w+",
            re.IGNORECASE,
        ),
        re.compile(
            "(?:现在|当前|这会儿|几点|什么|时候|时间|多少|请问|告诉|知道|看看|一下|帮忙|已经|[钟了啊呀吗呢是到报说你我帮的都看吧，。？！])+"
        ),
    ),
    "date": (
        re.compile(
            r"\b(?:did|do i|does|was|were|should|must|need|leave|go|going|he|she|they|we(?! in| at|'re)|"
            r"are we (?!in|at|on)|my|come|coming|meet\w*|start\w*|last|next|ago|from|before|after|"
            r"\w+day(?<!today)|'s (?=date)|january|february|march|april|june|july|august|"
            r"september|october|november|december|\d{4}|lunar|average)\b",
            re.IGNORECASE,
        ),
        re.compile("[^农阴大下上前后昨明那一二三四五六日天\\d]+"),
    ),
}
"""What names another place or day in words that are read as asking for this one; in Chinese all that names none."""

_OF_VOLUME: Final = re.compile(
    r"\b(?:loud\w*|quiet\w*|volume|sound|hear\w*|soft\w*|turn|noise|noisy|up|down|voice|deaf|shout\w*|whisper\w*)\b|[声音响吵听]",
    re.IGNORECASE,
)
"""Of which one stands in what wants it louder or quieter."""

_SET_OR_MOVED: Final = frozenset({"wake", "remind", "timer_start", "ring_move", "ring_longer", "ring_shorter"})

_FOR_US: Final = re.compile(r"\b(?:i|me|we|us|alarm|so)\b|[,;.]|[我咱，]", re.IGNORECASE)
"""What shows that a time is told because it is to ring then: Dad leaves at six, so seven for me."""

_NO_LIST: Final = re.compile(r"\b(?:clear|empty|wipe|erase|delete|tell me (?:an?|some))\b|清空|清掉|删", re.IGNORECASE)
"""What shows that more is wanted of a list than to be told, or that none is meant."""


def _is_of_other(name: str, plain: str, words: str) -> bool:
    """Say whether a plain sentence says something else than the words: of another place or day."""
    if name.startswith("volume"):
        return _OF_VOLUME.search(words) is None
    if name == "repeat" and (order := beginning("ordering", "en").match(words)):
        return _SAYING.search(order.group()) is None  # skip it, move that
    if name not in _ELSEWHERE or plain not in _HERE:
        return False
    english, chinese = _ELSEWHERE[name]
    return bool(chinese.sub("", words).strip("今天") if language_of(words) == "zh" else english.search(words))


_SAYING: Final = re.compile("say|tell|read", re.IGNORECASE)

_HERE: Final = frozenset({"what time is it", "现在几点", "what date is it today", "今天几号"})
"""Plain sentences that ask for the time and the date here."""


class Guess(Struct, frozen=True):
    """A plain sentence for what was said."""

    words: str
    is_sure: bool


def _of_used_up(reading: Reading | None, words: str) -> Reading | None:
    """Return what is read of something of which there is no more: it is to be bought, and not to come off a list."""
    if reading is None or reading.name not in _OF_NO_MORE or not re.search(USED_UP_ZH, words):
        return reading
    thing = dict(reading.slots).get("item") or dict(reading.slots).get("label")
    return replace(reading, name="list_add", slots=(("item", thing),)) if thing else None


def _with_the_last(reading: Reading | None, words: str) -> Reading | None:
    """Return what is read of a list with the last of its things, where "and" stands between that and what was read."""
    item = dict(reading.slots).get("item", "") if reading and reading.name in _OF_THINGS else ""
    found = _AND_LAST.fullmatch(words.rpartition(item)[2]) if item else None
    if reading is None or found is None or not names_things(found["thing"]):
        return reading
    if beginning("ordering", language_of(words)).match(found["thing"]):
        return reading  # bread, and call mum
    slots = ((slot, f"{said}{found['and']}{found['thing']}" if said == item else said) for slot, said in reading.slots)
    return replace(reading, slots=tuple(slots))


def _is_none(reading: Reading, words: str, intent: Intent, language: Language) -> bool:
    """Say whether the words want something else than the reading, spare something, or want it in some case alone."""
    is_outside = intent.name == "outside"
    is_sparing = reading.name in _OF_ALL and _SPARING.search(words) is not None
    is_conditional = reading.name not in _ONLY_TOLD and has_condition(words, language)
    is_denied = (
        reading.name in _SET_OR_MOVED and beginning("denying", language).match(words) is not None
    )  # not at seven
    is_no_list = reading.name == "list_tell" and _NO_LIST.search(words) is not None
    is_other = is_sparing or is_conditional or is_no_list or is_denied
    return is_other or wants_else(reading, words, language, is_outside=is_outside)


def guessed(state: DialogState, intent: Intent, understand: Understand) -> Guess | None:
    """Return what words that mean nothing alone probably want; None where that is nothing, or nobody can say.

    `intent` is what they are taken for. A house that understands orders of its own goes before what is only likely.
    """
    language = state.language
    bare_words = without_fillers(state.words, language)
    if state.is_doubtful or is_story(state.words, language):
        return None
    mended_words = mended(state.words, language)
    reading = _with_the_last(_of_used_up(network(language).read(mended_words), mended_words), mended_words)
    if reading is None or _is_none(reading, mended_words, intent, language):
        return None
    asks = is_question(bare_words)
    # "The eggs one was cancelled" may be an order badly heard, or somebody's news.
    is_of_others = reading.name == "wake" and is_statement(bare_words) and not _FOR_US.search(bare_words)
    is_told = is_of_others or anywhere(language, "reported", "told_of").search(bare(state.words)) is not None
    is_sure = reading.certainty >= (SURE_ASKED if asks else SURE[language])
    # The plumber is coming on Tuesday at ten; and what is told is kept without a question.
    is_news = reading.name.startswith(("ring_", "remember")) and is_statement(bare_words)
    is_other = asks or is_told or is_news or intent.name != "unknown"  # it may be known, or be nothing for a box
    if not is_sure and (is_other or reading.certainty < LIKELY[language]):
        return None
    is_nameless = reading.name == "ring_cancel" and not reading.slots
    is_sure = is_sure and not (is_told or is_nameless or reading.name in _ASKED_FIRST)
    if state.has(HOME_SAY) and not is_sure:
        return None
    plain = plainly(reading, language, understand)
    if plain is None or answer_sum(bare_words) or _is_of_other(reading.name, plain.words, bare_words):
        return None
    return Guess(plain.words, (is_sure and plain.is_whole) or reading.name in _ONLY_TOLD)
