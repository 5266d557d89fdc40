"""Life before a strict server with a small window, which counts by its own measure and refuses in many ways."""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH
from agent.event import Event
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.run.system_replies import phrase
from agent.tools.tool import Tool, tool
from tests.agent.context.test_prefix_contract import shares
from tests.agent.mind import TestMind, a_mind, spoken, typed
from tests.agent.openai_script import Scripted, call, calls, error, reply, text
from tests.agent.openai_server import OpenAiServer, Recorded

ANSWER: Final = 200
"""Tokens that the server wants to have left for its answer."""

SHARE: Final = 0.75
"""Of a window that is known: as the appliance reckons."""

PAGE: Final = 24_000
"""Characters of a tool's long result."""

KEPT: Final = 8
"""Requests that the server remembers, for its cache."""

_PIECE: Final = re.compile(r"[\u3000-\u9fff]|[A-Za-z]{1,5}|\d{1,2}|[^\w\s]")

SENTENCES: Sequence[Callable[[int, int], Scripted]] = (
    lambda window, asked: error(
        400,
        f"This model's maximum context length is {window} tokens. However, your messages resulted in {asked} tokens. "
        "Please reduce the length of the messages.",
    ),
    lambda window, asked: _llama_cpp(window, asked),
    lambda window, asked: error(
        400,
        f"This model's maximum context length is {window} tokens. However, you requested {asked + ANSWER} tokens "
        f"({asked} in the messages, {ANSWER} in the completion). Please reduce the length of the messages.",
    ),
    lambda window, asked: error(400, f"prompt is too long: {asked} tokens > {window} maximum"),
    lambda window, asked: error(
        400,
        f"The input token count ({asked}) exceeds the maximum number of tokens allowed ({window}).",
    ),
    lambda window, asked: error(400, "Input is too long for requested model."),
)
"""OpenAI, llama.cpp, vLLM, Anthropic, Gemini, and Bedrock, which tells no number."""


def _llama_cpp(window: int, asked: int) -> Scripted:
    told = {
        "code": 400,
        "message": f"request ({asked} tokens) exceeds the available context size ({window} tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": asked,
        "n_ctx": window,
    }
    return Scripted((json.dumps({"error": told}).encode(),), 400, {"Content-Type": "application/json"})


def counted(request: Recorded) -> int:
    """Count the tokens of a request as no library of ours does."""
    body = request.json
    whole = json.dumps([body["messages"], body.get("tools", [])], ensure_ascii=False)
    return len(_PIECE.findall(whole)) + 4 * len(body["messages"])


class SmallWindow:
    """Answers as a model does, mostly with a reply; refuses every list that is longer than its window."""

    def __init__(self, server: OpenAiServer, window: int, seed: int, sentences: Sequence[int] = ()) -> None:
        """`sentences` are the places of those in `SENTENCES` by which it refuses, all in turn where none are named."""
        self.window = window
        self.refused = 0
        self.longest = 0
        """Tokens of the longest list it took."""
        self._server = server
        self._chance = random.Random(seed)
        self._sentences = [SENTENCES[place] for place in sentences or range(len(SENTENCES))]
        self._left = 0
        server.default = self.answer

    def answer(self, request: Recorded) -> Scripted:
        del self._server.requests[:-KEPT]
        asked = counted(request)
        if asked + ANSWER > self.window:
            self.refused += 1
            return self._sentences[self.refused % len(self._sentences)](self.window, asked)
        self.longest = max(self.longest, asked)
        last = request.messages[-1]
        if last["role"] == "user" and last["content"].startswith("Sum up"):
            return text("They asked much, and all was answered. " * self._chance.randrange(1, 12))
        if last["role"] == "user":
            self._left = self._chance.choice([0, 0, 0, 0, 1, 2])
        if last["role"] == "user" and "read the page" in last["content"]:
            return calls(call("read_page", {}), said="Let me read it.")
        if self._left:
            self._left -= 1
            return calls(call("check_mailbox", {}))
        return reply("It is as you said. " * self._chance.randrange(1, 6))


def page_tool() -> Tool:
    """Return a tool with a result that no small window holds."""

    async def read_page() -> str:
        """Read a long page."""
        return "The page goes on, line after line. " * (PAGE // 35)

    return tool(read_page, effect="pure")


def limits_of(window: int, *, known: bool) -> ContextLimits:
    """Return the limits by the configuration's defaults, and the window where it is known."""
    most = int(SHARE * window)
    return ContextLimits(compress_above_tokens=min(24_000, most), window_tokens=most) if known else ContextLimits()


def events(plain: int, long: int, seed: int) -> list[Event]:
    """Return plain questions in two sessions, and very long events at random places among them."""
    chance = random.Random(seed)
    found = [_plain(number, chance) for number in range(plain)]
    for number in range(long):
        found.insert(chance.randrange(len(found) + 1), _long(number, chance))
    return found


def _plain(number: int, chance: random.Random) -> Event:
    words = (
        f"Question {number}: {'how is it there? ' * chance.randrange(1, 8)}{'今天天气怎么样？' * chance.randrange(3)}"
    )
    return typed(words) if chance.random() < 0.2 else spoken(words)


def _long(number: int, chance: random.Random) -> Event:
    if chance.random() < 0.3:
        return spoken(f"Please read the page, number {number}.")
    kind = chance.choice(
        ["the same words again and again, ", "一大段中文的话，", "<tag attribute='&'> & </tag> ", "x9_"]
    )
    return typed(f"Text {number}: " + kind * (chance.randrange(20_000, 60_000) // len(kind)))


@dataclass
class Lived:
    """What came of it."""

    answered: int = 0
    """Events that were completed, and nobody told that they cannot be answered."""
    told: int = 0
    """Events of which a person heard that they cannot be answered."""
    refusals: int = 0
    illegal: list[str] = field(default_factory=list)
    epochs: int = 0
    above: int = 0
    """Events after which the context was above its target."""
    later: float = 0.0
    first: float = 0.0
    """Cached shares: of calls 2..n of an event, and of the first call of an event within an epoch."""


TOLD: Final = tuple(phrase(name, words) for name in ("too_long", "no_model", "failed") for words in ("what", "什么"))


async def live(folder: Path, window: int, sample: Sequence[Event], *, known: bool, system: str, seed: int) -> Lived:
    """Live through events before such a server, and tell what came of it."""
    lived = Lived()
    async with OpenAiServer() as server:
        small = SmallWindow(server, window, seed)
        model = OpenAiCompatibleModel(server.url, "m")
        limits = limits_of(window, known=known)
        async with a_mind(folder, [model], [page_tool()], limits=limits, system=system) as mind:
            for event in sample:
                await mind.handle(event)
                lived.answered += await mind.state_of(event) == "completed"
                lived.above += _is_above(mind, event)
            lived.told = sum(said in whole for said in mind.outlet.said for whole in TOLD)
            lived.answered -= lived.told
            lived.epochs = len(await mind.journal.entries(topic=EPOCH))
            lived.later, lived.first = await shares(mind)
        await model.aclose()
        lived.refusals, lived.illegal = small.refused, server.complaints
        server.complaints = []
    return lived


def _is_above(mind: TestMind, event: Event) -> bool:
    contexts = mind.mind.contexts
    return contexts.is_full(contexts.loaded(event.owner_key, event.session_id))
