"""What to do next without a model: rules in place of thought, as a pure function of the dialogue."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from msgspec.structs import replace

from agent.event import CALENDAR, HOME_WATCH, MODEL_AVAILABLE, TIMER
from agent.intents.dialog_state import Action, DialogState, Turn
from agent.intents.follow_up.in_full import in_full, of_told, sum_on
from agent.intents.follow_up.meaning import asked_back, follow_up, said_yes_to
from agent.intents.follow_up.of_house import said_in_full
from agent.intents.follow_up.of_one_breath import of_one_day
from agent.intents.intent import TIMED, UNKNOWN, Intent, Understand
from agent.intents.judging.exceptions import all_but, named_alone
from agent.intents.judging.guessing import Guess, guessed
from agent.intents.judging.misgivings import is_talk, not_read, passed_on, told_not_to
from agent.intents.language.wording import anywhere, bare, mended, without_fillers
from agent.intents.reading import ringing
from agent.intents.reading.asides import without_aside
from agent.intents.reading.understanding import load_understanding
from agent.intents.reading.wishes import clause_of, wishes
from agent.intents.saying.phrases import phrase
from agent.intents.skills import NO_SKILL, SKILLS, Skill
from agent.intents.subjects import agenda, almanac, chance, recall, unknown, voices, weather
from agent.intents.subjects.home import HOME_SAY, WORDS, said_at_home, told_of_watch, watched_at_home
from agent.intents.subjects.lists import LOOKED_BACK, replies_in, spoken_of
from agent.intents.subjects.needed import First
from agent.intents.subjects.rings import pausing, telling, timers
from agent.intents.subjects.sums.answer import answer_clause, answer_sum
from agent.tools.tool import unmarked
from memory.json_value import fields

_NOTHING_DONE: Final = "No model could be reached; nothing was done yet."
"""The note that its own events are put back with."""

_NOT_HERE: Final = frozenset({"unknown", "outside"})
"""What only a house or a model may understand."""

_COURTESY: Final = frozenset({"thanks", "hello"})
"""What words begin with that may be an order too: lovely, he's outside, cancel the two o'clock one."""

_TOO_LONG: Final = re.compile(r"\d{50}")
"""A number that nobody says, and no sum, search or house is asked about."""

_OPEN: Final = frozenset({"recall", "unknown"})
"""What words mean that are no command."""

_ENDINGS: Final = frozenset({"complete_event", "suspend_event"})
"""Tools whose call ends an event, unless a person spoke over the reply before it."""

_REHEARSED = (
    *(
        "what time is it",
        "set a timer for five minutes",
        "set an alarm for six thirty",
        "volume to ten",
        "volume down by ten",
    ),
    *("现在几点了", "设置五分钟的计时器", "定一个七点十分的闹钟", "把音量调到百分之十"),
)
"""Understood while warming, because hassil makes its tables of numbers at the first sentence that needs them."""

_RECKONED: Final = "how many grams is an ounce"
"""Reckoned while warming, because pint takes 0.3 s to load with its units."""


class Rules:
    """The rules, and the sentences of one event as they are understood: its steps read the same words again.

    No words stay when the event has ended: what is forgotten is kept nowhere.
    """

    def __init__(self) -> None:
        self._understand = cache(load_understanding())

    def decide(self, state: DialogState) -> list[Action]:
        """Return the calls of the next answer."""
        if not state.turn.results:  # another event, and the one before may have been broken off
            self._understand.cache_clear()
        actions = decide(state, self._understand)
        if any(action.tool in _ENDINGS for action in actions):
            self._understand.cache_clear()
        return actions

    def rehearse(self) -> None:
        """Understand what people often say, and reckon with measures, of which the first needs all units made."""
        for words in _REHEARSED:
            self._understand(words)
        self._understand.cache_clear()
        answer_sum(_RECKONED)


def decide(state: DialogState, understand: Understand) -> list[Action]:
    """Return the calls of the next answer; the last of them ends the event as soon as there is something to say."""
    if not state.turn.block.is_human:
        return _ended(state) or _without_person(state)
    if state.turn.block.situation.get("Confirmed") and state.turn.results:
        return _ended(state) or _say(state, _confirmed(state), "confirmed")
    parts = wishes(state, understand, said_yes_to(state, understand) or of_told(state, understand))
    told, state = _begun(state, parts)
    return _ended(state) or _one_by_one(state, parts[told:], lambda each: _of_wish(each, understand))


def _begun(state: DialogState, parts: Sequence[str]) -> tuple[int, DialogState]:
    """Return how many of the wishes were told already, and the state as the present one sees it: those are earlier.

    Each ends with its own reply, whatever became of that; the last one stays present.
    """
    if len(parts) == 1:
        return 0, state
    told: list[Turn] = []
    results, replies = list(state.turn.results), list(state.turn.replies)
    while len(told) < len(parts) - 1:
        end = next((number for number, each in enumerate(results, 1) if each.tool == "reply"), 0)
        if not end:
            break
        block = replace(state.turn.block, words=parts[len(told)])
        told.append(Turn(block, tuple(results[:end]), tuple(replies[:1])))
        results, replies = results[end:], replies[1:]
    present = Turn(replace(state.turn.block, words=parts[len(told)]), tuple(results), tuple(replies))
    return len(told), replace(state, earlier=(*state.earlier, *told), turn=present)


def _one_by_one(
    state: DialogState, parts: Sequence[str], answer: Callable[[DialogState], list[Action]]
) -> list[Action]:
    """Return the calls of the next answer to the first of the wishes, and of the next ones as far as it is told.

    What is said of one wish goes with the first calls of the next: an answer that only replies ends an event.
    """
    actions = answer(state)
    said = next((action for action in actions if action.tool == "reply"), None)
    if len(parts) == 1 or said is None:
        return actions
    before = replace(state.turn, replies=(str(said.arguments["text"]),))
    present = Turn(replace(state.turn.block, words=parts[1]))
    after = replace(state, earlier=(*state.earlier, before), turn=present)
    return [said, *_one_by_one(after, parts[1:], answer)]


def _ended(state: DialogState) -> list[Action]:
    """Return the end of an event that was answered, [] while it was not."""
    if not state.turn.ends_in_words:
        return []
    return _complete(state, "replied") or _say(state, phrase("fine", state.language), "replied")


def _of_wish(state: DialogState, understand: Understand) -> list[Action]:
    """Return the calls of the next answer to one wish; what somebody else is said to want is asked about first."""
    if order := passed_on(state, understand):
        return _say(state, phrase("did_you_mean", state.language, words=order), "asked back")
    try:
        return _of_one(state, understand)
    except First as first:  # what is to be looked up before anybody knows what is meant
        return _told(state, first.outcome, "looked up")


def _of_one(state: DialogState, understand: Understand) -> list[Action]:
    """Return the calls of the next answer to one wish."""
    state = named_alone(in_full(state, understand), understand)
    if kept := Intent("declined") if told_not_to(state) else all_but(state, understand):
        return _answer(state, kept, understand, "")
    state, rest = without_aside(state, understand)
    said, alone = state, _meant(state, understand)
    if alone.name in ringing.VAGUE and (told := _sum_at_once(state)):
        return _say(state, told, "sum")
    intent = ringing.of_ringing(state, alone, understand)
    if intent.name in ringing.VAGUE | _COURTESY and (clause := clause_of(state, understand)):
        state, rest = state.in_words(clause.words), bare(clause.rest)
        intent = clause.named(_meant(state, understand))
        rest = "" if intent.name in chance.INTENTS else rest  # whose turn is it, toss a coin
    guess = guessed(state, intent, understand) if intent.name in ringing.VAGUE else None
    meaning = understand(guess.words) if guess else UNKNOWN
    guess = None if guess and is_talk(said, meaning) else guess
    is_known = guess and not _is_of_list_spoken_of(state, meaning) and _is_known(state, understand)
    if guess and not is_known:
        if asked := _asked_first(said, guess, meaning):
            return asked
        state = state.in_words(guess.words)
        intent = ringing.of_ringing(state, _meant(state, understand), understand)
        intent = replace(intent, slots={**intent.slots, "guessed": said.words})
    if is_talk(said, intent):
        state, intent = said, UNKNOWN
    return _answer(state, intent, understand, rest)


def _asked_first(state: DialogState, guess: Guess, meaning: Intent) -> list[Action]:
    """Return what is said of a guess that leaves something out, or is only likely; [] where it is sure."""
    if unread := not_read(state, meaning):
        return _say(state, unread, "not done")
    asked = phrase("did_you_mean", state.language, words=guess.words)
    return [] if guess.is_sure else _say(state, asked, "asked back")


def _sum_at_once(state: DialogState) -> str:
    """Return what goes on from the last sum, or that a number is too long to be reckoned with; else ""."""
    return phrase("number_too_long", state.language) if _TOO_LONG.search(state.words) else answer_sum(sum_on(state))


def _is_of_list_spoken_of(state: DialogState, intent: Intent) -> bool:
    """Say whether a list that was just spoken of is asked for, which goes before what was told of the thing."""
    return intent.name == "list_tell" and bool(spoken_of(replies_in(state.last_said(LOOKED_BACK)), state.language))


def _is_known(state: DialogState, understand: Understand) -> bool:
    """Say whether something was told that answers a question. Raises First with the calls that look it up."""
    may_be = state.has("recall") and recall.may_be_known(state)
    return may_be and recall.recall(state, understand) not in {"", phrase("not_found", state.language)}


def _answer(state: DialogState, intent: Intent, understand: Understand, rest: str) -> list[Action]:
    """Return the calls of the next answer to what is wanted; `rest` was said beside it and not understood."""
    if intent.name in agenda.INTENTS and not state.has(agenda.TOOL):
        intent = Intent("recall", {"agenda": 1})  # somebody may have told it, or it may ring
    if intent.name == weather.INTENT and not state.has(weather.TOOL):
        intent = Intent("outside", {"weather": 1})  # the house may know it
    if intent.name in voices.INTENTS and not voices.may_act(state, intent):
        state, intent = voices.as_told(state, intent)
    if unread := not_read(state, intent):
        return _say(state, unread, "not done")
    try:
        outcome = _outcome(state, of_one_day(state, intent, understand), understand)
    except First as first:
        outcome = first.outcome
    return _told(state, outcome, intent.name, rest)


def _told(state: DialogState, outcome: list[Action] | str, summary: str, rest: str = "") -> list[Action]:
    """Return the calls of an outcome, or those that say it, with the `rest` that was not understood."""
    if isinstance(outcome, str):
        left = f" {phrase('rest_unclear', state.language, rest=rest)}" if rest else ""
        return _say(state, outcome + left, summary)
    has_all = all(state.has(action.tool) for action in outcome)
    return outcome if has_all else _say(state, phrase("cannot", state.language), summary)


def _outcome(state: DialogState, intent: Intent, understand: Understand) -> list[Action] | str:
    """Return what is to be done next, or said; words that no command fits may be a sum, the house's, or a question."""
    if intent.name == "timer_status" and state.has("list_timers") and (told := pausing.status(state, intent)):
        return told
    if intent.name == "timer_status":
        intent = almanac.in_days(without_fillers(state.words, state.language), understand) or intent
    if intent.name in {"recall", "unknown", "timer_status", "outside"}:
        plain = without_fillers(state.words, state.language)
        whole = mended(plain, state.language)
        sums = map(answer_sum, dict.fromkeys((state.words, plain, whole)))
        if told := next(filter(None, sums), "") or answer_clause(whole):
            return told
        if at_home := watched_at_home(state) or said_at_home(state, intent.text(WORDS) or said_in_full(state)):
            return at_home
        if state.has("recall") and intent.name != "outside":
            return _recall(state, intent, understand)
        intent = UNKNOWN if intent.name == "timer_status" and state.has("list_timers") else intent
    skill = _skill(intent)
    if skill.tool and not state.has(skill.tool):
        return phrase("no_volume" if skill.tool == "set_volume" else "cannot", state.language)
    return skill.answer(state, intent) or unknown.told(state, UNKNOWN)


def _skill(intent: Intent) -> Skill:
    return SKILLS.get(intent.name, NO_SKILL)


def _confirmed(state: DialogState) -> str:
    """Tell what came of the call that a person said yes to."""
    result = state.turn.results[-1]
    if result.has_failed:
        return phrase("failed", state.language, reason=result.reason)
    if result.tool == "device" and not result.is_uncertain:  # it answers with a sentence
        return result.result
    answer = fields(result.value).get("answer")
    if isinstance(answer, str) and answer:  # of whoever was told to do it, as a house that speaks
        return unmarked(answer)
    return phrase("perhaps_done" if result.is_uncertain else "done", state.language)


def _recall(state: DialogState, intent: Intent, understand: Understand) -> str:
    """Answer from what was told, or from what will ring; words that no command fits may be a question for it too."""
    if intent.number("until"):
        return almanac.days_until_told(state, intent, understand)
    is_asked = intent.name == "recall" or recall.may_be_known(state)
    told = recall.recall(state, understand) if is_asked else ""
    if told == phrase("nothing_kept", state.language) and state.has("list_timers"):
        ringing_too = timers.status(state, Intent("timer_status"))
        told = told if ringing_too == phrase("timer_none", state.language) else ringing_too
    nothing = {"", phrase("not_found", state.language)}
    if told in nothing and state.has("list_timers"):
        told = (_agenda_of_timers(state, intent) if "agenda" in intent.slots else timers.due(state)) or told
    if told in nothing and intent.name == "timer_status":
        told = timers.all_of_them(state) or told
    return told or (phrase("not_found", state.language) if intent.name == "recall" else unknown.told(state, intent))


def _agenda_of_timers(state: DialogState, intent: Intent) -> str:
    """Answer what is on where there is no calendar to ask."""
    told = timers.status(state, intent)
    return phrase("agenda_no_calendar", state.language) if told == phrase("timer_none", state.language) else told


def _say(state: DialogState, words: str, summary: str) -> list[Action]:
    """Return the reply and, where there is such a tool, the end of the event."""
    return [Action("reply", {"text": words}, needs_model=unknown.needs_model(state, words)), *_complete(state, summary)]


def _complete(state: DialogState, summary: str) -> list[Action]:
    done = state.action("complete_event", summary=f"offline: {summary}")
    return [done] if state.has("complete_event") else []


def _without_person(state: DialogState) -> list[Action]:
    """Announce a timer that did not ring by itself, and a reminder; put the rest back until a model can think of it."""
    block = state.turn.block
    if block.event_type == TIMER:
        if block.situation.get("Rang") and state.has("complete_event"):
            return _complete(state, "it rang")
        return _say(state, telling.announce(state), "announced")
    if block.event_type == CALENDAR:
        return _say(state, agenda.announce(state), "announced")
    if block.event_type == HOME_WATCH:
        return _say(state, told_of_watch(state.words), "announced")
    if not state.has("suspend_event"):
        return _complete(state, "left undone, no model can be reached") or _say(state, _NOTHING_DONE, "left undone")
    note = block.situation.get("Note") or _NOTHING_DONE
    return [replace(state.action("suspend_event", note=note, wake_on=MODEL_AVAILABLE), needs_model=True)]


def _meant(state: DialogState, understand: Understand) -> Intent:
    """Return what the words mean after what was said before: a yes means what was asked back."""
    intent = _with_time(state, understand)
    asked, is_sure = asked_back(state)
    if asked and intent.name == "yes":
        wanted = understand(asked)
        wanted = Intent("unknown", {WORDS: asked}) if wanted.name in _NOT_HERE else wanted
        return Intent("unsure_yes") if state.is_doubtful and _skill(wanted).is_final and not is_sure else wanted
    if asked and intent.name == "no":
        return Intent("declined")
    intent = follow_up(state, intent, understand)
    if not state.is_doubtful:
        return intent
    if intent.name in _NOT_HERE:
        return _unsure_at_home(state, asked)
    is_said_twice = bool(asked) and understand(asked) == intent
    return Intent("doubtful") if _skill(intent).has_effect and not is_said_twice else intent


def _with_time(state: DialogState, understand: Understand) -> Intent:
    """Return what the words mean; a time said after "tell me when" belongs to what was wanted before it."""
    intent = understand(state.words)
    before = next(iter(state.last_said()), None)
    asked = {phrase("ask_when", language) for language in ("en", "zh")}
    if before is None or intent.name not in _OPEN or not asked & set(before.replies):
        return intent
    wanted, when = bare(before.words), bare(state.words)
    if len(before.replies) > 1:  # the last of several wishes: cancel that and remind me to turn the oven off
        cues = [*anywhere(state.language, "remind").finditer(wanted)]
        wanted = wanted[cues[-1].start() :] if cues else wanted
    sentences = [f"{wanted} {joined}{when}" for joined in ("", "at ", "in ")] + [f"{when}{wanted}"]
    return next((each for each in map(understand, sentences) if each.name in TIMED), intent)


def _unsure_at_home(state: DialogState, asked: str) -> Intent:
    """Ask back what only the house may understand, unless the same was heard twice."""
    words = bare(state.words)
    if not words or not state.has(HOME_SAY):
        return Intent("not_caught")
    return UNKNOWN if words.casefold() == bare(asked).casefold() else Intent("doubtful")
