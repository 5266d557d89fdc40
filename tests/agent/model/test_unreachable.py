"""A provider that swallows every packet is told of once connecting has taken too long, not once an answer has."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, suppress

import pytest

from agent.errors import ModelUnavailable
from agent.model.interface import ChatModel
from agent.model.litellm import LiteLlmModel, can_connect
from agent.model.messages import Message
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.stream.relay import Patience

SOON = Patience(connect=0.2, first=60.0)


@pytest.fixture
def hole() -> Iterator[str]:
    """Return the address of a port whose queue is full: a connection to it neither stands nor is refused."""
    with ExitStack() as sockets:
        listener = sockets.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            caller = sockets.enter_context(socket.socket())
            caller.setblocking(False)
            with suppress(BlockingIOError):
                caller.connect(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def models(url: str) -> list[ChatModel]:
    names = ("openai/m", "anthropic/m", "gemini/m")
    through = [LiteLlmModel(name, "key", url, patience=SOON) for name in names]
    return [OpenAiCompatibleModel(url, "m", patience=SOON), *through]


@pytest.mark.parametrize("which", range(4))
async def test_it_is_told_after_the_time_for_connecting(hole: str, which: int) -> None:
    model = models(hole)[which]
    async with aclosing(model.stream([Message("user", "hello")], [])) as items:
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await anext(items)
    await model.aclose()


def test_a_person_waits_three_seconds_for_that() -> None:
    assert Patience().connect == 3.0


async def test_what_takes_a_connection_can_be_reached() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert await can_connect(f"http://127.0.0.1:{listener.getsockname()[1]}", 1.0)
    assert await can_connect("https://", 1.0), "a provider whose host nobody knows is asked all the same"
