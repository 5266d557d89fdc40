"""What words mean after a list was spoken of: and bread; put it back; take the sage off; make it eight boxes."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from agent.intents.dialog_state import Turn
from agent.intents.intent import Intent, Language, Understand, language_of
from agent.intents.language.exchanges import exchanged
from agent.intents.language.house import names_device
from agent.intents.language.patterns import patterns
from agent.intents.language.questions import asks_behind, is_question, tokens, word_classes
from agent.intents.language.wording import RUNG_FOR, anywhere, beginning, ending, without_fillers
from agent.intents.saying.phrases import gaps
from agent.intents.subjects.listed_things import core_of, instead_of, things, with_amount
from agent.intents.subjects.lists import USUAL, items_told, replies_in, spoken_of

LONGEST_ITEM: Final = 60
"""Characters of what is put on a list without the list being named."""

LONGEST_LIST: Final = 200
"""Characters of all that goes on a list which was just begun."""

_IT: Final = frozenset({"it", "that", "them", "those"})
"""What is put back that was just taken off."""

_VAGUE: Final = frozenset({"unknown", "recall", "remember"})
"""What is wanted, by themselves, by words that only tell what goes on a list."""

_OFF: Final[dict[Language, str]] = {"en": r",| off\b| and put\b", "zh": "[，,]"}
"""Behind what is taken off a list."""

_ON_IT: Final = patterns(
    en=r"^(?:and |also |oh |please |can you |could you )*(?:put|add|stick|pop|write|get|chuck) (?P<item>.{2,60}?) "
    r"(?:on|in|to|onto) (?:it|there|that)(?: as well| too| also)?(?P<more>, .{2,30})?[.!]?$",
    zh="^(?P<item>[^，,]{1,12}?)也(?:给我)?(?:要|加|来|写|记|整|买|带)(?:上|一点|点)?(?P<more>[，,][^，,]{1,8})?[。吧]?$",
)
"""What is put on the list just spoken of, with how much of it."""

_SOME: Final = (
    "(?:an? |half |one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|"
    r"seventy|eighty|ninety|\d)"
)
_SOME_ZH: Final = r"[一二两三四五六七八九十百半\d]"

_NEW_AMOUNTS: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "en": (
        re.compile(
            r"^(?:actually|no|sorry|can you|please|and|,| )*(?:make|change) (?:the |that |those )?"
            rf"(?P<item>[\w ]{{2,30}}?) (?:to |into )?(?P<amount>{_SOME}.*?)(?: instead| please)?[.!]?$",
            re.IGNORECASE,
        ),
        re.compile(  # actually make that four elbows
            rf"^(?:actually|no|sorry|,| )*make (?:that|it|them|those) (?P<amount>{_SOME}[\w-]*(?: [\w-]+)?) "
            r"(?P<item>\w+)[.!]?$",
            re.IGNORECASE,
        ),
        re.compile(  # the pepper, let it be two cups
            r"^(?:and |oh )*(?:the )?(?P<item>[\w ]{2,30}?), (?:let it be|make it|make that|let's say) "
            rf"(?P<amount>{_SOME}.*?)[.!]?$",
            re.IGNORECASE,
        ),
    ),
    "zh": (
        re.compile(
            rf"^(?:把|那个|哎)*(?P<item>[^，,]{{1,12}}?)(?:还是)?(?:改|换)(?:成|为|到)?"
            rf"(?P<amount>{_SOME_ZH}[^，,]{{0,5}}?)(?:吧|好了)?[，。]?$"
        ),
        re.compile(
            rf"^(?P<item>[^，,]{{1,12}}?)(?:别|不要|用不了|不用)[^，,]{{1,8}}了?[，,]"
            rf"(?P<amount>{_SOME_ZH}[^，,]{{0,5}}?)(?:就够|就行|够了|就好).*$"
        ),
    ),
}
"""How much of something on the list is wanted instead."""

_HAVE_ENOUGH: Final = re.compile(
    r"(?:have|has|had)(?: already)?(?: got)? (?:enough|plenty|some|loads|lots|it|that|them|those)\b", re.IGNORECASE
)
"""What tells, without its "I", that something is there already."""

_PUTTING: Final = re.compile(
    r"^(?:(?:put|add|stick|pop|chuck|write|buy|get|order)(?: on| down| in)? |"
    "(?:再|先|就|给我|帮我)*(?:[放加写记添]上|[放加写记添](?!大|射|映|湿|工|油|号)|来点|买点?))",
    re.IGNORECASE,
)
"""What things are put on a list with that was just begun."""

_AND: Final = re.compile(r"^(?:(?:and|then|also|but|please|instead|just)\b[, ]*)+", re.IGNORECASE)

_ON_AGAIN: Final = patterns(
    en=r"^(?:and |then |please |just )*(?:put|stick|pop|chuck|write|get) "
    r"(?!(?:the|my|our|your|it|that|them)\b)(?P<item>.{2,60}?) (?:back )?on(?: instead| there)?(?: please)?[.!]?$",
    zh="^(?:再|就|给我)*(?:换|改)[成上买](?P<item>[^，,。]{1,10}?)吧?[。！]?$",
)
"""What is put on the list that something just came off, though nothing names the list: and stick coffee on."""

_SAY_SO_MANY: Final = re.compile(
    r"^(?:better|actually|no|maybe|and|,| )*(?:say|make it|make that|let's say) "
    rf"(?P<amount>{_SOME}[\w-]*)(?:,.*)?[.!]?$",
    re.IGNORECASE,
)
"""Another amount of what was put on the list last."""

_NOT_GOT: Final[dict[Language, re.Pattern[str]]] = {
    "en": re.compile(
        r",? (?:but|and)? ?(?:not|couldn't|could not|didn't|did not|they had no|there (?:was|were) no)\b.*$"
    ),
    "zh": re.compile("[，,][^，,]*没(?!了)[^，,]*$"),
}
"""What tells, behind things that were got, of others that were not, and are still wanted."""

_UNDO: Final = patterns(en=r"\bundo\b|\btake (?:that|it) back\b", zh="撤销|撤回")
"""What takes back what was just done to a list."""

_WHAT_IS_ON_IT: Final = patterns(
    en=r"(?:so |and |ok |now |then |tell me )*(?:what's|what is|what else is|what have i got|what do i have)"
    r"(?: still)? "
    r"(?:left|on it|on there|there|on)(?: now| so far)?",
    zh="(?:再|都|全部|给我|帮我)*[念读](?:一遍|一下|出来|给我听|听听)+吧?|"
    "(?:现在|那|上面|里面|我|一共)*(?:还|都|总共)?(?:有|剩|几样)(?:了|下)?(?:哪些|什么|些什么|啥|几样|多少样?)?(?:东西)?[了啊呢]?",
)
"""What asks for all that stands on the list that was just spoken of."""

_INSTEAD: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "en": (
        re.compile(
            r"^(?:no|um|actually|sorry|please|can you|and|,| )*(?:change|swap|switch|replace) (?:the |that )?"
            r"(?P<item>[\w' ]{2,30}?) (?:to|for|with|into) (?:the |some )?(?P<instead>[\w' ]{2,30}?)(?: please)?[.!]?$",
            re.IGNORECASE,
        ),
    ),
    "zh": (
        re.compile(
            "^(?:哎|哦|不对|，)*(?:把)?(?P<item>[^，,]{1,10}?)(?:改|换)成(?P<instead>[^，,。]{1,10}?)(?:吧)?[。]?$"
        ),
        re.compile(
            "^(?:把)?(?P<item>[^，,]{1,10}?)(?:划掉|去掉|删掉|拿掉)[，,]?(?:再|然后)?(?:换|改)成(?P<instead>[^，,。]{1,10}?)(?:吧)?[。]?$"
        ),
    ),
}
"""One thing on a list in place of another: change the yoghurt to cream cheese."""

_AROUND: Final = frozenset(("well", "both", "please", "off", "from", "my", "our", "some", "either", "one", "list"))
_AROUND_ZH: Final = re.compile("[那这个些种的也都把将和跟同吧了啊呢]*(?:一起)?")
"""What is said around the name of a thing of which no more is said."""


def of_lists(words: str, last: Turn, intent: Intent, understand: Understand) -> Iterator[Intent]:
    """Yield what the words may mean where a list was just spoken of."""
    language = language_of(words)
    if _UNDO[language].search(words):
        yield from _undone(last, language)
        return
    if _WHAT_IS_ON_IT[language].fullmatch(words.rstrip(".!?。！？")):
        yield Intent("list_tell", {"list": spoken_of(last.replies, language)})
    if back := anywhere(language, "put_back").search(words):
        gone = next(filter(None, (gaps("list_removed", reply, language).get("items") for reply in last.replies)), "")
        yield Intent("list_add", {"item": gone if back["back"] in _IT else back["back"]})
    is_it = beginning("put_it_on", language).fullmatch(words.rstrip(".!?。！？"))
    if is_it and (asked := understand(last.words).text("item")):
        yield Intent("list_add", {"item": asked})
    yield from _put_on(words, last, language)
    yield from _corrected(words, last, language)
    bare = without_fillers(words, language)
    if item := _to_take_off(bare, language):
        last_told = next(iter(items_told(last.replies, language)), item)
        named = last_told if item in _IT else item
        is_away = not bare.lower().startswith("take ") or re.search(r"\boff\b|\bout of it\b", bare, re.IGNORECASE)
        if named and (is_away or _called(item, items_told(last.replies, language), language)):
            yield Intent("list_remove", {"item": named})
    also = beginning("also", language).match(words)
    item = ending("put_it_on", language).sub("", without_fillers(words[also.end() :], language)) if also else ""
    is_gotten = language == "zh" or (_PUTTING.match(_AND.sub("", words)) and not names_device(words, language))
    # And ring mum, which only a list of what is to be done can have.
    is_order = beginning("ordering", language).match(item) is not None  # and warm the milk
    is_vague = intent.name in _VAGUE and not is_order
    is_open = is_vague or is_gotten or spoken_of(last.replies, language) != USUAL[language]
    is_thing = item.partition(" ")[0].lower() not in {"", "it", "them"} and not is_question(item)
    if is_thing and is_open and intent.name in _VAGUE | {"outside"} and len(item) <= LONGEST_ITEM:
        yield Intent("list_add", {"item": item})
    is_begun = any(gaps("list_started", reply, language) for reply in last.replies)
    if is_begun and intent.name in _VAGUE and len(bare) <= LONGEST_LIST and not is_question(bare):
        yield Intent("list_add", {"item": _PUTTING.sub("", bare) or bare})


def orders_of_list(words: str) -> bool:
    """Say whether words put things on a list or take them off by a verb of their own, and name no more of them."""
    language, plain = language_of(words), _AND.sub("", words)
    of_language = (beginning("also", "zh"),) if language == "zh" else ()
    begins = (beginning("take_off", language), _PUTTING, _ON_AGAIN[language], *of_language)
    return any(each.match(plain) for each in begins) or ending("taken_off", language).search(plain) is not None


def _put_on(words: str, last: Turn, language: Language) -> Iterator[Intent]:
    """Yield what is put on the list just spoken of, or on the one that something just came off."""
    if (on_it := _ON_IT[language].match(words)) and on_it["item"].lower() not in _IT:
        yield Intent("list_add", {"item": _with_more(on_it["item"], on_it["more"] or "", language)})
    came_off = any(gaps(name, each, language) for each in last.replies for name in ("list_removed", "list_has_not"))
    if came_off and (on := _ON_AGAIN[language].match(words)) and not names_device(on["item"], language):
        yield Intent("list_add", {"item": on["item"]})


def _to_take_off(words: str, language: Language) -> str:
    """Return what words take off a list, before or behind which the verb stands; "" where they take nothing off."""
    if off := beginning("take_off", language).match(words):
        return ending("off_it", language).sub("", re.split(_OFF[language], words[off.end() :], maxsplit=1)[0])
    behind = ending("taken_off", language).search(words)
    return without_fillers(words[: behind.start()].lstrip("把将"), language) if behind else ""


def _undone(last: Turn, language: Language) -> Iterator[Intent]:
    """Yield what takes back what was just done to a list: things taken off are put on again, and the other way."""
    done = (
        (undo, gaps(told, reply, language))
        for reply in last.replies
        for told, undo in (("list_removed", "list_add"), ("list_added", "list_remove"))
    )
    yield from (Intent(undo, {"list": read["list"], "item": read["items"]}) for undo, read in done if read)


def _corrected(words: str, last: Turn, language: Language) -> Iterator[Intent]:
    """Yield the change of what was told of last: actually size four; better say five."""
    items = items_told(last.replies, language)
    if items and (more := _SAY_SO_MANY.match(words)):
        yield Intent("list_change", {"item": items[0], "instead": with_amount(items[0], more["amount"], language)})
    opened = beginning("correcting", language).match(words)
    clause = re.split("[,，]", words[opened.end() :], maxsplit=1)[0].strip(" .!") if opened else ""
    changed = ((item, instead_of(item, clause)) for item in items)
    yield from (Intent("list_change", {"item": item, "instead": instead}) for item, instead in changed if instead)


def of_listed(words: str, said: Sequence[Turn]) -> Iterator[Intent]:
    """Yield what words want of a thing that was told to stand on a list: the onion I have already; make it size four.

    `said` are the last turns of this conversation, the newest first.
    """
    language = language_of(words)
    items = items_told(replies_in(said), language)
    first = re.split("[,，]", words, maxsplit=1)[0]
    is_short = language == "zh" and beginning("not_wanted", language).match(first)  # 还有呢, 有了
    is_asked = asks_behind(words) or (
        is_question(without_fillers(first, language)) and not is_short and not _HAVE_ENOUGH.match(first)
    )
    if not items or is_asked or anywhere(language, "reported", *RUNG_FOR).search(words):
        return
    for found in filter(None, (each.match(words) for each in _NEW_AMOUNTS[language])):
        if item := _called(found["item"], items, language):
            yield Intent("list_change", {"item": item, "instead": with_amount(item, found["amount"], language)})
    changed = [(each["item"], each["instead"]) for pattern in _INSTEAD[language] if (each := pattern.match(words))]
    for gone, instead in (*changed, exchanged(words, language)):
        if gone and (item := _called(gone, items, language)):
            yield Intent("list_change", {"item": item, "instead": instead})
    got = _NOT_GOT[language].sub("", words)
    if anywhere(language, "not_wanted").search(got) and (gone := _all_called(got, items, language)):
        yield Intent("list_remove", {"item": ", ".join(gone)})


def _with_more(item: str, more: str, language: Language) -> str:
    """Return a thing with how much of it is wanted, or of what size."""
    more = more.strip("，, ")
    return f"{item} {more}".strip() if language == "en" else f"{more}{item}"


def _all_called(words: str, items: Sequence[str], language: Language) -> list[str]:
    """Return the things that are named in a row: eggs and salt of "remove eggs and salt, we have bread".

    Behind the first each stands alone, or is said not to be wanted as well: "and warm the milk" wants something else.
    """
    row: list[str] = []
    for each in things(words):
        item = _called(each, items, language)
        is_named = not any(row) or anywhere(language, "not_wanted").search(each) or _is_bare(each, item, language)
        row.append(item if is_named else "")
    first = next((place for place, item in enumerate(row) if item), len(row))
    ends = next((place for place, item in enumerate(row) if place > first and not item), len(row))
    return list(dict.fromkeys(row[first:ends])) or list(filter(None, [_called(words, items, language)]))


def _is_bare(words: str, item: str, language: Language) -> bool:
    """Say whether words only name a thing of a list, and say nothing of it."""
    if language == "zh":
        return _AROUND_ZH.fullmatch(core_of(words, language).replace(core_of(item, language), "", 1)) is not None
    own = {token.stem for token in tokens(item)} | word_classes()["small"] | _AROUND
    return {token.stem for token in tokens(core_of(words, language))} <= own


def _called(words: str, items: Sequence[str], language: Language) -> str:
    """Return the first thing whose last word, or in Chinese whose name, is among the words; "" where none is."""
    cores = [(core_of(item, language), item) for item in items]
    if language == "zh":
        return next((item for core, item in cores if core in words), "")
    said = {token.stem for token in tokens(words)} - {"one"}
    stems = (([token.stem for token in tokens(re.sub(" ones?$", "", core))], item) for core, item in cores)
    return next((item for own, item in stems if own and own[-1] in said), "")
