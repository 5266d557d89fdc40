"""Another time for what is set already moves it, where the words tell that one is wanted; else a second one is set."""

from pathlib import Path

import pytest

from tests.agent.intents.kitchen import a_kitchen


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (["wake me tomorrow at half past six", "my meeting was moved, so wake me at eight"], {"22 08:00"}),
        (["wake me at seven tomorrow", "no, wake me at eight"], {"22 08:00"}),
        (["wake me at seven tomorrow", "wake me at eight instead"], {"22 08:00"}),
        (["wake me at seven tomorrow", "actually wake me at eight"], {"22 08:00"}),
        (["wake me at seven tomorrow", "I can sleep longer, wake me at eight instead"], {"22 08:00"}),
        (["wake me at six tomorrow", "no, wake me at eight on Friday"], {"27 08:00"}),
        (["remind me at seven to call mum", "no, remind me at eight to call mum"], {"21 20:00 call mum"}),
        (["明天七点叫我起床", "会议改了，八点叫我起床吧"], {"22 08:00"}),
        (["明天七点叫我起床", "还是八点叫我吧"], {"22 08:00"}),
        (["七点提醒我吃药", "不对，八点提醒我吃药"], {"21 20:00 吃药"}),
        (["my meeting was moved, so wake me at eight"], {"22 08:00"}),
        (["wake me at seven tomorrow", "wake me at eight"], {"22 07:00", "22 08:00"}),
        (["wake me at seven tomorrow", "wake tom at eight instead"], {"22 07:00", "22 08:00 wake tom"}),
        (["wake me on Friday at seven", "my meeting was moved, so wake me at eight"], {"22 08:00", "27 07:00"}),
        (["wake me at six and at seven", "wake me at eight instead"], {"22 06:00", "22 07:00", "22 08:00"}),
        (["wake me at six tomorrow", "wake me at seven no wait eight"], {"22 06:00", "22 08:00"}),
    ],
)
async def test_what_is_told_to_have_moved_has_its_alarm_moved(tmp_path: Path, said: list[str], left: set[str]) -> None:
    async with a_kitchen(tmp_path) as kitchen:
        for words in said:
            await kitchen.hear(words)
        assert {each.removeprefix("2026-11-") for each in await kitchen.rings()} == left
