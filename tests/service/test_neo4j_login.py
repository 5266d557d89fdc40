"""A real Neo4j that does not let it in, is stopped, or takes no writes: it says so, and goes on once that is over."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.needs import NEO4J_SCRIPT
from tests.service.living import KNOWN, Living, living
from tests.service.process import Household
from tests.service.test_memory_outage import MOST_SECONDS, is_one_sentence
from tests.service.wire import wire

pytestmark = [pytest.mark.neo4j, pytest.mark.shows("C15", "C18")]

FIRST, RIGHT, OTHER = "neo4j", "green-tea-at-five", "black-coffee-at-six"


@contextmanager
def neo4j_at(folder: Path, port: int, *settings: str) -> Iterator[None]:
    """Run a Neo4j whose data is in a folder."""
    command = [str(NEO4J_SCRIPT), "run", str(folder), str(port), *settings]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert any("Started." in line for line in server.stdout), "Neo4j did not start"
            yield
        finally:
            server.terminate()
            server.stdout.read()


async def changed(port: int, old: str, new: str) -> None:
    """Change the password there, as whoever looks after the server does."""
    from neo4j import AsyncGraphDatabase

    async with (
        AsyncGraphDatabase.driver(f"bolt://127.0.0.1:{port}", auth=("neo4j", old)) as driver,
        driver.session(database="system") as session,
    ):
        statement = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
        await (await session.run(statement, {"old": old, "new": new})).consume()


async def says(box: Living, words: str) -> None:
    """Have it write; it is told one sentence with these words in it, and chats on."""
    told = await box.keeps("something")
    assert words in told
    assert "\n" not in told
    assert not any(password in told for password in (RIGHT, OTHER))
    assert await box.seconds_for_a_chat() < MOST_SECONDS


async def serves_again(box: Living) -> None:
    """Ask until there is an answer: a server that listens again has not opened its database yet."""
    async with asyncio.timeout(120):
        while await box.asked(f"{KNOWN}?") and (told := box.model.observed[-1]).startswith("error: "):
            assert "again" in told


async def test_a_neo4j_server_lets_nobody_in_is_stopped_and_comes_back_taking_no_writes(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    place, port = tmp_path / "neo4j", unused_tcp_port
    server = ExitStack()

    async def started(setting: str) -> None:
        await asyncio.to_thread(server.enter_context, neo4j_at(place, port, setting))

    async with wire(port) as line:
        home = Household(tmp_path / "box", {"memory": {"enabled": True, "embeddings": "off", "uri": line.uri}})
        try:
            await started("dbms.security.auth_enabled=true")
            async with living(home, NAKARI_NEO4J_PASSWORD=FIRST) as box:
                await says(box, "before its first password is changed: change it there")
            await changed(port, FIRST, RIGHT)
            async with living(home, NAKARI_NEO4J_PASSWORD=OTHER) as box:
                await says(box, "check [memory] user and NAKARI_NEO4J_PASSWORD")
            async with living(home, NAKARI_NEO4J_PASSWORD=RIGHT) as box:
                await box.keeps("a fact")
                await changed(port, RIGHT, OTHER)
                line.reset()
                await says(box, "check [memory] user and NAKARI_NEO4J_PASSWORD")
                await changed(port, OTHER, RIGHT)
                await box.keeps_again("another")
                await asyncio.to_thread(server.close)
                assert await box.seconds_for_a_chat() < MOST_SECONDS
                assert is_one_sentence(await box.keeps("while it was away"))
                await started("server.databases.default_to_read_only=true")
                await serves_again(box)
                await says(box, "takes no writes")
                assert await box.knows() == ["a fact", "another"]
        finally:
            await asyncio.to_thread(server.close)
