"""A context before a strict server with a small window: nothing is refused to a person, no list is illegal."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.context import block
from agent.context.carried import ContextLimits
from agent.context.epochs import EPOCH
from agent.context.tokens import TokenCounter
from agent.errors import ContextTooLong
from agent.model.chain import Chain, Guarded
from agent.model.messages import Message, ToolSpec
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.run.system_replies import phrase
from agent.tools.journal import journal_read_tool
from agent.tools.registry.finding import are_few
from agent.tools.tool import Call, run_tool
from tests.agent.context.test_compression import LONG, LOOK, REPLY, lawful, look_tool
from tests.agent.mind import SYSTEM, Start, TestMind, a_mind, spoken, typed
from tests.agent.openai_server import OpenAiServer
from tests.agent.small_window import SENTENCES, SmallWindow, events, live
from tests.fakes import ScriptedModel, calls
from tests.sample import sample

PLAIN, LONG_ONES = 24, 4
"""A sample; `benchmarks.model.small_window` lives through 200 and 20."""


@pytest.mark.shows("D2", "D5", "B1", "X4")
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
async def test_plain_questions_and_very_long_ones_are_all_answered(
    tmp_path: Path, known: bool, every_step: bool
) -> None:
    for window in sample([4_096, 8_192, 32_768], 1, whole=every_step):
        (folder := tmp_path / str(window)).mkdir()
        asked = events(PLAIN, LONG_ONES, window)
        lived = await live(folder, window, asked, known=known, system=SYSTEM, seed=window)
        assert (lived.answered, lived.told, lived.illegal) == (PLAIN + LONG_ONES, 0, []), window
        assert lived.above == 0, "after an event the context is below its target whatever came"
        assert lived.refusals <= 5, "what one refusal teaches is kept to"
        assert lived.epochs > 2
        assert lived.first > 0.5


@pytest.mark.shows("D2", "X4")
@pytest.mark.parametrize("sentence", range(len(SENTENCES)))
async def test_a_refusal_is_answered_with_less_in_the_same_turn(tmp_path: Path, sentence: int) -> None:
    async with OpenAiServer() as server:
        small = SmallWindow(server, 4_096, 3, [sentence])
        model = OpenAiCompatibleModel(server.url, "m")
        async with a_mind(tmp_path, [model], [look_tool()]) as mind:
            await mind.handle(typed("What is this? " + "words upon words, " * 2_000))
            first = small.refused
            await mind.handle(again := typed("And this? " + "words upon words, " * 2_000))
            assert await mind.state_of(again) == "completed"
            assert (await mind.mailbox.counts())["completed"] == 2
        await model.aclose()
    assert 1 <= first <= 6
    assert small.refused - first <= 1, "it has learnt"


@pytest.mark.shows("D2", "B1", "X4")
async def test_a_window_of_which_the_first_refusal_tells_is_kept_to_in_the_same_turn(tmp_path: Path) -> None:
    """A small model behind a server that nobody could ask before: its first question finds the long prompt."""
    prompts = ByWindow()

    def respond(messages: Sequence[Message]) -> Message:
        if sum(len(message.content) for message in messages) > 6_000:
            prompts.is_small = True
            raise ContextTooLong("too long", 2_000, 4_000)
        return calls(REPLY, prefix=f"c{len(model.requests)}")

    model = ScriptedModel(*[respond] * 10)
    start = Start(has_little_room=lambda: prompts.is_small)
    async with a_mind(tmp_path, [model], [look_tool()], system=prompts, start=start) as mind:
        await mind.handle(event := spoken("what time is it"))
        assert await mind.state_of(event) == "completed"
        assert [request[0].content for request in model.requests] == [prompts.LONG, prompts.SHORT]
        epoch = mind.mind.contexts.loaded(event.owner_key, event.session_id)
        assert are_few(epoch.tools)
        await mind.handle(spoken("and now"))
        assert model.requests[-1][: len(model.requests[-2])] == model.requests[-2], "the same epoch goes on"


class ByWindow:
    """A long prompt, and a short one once the window is known to be small."""

    LONG, SHORT = "s" * 9_000, "You are nakari."

    def __init__(self) -> None:
        self.is_small = False

    async def system(self, owner_key: str, tools: Sequence[ToolSpec]) -> str:
        return self.SHORT if self.is_small else self.LONG


def refusing_above(characters: int, window: int = 0, asked: int = 0) -> ScriptedModel:
    """A model that refuses every longer list, and else replies; asked to look, it looks."""

    def respond(messages: Sequence[Message]) -> Message:
        if sum(len(message.content) for message in messages) > characters:
            raise ContextTooLong("too long", window, asked)
        if messages[-1].role == "user" and "look" in messages[-1].content:
            return calls(("look", "{}"), prefix=f"l{len(model.requests)}")
        return calls(REPLY, prefix=f"c{len(model.requests)}")

    model = ScriptedModel(*[respond] * 300)
    return model


@pytest.mark.shows("D2", "B1", "X4")
async def test_what_no_compression_fits_is_told_and_the_next_event_is_handled(tmp_path: Path) -> None:
    model = refusing_above(10_000)
    async with a_mind(tmp_path, [model], system="s" * 12_000) as mind:
        for words in ("hello", "你好", "and again"):
            await mind.handle(event := spoken(words))
            assert await mind.state_of(event) == "dead"
            filed = await mind.mailbox.find(event.id)
            assert filed is not None
            assert filed.reason.startswith("it is longer than the model reads")
        assert " ".join(mind.outlet.said).count(phrase("too_long", "hello")) == 2
        assert phrase("too_long", "你好")[:8] in "".join(mind.outlet.said)
        assert len(model.requests) <= 12, "it is not tried for ever"


@pytest.mark.shows("D2", "X4")
async def test_the_model_that_refused_is_asked_again_and_no_other(tmp_path: Path) -> None:
    chain = Chain.of([first := refusing_above(4_000), other := refusing_above(100_000)])
    async with a_mind(tmp_path, chain) as mind:
        for _ in range(6):
            await mind.handle(event := spoken("hello " * 1_500))
            assert await mind.state_of(event) == "completed"
    assert len(first.requests) > 6
    assert other.requests == []


@pytest.mark.shows("D2", "B8", "X4")
async def test_a_refusal_costs_neither_a_thought_nor_the_last_turn(tmp_path: Path) -> None:
    two = calls(LOOK, ("look", '{"at": "more"}'), prefix="l")
    model = ScriptedModel(two, ContextTooLong("too long"), ContextTooLong("too long"), calls(REPLY, prefix="r"))
    event = replace(spoken("please look"), max_tool_calls=1)
    async with a_mind(tmp_path, [model], [look_tool(15_000)]) as mind:
        await mind.handle(event)
        filed = await mind.mailbox.find(event.id)
    assert filed is not None
    assert (filed.state, filed.progress.model_calls) == ("completed", 2)


@pytest.mark.shows("D2", "X4")
async def test_a_refusal_for_length_tells_nothing_against_the_server() -> None:
    guarded = Guarded("m", refusing_above(0))
    with pytest.raises(ContextTooLong):
        async for _ in guarded.stream([Message("system", SYSTEM), Message("user", "hello")], []):
            pass
    assert guarded.breaker.failures == 0


async def whole(mind: TestMind, name: str) -> str:
    """Read all that the journal has under an id."""
    read, text, start = journal_read_tool(mind.journal), "", 0
    while True:
        page = await run_tool(read, f'{{"id": "{name}", "start": {start}}}', Call("c", spoken("x")))
        body, rest, more = page.partition("\n… ")
        text += body
        if not rest:
            return text
        start = int(more.rpartition("=")[2])


@pytest.mark.shows("D2", "X4")
async def test_a_long_event_is_cut_in_the_new_context_and_the_journal_has_it_whole(tmp_path: Path) -> None:
    model = refusing_above(6_000)
    words = " ".join(f"word{number} & <more>" for number in range(1_500))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle(spoken("before"))
        await mind.handle(event := typed(words, "room"))
        assert await mind.state_of(event) == "completed"
        sent = block.parse(model.requests[-1][-1].content)
        assert sent is not None
        assert sent.event_id == event.id
        assert sent.words.startswith("word0 & <more> word1")
        assert sent.words.endswith(f"journal_read with id {event.id} has it whole")
        kept = block.parse((await whole(mind, event.id)).split("\nyou called")[0])
    assert kept is not None
    assert kept.words == words


@pytest.mark.shows("D2", "X4")
async def test_a_long_result_is_cut_in_the_new_context_and_its_call_stays(tmp_path: Path) -> None:
    model = refusing_above(6_000)
    async with a_mind(tmp_path, [model], [look_tool(40_000)]) as mind:
        await mind.handle(event := spoken("please look"))
        assert await mind.state_of(event) == "completed"
        last = model.requests[-1]
        assert (await whole(mind, event.id)).count("seen ") == 3_200, "as long as any result may be"
    assert lawful(last)
    assert last[-2].tool_calls[0].name == "look"
    assert last[-1].content.startswith("seen seen")
    assert f"journal_read with id {event.id}" in last[-1].content


@pytest.mark.shows("D2", "X4")
async def test_a_window_that_is_known_is_kept_to_before_anything_is_refused(tmp_path: Path) -> None:
    limits = ContextLimits(compress_above_tokens=3_000, window_tokens=3_000)
    model = ScriptedModel(*(calls(("look", "{}"), prefix=f"l{n}") for n in range(3)), calls(REPLY), name="offline")
    counter = TokenCounter()
    async with a_mind(tmp_path, [model], [look_tool(30_000)], limits=limits) as mind:
        await mind.handle(event := spoken("please look " + "at all of this " * 2_000))
        assert await mind.state_of(event) == "completed"
    for request, tools in zip(model.requests, model.tools, strict=True):
        assert sum(map(counter.of_message, request)) + counter.of_tools(tools) <= limits.window_tokens
    assert len(model.requests) == 4


@pytest.mark.shows("D2", "D13", "X4")
async def test_the_history_that_is_taken_along_has_so_many_messages_and_no_more(tmp_path: Path) -> None:
    for most in (3, 7, 20):
        limits = ContextLimits(history_messages=most, compress_above_tokens=20_000)
        folder = tmp_path / str(most)
        folder.mkdir()
        model = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(100)), name="offline")
        async with a_mind(folder, [model], limits=limits) as mind:
            while len(epochs := await mind.journal.entries(topic=EPOCH)) < 3:
                await mind.handle(spoken(f"question {len(model.requests)} {LONG * 3}"))
        for epoch in epochs[1:]:
            taken = epoch.body["messages"]
            assert isinstance(taken, list)
            # A turn has three messages: the event, the call, its result; prompt and front come before.
            assert len(taken) - 2 == most // 3 * 3


@pytest.mark.shows("D13", "X4")
def test_the_numbers_of_the_history_are_the_documents() -> None:
    assert (ContextLimits().history_messages, ContextLimits().history_tokens) == (20, 4_000)
