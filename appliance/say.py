"""`nakari say`: one text, spoken aloud or into a file."""

import asyncio
from pathlib import Path

from appliance.config import Config
from appliance.exits import Exit
from appliance.options import RunOptions
from appliance.speaking.mouth import choose_voice, open_player
from audio.language import sentence_language
from audio.mouth import Mouth, SpokenSentence
from audio.sentences import SentenceSplitter


def say(config: Config, text: str, output: Path | None) -> Exit:
    """Speak the text to its end; 0 when all of it was heard, 69 when no voice or no loudspeaker was there."""
    return asyncio.run(_say(config, text, output))


async def _say(config: Config, text: str, output: Path | None) -> Exit:
    player = await open_player(config, RunOptions(output=output, fast=output is not None))
    mouth = Mouth(choose_voice(config), player, volume=config.voice.volume)
    unheard: list[str] = []

    async def account(sentence: SpokenSentence, heard: str, whole: bool) -> None:
        if not whole:
            unheard.append(sentence.text)

    mouth.on_ended = account
    splitter = SentenceSplitter()
    sentences = [*splitter.feed(text), *splitter.finish()]
    try:
        async with asyncio.TaskGroup() as group:
            speaking = group.create_task(mouth.run(), name="mouth")
            for number, sentence in enumerate(sentences):
                language = sentence_language(sentence, config.ears.language)
                await mouth.say(SpokenSentence("say", number, sentence, language))
            await mouth.quiet()
            speaking.cancel()
    finally:
        await player.aclose()
    return Exit.UNAVAILABLE if unheard else Exit.OK
