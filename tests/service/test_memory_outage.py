"""The memory goes away while people speak: they are answered as ever, it says what is wrong, and it comes back."""

import asyncio
import os
import resource
import signal
import socket
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent.run.system_replies import phrase
from appliance.config.options import RunOptions
from appliance.errors import Problem
from appliance.service import conversation_over
from memory.graph.embedded.folder import schema_of
from tests.figures import figure
from tests.memory.state.test_tiers_full import room_for
from tests.service.living import Living, living
from tests.service.process import Household, speak

pytestmark = pytest.mark.shows("C15")

MOST_SECONDS = 10.0
"""For an answer without memory: hundredths of one on an idle machine; who waits for a memory waits for longer."""


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path, {"memory": {"enabled": True, "embeddings": "off"}})


def killed(box: Living) -> None:
    os.kill(box.pid, signal.SIGKILL)


def frozen(box: Living) -> None:
    os.kill(box.pid, signal.SIGSTOP)


def corrupted(box: Living) -> None:
    """Damage what it holds, and have it read that again."""
    labels = schema_of(box.store.folder)
    os.kill(box.pid, signal.SIGSTOP)
    labels.write_bytes(b"\0" * labels.stat().st_size)
    os.kill(box.pid, signal.SIGKILL)


BLOWS = {"killed": killed, "frozen": frozen, "corrupted": corrupted}


def is_one_sentence(told: str) -> bool:
    return told.startswith("error: the memory ") and "\n" not in told and "Traceback" not in told


@pytest.mark.parametrize("blow", BLOWS)
async def test_it_is_gone_in_the_middle_of_a_conversation(home: Household, blow: str) -> None:
    async with living(home) as box:
        await box.ready()
        for number in range(3):
            await box.keeps(f"fact {number}")
        usual = await box.seconds_for_a_chat()
        BLOWS[blow](box)
        during = await box.seconds_for_a_chat()
        told = await box.keeps("while it was away")
        figure(f"an answer while its memory is {blow}", f"{during:.2f} s, else {usual:.2f} s")
        assert during < MOST_SECONDS
        assert is_one_sentence(told) or "while it was away" in box.kept, "on a busy machine it is back by then"
        await box.keeps_again("afterwards")
        assert set(box.kept) <= set(await box.knows()) <= {*box.kept, "while it was away"}


async def test_it_is_down_at_the_start_a_spoken_question_is_answered_and_it_is_found_once_it_is_up(
    home: Household, unused_tcp_port: int
) -> None:
    home.settings["memory"]["bolt_port"] = unused_tcp_port
    question = speak("What time is it?", home.folder / "question.wav")
    options = RunOptions(input=question, output=home.folder / "answer.wav")
    with socket.socket() as other:
        other.bind(("127.0.0.1", unused_tcp_port))
        other.listen()
        async with living(home, options) as box:
            await conversation_over(box.box)
            assert home.spoken() == ["Very well, thank you."]
            assert await box.seconds_for_a_chat() < MOST_SECONDS
            told = await box.keeps("too early")
            assert f"port {unused_tcp_port} of 127.0.0.1 cannot be used" in told
            assert is_one_sentence(told)
            other.close()
            await box.keeps_again("a fact")
            assert await box.knows() == ["a fact"]


async def test_its_disk_is_full_and_has_room_again(home: Household) -> None:
    async with living(home) as box:
        await box.ready()
        await box.keeps("before")
        largest = max(file.stat().st_size for file in box.store.folder.rglob("*") if file.is_file())
        limits = resource.prlimit(box.pid, resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
        full = box.pid
        number = 0
        while not (told := await box.keeps(f"{number} {'x' * 20_000}")).startswith("error: "):
            number += 1
        assert is_one_sentence(told)
        assert await box.seconds_for_a_chat() < MOST_SECONDS
        if box.store.pid == full:
            resource.prlimit(full, resource.RLIMIT_FSIZE, limits)
        await box.keeps_again("afterwards")
        assert box.box.graph.writer is not None
        known = await box.box.graph.writer.graph.read("MATCH (f:Fact) RETURN count(DISTINCT f.text) AS n")
        assert known.records[0]["n"] in {len(box.kept), len(box.kept) + 1}


async def test_the_disk_of_everything_is_full_and_what_was_accepted_is_answered_once_there_is_room(
    home: Household,
) -> None:
    async def told() -> str:
        try:
            return await box.asked("How are you?")
        except Problem as problem:  # not even the question could be kept
            return str(problem)

    async with living(home) as box:
        await box.ready()
        await box.keeps("before")
        database = box.box.memory.tiers._database
        await room_for(database, 0)
        with capture_logs() as logs:
            async with asyncio.TaskGroup() as group:
                answer = group.create_task(told())
                while not (answer.done() or [line for line in logs if line["event"] == "state_unusable"]):
                    await database.read(lambda connection: None)
                await room_for(database, 100_000)
        *before, last = answer.result().splitlines()
        assert last == "Very well, thank you." or "free some disk space" in last
        assert before in ([], [phrase("disk_full", "How are you?")])
        await box.keeps_again("afterwards")
        assert await box.knows() == ["afterwards", "before"]
