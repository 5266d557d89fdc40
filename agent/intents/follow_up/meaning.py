"""What words mean after those before them, by what these were about; a yes means what was asked back."""

import re
from collections.abc import Iterator
from typing import Final

from agent.intents.dialog_state import DialogState, Turn
from agent.intents.follow_up.in_full import ASKED_THERE
from agent.intents.follow_up.of_lists import of_listed, of_lists
from agent.intents.follow_up.of_timers import of_timers
from agent.intents.follow_up.which_one import of_several
from agent.intents.intent import Intent, Language, Understand, language_of
from agent.intents.language.enumerations import names_things
from agent.intents.language.questions import is_question, is_statement
from agent.intents.language.wording import anywhere, bare, beginning, is_story, mended, without_fillers
from agent.intents.saying.phrases import gaps, phrase
from agent.intents.subjects import chance, unknown
from agent.intents.subjects.lists import LOOKED_BACK, USUAL, replies_in, spoken_of
from agent.intents.subjects.recall import put_right
from agent.intents.subjects.rings.pausing import is_of_pause
from agent.intents.subjects.rings.which_timer import RINGING

_TIMERS: Final = RINGING | {"list_timers", "cancel_timer"}
"""Tools by which a turn was about what rings."""

_PLACES: Final = frozenset({"time", "time_there"})

_OPEN: Final = frozenset(
    {"unknown", "recall", "yes", "no", "never_mind", "ask_when", "timer_start", "alarm", "hello", "outside", "repeat"}
    | {"voice_correct", "forget_last"}
)
"""What words may be taken for, alone, that mean something else after a timer was set."""

_AGAIN: Final = frozenset({"repeat", "unknown", "yes"})
"""What "again" and "do it again" mean alone."""

_LOUD: Final[dict[Language, str]] = {"en": "set the volume to {}", "zh": "音量调到{}"}
"""A whole sentence of which how loud it is to be may be the rest."""

_RIGHTED: Final = frozenset({"voice_correct", "remember"})
"""What words may be taken for, alone, that put right what was to be kept: 我又挪到保险柜了."""

MOST_CLAUSES: Final = 4
"""Of what was said before, of which one may have tossed a coin."""

_VAGUE: Final = frozenset(
    {"unknown", "recall", "outside", "remember", "no", "never_mind", "timer_change", "timer_cancel", "forget_other"}
)
"""What words may be taken for, alone, that say of a thing on a list that it is not wanted, or how much of it is."""


def asked_back(state: DialogState) -> tuple[str, bool]:
    """Return the words of the person that were asked back just before ("": something else), and whether twice."""
    people = [turn for turn in state.earlier if turn.block.is_human][-2:]
    if not people or not state.follows(people[-1]):
        return "", False
    for name, turn in (("did_you_say", people[-1]), ("to_be_sure", people[0])):
        words = turn.words
        questions = {phrase(name, language, words=bare(words)) for language in ("en", "zh")}
        if questions & set(people[-1].replies):
            return words, name == "to_be_sure"
    read = (gaps("did_you_mean", reply, language) for language in ("en", "zh") for reply in people[-1].replies)
    return next((each["words"] for each in read if each), ""), False


def said_yes_to(state: DialogState, understand: Understand) -> str:
    """Return the words that were asked back, where the present ones are the yes to it; else ""."""
    asked, _ = asked_back(state)
    return asked if asked and understand(state.words).name == "yes" else ""


def follow_up(state: DialogState, intent: Intent, understand: Understand) -> Intent:
    """Return what the words mean after those before them; the intent that they have alone where that is all."""
    before = next(iter(state.last_said()), None)
    if before is None or is_story(state.words, state.language):
        return intent
    return next(_meanings(state, before, intent, understand), intent)


def _meanings(state: DialogState, before: Turn, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean after the turn before them, the likeliest first."""
    words, language = mended(state.words, state.language), state.language
    plain = without_fillers(bare(words), language)
    yield from of_several(state, before, understand)
    if is_of_pause(before, state) and anywhere(language, "go_on_with").fullmatch(plain):
        yield Intent("timer_resume")
    if intent.name == "wait" and _is_of_timers(before, state) and beginning("pause_it", language).match(plain):
        yield Intent("timer_pause", {"newest": 1})
    if intent.name == "remember" and (noted := _noted(state, plain)):
        yield Intent("list_add", {"item": noted})
    if intent.name in _VAGUE:
        yield from of_listed(words, state.last_said(LOOKED_BACK))
    # "Make that half past seven" calls no timer "half past".
    opened = beginning("correcting", language).sub("", state.words, count=1)
    is_change = intent.name == "timer_change" and beginning("changing", language).match(opened)
    is_righted = intent.name in _RIGHTED and understand(before.words).name == "remember"
    if not is_change and not is_righted and intent.name not in _OPEN:
        return
    if asked_back(state)[0] and beginning("objecting", language).match(words):
        return  # no, half past nine: of what was asked back, and not of what rings already
    yield from _tossed_again(words, before, intent, understand)
    is_of_lists = bool(spoken_of(before.replies, language))
    if any(_is_of_timers(turn, state) for turn in state.last_said(1 if is_of_lists else 2)):
        yield from of_timers(words, intent, before, understand)
    elif is_of_lists and not (intent.name == "outside" and beginning("of_box", language).match(words)):
        yield from of_lists(words, before, intent, understand)
    else:
        if intent.name in {"unknown", *_RIGHTED} and (fact := put_right(state.words, before, language)):
            yield Intent("put_right", {"fact": fact})
        yield from _of_others(words, before, intent, understand)


def _noted(state: DialogState, words: str) -> str:
    """Return the things that are noted down while a list is spoken of, of which nothing is told; "" for a fact."""
    noting = beginning("noting", state.language).match(words)
    things = words[noting.end() :] if noting else ""
    named = spoken_of(replies_in(state.last_said(LOOKED_BACK)), state.language)
    is_to_do = beginning("ordering", state.language).match(things) is not None  # call mum, which is nothing to buy
    is_of_list = bool(named) and not (is_to_do and named == USUAL[state.language])
    return things if is_of_list and names_things(things) and not is_statement(things) else ""


def _tossed_again(words: str, last: Turn, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what was left to chance in the last turn, where it is wanted once more: best of three; 再来一次."""
    language = language_of(words)
    if intent.name not in _AGAIN or anywhere(language, "once_more").search(words) is None:
        return
    tossed = (understand(clause) for clause in (last.words, *re.split("[,，.。]", last.words)[:MOST_CLAUSES]))
    yield from (each for each in tossed if each.name in chance.INTENTS)
    if {phrase("heads", language), phrase("tails", language)} & set(last.replies):
        yield Intent("coin")


def _of_others(words: str, last: Turn, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean after a change of the volume, something to be kept, or the time of a place."""
    language, before = language_of(words), understand(last.words)
    if any(each.tool == "set_volume" for each in last.results):
        opened = beginning("correcting", language).match(words)
        level = understand(_LOUD[language].format(bare(words[opened.end() if opened else 0 :])))
        yield from [level] * (level.name == "volume_set" and bool(level.slots))
        is_more = before.name in {"volume_up", "volume_down"} and beginning("more_of_it", language).match(words)
        yield from [before] * bool(is_more)
    if intent.name == "unknown" and _goes_on_telling(words, language) and before.name == "remember":
        yield Intent("remember", {"fact": without_fillers(words, language)})
    asked = beginning("elsewhere", language).match(words)
    if asked and before.name in _PLACES:
        there = understand(ASKED_THERE[language].format(without_fillers(words[asked.end() :], language)))
        yield from [there] * (there.name in _PLACES)


def _is_of_timers(turn: Turn, state: DialogState) -> bool:
    """Say whether a turn was about what rings: where it was looked for in all that was said, or in vain, it was not."""
    called = {result.tool for result in turn.results}
    if any(unknown.needs_model(state, reply) for reply in turn.replies):
        return False
    return bool(_TIMERS & (called - {"list_timers"} if "recall" in called else called))


def _goes_on_telling(words: str, language: Language) -> bool:
    """Say whether words tell one thing more after something that was to be kept."""
    if is_question(words) or beginning("ordering", language).match(without_fillers(words, language)):
        return False
    return anywhere(language, "states").search(words) is not None
