"""What the journal is told when a sentence with figures is interrupted: the written words, never half a figure."""

import asyncio

import pytest

from audio.playback.speech_output import SpeechOutput, SpokenSentence
from tests.audio.mouth_fakes import Following, ScriptedPlayer, ScriptedVoice
from tests.loops import together

WRITTEN = "It is **20 °C** at 9:05 now."
SPOKEN = "It is twenty degrees Celsius at nine oh five now."


async def heard_after(words: int, *, timed: bool) -> tuple[str, bool]:
    """Say the sentence and hush it in the middle of the word after so many, each a fifth of a second."""
    unheard = (len(SPOKEN.split()) - words - 0.5) * 0.2
    voice, player = ScriptedVoice(times_words=timed), ScriptedPlayer(at_once=False, unheard=unheard)
    mouth, heard = SpeechOutput(voice, player), list[tuple[str, bool]]()
    mouth.observe(Following(ended=lambda part, whole: heard.append((part, whole))))
    async with asyncio.timeout(120), asyncio.TaskGroup() as group:
        running = group.create_task(together(mouth.loops()))
        await mouth.say(SpokenSentence("reply", 1, WRITTEN, "en"))
        await player.draining.wait()
        mouth.hush()
        await mouth.quiet()
        running.cancel()
    assert [text for text, _ in voice.asked] == [SPOKEN]
    return heard[0]


@pytest.mark.shows("V22")
@pytest.mark.parametrize(
    ("words", "part"),
    [
        (0, ""),
        (2, "It is"),
        (4, "It is"),
        (5, "It is **20 °C"),
        (6, "It is **20 °C** at"),
        (8, "It is **20 °C** at"),
        (9, "It is **20 °C** at 9:05"),
    ],
)
async def test_a_figure_was_heard_when_all_of_its_words_were(words: int, part: str) -> None:
    assert await heard_after(words, timed=True) == (part, False)


@pytest.mark.shows("V22")
async def test_without_timings_the_words_spoken_and_not_those_written_share_the_time() -> None:
    assert await heard_after(6, timed=False) == ("It is **20 °C** at", False)
