"""A reminder on the day before what was told: where its date is found, and what is set."""

import pytest

from tests.agent.offline_talk import NOTHING_SAID, Talk, a_timer, found

TOLD = "豆豆下次打疫苗是十二月十号"


@pytest.mark.shows("V23", "D4")
@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("打疫苗的前一天上午十点提醒我一下", {"at": "2026-12-09T10:00", "label": "打疫苗"}),
        ("豆豆打疫苗前一天晚上八点提醒我带本子", {"at": "2026-12-09T20:00", "label": "带本子"}),
        ("提醒我打疫苗的前一天下午三点买猫粮", {"at": "2026-12-09T15:00", "label": "买猫粮"}),
    ],
)
async def test_the_day_before_what_was_told_is_found_in_the_journal(
    talk: Talk, words: str, call: dict[str, object]
) -> None:
    talk.hear(words)
    [(name, arguments)] = await talk.calls(found("豆豆哪天打疫苗", TOLD, "十一月三十号交电费"))
    assert name == "recall"
    assert "打疫苗" in arguments["words"]
    assert await talk.calls(a_timer("打疫苗", "18 days")) == [("set_alarm", call)]
    assert (await talk.says()).startswith("我会在2026年12月9日，星期三")


async def test_the_date_that_was_told_last_holds(talk: Talk) -> None:
    talk.hear("打疫苗的前一天上午十点提醒我")
    newer = {"at": "2026-11-20 10:05:00 UTC", "speaker": "", "words": "打疫苗改到一月1号了"}
    older = {"at": "2026-11-20 10:00:00 UTC", "speaker": "", "words": TOLD}
    await talk.calls({"sureness": "sure", "hits": [newer, older]})
    [(_, arguments)] = await talk.calls(a_timer("打疫苗", "40 days"))
    assert arguments["at"] == "2026-12-31T10:00"


async def test_without_a_name_it_is_the_day_before_the_one_just_told(talk: Talk) -> None:
    talk.hear("离圣诞节还有几天")
    assert await talk.says() == "还有34天，2026年12月25日，星期五。"
    talk.hear("前一天下午四点提醒我包礼物")
    assert await talk.calls(a_timer("包礼物", "33 days")) == [
        ("set_alarm", {"at": "2026-12-24T16:00", "label": "包礼物"})
    ]


@pytest.mark.parametrize("hits", [NOTHING_SAID, found("豆豆打疫苗很乖"), "error: the journal is closed"])
async def test_where_no_date_was_told_it_is_asked_for(talk: Talk, hits: object) -> None:
    talk.hear("打疫苗的前一天上午十点提醒我")
    await talk.calls(hits)
    assert (await talk.says()).startswith("什么时候？")


async def test_a_day_before_without_a_time_sets_nothing(talk: Talk) -> None:
    talk.hear("打疫苗前一天提醒我")
    assert "set_alarm" not in {name for name, _ in await talk.answer()}
