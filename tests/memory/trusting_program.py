"""Asks the server at argv[1] once by each client that argv[2:] names; tells what each says."""

import asyncio
import sys
from collections.abc import Awaitable, Callable

import numpy as np

from agent.calendars.fetching import Fetcher
from agent.home.connection import connected as home
from agent.model.interface import ChatModel
from agent.model.litellm import LiteLlmModel
from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.tools.mcp.client import connected as tools
from agent.tools.mcp.server import Server
from agent.web.fetch import PAGE
from agent.web.fetch import Fetcher as Pages
from audio.pcm import SAMPLE_RATE
from audio.recognizer.openai_api import OpenAiRecognizer
from audio.speech import Utterance
from audio.tts.http_speech import OpenAiSpeechSynthesizer
from memory.vectors.embedding import OpenAiEmbedder


async def think(model: ChatModel) -> None:
    try:
        async for _ in model.stream([Message("user", "hello")], []):
            pass
    finally:
        await model.aclose()


async def speak(url: str) -> None:
    async for _ in OpenAiSpeechSynthesizer(f"{url}/speech", "m", {"": "v"}).speak("Hello.", "en"):
        pass


async def hear(url: str) -> None:
    heard = Utterance(np.zeros(SAMPLE_RATE, np.int16), 0.0, 1.0, 1.0, 1.0)
    await OpenAiRecognizer(f"{url}/hearing", "m").recognize(heard)


async def use_tools(url: str) -> None:
    async with tools(Server("house", url=f"{url}/mcp"), lambda words: None, 5.0):
        pass


async def enter_home(url: str) -> None:
    async with home(f"{url}/home", "t"):
        pass


async def told(call: Callable[[str], Awaitable[object]], url: str) -> str:
    try:
        await call(url)
    except Exception as error:  # noqa: BLE001  whatever a client makes of what is no answer of its protocol
        return f"{error}; {getattr(error, 'fix', '')}"
    return "answered"


async def main(url: str, *names: str) -> None:
    calls: dict[str, Callable[[str], Awaitable[object]]] = {
        "thin": lambda url: think(OpenAiCompatibleModel(f"{url}/thin", "m", "k")),
        "litellm": lambda url: think(LiteLlmModel("openai/m", "k", f"{url}/litellm")),
        "anthropic": lambda url: think(LiteLlmModel("anthropic/m", "k", f"{url}/anthropic")),
        "embedder": lambda url: OpenAiEmbedder(f"{url}/embedder", "m").embed(["hello"]),
        "speech": speak,
        "hearing": hear,
        "mcp": use_tools,
        "home": enter_home,
        "calendar": lambda url: Fetcher(f"{url}/calendar").send("GET", f"{url}/calendar"),
        "pages": lambda url: Pages("nakari/test", None, PAGE).page(f"{url}/pages"),
    }
    for name in names:
        sys.stdout.write(f"{name}\t{await told(calls[name], url)}\n")


asyncio.run(main(*sys.argv[1:]))
