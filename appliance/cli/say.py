"""`nakari say`: one text, spoken aloud or into a file."""

import asyncio
from pathlib import Path

from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.errors import Problem
from appliance.exits import Exit
from appliance.output.voices import choose_voice, open_player
from audio.language import sentence_language
from audio.loops import running
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from audio.tts.sentences import SentenceSplitter


def say(config: Config, text: str, output: Path | None) -> Exit:
    """Speak the text to its end. Raises `Problem` when no voice or no loudspeaker was there for all of it."""
    if not asyncio.run(_is_said(config, text, output)):
        raise Problem("it was not said, or not to its end; `nakari doctor` tells what is missing", Exit.UNAVAILABLE)
    return Exit.OK


async def _is_said(config: Config, text: str, output: Path | None) -> bool:
    player = await open_player(config, RunOptions(output=output, fast=output is not None))
    mouth = SpeechOutput(choose_voice(config), player, volume=config.voice.volume)
    unheard = Unheard()
    mouth.observe(unheard)
    splitter = SentenceSplitter()
    sentences = [*splitter.feed(text), *splitter.finish()]
    try:
        async with running(mouth.loops()):
            for number, sentence in enumerate(sentences):
                language = sentence_language(sentence, config.ears.language)
                await mouth.say(SpokenSentence("say", number, sentence, language))
            await mouth.quiet()
    finally:
        await player.aclose()
    return not unheard.sentences


class Unheard(SpeechObserver):
    """Collects the sentences that were not heard to their end."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        """Keep the sentence if it was cut off."""
        if not whole:
            self.sentences.append(sentence.text)
