"""What a guess may not do: leave out a verb that wants something else, or take a house for a list."""

import pytest

from agent.intents.intent import language_of
from agent.intents.judging.dropped import wants_else
from agent.intents.language.wording import mended
from agent.intents.learned.network import network
from agent.intents.reading.understanding import load_understanding
from tests.agent.offline_talk import NOTHING_SAID, OFFLINE, TOOLS, Talk

HARMLESS = {"reply", "complete_event", "recall", "list_timers"}


async def done(words: str, *before: str) -> tuple[list[str], str]:
    """Return the tools that the words have called, and what is replied; nothing was told, and nothing rings."""
    talk = Talk(OFFLINE, tuple(TOOLS.specs_for("")))
    for each in (*before, words):
        talk.hear(each)
        called: list[str] = []
        while (calls := await talk.answer())[0][0] != "reply":
            called += [name for name, _ in calls]
            talk.result(
                *({"recall": NOTHING_SAID, "list_timers": []}.get(name, {"status": "done"}) for name, _ in calls)
            )
        called += [name for name, _ in calls]
        talk.result("delivered", *("completed" for _ in calls[1:]))
    return called, str(calls[0][1]["text"])


@pytest.mark.parametrize(
    "words",
    [
        *("unlock it", "shut it", "lock the door", "open it up", "close it again", "dim them a bit"),
        *("be quiet for ten minutes", "shut up for twenty minutes", "hush for five minutes", "don't talk for an hour"),
        *("don't say anything for ten minutes", "mute for ten minutes"),
        *("we need to talk", "i have to go", "we need to leave", "i want to sleep"),
        *("take a photo", "take the dog out", "take off my shoes", "kill the lights", "set the heating to twenty two"),
        *("get up it's seven", "wake up it's seven o'clock", "get up, it's eight"),
        *("set the ac for twenty minutes", "change the channel to five", "set the table for six"),
        *("开灯", "开一下灯", "锁门", "洗衣服", "关风扇", "打开空调", "扫地", "拉窗帘", "锁上", "关了吧", "再拉开"),
    ],
)
async def test_what_is_wanted_of_a_house_or_a_person_does_nothing_here(words: str) -> None:
    called, said = await done(words)
    assert set(called) <= HARMLESS | {"home_say"}
    assert not said.startswith(
        ("On the shopping list", "购物清单上", "All right", "No timer", "I find no such timer", "No,")
    )


@pytest.mark.parametrize(
    ("words", "tool"),
    [
        ("right then the potatoes have gone in so keep an eye on the clock for twenty minutes", "set_timer"),
        ("蛋糕进去了，二十五分", "set_timer"),
        ("wake me at seven", "set_alarm"),
        ("i need to be up at seven", "set_alarm"),
        ("再睡十分钟", "device"),
        ("be quiet", "device"),
        ("shut up", "device"),
        ("安静", "device"),
        ("could you talk a bit quieter the baby's asleep", "set_volume"),
        ("speak up i can't hear you dear", "set_volume"),
    ],
)
async def test_what_is_wanted_of_the_box_is_done(words: str, tool: str) -> None:
    called, _ = await done(words)
    assert tool in called


@pytest.mark.parametrize(
    ("words", "items"),
    [
        ("we need washing up liquid", "washing up liquid"),
        ("add plasters too", "plasters"),
        ("buy milk", "milk"),
        ("i need to get nappies and wipes from the shop", "nappies, wipes"),
        ("帮我加一下卫生纸", "卫生纸"),
        ("我要买尿不湿和湿巾", "尿不湿、湿巾"),
        ("再加点感冒药", "感冒药"),
    ],
)
async def test_what_is_wanted_on_a_list_is_put_there(words: str, items: str) -> None:
    _, said = await done(words)
    assert items in said


@pytest.mark.parametrize(
    "words", ["开灯", "开一下灯", "关风扇", "unlock it", "set the blinds to fifty percent", "turn off the fan"]
)
def test_what_some_other_box_could_do_is_not_guessed_at(words: str) -> None:
    language = language_of(words)
    reading = network(language).read(mended(words, language))
    assert load_understanding()(words).name == "outside"
    assert reading is not None
    assert wants_else(reading, words, language, is_outside=True)


@pytest.mark.parametrize(
    "words",
    [
        "set the oven timer to ten minutes",
        "change the pasta to ten minutes",
        "cancel the eggs",
        "cancel the oven timer",
    ],
)
def test_what_rings_keeps_its_name_whatever_stands_in_the_house(words: str) -> None:
    assert load_understanding()(words).name in {"timer_change", "timer_cancel", "timer_start"}
