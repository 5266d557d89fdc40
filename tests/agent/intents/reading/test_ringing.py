"""What is said of something that rings, however it is put: its name among the words, or spoken of just before."""

import pytest

from tests.agent.offline_talk import NOTHING_SAID, OFFLINE, SPECS, TOOLS, Talk, a_timer

BREAD = a_timer("bread in the oven", "34 minutes", id="b")
SOUP = a_timer("the soup", "12 minutes", id="s")
MARGARET = a_timer("ring Margaret", "7 hours", "2026-11-21 18:00:00 CET", "m")
RIBS = a_timer("炖排骨", "39 minutes", id="r")
EGG = a_timer("鸡蛋", "8 minutes", id="e")
CALL = a_timer("妈打电话", "9 hours", "2026-11-21 20:00:00 CET", "c")
HERE = [BREAD, SOUP, MARGARET, RIBS, EGG, CALL]


def talk() -> Talk:
    return Talk(OFFLINE, SPECS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("How long's the bread got left?", "34 minutes left: bread in the oven."),
        ("How's the soup doing?", "Twelve minutes left for the soup."),
        ("排骨还得多久啊？", "炖排骨还有39分钟。"),
    ],
)
async def test_how_long_something_has_left_is_told_by_a_word_of_its_name(words: str, told: str) -> None:
    said = talk()
    said.hear(words)
    await said.calls(HERE)
    assert await said.says() == told


@pytest.mark.parametrize(
    ("words", "tool", "arguments"),
    [
        ("Actually, give the soup another five.", "set_timer", {"seconds": 1020, "label": "the soup"}),
        ("The soup could do with ten minutes longer.", "set_timer", {"seconds": 1320, "label": "the soup"}),
        ("Can we push Margaret back to half six?", "set_alarm", {"at": "2026-11-21T18:30", "label": "ring Margaret"}),
        ("Margaret half an hour earlier, please.", "set_alarm", {"at": "2026-11-21T17:30", "label": "ring Margaret"}),
        ("排骨再加十分钟，还有点硬。", "set_timer", {"seconds": 2940, "label": "炖排骨"}),
        ("打电话那个往后挪半个小时。", "set_alarm", {"at": "2026-11-21T20:30", "label": "妈打电话"}),
    ],
)
async def test_it_is_given_more_or_less_or_another_time(words: str, tool: str, arguments: dict[str, object]) -> None:
    said = talk()
    said.hear(words)
    await said.calls(HERE)
    [(name, given)] = await said.answer()
    assert (name, given) == (tool, arguments)


@pytest.mark.parametrize(
    ("words", "id"),
    [
        ("The bread isn't needed any more.", "b"),
        ("Scrap the soup one, I burnt it.", "s"),
        ("鸡蛋那个不用了，已经捞出来了。", "e"),
        ("给我妈打电话的算了，我一会儿自己打。", "c"),
    ],
)
async def test_what_is_not_needed_is_taken_off(words: str, id: str) -> None:
    said = talk()
    said.hear(words)
    calls = await said.answer()
    if calls[0][0] == "list_timers":
        said.result(HERE)
        calls = await said.answer()
    elif calls[0][1]["which"] != id:  # by its name alone
        said.result("error: no timer is called that")
        await said.calls(HERE)
        calls = await said.answer()
    assert calls == [("cancel_timer", {"which": id})]


@pytest.mark.parametrize(
    "words",
    [
        "Can you look up how long you boil an egg for?",
        "Put phone clinic somewhere, never mind.",
        "I made the soup better with more salt.",
        "The plumber isn't needed.",
        "我妈做的排骨，提前半小时到了",
        "鸡蛋那个取消了",
    ],
)
async def test_what_is_only_told_or_asked_changes_nothing(words: str) -> None:
    said = talk()
    said.hear("set a timer for the bread in the oven, 35 minutes")
    await said.calls(BREAD)
    await said.says()
    said.hear(words)
    for _ in range(5):
        calls = await said.answer()
        assert not {"set_timer", "set_alarm", "cancel_timer"} & {name for name, _ in calls}
        if "reply" in {name for name, _ in calls}:
            return
        said.result(*([a_timer("other", "5 minutes")] if name == "list_timers" else NOTHING_SAID for name, _ in calls))
    pytest.fail("it has no answer")


async def test_the_same_is_set_on_another_day() -> None:
    said = talk()
    said.hear("I need to be up at half past seven tomorrow.")
    await said.calls(a_timer("", "20 hours", "2026-11-22 07:30:00 CET"))
    await said.says()
    said.hear("And the same on Thursday, please.")
    assert await said.answer() == [("set_alarm", {"at": "2026-11-26T07:30", "label": ""})]


async def test_that_day_is_the_one_that_was_told() -> None:
    said = talk()
    said.hear("Mom's flight gets in at 4:45 on Friday.")
    await said.says()
    said.hear("Remind me to leave for the airport at three that day.")
    assert await said.answer() == [("set_alarm", {"at": "2026-11-27T15:00", "label": "leave for the airport"})]


@pytest.mark.parametrize(
    ("words", "days", "hour"),
    [
        ("remind me every Monday and Thursday at two to stretch", "MO,TH", "14"),
        ("wake me on Mondays, Wednesdays and Fridays at six", "MO,WE,FR", "06"),
        ("每周一三五晚上七点叫我去跳广场舞", "MO,WE,FR", "19"),
        ("Physio's every Monday and Thursday at two, so remind me, and there's one at eleven tomorrow.", "MO,TH", "14"),
    ],
)
async def test_some_days_of_the_week_are_one_alarm(words: str, days: str, hour: str) -> None:
    said = talk()
    said.hear(words)
    [(name, given)] = await said.answer()
    assert (name, given["repeat"], given["at"][11:13]) == ("set_alarm", f"FREQ=WEEKLY;BYDAY={days}", hour)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("小点声，孩子刚睡着。", ("set_volume", {"change": -15})),
        ("还是大，调到三吧。", ("set_volume", {"percent": 30})),
        ("我在炖排骨，四十分钟以后叫我一声。", ("set_timer", {"seconds": 2400, "label": "炖排骨"})),
        ("I'm off, turn it down.", ("set_volume", {"change": -15})),
    ],
)
async def test_the_wish_in_a_sentence_that_also_tells_why_is_done(
    words: str, call: tuple[str, dict[str, object]]
) -> None:
    said = Talk(OFFLINE, TOOLS.specs_for(""))
    said.hear(words)
    calls = await said.answer()
    if calls == [("list_timers", {})]:  # it might be said of one
        said.result([])
        calls = await said.answer()
    assert calls == [call]


async def test_what_else_was_wanted_and_not_understood_is_told() -> None:
    said = talk()
    said.hear("Let me know after ten so I can turn the tray, oh, and add baking powder to the shopping list.")
    await said.calls("e9")
    assert await said.says() == (
        "On the shopping list now: baking powder. I did not understand the rest: "
        "Let me know after ten so I can turn the tray."
    )


@pytest.mark.parametrize("words", ["Tom said, turn it down.", "如果吵，小点声。"])
async def test_what_somebody_else_said_or_what_might_be_is_not_done(words: str) -> None:
    said = Talk(OFFLINE, TOOLS.specs_for(""))
    said.hear(words)
    assert "set_volume" not in {name for name, _ in await said.answer()}


async def test_it_goes_on_with_the_volume_and_with_the_thing_on_the_list() -> None:
    said = Talk(OFFLINE, TOOLS.specs_for(""))
    said.hear("Turn it down a bit.")
    await said.calls({"percent": 85})
    await said.says()
    said.hear("More than that.")
    assert await said.answer() == [("set_volume", {"change": -15})]
    said.result({"percent": 70})
    await said.says()
    said.hear("Is butter on the shopping list?")
    await said.calls(NOTHING_SAID)
    assert await said.says() == "No, butter is not on the shopping list."
    said.hear("Well, put it on then.")
    await said.calls("e1")
    assert await said.says() == "On the shopping list now: butter."
