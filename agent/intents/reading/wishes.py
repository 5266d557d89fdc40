"""Several wishes in one breath: turn the volume down, set an alarm for seven, and another for half past."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.intents.dialog_state import DialogState, ToolResult, Turn
from agent.intents.follow_up.corrections import denies
from agent.intents.follow_up.meaning import follow_up
from agent.intents.follow_up.of_lists import orders_of_list
from agent.intents.intent import TIMED, UNKNOWN, Intent, Language, Understand, language_of
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.house import names_device
from agent.intents.language.questions import is_question, is_statement
from agent.intents.language.wording import RUNG_FOR, anywhere, beginning, ending, mended, without, without_fillers
from agent.intents.reading.asides import aside_in
from agent.intents.reading.run_together import LONGEST, MOST, MOST_RINGING, are_too_many, parted
from agent.intents.reading.series import each_ordered
from agent.intents.reading.several import each_alone
from agent.intents.subjects import chance
from agent.intents.subjects.days import day_of, names_day
from agent.intents.subjects.lists import USUAL, added, removed
from agent.intents.subjects.lists import start as start_list
from agent.intents.subjects.rings.which_timer import RINGING, kinds_in
from agent.intents.subjects.sums.answer import answer_sum

MOST_JOINTS: Final = 3
"""Places in a sentence, and in what is left of it, at which it is tried whether it is two."""

LONGEST_DAY: Final = 3
"""Words that name a day: on Monday morning."""

MOST_CLAUSES: Final = 4
"""Of a sentence of which one is looked for that is a wish: each is understood by itself."""

_TOLD: Final = frozenset(
    {"timer_status", "time", "time_there", "date", "days_until", "weeks_until", "time_until", "week"}
)
_DONE: Final = frozenset(
    {"timer_cancel", "timer_cancel_all", "alarm_skip", "timer_change", "timer_pause", "timer_resume"}
    | {"volume_set", "volume_up", "volume_down", "volume_change"}
)
_LISTED: Final = frozenset(
    {"list_add", "list_remove", "list_change", "list_tell", "list_clear", "list_start", "list_names"}
)
_ASKED: Final = frozenset({"agenda", "agenda_next", "weather", "tasks", "volume_told", "coin", "draw"})
_ALIKE: Final = _TOLD | _ASKED
"""What is told once where it is asked in two ways."""

_OF_LISTED: Final = ("list_remove", "list_change")
"""What words mean that lean on the list spoken of: take the milk off; change the eggs to butter."""

_GONE_ON: Final = TIMED | {"list_start", "timer_cancel", "alarm_skip"}
"""What the next wish may lean on: and another for ten; canopy, eighty chairs, malt; cancel it and set one for six."""

_SUM: Final = "sum"
_WISHES: Final = {_SUM} | TIMED | _TOLD | _DONE | _LISTED | _ASKED
"""What may stand beside another wish: what is plain by itself, and takes no whole sentence as its own free text."""

_OF_ADDED: Final = re.compile(
    r"^(?:and |but |just )*(?:not|no)\b|\b(?:on|onto|to) (?:the|my|our)\b.*\blist\b|^(?:但是?)?不|[到进]", re.IGNORECASE
)
"""What says of something that is put on a list that it is not to stand there, or where it is put."""

_AT_ONCE: Final = frozenset({"repeat", "stop", "snooze", "what_can_you_do", "forget_last", "forget_other"})
"""What is wanted of the box itself; who says "hang on" or "go on" beside something else only says it so."""

_WEEKDAY: Final = f"(?:{WEEKDAY}s?|周[一二三四五六日天])"
_DAYS_ALONE: Final = re.compile(
    rf"(?:and )?{_WEEKDAY}(?:(?:,? and |, |[、和跟]){_WEEKDAY})*[.!?。！？]?", re.IGNORECASE
)
"""Days and nothing else, which want nothing by themselves."""

_CLAUSE: Final[Mapping[Language, str]] = {"en": r"[,;.?!]+\s+", "zh": r"[，。；？！,;?!]+"}
"""Between the clauses of a sentence."""

_BEFORE: Final = frozenset({"remember", "forget_other", "outside", "never_mind"})
"""What takes all that follows as its free text, and must not swallow a wish: an alarm must not end in a fact."""

_SOUGHT: Final = frozenset({"recall", "unknown"})
"""What a question is that nobody knows yet whether it can be answered."""

_NOT_OURS: Final = frozenset({"unknown", "outside"})
"""What an order is taken for that the house may know; it is told where nobody does, and ends no wish before it."""

_WHOLE: Final = (_DONE | _TOLD | {"list_remove"}) - {"timer_change"}
"""What an order behind it is no part of: turn it up and put Radio 4 on."""

_FREE: Final = frozenset({"label", "item", "list", "topic", "fact", "message", "outside", "rest", "name"})
"""Slots of free text."""

_TOOLS: Final[Mapping[str, str]] = {"timer_start": "set_timer", "alarm": "set_alarm"} | dict.fromkeys(
    ("timer_cancel", "alarm_skip"), "cancel_timer"
)
"""What will have been called for a wish when the next one is looked at."""

_LISTED_AS: Final[Mapping[str, Callable[[DialogState, Intent], str]]] = {
    "list_start": start_list,
    "list_add": added,
    **dict.fromkeys(_OF_LISTED, removed),
}
"""What will have been told of a list by then."""


def wishes(state: DialogState, understand: Understand, said: str = "") -> list[str]:
    """Return the words of each wish in what the person said, in order; the words whole where they are one.

    `said` is what they said before, where their words are the yes to it.

    They are several where each part is a wish after those before it, and the whole is not one that needs them all: "an
    hour and a half" is one length, and what somebody is to be reminded of may have an "and" in it.
    """
    words = mended(said or state.words, state.language)
    is_of_all = anywhere(state.language, "of_all").search(words)  # the average of 3, 5 and 10
    if len(words) > LONGEST[state.language] or state.is_doubtful or is_of_all or are_too_many(words):
        return [state.words]
    aside = aside_in(words)
    words = words.removesuffix(aside)
    alike = each_ordered(words) or each_alone(parted(words))
    several = _parted(state, alike, understand, MOST if alike == words else MOST_RINGING)
    return [*several[:-1], several[-1] + aside] if several else [state.words]


class Clause(Struct, frozen=True):
    """The part of a sentence that is a wish."""

    words: str
    rest: str
    """What else wants something in it, and was not understood."""
    told: str
    """What was only told before it, and may be what it is for."""

    def named(self, intent: Intent) -> Intent:
        """Return what rings with what it is for."""
        is_nameless = intent.name in TIMED | {"ask_when"} and not intent.text("label")
        return Intent(intent.name, {**intent.slots, "label": self.told}) if is_nameless and self.told else intent


def clause_of(state: DialogState, understand: Understand) -> Clause | None:
    """Return the one part of a sentence that is a wish where it means nothing as it is; None where there is none.

    Take the eggs off, Tom's just come back with some.
    """
    language = state.language
    if len(state.words) > LONGEST[language]:
        return None
    words = mended(state.words, language)
    clauses = [each.strip() for each in re.split(_CLAUSE[language], words) if each.strip()]
    if not 1 < len(clauses) <= MOST_CLAUSES or anywhere(language, "reported").search(words):
        return None
    also = (_DONE | _LISTED) - (set() if language == "zh" else {"timer_change"})  # "it's a quarter past now" tells
    meant = {each: _meant(state, each, understand, *also) for each in clauses}
    plain = [each for each in clauses if _is_plain(meant[each], each) or _is_of_day(meant[each])]
    wanted = [each for each in plain if "called" not in meant[each].slots]  # 是给他老婆了，叫希拉: that names no timer
    if not wanted or len({understand(each).name for each in wanted}) > 1:
        return None
    others = [each for each in clauses if each not in wanted]
    rest = [each for each in others if _asks(each) or _orders(each, language)]
    before = clauses[clauses.index(wanted[0]) - 1] if clauses.index(wanted[0]) and not rest else ""
    return Clause(wanted[0], " ".join(rest), without(before, "before_label", "after_label", language))


def _orders(words: str, language: Language) -> bool:
    order = beginning("ordering", language).match(without_fillers(words, language))
    return order is not None or anywhere(language, *RUNG_FOR).search(words) is not None


def _is_plain(intent: Intent, words: str) -> bool:
    """Say whether a clause wants something by itself; a question may be one that was only told of."""
    is_free = any(intent.text(slot) and intent.text(slot) == words for slot in _FREE)
    return intent.name in _WISHES | _AT_ONCE and not is_free


def _is_of_day(intent: Intent) -> bool:
    """Say whether something is to be remembered on a day, or in a part of this one, at an hour of ours."""
    return intent.name == "ask_when" and (names_day(intent) or bool(intent.text("period")))


def _parted(state: DialogState, words: str, understand: Understand, most: int) -> list[str]:
    joints = sorted(anywhere(state.language, "joint").finditer(words), key=lambda each: not each.group())[:MOST_JOINTS]
    whole = _meant(state, words, understand, "list_change") if joints else UNKNOWN
    for joint in joints:
        left, right = words[: joint.start()].strip(), words[joint.end() :].strip()
        if _DAYS_ALONE.fullmatch(right):
            continue  # on Monday and Tuesday
        first = _meant(state, left, understand, "timer_cancel", *_OF_LISTED) if left and right else UNKNOWN
        is_instead = first.name in _OF_LISTED and orders_of_list(right)  # 改买咖啡
        if not _may_begin(first, left) or (_takes_back(state, left, right) and not is_instead):
            continue
        after = _after(state, left, first)
        if first.text("label") and state.language == "en":
            right = _with_and(after, right, understand)
        rest = (_parted(after, right, understand, most - 1) if most > 2 else []) or [right]
        second = _next(after, first, rest[0], understand)
        is_lost = whole == first or beginning("for_who_asks", state.language).match(right)
        is_dropped = first.name in TIMED and is_lost and _is_left_over(second, right, state.language)
        if is_dropped or (_may_follow(first, second, rest[0]) and not _is_one(whole, first, second, left, right)):
            return [_on_its_day(left, first, rest[0], understand) if second.name in TIMED else left, *rest]
    return []


def _next(after: DialogState, first: Intent, words: str, understand: Understand) -> Intent:
    """Return what words mean that go on from the wish before them.

    Only what rings is gone on with: "fish and chips nine" is a password, and no second alarm. From a list on which
    something was just put something else may come off, but for what is to be done and stands there: "to the list". On
    one that something came off, what has a verb of its own goes: "and eggs" is one thing more that comes off.
    """
    if first.name in _GONE_ON:
        return _meant(after, words, understand)
    alone = _alone(words, understand)
    if alone.name in _WISHES or first.name not in {"list_add", *_OF_LISTED}:
        return alone
    meant = _meant(after, words, understand, "list_tell", *_OF_LISTED)
    if _OF_ADDED.search(words) or meant.name == "list_tell":
        return meant if meant.name == "list_tell" else alone
    if first.name in _OF_LISTED:
        return meant if orders_of_list(words) else alone
    if alone.name == "outside" and meant.name == "list_add":
        return UNKNOWN  # to ring mum is a thing on a list of what is to be done
    return meant if meant.name in _OF_LISTED else alone


def _with_and(after: DialogState, words: str, understand: Understand) -> str:
    """Return the words with the "and" that a comma stood for: at five to feed the cat, at six to water the plants."""
    clause = re.split(_CLAUSE["en"] + "| and ", words, maxsplit=1)[0]
    if beginning("another", "en").match(words) or understand(clause).name in _WISHES:
        return words
    meant = _meant(after, f"and {clause}", understand)
    is_alike = meant.name in TIMED and clause.casefold().endswith(f" to {meant.text('label').casefold()}")
    return f"and {words}" if is_alike else words


def _on_its_day(left: str, first: Intent, right: str, understand: Understand) -> str:
    """Return the words of a wish with the day that is said behind the next one: at seven and half past seven tomorrow.

    It is meant for both where the next one is no wish alone, and the first no series with days of its own.
    """
    if first.name != "alarm" or names_day(first) or first.text("repeat") or understand(right).name in _WISHES:
        return left
    words = right.split()
    for number in range(1, min(LONGEST_DAY, len(words) - 1) + 1):
        both = f"{left} {' '.join(words[-number:])}"
        found = understand(both)
        if names_day(found) and found.slots == {**first.slots, **day_of(found)}:
            return both
    return left


def _may_begin(first: Intent, words: str) -> bool:
    return first.name in _WISHES | _BEFORE or _is_of_day(first) or (first.name in _SOUGHT and _asks(words))


def _may_follow(first: Intent, second: Intent, words: str) -> bool:
    """Say whether the second of two is a wish of its own after the first; two questions, where one may be known."""
    if first.name in _BEFORE:
        return (second.name in _WISHES or _is_of_day(second)) and not beginning("that", language_of(words)).match(words)
    is_begun = "begins" in first.slots  # the pasta needs ten minutes, set a timer
    is_asked_when = second.name == "ask_when" and first.name in _DONE and not is_begun and _rings_itself(words)
    if is_asked_when or (second.name in _NOT_OURS and first.name in _WHOLE and _wants_else(words, second)):
        return True
    is_of_other = second.name == "outside" and first.name.startswith("list_")  # ring mum is no thing to buy
    if second.name in _NOT_OURS and (is_of_other or beginning("of_box", language_of(words)).match(words)):
        return first.name not in _SOUGHT
    if second.name == "remember" and beginning("to_keep", language_of(words)).match(words):
        return True
    is_known = first.name not in _SOUGHT or "recall" in {first.name, second.name}
    return second.name in _WISHES or _is_of_day(second) or (second.name in _SOUGHT and is_known and _asks(words))


def _wants_else(words: str, intent: Intent) -> bool:
    """Say whether words behind a wish that is whole want something that nobody here understands, and is told so.

    They order it, or name what stands in the house: turn the volume down and the radio too.
    """
    language = language_of(words)
    order = beginning("more_wanted", language).sub("", words, count=1)
    is_order = intent.name == "outside" or beginning("ordering", language).match(order) or names_device(order, language)
    return bool(is_order) and not words.rstrip().endswith(("?", "？")) and not is_statement(order)


def _is_left_over(second: Intent, words: str, language: Language) -> bool:
    """Say whether more is wanted behind a wish that nobody here understands: without a word it must not be left out."""
    more = beginning("more_wanted", language).match(words) if second.name in _NOT_OURS else None
    rest = words[more.end() :] if more else ""
    return bool(rest) and not is_statement(rest) and not beginning("courteous", language).match(words)


def _asks(words: str) -> bool:
    """Say whether words ask outright, as no clause within a sentence does."""
    language = language_of(words)
    return is_question(without_fillers(words, language)) and bool(beginning("asking_outright", language).match(words))


def _meant(state: DialogState, words: str, understand: Understand, *also: str) -> Intent:
    """Return what words mean after those before them, where that rings or is one of `also`; else their own meaning."""
    alone = _alone(words, understand)
    said = replace(state, turn=Turn(replace(state.turn.block, words=words)))
    after = follow_up(said, alone, understand)
    return after if after.name in TIMED or after.name in also or after.name == "list_add" else alone


def _alone(words: str, understand: Understand) -> Intent:
    alone = understand(words)
    if alone.name not in _WISHES and answer_sum(without_fillers(words, language_of(words))):
        return Intent(_SUM, {"fact": words})
    return alone


def _takes_back(state: DialogState, left: str, right: str) -> bool:
    """Say whether what stands at a joint takes back what was said before it: at seven, no, at eight.

    Or what was set before: don't wake me at seven, wake me at eight.
    """
    language = state.language
    if ending("objecting", language).search(left) or beginning("objecting", language).match(right):
        return True
    is_set = any(result.tool in RINGING for turn in state.last_said() for result in turn.results)
    return is_set and denies(f"{left}, {right}", language)


def _after(state: DialogState, words: str, intent: Intent) -> DialogState:
    """Return the state as it will be when a wish was fulfilled."""
    called = (ToolResult(_TOOLS[intent.name], ""),) if intent.name in _TOOLS else ()
    of_list = _LISTED_AS.get(intent.name)
    told = (of_list(state, intent),) if of_list else ()
    return replace(state, earlier=(*state.earlier, Turn(replace(state.turn.block, words=words), called, told)))


def _is_one(whole: Intent, first: Intent, second: Intent, left: str, right: str) -> bool:
    """Say whether a sentence that could be two wishes is rather one."""
    if whole.name == _SUM or whole.name in chance.INTENTS:
        return True  # two and a half times four; roll a die, who does the dishes
    if _is_one_of_list(whole, second, right):
        return True
    is_same = first == second and kinds_in(left) == kinds_in(right)  # the timer, and the alarm
    if is_same or (first.name == second.name and first.name in _ALIKE and _values(first) == _values(second)):
        return True  # said twice
    is_plain = (
        second.name in TIMED
        or _is_of_day(second)
        or second.text("list")
        or is_question(without_fillers(right, language_of(right)))
    )
    if first.name in TIMED | {"ask_when"} and _ends_in_text(first, left) and not is_plain:
        return True  # to be reminded of it
    if second.name in TIMED and second.text("label") and _rings_itself(right):
        return False  # wake me tomorrow at six and remind me at half past six to feed the cat
    parts, all_ = [_values(first), _values(second)], _values(whole)
    return whole.name in _WISHES and all_ not in parts and {*parts[0], *parts[1]} <= {*all_}


def _is_one_of_list(whole: Intent, second: Intent, right: str) -> bool:
    """Say whether two are one of a list: take the apples off, pears instead; call mum and ring dad, to be done."""
    if whole.name == "list_change":
        return whole.text("instead") == second.text("item")
    is_to_do = whole.name == "list_add" and whole.text("list") not in {"", *USUAL.values()}
    return is_to_do and second.name == "outside" and whole.text("list") in right


def _rings_itself(words: str) -> bool:
    """Say whether words begin with what asks to be rung for."""
    language = language_of(words)
    return anywhere(language, *RUNG_FOR).match(without_fillers(words, language)) is not None


def _ends_in_text(intent: Intent, words: str) -> bool:
    return any(text and words.endswith(text) for text in (intent.text(slot) for slot in _FREE))


def _values(intent: Intent) -> list[str]:
    """Return what an intent wants in figures and names of days, without its free text and whether it wakes."""
    return sorted(str(value) for name, value in intent.slots.items() if name not in _FREE | {"wakes"})
