"""What no sentence fits: done where the network is sure, asked back where it is likely, left where it is neither."""

from collections.abc import Callable

import pytest

from agent.intents.intent import language_of
from agent.intents.judging.guessing import LIKELY, SURE
from agent.intents.language.wording import mended
from agent.intents.learned.network import network
from agent.intents.reading.ringing import VAGUE
from agent.intents.reading.understanding import load_understanding
from tests.agent.offline_talk import NOTHING_SAID, OFFLINE, SPECS, Talk

UNDERSTAND = load_understanding()


def talk() -> Talk:
    return Talk(OFFLINE, SPECS)


def certainty(words: str) -> float:
    reading = network(language_of(words)).read(mended(words, language_of(words)))
    return reading.certainty if reading else 0.0


def a_likely_one(*all_words: str) -> str:
    """Return the first that no sentence fits, and that the network reads as a timer without being sure."""
    for words in all_words:
        language = language_of(words)
        reading = network(language).read(mended(words, language))
        is_likely = reading and reading.name == "timer_start" and LIKELY[language] <= reading.certainty < SURE[language]
        if is_likely and UNDERSTAND(words).name in VAGUE:
            return words
    raise AssertionError("the network is sure of all of these, or of none")


def an_english_one() -> str:
    return a_likely_one(
        "the crumble is in so say thirty minutes",
        "lasagne is cooking now forty",
        "kettle, three",
        "another eight for the beans mate",
    )


def a_chinese_one() -> str:
    return a_likely_one("泡面三分", "面膜敷着呢，一刻钟吧", "烤箱里是蛋挞，二十二分", "衣服甩干呢，九分钟")


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("right then the potatoes have gone in so keep an eye on the clock for twenty minutes", 1200),
        ("蛋糕进去了，二十五分", 1500),
    ],
)
async def test_what_it_is_sure_of_is_done(words: str, seconds: int) -> None:
    assert UNDERSTAND(words).name in VAGUE, "no sentence fits it"
    assert certainty(words) >= SURE[language_of(words)]
    said = talk()
    said.hear(words)
    [(tool, arguments), *_] = await said.answer()
    assert (tool, arguments["seconds"]) == ("set_timer", seconds)


@pytest.mark.parametrize("a_likely", [an_english_one, a_chinese_one])
async def test_what_is_likely_is_asked_back_and_done_after_a_yes(a_likely: Callable[[], str]) -> None:
    words = a_likely()
    is_english = language_of(words) == "en"
    said = talk()
    said.hear(words)
    asked = await said.says()
    assert asked.startswith("Did you mean: set a timer for " if is_english else "你的意思是：设一个")
    said.hear("yes" if is_english else "对")
    [(tool, _), *_] = await said.answer()
    assert tool == "set_timer"


async def test_after_a_no_nothing_is_done() -> None:
    said = talk()
    said.hear(an_english_one())
    await said.says()
    said.hear("no")
    assert await said.says() == "All right, I leave it."


@pytest.mark.parametrize(
    "words",
    [
        "the bus was ten minutes late again this morning",
        "I set my alarm wrong yesterday and missed the delivery",
        "the plumber is coming on Tuesday at ten",
        "今天公交车又晚了十分钟",
    ],
)
async def test_what_only_tells_of_a_time_sets_nothing(words: str) -> None:
    said = talk()
    said.hear(words)
    while (calls := await said.answer())[0][0] in {"recall", "list_timers"}:
        said.result(*[NOTHING_SAID if name == "recall" else [] for name, _ in calls])
    assert [tool for tool, _ in calls] == ["reply", "complete_event"]
    assert "Did you mean" not in str(calls[0][1]["text"])


async def test_what_was_hard_to_hear_is_not_guessed_at() -> None:
    said = talk()
    said.hear("right then the potatoes have gone in so keep an eye on the clock for twenty minutes", confidence="low")
    [(tool, _), *_] = await said.answer()
    assert tool == "reply"


@pytest.mark.parametrize("words", ["skip it", "you can skip it"])
async def test_who_orders_something_else_wants_nothing_said_again(words: str) -> None:
    said = talk()
    said.hear("what is two times four")
    assert await said.says() == "That is 8."
    said.hear(words)
    assert "That is 8." not in [arguments.get("text") for _, arguments in await said.answer()]
