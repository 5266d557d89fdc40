"""Remembering and finding again without a model: the journal holds every word, the graph is left to it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from agent.event import SELF_CREATED
from agent.intents.dialog_state import DialogState, ToolResult, Turn
from agent.intents.intent import Intent, Language, Understand, language_of
from agent.intents.language.dates import WEEKDAY
from agent.intents.language.exchanges import with_exchanged
from agent.intents.language.patterns import patterns
from agent.intents.language.questions import Question, is_question, is_statement, read_question, spellings
from agent.intents.language.wording import anywhere, beginning, is_story, without_fillers
from agent.intents.saying.phrases import gaps, phrase
from agent.intents.saying.spoken import to_second_person
from agent.intents.subjects.facts import ENOUGH, Fact
from agent.intents.subjects.needed import First, result_of
from agent.intents.subjects.voices import MY_NAME
from memory.chinese import simplified
from memory.json_value import Json, fields, objects

TOOL: Final = "recall"

LOOKED_AT: Final = 50
"""Utterances of the journal that are looked at in one search."""

MOST_LISTED: Final = 7
"""Of what is known that is said in one answer; who wants to know it all asks about one thing."""

_SEARCHES: Final[dict[Language, tuple[str, ...]]] = {"en": ("remember", "forget mind note write"), "zh": ("记", "忘")}
"""The wordings of what was to be kept, each with a search of its own: it goes before the many times it was asked for.
Where nothing else is asked for, each of their words has one."""

_KEEPING: Final = re.compile(
    r"\b(remember|forget|know|information|mind|memory|notes?|memori[sz]e|write|jot)\b|记|忘", re.IGNORECASE
)
"""Without one of these nothing is an order to remember."""

_DAY_EN: Final = (
    rf"\b(?:{WEEKDAY}s?|the (?:\d+(?:st|nd|rd|th)|(?:twenty |thirty )?(?:first|second|"
    r"third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|\w+teenth|twentieth|thirtieth))\b"
)
"""A day of the week, or of the month, by its name."""

_INSTEAD: Final = patterns(
    en=rf"(?:^|\s)(?:it(?:'?s| is)\s+(?:now\s+)?|(?:moved|changed|shifted) it to (?={_DAY_EN}))"
    r"(?P<instead>.{2,40}?)(?:\s+now)?"
    r"(?:,? i (?:said|had|got|read|told you) (?:it|that|the \w+) wrong)?"
    r"(?:,? (?:please )?(?:change|fix|correct) (?:that|it))?[.!]?$",
    zh="(?:(?<!现)[是在]|改放在?|改到|改成|放到|换到|挪到|搬到|移到)(?P<instead>[^，。！是在]{1,20}?)[了啊。！]?$",
)
"""What is so instead, at the end of words that put right what was told."""

_SUBJECT: Final = patterns(
    en=r".{2,40}?\s(?:is|are|was|were)\s",
    zh="[^，。]{2,20}?(?:[是在]|[宽高长重厚深](?=[0-9一二两三四五六七八九十半]))",
)
"""What a statement tells something of, with the word behind it."""

_COMFORT: Final = (
    "fine|ok|okay|good|all right|alright|nothing|enough|not|me|you|too|so|just|only|that|this|a|"
    "raining|snowing|cold|hot|late|early|time"
)

_RIGHTED: Final = patterns(
    en=r"^(?:no|nope|nah|sorry|oops|wrong|i mean|i meant)\b"
    rf"(?!.*\bit(?:'?s| is) (?:{_COMFORT})\b)"
    r"|\b(?:moved|put|changed|shifted|taken|hung) it\b"
    rf"|^(?:actually|well|now|oh|and|but|,| )*it(?:'?s| is) (?!(?:now )?(?:{_COMFORT})\b)"
    r"(?:now .{2,40}|.{2,40} now)[.!]?$",
    zh="^(?:等一?下|等等|哎呀?|不好意思|啊|哦|，|(?:刚才|刚刚|之前)?(?:那个|那条|说的)[^，]{1,6})*(?:不对|不是|错了|说错了|看错了|记错了)|(?:改|换|挪|放|搬)了"
    "|^(?:现在|后来|我|又|已经|[把给]它?|，)*(?:改放|改到|改成|放到|换到|挪到|搬到|移到).+了",
)
"""What shows that words put right what was told, and are no news and no comfort: no, it's fine."""

_WHOSE: Final[dict[Language, tuple[re.Pattern[str], re.Pattern[str]]]] = {
    "en": (re.compile(r"\b(?:my|mine|our|i|me|we)\b", re.IGNORECASE), re.compile(r"\byours?\b", re.IGNORECASE)),
    "zh": (
        re.compile("我|咱"),
        re.compile(
            "你们?(?:的|家|最|生日|电话|手机|狗|猫|爸|妈|喜欢|爱|讨厌|住|几岁|多大|属|姓|今年|怕|不吃|对.{1,4}过敏)"
        ),
    ),
}
"""What shows whose it is that is told or asked: the speaker's, or the box's own."""

_DONE_TODAY: Final = patterns(
    en=r"^(?:did|have|has|was|were)\b.*\btoday\b",
    zh="今天.*(?:了吗|了没有?|过.{0,4}[吗没]|了么)[？?。]?$",
)
"""What asks whether something was done today."""

_TELLING: Final = re.compile(
    r"\b(?:did|have|had) (?:i|we)\b.* (?:tell|told|say|said|ask(?:ed)?|mention(?:ed)?)\b|"
    "[我咱].*(?:告诉|[跟和对]你[说讲]|说过|讲过|[让叫]你.{0,3}记)",
    re.IGNORECASE,
)
"""What asks for what was told, and beside which a day is that on which it was."""

_WHEN: Final = re.compile(
    r"\s*\b(?:(?P<today>today|this (?:morning|afternoon|evening))|(?P<yesterday>yesterday(?: \w+)?)|so far|up to now|"
    r"(?:un)?till? now|already|lately)\b|(?P<today_zh>今[天早晚])|(?P<yesterday_zh>昨[天晚])|到现在(?:为止)?|刚才|都",
    re.IGNORECASE,
)

_NOT_DONE: Final = re.compile(
    r"^to\b|\b(?:yesterday|last|tomorrow|tonight|will|should|must|need|have to|going to|every|ago)\b|"
    "昨|前天|明天|上周|要|得|每",
    re.IGNORECASE,
)
"""What tells of something that it is to be done, or was on another day."""

_BACK: Final = re.compile(
    r"^(?:oh |and |by the way |, )*(?:[\w']+(?:'s| has| have)? (?:gave|given|brought|handed|returned|sent)|"
    r"(?:i|we)(?:'ve| have)? (?:got|took|picked|fetched|collected|had)) (?P<it>it|them)(?: back| up| home)?[.!]?$",
    re.IGNORECASE,
)
"""What tells of a thing that it is back, and names it as what was spoken of."""

_OBJECT: Final = re.compile(r"\b(?:your|my|the|our|his|her|their) [\w-]+", re.IGNORECASE)

_DAY: Final = patterns(en=_DAY_EN, zh="(?:周|星期|礼拜)[一二三四五六日天]")
"""What one of is put in place of another in what was told."""

_QUOTING: Final = ("put_right", "remembered", "recalled", "recalled_other")
"""Sentences that quote what was told."""

LEAST: Final = 1 / 3
"""Share of a question's words that a statement must have to be told as all that is known."""


def remember(state: DialogState, intent: Intent) -> str:
    """Leave an event by which a model will write it to the memory, then say that it is kept: the journal has it."""
    fact = intent.text("fact")
    task = f"Write into your memory what a person told you to keep while no model could be reached: “{fact}”"
    can_note = state.has("create_event")
    noted = result_of(state, "create_event", type=SELF_CREATED, content=task) if can_note else None
    if noted is not None and noted.has_failed:
        return phrase("remembered_here", state.language, reason=noted.reason)
    if called := intent.text("name"):
        return phrase("name_kept", state.language, called=called)
    name = "put_right" if intent.name == "put_right" else "remembered"
    return phrase(name, state.language, fact=to_second_person(fact, state.language))


def _is_of_box(words: str) -> bool:
    """Say whether words are about what is the box's own: what's your favourite colour; 你生日是哪天."""
    mine, yours = _WHOSE[language_of(words)]
    return yours.search(words) is not None and mine.search(words) is None


def put_right(words: str, last: Turn, language: Language) -> str:
    """Return what was told last, or quoted, as the words put it right: no, it's 31 18 24; I've moved it, it's upstairs.

    "" where they do not. In the words of the person, who is told it as it is now: by that sentence it is found again.
    """
    kept = next((read["fact"] for reply in last.replies if (read := gaps("remembered", reply, language))), "")
    if righted := with_exchanged(kept, words, language):
        return righted
    quoted = (gaps(name, reply, language) for reply in last.replies for name in _QUOTING)
    fact = next((read["fact"] for read in quoted if read), "")
    if (back := _BACK.match(words)) and (named := _OBJECT.search(to_second_person(fact, language))):
        return f"{words[: back.start('it')]}{named.group()}{words[back.end('it') :].rstrip('.!')}"
    instead = _INSTEAD[language].search(words)
    if instead is None or not _RIGHTED[language].search(words) or is_question(words):
        return ""
    told = to_second_person(fact, language) if fact else last.words if is_statement(last.words) else ""
    day = _DAY[language].search(instead["instead"])
    if day and len(_DAY[language].findall(told)) == 1:
        return _DAY[language].sub(lambda _: day.group(), told)
    subject = _SUBJECT[language].match(told)
    return f"{subject.group()}{instead['instead']}" if subject else ""


def may_be_known(state: DialogState) -> bool:
    """Say whether words that no command fits ask for something that somebody may have told."""
    if is_story(state.words, state.language) or not is_question(without_fillers(state.words, state.language)):
        return False
    question = _asked(state)
    return bool(question.words) or question.kind == "all"


def recall(state: DialogState, understand: Understand) -> str:
    """Quote what the person said that carries the question; "" when nothing was said.

    Raises First with the calls that search the journal.
    """
    question = _asked(state)
    searched = state.results(TOOL)
    read = [done for done in searched if not done.is_uncertain]
    wordings, about = _SEARCHES[question.language], _searched(question)
    if not question.words:  # all that was to be kept, in whatever words: none of them must be with another one
        wordings = tuple(" ".join(wordings).split())
    elif about:  # and what was only told, which much that is said of remembering would go before
        wordings = (*wordings, "")
    if len(read) < len(wordings) and len(searched) <= len(wordings):
        sought = (" ".join([wording, *about]).strip() for wording in wordings)
        raise First([state.action(TOOL, words=words, limit=LOOKED_AT) for words in sought])
    if read and all(done.has_failed for done in read):
        return phrase("failed", state.language, reason=read[0].reason)
    facts = sorted(_facts(read, question, understand), key=lambda fact: fact.age, reverse=True)
    if _is_of_box(state.words):
        facts = [fact for fact in facts if _is_of_box(fact.text)]  # mine is not yours
    told, facts = facts, _of_day(facts, question, state)
    if told and not facts and _TELLING.search(state.words):
        return phrase("not_found", state.language)
    near = [fact for fact in facts if fact.was_to_be_kept or fact.share_of(question) >= ENOUGH]
    match question.kind:
        case "all":
            return _listed(near, question, state.language)
        case "whether":
            return _whether(near, question, state.language)
    return _which(near, question, state.language) or _nearest(facts, question, state.language)


def _asked(state: DialogState) -> Question:
    words = without_fillers(state.words, state.language)
    if _DONE_TODAY[state.language].search(state.words):  # what is told of this morning does not say so
        words = re.sub(r"\s*\btoday\b|今天", "", words, flags=re.IGNORECASE)
    return read_question(_WHEN.sub("", words) if _TELLING.search(words) else words)


def _of_day(facts: list[Fact], question: Question, state: DialogState) -> list[Fact]:
    """Return the statements of the day that is asked for: of what was done today none that tells what is to be done."""
    if _DONE_TODAY[question.language].search(state.words):
        return [fact for fact in facts if not _NOT_DONE.search(fact.text) and _days_ago(fact, state) == 0]
    when = _WHEN.search(state.words) if _TELLING.search(state.words) else None
    told_on = {"today": 0, "yesterday": 1}.get((when.lastgroup or "").removesuffix("_zh")) if when else None
    return facts if told_on is None else [fact for fact in facts if _days_ago(fact, state) == told_on]


def _days_ago(fact: Fact, state: DialogState) -> int | None:
    """Return how many days ago somebody told it; None where nobody knows."""
    told = re.fullmatch(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", fact.when)
    if told is None or state.now is None:
        return None
    when = datetime.strptime(f"{told[1]} +0000", "%Y-%m-%d %H:%M:%S %z")
    return (state.now.date() - when.astimezone(state.now.tzinfo).date()).days


def _searched(question: Question) -> list[str]:
    """Return the words to search for: those that a statement can hardly lack, in either spelling."""
    words = [word for word, weight in question.words if weight == 1.0]
    words += ["parked"] * (words == ["car"])  # where it is nobody says of it
    return [spelling for word in words for spelling in spellings(word)]


def _which(facts: Sequence[Fact], question: Question, language: Language) -> str:
    """Quote the statement that answers best, the newest of equals."""
    weighed = [(fact.share_of(question), fact) for fact in facts]
    near = [(share, fact) for share, fact in weighed if share >= ENOUGH]
    fitting = [(share, fact) for share, fact in near if fact.fits(question)]
    if fitting:
        _, best = max(fitting, key=lambda each: (_is_so(each[1], question), round(each[0], 3), each[1].age))
        return phrase("recalled", language, fact=_turned(best))
    if near and near[0][1].was_to_be_kept:
        return phrase("recalled_other", language, fact=_turned(near[0][1]))
    is_known = question.is_personal or any(share >= LEAST for share, fact in weighed if fact.was_to_be_kept)
    return phrase("not_found", language) if is_known else ""


def _nearest(facts: Sequence[Fact], question: Question, language: Language) -> str:
    """Quote what has something of the question, as all that is known, where that must have been told once."""
    weighed = [(fact.share_of(question), fact.age, fact) for fact in facts]
    share, _, fact = max(weighed, key=lambda each: each[:2], default=(0.0, ("", 0), None))
    is_asked = anywhere(language, "told_once").search(question.text) is not None
    return phrase("recalled_other", language, fact=_turned(fact)) if fact and share >= LEAST and is_asked else ""


def _is_so(fact: Fact, question: Question) -> bool:
    """Say whether both tell of what is so, or both of what is not."""
    return fact.is_negative == any(token.stem == "not" for token in question.tokens)


def _whether(facts: Sequence[Fact], question: Question, language: Language) -> str:
    """Say yes or no by the newest statement that does so plainly; quote one that has all the words."""
    kept = [fact for fact in facts if fact.was_to_be_kept and fact.share_of(question) >= LEAST] or facts
    for fact in kept:
        if verdict := fact.verdict(question):
            if since := next((each for each in facts if each.age > fact.age and each.denies(fact, question)), None):
                return phrase("recalled_both", language, fact=_turned(since), before=_turned(fact))
            return phrase(f"recalled_{verdict}", language, fact=_turned(fact))
    whole = [fact for fact in kept if fact.share_of(question) > 1 - 1e-9]
    if whole:
        return phrase("recalled", language, fact=_turned(whole[0]))
    is_known = any(fact.share_of(question) >= LEAST for fact in kept)
    return phrase("not_told", language) if is_known or question.is_personal else ""


def _listed(facts: Sequence[Fact], question: Question, language: Language) -> str:
    """Quote all that is known, or all that is known of what the question names, the newest first."""
    if not question.words:
        found = [fact for fact in facts if fact.was_to_be_kept]
    else:
        found = [fact for fact in facts if fact.share_of(question) >= ENOUGH]
        kept = [fact for fact in found if fact.was_to_be_kept]
        found = kept or found[:1]
    told = list(dict.fromkeys(_turned(fact) for fact in found))
    if not told:
        return "" if question.words else phrase("nothing_kept", language)
    if len(told) == 1:
        return phrase("recalled", language, fact=told[0])
    between = "；" if language == "zh" else "; "
    more = phrase("listed_more", language, count=len(told) - MOST_LISTED) if len(told) > MOST_LISTED else ""
    return phrase("listed", language, facts=between.join(told[:MOST_LISTED])) + more


def _turned(fact: Fact) -> str:
    return to_second_person(fact.text, fact.language)


def _facts(found: Sequence[ToolResult], question: Question, understand: Understand) -> Iterator[Fact]:
    """Return what people stated, each once, as old as when it was last said."""
    newest: dict[str, Fact] = {}
    entries = [entry for done in found for entry in objects(fields(done.value).get("hits"))]
    read = (_fact(entry, -place, question, understand) for place, entry in enumerate(entries))
    for fact in filter(None, read):
        before = newest.setdefault(fact.text.casefold(), fact)
        last = max(before, fact, key=lambda each: each.age)
        is_kept = before.was_to_be_kept or fact.was_to_be_kept
        newest[fact.text.casefold()] = Fact(last.text, is_kept, last.when, last.nearness)
    return iter(newest.values())


def _fact(entry: Mapping[str, Json], nearness: int, question: Question, understand: Understand) -> Fact | None:
    """Return what a person stated in an entry of the journal, None where it is no statement of use here."""
    words, when = simplified(str(entry.get("words", ""))).strip(), str(entry.get("at", ""))
    language = language_of(words)
    if entry.get("speaker") == "you":
        name = gaps("name_kept", words, language).get("called", "")
        righted = gaps("put_right", words, language).get("fact", "").rstrip(".。")
        fact = f"{MY_NAME[language]}{name}" if name else to_second_person(righted, language)
        return Fact(fact, was_to_be_kept=True, when=when, nearness=nearness) if fact else None
    told = beginning("opening", language).sub("", beginning("correcting", language).sub("", words, count=1), count=1)
    said = Fact((told or words).rstrip(" .!。！"), was_to_be_kept=False, when=when, nearness=nearness)
    is_order = _KEEPING.search(words) is not None
    if not is_order and said.share_of(question) < LEAST:
        return None
    intent = understand(words)
    if intent.name == "remember":
        return Fact(intent.text("fact"), was_to_be_kept=True, when=when, nearness=nearness)
    return said if intent.name in {"unknown", "voice_learn"} and not _is_asking(told or words) else None


def _is_asking(words: str) -> bool:
    """Say whether words ask or order rather than state."""
    return (
        is_question(words)
        or beginning("ordering", language_of(words)).match(words) is not None
        or (language_of(words) == "zh" and "哪" in words)
    )
