"""What is left out of a wish for all stays, however the wish is put."""

import pytest

from tests.agent.offline_talk import Talk, a_timer

THREE = [
    a_timer("pasta", "5 minutes", id="p") | {"kind": "timer"},
    a_timer("rice 米饭", "12 minutes", id="r") | {"kind": "timer"},
    a_timer("eggs", "3 minutes", id="e") | {"kind": "timer"},
]


@pytest.mark.shows("V30", "V23")
@pytest.mark.parametrize(
    "words",
    [
        *(
            "turn all timers off apart from rice",
            "turn off all timers except rice",
            "cancel all timers but the rice one",
        ),
        *("switch all the timers off except for the rice one", "turn every timer off other than the rice timer"),
        *("stop all the timers, just not the rice", "all timers off except rice", "别的计时器都关了，留米饭"),
        *("除了米饭其他计时器都关掉", "把所有计时器都取消，米饭的留着"),
    ],
)
async def test_what_is_left_out_goes_on(talk: Talk, words: str) -> None:
    talk.hear(words)
    await talk.calls(THREE)
    assert [arguments["which"] for _, arguments in await talk.answer()] == ["p", "e"]


@pytest.mark.parametrize(
    "words",
    [
        *(
            "turn all timers off apart from soup",
            "turn everything off but the rice",
            "turn all the lights off apart from rice",
        ),
        *("don't turn all timers off apart from rice", "除了汤其他计时器都关掉"),
    ],
)
async def test_nothing_is_cancelled_by_words_like_these(talk: Talk, words: str) -> None:
    talk.hear(words)
    calls = await talk.answer()
    if calls[0][0] == "list_timers":
        talk.result(THREE)
        calls = await talk.answer()
    assert [name for name, _ in calls] == ["reply", "complete_event"]


@pytest.mark.parametrize(
    "words", ["kill every timer bar the rice", "all timers gone please, leave the rice", "计时器都停了吧，米饭那个留着"]
)
async def test_all_is_no_guess_where_something_is_spared(talk: Talk, words: str) -> None:
    talk.hear(words)
    calls = await talk.answer()
    if calls[0][0] == "list_timers":
        talk.result(THREE)
        calls = await talk.answer()
    assert "r" not in [arguments.get("which") for _, arguments in calls]
    assert "Did you mean: cancel all" not in str(calls)
    assert "取消所有" not in str(calls)
