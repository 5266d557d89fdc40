"""Whatever is said and done within an epoch: each request begins with the bytes of the one before."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agent.context.carried import ContextLimits
from agent.event import SELF_CREATED, TIMER, Event
from agent.model.openai_compatible import OpenAiCompatibleModel
from tests.agent.mind import a_mind, spoken, typed
from tests.agent.openai_server import OpenAiServer, Recorded, Scripted, call, calls, reply
from tests.agent.openai_server import text as bare
from tests.in_memory import IN_MEMORY

LIMITS: Final = ContextLimits(history_messages=6, history_tokens=300, compress_above_tokens=1_200, summary_tokens=80)
"""So small that a few long words open an epoch."""

Answer: TypeAlias = tuple[str, str]
"""Kind and words."""

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).map(str.strip).filter(bool)
LONG = WORDS.map(lambda words: f"{words} " * 20)
KINDS = st.sampled_from(["spoken", "typed", TIMER, SELF_CREATED])
EVENTS = st.lists(st.tuples(KINDS, WORDS | LONG), min_size=2, max_size=6)
ANSWERS = st.lists(
    st.tuples(st.sampled_from(["reply", "bare", "look", "two", "broken", "unknown", "compress"]), WORDS), max_size=20
)


def event_of(kind: str, words: str) -> Event:
    if kind == "spoken":
        return spoken(words)
    return typed(words) if kind == "typed" else Event(kind, words, source="self")


def scripted(answer: Answer) -> Scripted:
    """Return what the server sends: right calls, wrong ones, several, none."""
    kind, words = answer
    look = call("check_mailbox", {})
    return {
        "reply": reply(words),
        "bare": bare(words),
        "look": calls(look, said=words),
        "two": calls(look, call("check_mailbox", {"state": words})),
        "broken": calls(call("check_mailbox", f'{{"state": {words}')),
        "unknown": calls(call("no_such_tool", {"words": words})),
        "compress": calls(call("compress_context", {"summary": words})),
    }[kind]


async def lived(events: Sequence[tuple[str, str]], answers: Sequence[Answer]) -> dict[str, list[Recorded]]:
    """Live through the events and return the requests of each epoch but those for a summary, in order."""
    left = list(answers)
    with tempfile.TemporaryDirectory(prefix="nakari-prefix-", dir=IN_MEMORY) as folder:
        async with OpenAiServer() as server:
            server.default = lambda _: scripted(left.pop(0)) if left else reply("Yes.")
            model = OpenAiCompatibleModel(server.url, "m")
            async with a_mind(Path(folder), [model], limits=LIMITS) as mind:
                for kind, words in events:
                    await mind.handle(event_of(kind, words))
                asked = await mind.journal.entries(topic="llm.requests")
            await model.aclose()
            sent = list(server.requests)
    assert len(asked) == len(sent) >= len(events)
    found: dict[str, list[Recorded]] = defaultdict(list)
    for entry, request in zip(asked, sent, strict=True):
        if "purpose" not in entry.body:
            found[str(entry.body["epoch"])].append(request)
    return found


@pytest.mark.shows("D6", "D11")
@settings(max_examples=25, database=None, phases=[Phase.generate])  # to shrink an example takes longer than a test may
@given(EVENTS, ANSWERS)
def test_within_an_epoch_a_request_begins_with_the_one_before(
    events: list[tuple[str, str]], answers: list[Answer]
) -> None:
    for requests in asyncio.run(lived(events, answers)).values():
        for earlier, later in pairwise(requests):
            assert later.raw_messages.startswith(earlier.raw_messages)
            assert later.json["tools"] == earlier.json["tools"]


async def test_the_sample_opens_epochs_and_grows_them() -> None:
    long = "plums and pears " * 40
    found = await lived([("spoken", long), (TIMER, long), ("spoken", long), ("spoken", long)], [("look", "so")] * 2)
    assert len(found) >= 2
    assert max(map(len, found.values())) >= 3
