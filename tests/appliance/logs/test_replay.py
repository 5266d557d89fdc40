"""A conversation out of the log, by real `jq` with the program that docs/operation.md gives, against the journal."""

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance.logs.configure import FILE_COPIES
from tests.agent.openai_server import OpenAiServer, call, calls, reply
from tests.processes import ROOT
from tests.service.process import Household

HEARD = 'What is "half past\ttwo" in\nwords?'
TYPED = "何时开船? 🚢"
SPOKEN = "It is half past two. The ship \\leaves at three."
WRITTEN = "三点。\nAt three."


def program() -> str:
    """Return the program for jq that the manual of operation prints."""
    (found,) = re.findall(r"jq -rR '(.*?)'", (ROOT / "docs" / "operation.md").read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def replayed(file: Path) -> str:
    """Return what jq makes of the log file and of those it was turned over to, the oldest first."""
    numbered = [file.with_name(f"{file.name}.{number}") for number in range(FILE_COPIES, 0, -1)]
    logged = b"".join(each.read_bytes() for each in [*numbered, file] if each.exists())
    command = [str(shutil.which("jq")), "-rR", program()]
    return subprocess.run(command, input=logged, capture_output=True, check=True).stdout.decode()


def journaled(home: Household) -> str:
    """Return the conversation as the journal has it, in the form of the program."""
    topics = ("runs.new", "tools.requests", "speech.sentence_started", "speech.written")
    lines = home.rows("SELECT topic, body FROM journal WHERE topic IN (?, ?, ?, ?) ORDER BY seq", *topics)
    return "".join(f"{told(str(topic), json.loads(str(body)))}\n" for topic, body in lines)


def told(topic: str, body: dict[str, str]) -> str:
    if topic == "tools.requests":
        return f"  {body['tool_name']} {body['args']}"
    return f"{'>' if topic == 'runs.new' else '<'} {body['words']}"


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed; scripts/setup --test installs it")
@pytest.mark.shows("F26")
@pytest.mark.parametrize("words", [True, False])
async def test_jq_replays_a_conversation_as_the_journal_has_it(tmp_path: Path, words: bool) -> None:
    file = tmp_path / "nakari.log"
    home = Household(tmp_path, {"log": {"file": str(file), "words": words}})
    async with OpenAiServer() as server:
        server.enqueue(calls(call("clock", {})), reply(SPOKEN), reply(WRITTEN))
        home.settings["model"] = {"provider": "openai", "base_url": server.url, "name": "m"}
        with home.running("run", "--output", str(tmp_path / "a.wav")) as service:
            await asyncio.to_thread(service.until, "service_started")
            await home.hear(HEARD)
            await asyncio.to_thread(service.until, "run_finished")
            written = await asyncio.to_thread(home.run, "ask", TYPED)
            assert await asyncio.to_thread(service.stop) == 0
    assert WRITTEN in written.stdout
    conversation, found = journaled(home), replayed(file)
    for said in (HEARD, "  clock {}", SPOKEN.split(". ")[1], TYPED, WRITTEN):
        assert said in conversation
    if words:
        assert found == conversation
    else:
        hidden = [re.sub(r"(?<=^[<>] ).*|(?<=^  )(\w+) .*", _redacted, line) for line in _lines(conversation)]
        assert found.splitlines() == hidden


def _lines(conversation: str) -> list[str]:
    """Return the first line of each step; what was said may have more."""
    return [line for line in conversation.splitlines() if line.startswith(("> ", "< ", "  "))]


def _redacted(found: re.Match[str]) -> str:
    return f"{found[1]} (not logged)" if found[1] else "(not logged)"
