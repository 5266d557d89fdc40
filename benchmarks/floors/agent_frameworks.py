"""An agent of another framework with one tool: a turn for each line of input, its seconds printed."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from time import perf_counter
from typing import TypeAlias

from benchmarks.model_server import LOOK, QUESTION, SEEN

INSTRUCTIONS = "You are a helpful assistant at home."

Turn: TypeAlias = Callable[[], Awaitable[None]]
"""Asks the question once more in the same conversation, reading the answer as a stream."""


def look_outside(where: str) -> str:
    """Look out of the window.

    Args:
        where: Which way to look.
    """
    return SEEN


def pydantic_ai(url: str) -> Turn:
    """Return a turn of pydantic-ai's `Agent`."""
    from pydantic_ai import Agent  # type: ignore[import-not-found]
    from pydantic_ai.models.openai import OpenAIChatModel  # type: ignore[import-not-found]
    from pydantic_ai.providers.openai import OpenAIProvider  # type: ignore[import-not-found]

    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="-"))
    agent = Agent(model, instructions=INSTRUCTIONS, tools=[look_outside])
    history: list[object] = []

    async def turn() -> None:
        async with agent.run_stream(QUESTION, message_history=history) as result:
            async for _ in result.stream_text(delta=True, debounce_by=None):
                pass
            history[:] = result.all_messages()

    return turn


def openai_agents(url: str) -> Turn:
    """Return a turn of openai-agents' `Runner`, which reports nothing to anybody."""
    from agents import (  # type: ignore[import-not-found]
        Agent,
        OpenAIChatCompletionsModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=url, api_key="-"))
    agent = Agent(name="home", instructions=INSTRUCTIONS, tools=[function_tool(look_outside)], model=model)
    history: list[object] = []

    async def turn() -> None:
        result = Runner.run_streamed(agent, [*history, {"role": "user", "content": QUESTION}])
        async for _ in result.stream_events():
            pass
        history[:] = result.to_input_list()

    return turn


def smolagents(url: str) -> Turn:
    """Return a turn of smolagents' `ToolCallingAgent`, whose system prompt is its own."""
    from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool  # type: ignore[import-not-found]

    model = OpenAIModel("m", api_base=url, api_key="-", flatten_messages_as_text=True)
    agent = ToolCallingAgent([tool(look_outside)], model, stream_outputs=True, verbosity_level=LogLevel.OFF)

    async def turn() -> None:
        for _ in agent.run(QUESTION, stream=True, reset=False):
            pass

    return turn


FRAMEWORKS = {"pydantic-ai": pydantic_ai, "openai-agents": openai_agents, "smolagents": smolagents}


async def serve(name: str, url: str) -> None:
    """Say the tool's name, or that the framework is missing; then do a turn for each line of input until it ends."""
    try:
        turn = FRAMEWORKS[name](url)
    except ImportError:
        print("missing", flush=True)
        return
    print(LOOK, flush=True)
    for _ in sys.stdin:
        began = perf_counter()
        with redirect_stdout(sys.stderr):  # smolagents prints what it does
            await turn()
        print(perf_counter() - began, flush=True)


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
